//! Vector clocks: which accesses of other threads happened before what a thread does next.
//!
//! Each thread counts its epochs, and an access belongs to the epoch in which it is made. A vector clock has an epoch for each
//! thread: the accesses of all *earlier* epochs are known. It is kept by blocks, as a block's barriers bring all its threads
//! to the same epoch; and shared between those who know the same, as clocks are passed on far more often than they change.

use std::rc::Rc;

/// The blocks of a chunk have the same number above these bits.
const CHUNK_BITS: u32 = 7;

/// A thread of a block, and the epoch before which all its accesses are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadEpoch {
    pub(super) thread: u32,
    pub(super) epoch: u32,
}

/// The part of a vector clock for the threads of one block.
#[derive(Clone, Debug)]
pub(super) struct BlockClock {
    pub(super) block: u32,
    /// The epoch of all threads but the `extras`.
    base: u32,
    /// The threads with a later epoch, by their numbers.
    extras: Option<Rc<[ThreadEpoch]>>,
}

impl BlockClock {
    /// `extras` must be in the order of the threads.
    pub(super) fn new(block: u32, base: u32, extras: &[ThreadEpoch]) -> Self {
        Self { block, base, extras: (!extras.is_empty()).then(|| extras.into()) }
    }

    fn extras(&self) -> &[ThreadEpoch] {
        self.extras.as_deref().unwrap_or_default()
    }

    /// The epoch before which all accesses of `thread` are known.
    #[inline]
    pub(super) fn epoch(&self, thread: u32) -> u32 {
        let extras = self.extras();
        match extras.binary_search_by_key(&thread, |known| known.thread) {
            Ok(index) => self.base.max(extras[index].epoch),
            Err(_) => self.base,
        }
    }

    /// The latest epoch of any thread.
    pub(super) fn highest(&self) -> u32 {
        self.extras().iter().map(|known| known.epoch).fold(self.base, u32::max)
    }

    /// Adds what `other` knows of the same block.
    fn join(&mut self, other: &Self) {
        if other.base <= self.base && other.extras.is_none() {
            return;
        }
        if self.base <= other.base && self.extras.is_none() {
            *self = other.clone();
            return;
        }
        if let (Some(mine), Some(others)) = (&self.extras, &other.extras)
            && Rc::ptr_eq(mine, others)
        {
            self.base = self.base.max(other.base);
            return;
        }
        let base = self.base.max(other.base);
        let mut extras = Vec::with_capacity(self.extras().len() + other.extras().len());
        merge(self.extras(), other.extras(), &mut extras);
        extras.retain(|known| known.epoch > base);
        *self = Self::new(self.block, base, &extras);
    }
}

/// Appends the threads of both lists to `into`, each with its later epoch. All are in the order of the threads.
fn merge(mut a: &[ThreadEpoch], mut b: &[ThreadEpoch], into: &mut Vec<ThreadEpoch>) {
    loop {
        match (a, b) {
            ([], rest) | (rest, []) => return into.extend_from_slice(rest),
            ([first, others @ ..], [second, ..]) if first.thread < second.thread => {
                into.push(*first);
                a = others;
            }
            ([first, ..], [second, others @ ..]) if second.thread < first.thread => {
                into.push(*second);
                b = others;
            }
            ([first, others_a @ ..], [second, others_b @ ..]) => {
                into.push(ThreadEpoch { thread: first.thread, epoch: first.epoch.max(second.epoch) });
                (a, b) = (others_a, others_b);
            }
        }
    }
}

/// The clocks of neighbouring blocks, in the order of the blocks.
#[derive(Clone, Debug)]
struct Chunk {
    number: u32,
    clocks: Rc<Vec<BlockClock>>,
}

/// A vector clock for the threads of all blocks; empty as long as nothing is known of any.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorClock(Option<Rc<Vec<Chunk>>>);

impl VectorClock {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether both are one and the same. False does not mean that they differ.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// What is known of `block`.
    pub(super) fn block(&self, block: u32) -> Option<&BlockClock> {
        let chunks = self.0.as_deref()?;
        let number = block >> CHUNK_BITS;
        let chunk = &chunks[chunks.binary_search_by_key(&number, |chunk| chunk.number).ok()?];
        let index = chunk.clocks.binary_search_by_key(&block, |clock| clock.block).ok()?;
        Some(&chunk.clocks[index])
    }

    /// Adds what `clock` knows of its block.
    pub(super) fn add(&mut self, clock: BlockClock) {
        let chunks = Rc::make_mut(self.0.get_or_insert_default());
        let number = clock.block >> CHUNK_BITS;
        match chunks.binary_search_by_key(&number, |chunk| chunk.number) {
            Err(index) => chunks.insert(index, Chunk { number, clocks: Rc::new(vec![clock]) }),
            Ok(index) => {
                let clocks = Rc::make_mut(&mut chunks[index].clocks);
                match clocks.binary_search_by_key(&clock.block, |clock| clock.block) {
                    Ok(index) => clocks[index].join(&clock),
                    Err(index) => clocks.insert(index, clock),
                }
            }
        }
    }

