//! Vector clocks, which represent the accesses of all threads that happened before a thread's next access.
//!
//! Each thread counts its epochs, and an access belongs to the epoch in which it is made. A vector clock has an epoch
//! for each thread, and includes the thread's accesses in all *earlier* epochs. The clock is organised by blocks,
//! because a block's barriers bring all threads of the block to the same epoch. Threads with equal clocks share one
//! object, because clocks are copied far more often than they change.
//!
//! Joining two clocks takes time in proportion to their sizes. This is often unnecessary. A published clock is a
//! [`Part`] that stores its *owner*, the publishing thread, and the owner's epoch. A thread that is ordered after the
//! end of this epoch knows all accesses that the owner knew then. A single comparison with the epoch therefore shows if
//! another clock includes the part. Parts that do not include each other are stored side by side, up to a limit.

use std::rc::Rc;

use super::block_clock::BlockClock;
use super::block_clock::ThreadEpoch;

/// The base-2 logarithm of the number of neighbouring blocks whose clocks a chunk holds.
const CHUNK_BITS: u32 = 5;
/// The maximum number of parts of a vector clock.
const PARTS: usize = 4;
/// The maximum number of owners of a part of a vector clock.
const OWNERS: usize = 8;

/// A chunk of a vector clock: the clocks of some neighbouring blocks, ordered by block.
#[derive(Clone, Debug)]
struct Chunk {
    number: u32,
    clocks: Rc<Vec<BlockClock>>,
}

/// A part of a vector clock: the clocks of some blocks, and the owners of the part.
#[derive(Clone, Debug, Default)]
struct Part {
    /// The owners: threads, each with its block and an epoch. Together the owners knew all accesses of the part before
    /// these epochs. A clock that has all these epochs therefore includes the part. The list is empty if the owners are
    /// unknown.
    of: Vec<(u32, ThreadEpoch)>,
    chunks: Vec<Chunk>,
}

impl Part {
    fn block(&self, block: u32) -> Option<&BlockClock> {
        let number = block >> CHUNK_BITS;
        let chunk = &self.chunks[self.chunks.binary_search_by_key(&number, |chunk| chunk.number).ok()?];
        let index = find(&chunk.clocks, block).ok()?;
        Some(&chunk.clocks[index])
    }

    /// Returns the epoch of `thread` of `block`: this part includes the thread's accesses in all earlier epochs.
    /// Returns 0 if this part includes no access of the thread.
    fn epoch(&self, block: u32, thread: u32) -> u32 {
        self.block(block).map_or(0, |clock| clock.epoch(thread))
    }

    /// Returns true if the owners of `other` prove that this part includes `other`, or both are of one block. If the
    /// result is false, this part may still include `other`.
    fn has(&self, other: &Self) -> bool {
        if other.of.is_empty() { self.has_block(other) } else { other.of.iter().all(|owner| self.knows(owner)) }
    }

    /// Returns true if both parts have the clock of one block only, and this part includes `other`.
    fn has_block(&self, other: &Self) -> bool {
        let ([mine], [others]) = (&*self.chunks, &*other.chunks) else { return false };
        match (&**mine.clocks, &**others.clocks) {
            ([mine], [others]) => mine.block == others.block && mine.has(others),
            _ => false,
        }
    }

    fn knows(&self, &(block, known): &(u32, ThreadEpoch)) -> bool {
        known.epoch <= self.epoch(block, known.thread)
    }

    fn add(&mut self, clock: BlockClock) {
        let number = clock.block >> CHUNK_BITS;
        match self.chunks.binary_search_by_key(&number, |chunk| chunk.number) {
            Err(index) => self.chunks.insert(index, Chunk { number, clocks: Rc::new(vec![clock]) }),
            Ok(index) => {
                let clocks = Rc::make_mut(&mut self.chunks[index].clocks);
                match find(clocks, clock.block) {
                    Ok(index) => clocks[index].join(&clock),
                    Err(index) => clocks.insert(index, clock),
                }
            }
        }
    }

