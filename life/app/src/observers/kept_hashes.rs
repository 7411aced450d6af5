//! The hashes of earlier boards, for a search for a period.

use std::collections::{HashMap, HashSet};

/// The hashes of earlier boards: those of the newest `max` generations, and at most twice as many.
pub struct KeptHashes {
    max: usize,
    newer: Hashes,
    older: Hashes,
}

#[derive(Default)]
struct Hashes {
    /// The latest generation of each hash of a whole board.
    boards: HashMap<u64, u64>,
    /// The hashes of samples of these boards.
    samples: HashSet<u64>,
}

impl KeptHashes {
    /// Makes an empty collection.
    pub fn new(max: usize) -> Self {
        Self { max, newer: Hashes::default(), older: Hashes::default() }
    }

    /// Returns the latest generation whose board had this hash.
    pub fn get(&self, hash: u64) -> Option<u64> {
        self.newer.boards.get(&hash).or_else(|| self.older.boards.get(&hash)).copied()
    }

    /// Returns true if the sample of a kept board had this hash.
    pub fn has_sample(&self, hash: u64) -> bool {
        [&self.newer, &self.older].iter().any(|hashes| hashes.samples.contains(&hash))
    }

    /// Keeps the hash of the board of `generation`, and the hash of its sample if there is one.
    pub fn keep(&mut self, hash: u64, sample: Option<u64>, generation: u64) {
        if self.newer.boards.len() >= self.max {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.boards.insert(hash, generation);
        self.newer.samples.extend(sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that hashes of the newest generations are found after older ones have been dropped.
    #[test]
    fn the_newest_hashes_are_kept() {
        let mut kept = KeptHashes::new(1000);
        for generation in 0..3000 {
            kept.keep(!generation, Some(generation), generation);
        }
        assert!((2000..3000).all(|generation| kept.get(!generation) == Some(generation)));
        assert!((2000..3000).all(|generation| kept.has_sample(generation)));
        assert_eq!((kept.get(!0), kept.has_sample(0), kept.get(!3000)), (None, false, None));
    }
}