    /// Adds what `other` knows.
    pub(super) fn join(&mut self, other: &Self) {
        let Some(others) = &other.0 else { return };
        let Some(mine) = &mut self.0 else {
            *self = other.clone();
            return;
        };
        if Rc::ptr_eq(mine, others) {
            return;
        }
        // The smaller one is added to the larger.
        let smaller =
            if mine.len() < others.len() { std::mem::replace(mine, Rc::clone(others)) } else { Rc::clone(others) };
        for chunk in smaller.iter() {
            let found = mine.binary_search_by_key(&chunk.number, |chunk| chunk.number);
            match found {
                Ok(index) if Rc::ptr_eq(&mine[index].clocks, &chunk.clocks) => {}
                Ok(index) => join_chunks(&mut Rc::make_mut(mine)[index].clocks, &chunk.clocks),
                Err(index) => Rc::make_mut(mine).insert(index, chunk.clone()),
            }
        }
    }
}

/// Adds `others` to `mine`, both in the order of the blocks.
fn join_chunks(mine: &mut Rc<Vec<BlockClock>>, others: &Rc<Vec<BlockClock>>) {
    let smaller =
        if mine.len() < others.len() { std::mem::replace(mine, Rc::clone(others)) } else { Rc::clone(others) };
    let mine = Rc::make_mut(mine);
    for clock in smaller.iter() {
        match mine.binary_search_by_key(&clock.block, |clock| clock.block) {
            Ok(index) => mine[index].join(clock),
            Err(index) => mine.insert(index, clock.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(pairs: &[(u32, u32)]) -> Vec<ThreadEpoch> {
        pairs.iter().map(|&(thread, epoch)| ThreadEpoch { thread, epoch }).collect()
    }

    fn one(block: u32, base: u32, pairs: &[(u32, u32)]) -> VectorClock {
        let mut clock = VectorClock::default();
        clock.add(BlockClock::new(block, base, &epochs(pairs)));
        clock
    }

    fn epoch(clock: &VectorClock, block: u32, thread: u32) -> Option<u32> {
        clock.block(block).map(|clock| clock.epoch(thread))
    }

    #[test]
    fn a_threads_epoch_is_the_later_of_base_and_its_own() {
        let clock = one(3, 5, &[(2, 9), (7, 6)]);
        assert_eq!([0, 2, 7, 8].map(|thread| epoch(&clock, 3, thread)), [Some(5), Some(9), Some(6), Some(5)]);
        assert_eq!(epoch(&clock, 4, 0), None);
        assert_eq!(clock.block(3).map(BlockClock::highest), Some(9));
    }

    #[test]
    fn joining_takes_the_later_epoch_of_every_thread_in_either_order() {
        let a = one(3, 5, &[(2, 9), (7, 6)]);
        let b = one(3, 6, &[(1, 8), (2, 7), (7, 7)]);
        for (mut first, second) in [(a.clone(), b.clone()), (b, a)] {
            first.join(&second);
            assert_eq!([0, 1, 2, 7].map(|thread| epoch(&first, 3, thread).unwrap()), [6, 8, 9, 7]);
        }
    }

    #[test]
    fn joining_keeps_all_blocks_and_leaves_the_other_as_it_was() {
        let mut all = VectorClock::default();
        let mut odd = VectorClock::default();
        for block in (0..1000).rev() {
            if block % 2 == 0 { &mut all } else { &mut odd }.add(BlockClock::new(block, block + 1, &[]));
        }
        let before = odd.clone();
        all.join(&odd);
        for block in 0..1000 {
            assert_eq!(epoch(&all, block, 5), Some(block + 1));
            assert_eq!(epoch(&before, block, 5), (block % 2 == 1).then_some(block + 1));
            assert_eq!(epoch(&odd, block, 5), epoch(&before, block, 5));
        }
        assert!(odd.is_same(&before) && !odd.is_same(&all));
    }

    #[test]
    fn adding_to_a_copy_does_not_change_the_original() {
        let original = one(1, 1, &[]);
        let mut copy = original.clone();
        copy.add(BlockClock::new(1, 4, &epochs(&[(0, 9)])));
        copy.add(BlockClock::new(2, 3, &[]));
        assert_eq!((epoch(&original, 1, 0), epoch(&original, 2, 0)), (Some(1), None));
        assert_eq!((epoch(&copy, 1, 0), epoch(&copy, 1, 1), epoch(&copy, 2, 0)), (Some(9), Some(4), Some(3)));
    }
}
