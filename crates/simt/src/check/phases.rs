//! Records the accesses that named barriers and barriers in shared memory (`mbarrier`) order.
//!
//! An arrival releases the accesses that its thread knows. If all arrivals of a phase are joined one after the other,
//! a phase of `n` threads takes time in proportion to `n²`. Most threads know the same accesses, except their own. An
//! arrival therefore only notes its thread's epoch, and the end of the phase makes one clock from all of them.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::block_clock::{BlockClock, ThreadEpoch};
use super::clock::Clocks;
use super::vector_clock::VectorClock;

/// A barrier of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BarrierId {
    /// A named barrier, with its number.
    Named(usize),
    /// A barrier in shared memory, with its address.
    Shared(usize),
    /// The barrier of the cluster.
    Cluster,
}

/// The arrivals in a phase that has not ended.
#[derive(Default)]
struct Arrived {
    /// The accesses that the threads knew because of atomics, fences and barriers.
    known: VectorClock,
    /// The clock that was joined to `known` last.
    last: VectorClock,
    /// The latest base of the block at an arrival.
    base: u32,
    /// The epochs that the arrivals have begun.
    epochs: Vec<ThreadEpoch>,
}

impl Arrived {
    fn add(&mut self, clocks: &mut Clocks, thread: u32) {
        if clocks.has_joined_lanes(thread) {
            return self.known.join(&clocks.snapshot(thread));
        }
        let epoch = clocks.advance(thread);
        self.epochs.push(ThreadEpoch { thread, epoch });
        self.base = self.base.max(clocks.base());
        let known = &clocks.vectors(thread).known;
        if !known.is_same(&self.last) {
            self.known.join(known);
            self.last = known.clone();
        }
    }

    /// Returns the accesses before the arrivals, all of which were made by threads of `block`.
    fn into_clock(mut self, block: u32) -> VectorClock {
        if !self.epochs.is_empty() {
            self.epochs.sort_unstable_by_key(|known| (known.thread, Reverse(known.epoch)));
            self.epochs.dedup_by_key(|known| known.thread);
            self.known.add(BlockClock::new(block, self.base, &self.epochs));
        }
        self.known
    }
}

#[derive(Default)]
struct Phase {
    arrived: Arrived,
    /// The accesses that a wait for the last phase that has ended acquires.
    before: VectorClock,
}

/// The barriers of a block at which threads have arrived.
#[derive(Default)]
pub(super) struct Phases {
    /// The number of the block.
    block: u32,
    all: FxHashMap<BarrierId, Phase>,
}

impl Phases {
    /// Removes all barriers, before the block with the number `block` runs.
    pub(super) fn begin(&mut self, block: u32) {
        self.block = block;
        if !self.all.is_empty() {
            self.all.clear();
        }
    }

    /// Records that `thread` of the block of `clocks`, which may be another block of the cluster, arrives at `barrier`.
    pub(super) fn arrive(&mut self, clocks: &mut Clocks, thread: u32, barrier: BarrierId) {
        let arrived = &mut self.all.entry(barrier).or_default().arrived;
        if clocks.block == self.block {
            arrived.add(clocks, thread);
        } else {
            arrived.known.join(&clocks.snapshot(thread));
        }
    }

    /// Records that an asynchronous operation, whose end has the clock `end`, arrives at `barrier`.
    pub(super) fn arrive_agent(&mut self, end: &VectorClock, barrier: BarrierId) {
        self.all.entry(barrier).or_default().arrived.known.join(end);
    }

    /// Records the end of a phase of `barrier`, which is a barrier of `block`.
    pub(super) fn end_phase(&mut self, barrier: BarrierId, block: u32) {
        let Some(Phase { arrived, before }) = self.all.get_mut(&barrier) else { return };
        let clock = std::mem::take(arrived).into_clock(block);
        match barrier {
            BarrierId::Named(_) | BarrierId::Cluster => *before = clock,
            // Arrivals are updates of one word. They continue the release sequence of those in earlier phases.
            BarrierId::Shared(_) => before.join(&clock),
        }
    }

    /// Records that a thread arrives at the barrier of its cluster and orders no accesses. The other threads of the
    /// cluster then know that the block of `clocks` has begun.
    pub(super) fn arrive_relaxed(&mut self, clocks: &Clocks) {
        self.all.entry(BarrierId::Cluster).or_default().arrived.known.join(&clocks.beginning());
    }

    /// Returns the accesses before the arrivals of the threads of `block` at the barrier of its cluster, whose phase
    /// ends.
    pub(super) fn leave_cluster(&mut self, block: u32) -> VectorClock {
        let phase = self.all.get_mut(&BarrierId::Cluster);
        phase.map_or_else(VectorClock::default, |phase| std::mem::take(&mut phase.arrived).into_clock(block))
    }

    /// Sets the accesses that a wait at the barrier of the cluster acquires.
    pub(super) fn order_cluster(&mut self, all: &VectorClock) {
        self.all.entry(BarrierId::Cluster).or_default().before = all.clone();
    }

    /// Records that `thread` has waited for the end of a phase of `barrier`.
    pub(super) fn wait(&self, clocks: &mut Clocks, thread: u32, barrier: BarrierId) {
        if let Some(Phase { before, .. }) = self.all.get(&barrier).filter(|phase| !phase.before.is_empty()) {
            clocks.vectors_mut(thread).known.join(before);
        }
    }

    /// Records a plain store to `address`, which ends what a barrier there has ordered.
    pub(super) fn overwrite(&mut self, address: usize) {
        if !self.all.is_empty() {
            self.all.remove(&BarrierId::Shared(address));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u32 = 0;
    const ADDRESS: usize = 64;
    const BARRIER: BarrierId = BarrierId::Shared(ADDRESS);

    /// Threads 0 and 32 arrive at a barrier, a phase ends, and thread 64 waits. Returns whether it then knows the
    /// accesses of each of the two. The barrier is initialised again after the first `arrivals`, if there are so many.
    fn known_after(arrivals: usize) -> [bool; 2] {
        let (mut clocks, mut phases) = (Clocks::default(), Phases::default());
        clocks.begin(BLOCK, 96, false);
        phases.begin(BLOCK);
        let arriving = [0, 32].map(|thread| (thread, clocks.epoch(thread)));
        for (i, (thread, _)) in arriving.into_iter().enumerate() {
            if i == arrivals {
                phases.overwrite(ADDRESS);
            }
            phases.arrive(&mut clocks, thread, BARRIER);
        }
        phases.end_phase(BARRIER, BLOCK);
        if arrivals == arriving.len() {
            phases.overwrite(ADDRESS);
        }
        phases.wait(&mut clocks, 64, BARRIER);
        arriving.map(|(thread, epoch)| clocks.has_learnt(64, BLOCK, thread, epoch))
    }

    #[test]
    fn a_barrier_that_is_initialised_again_orders_nothing_from_before() {
        assert_eq!(known_after(usize::MAX), [true, true]);
        assert_eq!(known_after(1), [false, true]);
        assert_eq!(known_after(2), [false, false]);
    }
}