    /// Adds to this part the accesses that `other` includes.
    fn join(&mut self, other: &Self) {
        if self.of.is_empty() || other.of.is_empty() {
            self.of.clear();
        } else {
            let of_other = other.of.iter().filter(|owner| !self.knows(owner)).copied().collect::<Vec<_>>();
            self.of.retain(|owner| !other.knows(owner) || other.of.contains(owner));
            self.of.extend(of_other);
            if self.of.len() > OWNERS {
                self.of.clear();
            }
        }
        for chunk in &other.chunks {
            match self.chunks.binary_search_by_key(&chunk.number, |chunk| chunk.number) {
                Ok(index) => join_chunks(&mut self.chunks[index].clocks, &chunk.clocks),
                Err(index) => self.chunks.insert(index, chunk.clone()),
            }
        }
    }
}

/// A vector clock for the threads of all blocks. An empty clock includes no accesses.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorClock([Option<Rc<Part>>; PARTS]);

impl VectorClock {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    #[inline]
    fn parts(&self) -> impl Iterator<Item = &Rc<Part>> {
        self.0.iter().map_while(Option::as_ref)
    }

    /// Returns true if both clocks are the same object. If the result is false, the clocks may still be equal.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|pair| match pair {
            (None, None) => true,
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            _ => false,
        })
    }

    /// Returns the epoch of `thread` of `block`: the clock includes the thread's accesses in all earlier epochs.
    /// Returns 0 if the clock includes no access of the thread.
    #[inline]
    pub(super) fn epoch(&self, block: u32, thread: u32) -> u32 {
        self.parts().map(|part| part.epoch(block, thread)).fold(0, u32::max)
    }

    /// Returns a mask of the 64 threads of `block` from thread `first` on. A thread's bit is 1 if the clock includes
    /// its accesses in `epoch`.
    pub(super) fn known_of_set(&self, block: u32, first: u32, epoch: u32) -> u64 {
        let clocks = self.parts().filter_map(|part| part.block(block));
        clocks.map(|clock| clock.known_of_set(first, epoch)).fold(0, |all, bits| all | bits)
    }

    /// Returns the latest epoch that the clock has for any thread of `block`.
    pub(super) fn highest(&self, block: u32) -> Option<u32> {
        self.parts().filter_map(|part| part.block(block)).map(BlockClock::highest).max()
    }

    /// Adds the accesses that `clock`, the clock of one block, includes.
    pub(super) fn add(&mut self, clock: BlockClock) {
        let part = Rc::make_mut(self.in_one_part());
        part.of.clear();
        part.add(clock);
    }

    /// Sets the owner of the clock. The clock must consist of exactly the accesses that the thread `known.thread` of
    /// `block` knew when it ended the epoch before `known.epoch`. Any other clock with this epoch is a copy of this
    /// clock, or of one that includes this clock.
    pub(super) fn is_of(&mut self, block: u32, known: ThreadEpoch) {
        let of = &mut Rc::make_mut(self.in_one_part()).of;
        of.clear();
        of.push((block, known));
    }

    /// Adds to this clock the accesses that `other` includes.
    pub(super) fn join(&mut self, other: &Self) {
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        other.parts().for_each(|part| self.join_part(part));
    }

    fn join_part(&mut self, part: &Rc<Part>) {
        if self.parts().any(|own| Rc::ptr_eq(own, part) || own.has(part)) {
            return;
        }
        let mut count = 0;
        for index in 0..PARTS {
            let own = self.0[index].take().filter(|own| !part.has(own));
            if own.is_some() {
                self.0[count] = own;
                count += 1;
            }
        }
        if count == PARTS {
            self.in_one_part();
            count = 1;
        }
        self.0[count] = Some(Rc::clone(part));
    }

    /// Joins all parts of the clock into one and returns it.
    fn in_one_part(&mut self) -> &mut Rc<Part> {
        let [first, others @ ..] = &mut self.0;
        let first = first.get_or_insert_default();
        // The first part is the largest, because other parts were joined to it before. The small parts are joined with
        // each other first.
        let others = others.iter_mut().map_while(Option::take).reduce(|mut all, part| {
            Rc::make_mut(&mut all).join(&part);
            all
        });
        if let Some(others) = others {
            Rc::make_mut(first).join(&others);
        }
        first
    }
}

