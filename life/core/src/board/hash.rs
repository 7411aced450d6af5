//! Hashes of boards and of parts of boards.

use super::{ALL_CORES, Board};
use gridstride::host::in_parts;

/// Returns the [`Board::hash`] of the two-state board whose packed rows are `words`. Large boards are hashed on all
/// cores.
pub fn hash_of_words(words: &[u32]) -> u64 {
    hash_of_words_from(0, words)
}

/// Returns the contribution of `words` to the hash of a larger board. On that board, `words` begins at word `first`.
/// The hash of a board is the sum of the contributions of all its parts. Large parts are hashed on all cores.
pub fn hash_of_words_from(first: usize, words: &[u32]) -> u64 {
    let of = |range: std::ops::Range<usize>| {
        let words = words[range.clone()].iter().zip(range);
        words.fold(0_u64, |hash, (&word, i)| hash.wrapping_add(gpu::life::hash_of_word(first + i, word)))
    };
    if words.len() < ALL_CORES {
        return of(0..words.len());
    }
    in_parts(words.len(), of).into_iter().fold(0, u64::wrapping_add)
}

/// Adds the contribution of `rows` to each hash in `hashes`. These are the hashes of a larger board, one per bit plane.
/// On that board, `rows` begins at word `first`.
pub(crate) fn add_hash(hashes: &mut Vec<u64>, rows: &Board, first: usize) {
    hashes.resize(1 + rows.ages.len(), 0);
    for (hash, words) in hashes.iter_mut().zip(rows.planes_of_words()) {
        *hash = hash.wrapping_add(hash_of_words_from(first, words));
    }
}

/// Combines the hashes of a board's bit planes into its [`Board::hash`]. The first bit plane contains the words, and
/// each further bit plane one bit of the ages.
pub fn hash_of_planes(hashes: &[u64]) -> u64 {
    hashes.iter().fold(0, |all: u64, hash| all.rotate_left(7) ^ hash)
}
