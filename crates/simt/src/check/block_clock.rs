//! The part of a vector clock for the threads of one block. Each thread counts epochs, as the module `clock` describes.

use std::rc::Rc;

use super::stamp::SET;

/// A thread of a block, with its epoch in a clock. The clock includes the thread's accesses in all earlier epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadEpoch {
    pub(super) thread: u32,
    pub(super) epoch: u32,
}

/// The threads whose epochs in a clock are later than the clock's base, ordered by thread.
#[derive(Clone, Debug)]
enum Extras {
    None,
    One(ThreadEpoch),
    Many(Rc<[ThreadEpoch]>),
}

/// The part of a vector clock for one block: an epoch for each thread of the block.
#[derive(Clone, Debug)]
pub(super) struct BlockClock {
    pub(super) block: u32,
    /// The epoch of all threads of the block that are not in `extras`.
    base: u32,
    /// The threads whose epoch is later than `base`.
    extras: Extras,
}

impl BlockClock {
    /// Makes the clock of `block`. All threads have the epoch `base`, except those in `extras`, ordered by thread.
    pub(super) fn new(block: u32, base: u32, extras: &[ThreadEpoch]) -> Self {
        let extras = match extras {
            [] => Extras::None,
            &[one] => Extras::One(one),
            many => Extras::Many(many.into()),
        };
        Self { block, base, extras }
    }

    #[inline]
    fn extras(&self) -> &[ThreadEpoch] {
        match &self.extras {
            Extras::None => &[],
            Extras::One(one) => std::slice::from_ref(one),
            Extras::Many(many) => many,
        }
    }

    /// Returns the epoch of `thread`: the clock includes the thread's accesses in all earlier epochs.
    #[inline]
    pub(super) fn epoch(&self, thread: u32) -> u32 {
        let extras = self.extras();
        match extras.binary_search_by_key(&thread, |known| known.thread) {
            Ok(index) => self.base.max(extras[index].epoch),
            Err(_) => self.base,
        }
    }

    /// Returns a mask of the 64 threads from thread `first` on. A thread's bit is 1 if the clock includes its accesses
    /// in `epoch`.
    pub(super) fn known_of_set(&self, first: u32, epoch: u32) -> u64 {
        if epoch < self.base {
            return u64::MAX;
        }
        let extras = self.extras();
        let of_set = &extras[extras.partition_point(|known| known.thread < first)..];
        let of_set = of_set.iter().take_while(|known| known.thread < first + SET);
        of_set.filter(|known| epoch < known.epoch).fold(0, |bits, known| bits | 1 << (known.thread - first))
    }

    /// Returns the latest epoch that the clock has for any thread.
    pub(super) fn highest(&self) -> u32 {
        self.extras().iter().map(|known| known.epoch).fold(self.base, u32::max)
    }

    /// Returns true if this clock includes all accesses that `other`, a clock of the same block, includes.
    pub(super) fn has(&self, other: &Self) -> bool {
        if let (Extras::Many(mine), Extras::Many(others)) = (&self.extras, &other.extras)
            && Rc::ptr_eq(mine, others)
        {
            return other.base <= self.base;
        }
        if other.base > self.base {
            return false;
        }
        if let [one] = other.extras() {
            return one.epoch <= self.epoch(one.thread);
        }
        let mut mine = self.extras();
        if is_of_same_threads(mine, other.extras()) {
            // No early exit, so that the compiler can vectorise the comparisons.
            let pairs = mine.iter().zip(other.extras());
            return pairs.fold(true, |all, (own, known)| all & (known.epoch <= own.epoch.max(self.base)));
        }
        other.extras().iter().all(|known| {
            while let [first, rest @ ..] = mine
                && first.thread < known.thread
            {
                mine = rest;
            }
            let own = mine.first().filter(|own| own.thread == known.thread);
            known.epoch <= own.map_or(0, |own| own.epoch).max(self.base)
        })
    }

    /// Adds to this clock every access that `other` includes. `other` must be a clock of the same block.
    pub(super) fn join(&mut self, other: &Self) {
        if self.has(other) {
            return;
        }
        if other.has(self) {
            *self = other.clone();
            return;
        }
        self.merge(other);
    }

    /// Joins two clocks like [`join`](Self::join) if neither clock includes the other.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.base <= self.base && self.raise(other.extras()) {
            return;
        }
        let base = self.base.max(other.base);
        let mut extras = Vec::with_capacity(self.extras().len() + other.extras().len());
        merge(self.extras(), other.extras(), &mut extras);
        extras.retain(|known| known.epoch > base);
        *self = Self::new(self.block, base, &extras);
    }

    /// Tries to raise, in place, the epochs of the threads in `others`. This is possible only if `extras` already lists
    /// all these threads. Otherwise changes nothing and returns false.
    fn raise(&mut self, others: &[ThreadEpoch]) -> bool {
        let Extras::Many(mine) = &mut self.extras else { return false };
        let Some(mine) = Rc::get_mut(mine) else { return false };
        if is_of_same_threads(mine, others) {
            mine.iter_mut().zip(others).for_each(|(own, known)| own.epoch = own.epoch.max(known.epoch));
            return true;
        }
        let &[ThreadEpoch { thread, epoch }] = others else { return false };
        let Ok(index) = mine.binary_search_by_key(&thread, |known| known.thread) else { return false };
        mine[index].epoch = mine[index].epoch.max(epoch);
        true
    }
}

fn is_of_same_threads(a: &[ThreadEpoch], b: &[ThreadEpoch]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(true, |all, (a, b)| all & (a.thread == b.thread))
}

/// Appends the threads of `a` and `b` to `into`, each with the later of its epochs. All three lists are ordered by
/// thread.
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