/// Returns the index of `block` in `clocks`. The error is the index at which to insert `block`.
#[inline]
fn find(clocks: &[BlockClock], block: u32) -> Result<usize, usize> {
    clocks.binary_search_by_key(&block, |clock| clock.block)
}

/// Adds to `mine` the accesses that `others` include. Both lists are ordered by block.
fn join_chunks(mine: &mut Rc<Vec<BlockClock>>, others: &Rc<Vec<BlockClock>>) {
    let has_all = |all: &[BlockClock], others: &[BlockClock]| {
        others.iter().all(|clock| find(all, clock.block).is_ok_and(|index| all[index].has(clock)))
    };
    if Rc::ptr_eq(mine, others) || has_all(mine, others) {
        return;
    }
    if has_all(others, mine) {
        *mine = Rc::clone(others);
        return;
    }
    if let ([_], [other]) = (&***mine, &***others)
        && find(mine, other.block).is_ok()
    {
        return Rc::make_mut(mine)[0].merge(other);
    }
    let smaller =
        if mine.len() < others.len() { std::mem::replace(mine, Rc::clone(others)) } else { Rc::clone(others) };
    for clock in smaller.iter() {
        match find(mine, clock.block) {
            Ok(index) => Rc::make_mut(mine)[index].join(clock),
            Err(index) => Rc::make_mut(mine).insert(index, clock.clone()),
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
        clock.highest(block).map(|_| clock.epoch(block, thread))
    }

    /// Returns the clock that thread `thread` of block 3 publishes at the start of its epoch `epoch`. Before that, the
    /// thread knows the accesses in `known`.
    fn snapshot(known: &VectorClock, thread: u32, epoch: u32) -> VectorClock {
        let mut clock = known.clone();
        clock.add(BlockClock::new(3, 1, &[ThreadEpoch { thread, epoch }]));
        clock.is_of(3, ThreadEpoch { thread, epoch });
        clock
    }

    fn parts(clock: &VectorClock) -> usize {
        clock.0.iter().flatten().count()
    }

    #[test]
    fn a_threads_epoch_is_the_later_of_base_and_its_own() {
        let clock = one(3, 5, &[(2, 9), (7, 6)]);
        assert_eq!([0, 2, 7, 8].map(|thread| epoch(&clock, 3, thread)), [Some(5), Some(9), Some(6), Some(5)]);
        assert_eq!(epoch(&clock, 4, 0), None);
        assert_eq!(clock.highest(3), Some(9));
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

    #[test]
    fn a_clock_that_knows_an_owners_epoch_includes_its_clock() {
        let first = snapshot(&one(7, 5, &[]), 0, 4);
        let second = snapshot(&first, 1, 6);
        let mut joined = first.clone();
        joined.join(&second);
        assert!(joined.is_same(&second));
        joined.join(&first);
        assert!(joined.is_same(&second));
        // `third` is later than both.
        let third = snapshot(&joined, 0, 5);
        joined.join(&third);
        assert!(joined.is_same(&third) && epoch(&joined, 7, 9) == Some(5));
    }

    #[test]
    fn clocks_of_many_threads_are_joined_exactly() {
        let mut all = VectorClock::default();
        for thread in 0..40 {
            let before = all.clone();
            all.join(&snapshot(&one(thread + 10, 8, &[]), thread, thread + 2));
            assert!(parts(&all) <= PARTS);
            for other in 0..40 {
                let is_known = other <= thread;
                assert_eq!(epoch(&all, other + 10, 3), is_known.then_some(8));
                assert_eq!(all.epoch(3, other), if is_known { other + 2 } else { 1 });
            }
            assert_eq!(before.epoch(3, thread), u32::from(thread > 0));
        }
        assert_eq!(all.highest(3), Some(41));
    }
}
