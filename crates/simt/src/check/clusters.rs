//! Clusters: the order that their barriers give, and accesses to the shared memory of other blocks.
//!
//! A thread may access another block's shared memory only between the block's beginning and its end. The clock of a
//! block's first epoch, in which it makes no access, stands for its beginning. An access must happen before the end of
//! one of the owner's threads.

use rustc_hash::FxHashMap;

use super::clock::Clocks;
use super::phases::{BarrierId, Phases};
use super::resident::Resident;
use super::shadow::{Finding, PLAIN};
use super::stamp::Stamp;
use super::sync::Publications;
use super::vector_clock::VectorClock;
use super::{Checker, State, number};
use crate::block::context::BlockContext;
use crate::faults::FaultKind;
use crate::faults::race::Element;
use crate::faults::remote::{Lifetime, RemoteAccess};
use crate::source::Line;
use crate::watch::{Access, LateAccess, Next, Touch};

/// For each cluster, the accesses before the arrivals of blocks that have ended in a phase that has not. The two clocks
/// are those of the race detector and of the exploration of weak memory.
pub(super) type Departed = FxHashMap<u32, [VectorClock; 2]>;

impl Checker {
    /// Returns the number of the cluster of the block with the number `block`.
    pub(super) fn cluster_of(&self, block: u32) -> u32 {
        block / self.cluster_blocks
    }

    /// Checks the access `touch` of the current thread of `block` to the shared memory of `owner`.
    #[cold]
    pub(super) fn check_remote(
        &self,
        block: &BlockContext,
        owner: &BlockContext,
        touch: &Touch,
        is_first: bool,
    ) -> Next {
        let mut state = self.state.borrow_mut();
        let thread = block.thread().linear();
        let [accessor, owning] = [block, owner].map(|one| &state.residents[one.tag.get() as usize].clocks);
        if !accessor.knows_beginning(thread, owning) {
            let access = RemoteAccess {
                owner: owner.index(),
                element: Element::in_shared(&owner.arena, touch.address, touch.bytes),
                access: touch.access.into(),
                problem: Lifetime::MayNotHaveBegun,
                last: None,
            };
            return Next::Fault(Box::new(FaultKind::RemoteAccess(Box::new(access))));
        }
        let stamp = Stamp::new(accessor.block, thread, accessor.epoch(thread), 0, PLAIN);
        state.resident(owner).remote.insert((stamp.block, thread), (stamp, *touch));
        let finding = state.touch_remote(block, owner, touch);
        drop(state);
        match finding {
            Ok(()) => Next::Continue,
            Err(Finding::Uninitialised { .. }) if is_first => Next::LetOthersRun,
            Err(finding) => self.fault(block, owner, touch, finding),
        }
    }

    /// Returns an access by another block to the shared memory of `block`, whose threads have exited, if nothing orders
    /// it before the end of the block.
    pub(super) fn late_access(&self, block: &BlockContext) -> Option<LateAccess> {
        let mut state = self.state.borrow_mut();
        let Resident { clocks, remote, .. } = state.resident(block);
        let is_late = |(stamp, _): &&(Stamp, Touch)| !clocks.precedes_end(stamp.block, stamp.thread(), stamp.epoch);
        let (stamp, touch) = *remote.values().filter(is_late).min_by_key(|(stamp, _)| (stamp.block, stamp.thread()))?;
        drop(state);
        let (accessor, thread) = self.author(&stamp);
        Some(LateAccess { block: accessor, thread, touch })
    }
}

impl State {
    /// Checks an access to the shared memory of `owner` like [`touch`](Self::touch), and records it.
    fn touch_remote(&mut self, block: &BlockContext, owner: &BlockContext, touch: &Touch) -> Result<(), Finding> {
        self.exchange_memory(block, owner);
        let finding = self.touch(block, touch);
        self.exchange_memory(block, owner);
        if touch.access == Access::Arrive {
            let clocks = &self.residents[block.tag.get() as usize].clocks;
            self.publications.publish(clocks.block, clocks.epoch(block.thread().linear()));
        }
        finding
    }

    /// Exchanges the states of the shared memory of two blocks.
    fn exchange_memory(&mut self, block: &BlockContext, owner: &BlockContext) {
        let tags = [block, owner].map(|one| one.tag.get() as usize);
        if let Ok([resident, owner]) = self.residents.get_disjoint_mut(tags) {
            std::mem::swap(&mut resident.memory, &mut owner.memory);
        }
        if let Some(weak) = &mut self.weak {
            weak.exchange_memory(tags);
        }
    }

    /// Records that `thread` of `block` arrives at the barrier of its cluster.
    pub(super) fn arrive_in_cluster(&mut self, block: &BlockContext, thread: u32, is_relaxed: bool) {
        let Resident { memory, clocks, .. } = self.resident(block);
        arrive(clocks, &mut memory.phases, thread, is_relaxed);
        if is_relaxed {
            self.publish_initialised(block, thread);
        }
        if let Some(weak) = &mut self.weak {
            let (clocks, phases) = weak.meeting(block.tag.get());
            arrive(clocks, phases, thread, is_relaxed);
        }
    }

    /// Orders the accesses before a phase of the barrier of `cluster` before the later ones. See
    /// [`Watcher::cluster_barrier`](crate::watch::Watcher::cluster_barrier).
    pub(super) fn cluster_barrier(&mut self, blocks: &[(&BlockContext, Option<Line>)], cluster: u32) {
        let Self { residents, publications, weak, departed, .. } = self;
        let [departed, departed_weak] = departed.remove(&cluster).unwrap_or_default();
        let tags: Vec<(usize, bool)> =
            blocks.iter().map(|(block, line)| (block.tag.get() as usize, line.is_some())).collect();
        order(residents, |one| (&mut one.clocks, &mut one.memory.phases), publications, &tags, departed);
        if let Some(weak) = weak {
            weak.cluster_barrier(&tags, departed_weak);
        }
    }

    /// Keeps the arrivals of `block`, which ends, at the barrier of `cluster`.
    pub(super) fn depart(&mut self, block: &BlockContext, cluster: u32) {
        let own = self.resident(block).memory.phases.leave_cluster(number(block));
        if !own.is_empty() {
            let weak = self.weak.as_mut().map(|weak| weak.meeting(block.tag.get()).1.leave_cluster(number(block)));
            let departed = self.departed.entry(cluster).or_default();
            departed.iter_mut().zip([Some(own), weak]).for_each(|(all, own)| own.iter().for_each(|own| all.join(own)));
        }
    }
}

/// Orders the accesses before a phase of a cluster's barrier before the later ones. `blocks` are the indices of the
/// cluster's blocks in `residents`; the value of a block is true if all its threads synchronise. `all` are the accesses
/// of blocks that have ended.
pub(super) fn order<R>(
    residents: &mut [R],
    parts: impl Fn(&mut R) -> (&mut Clocks, &mut Phases),
    publications: &mut Publications,
    blocks: &[(usize, bool)],
    mut all: VectorClock,
) {
    for &(index, is_whole) in blocks {
        let (clocks, phases) = parts(&mut residents[index]);
        let mut own = phases.leave_cluster(clocks.block);
        if is_whole {
            clocks.barrier();
            clocks.publish_known(&mut own);
        }
        if let Some(highest) = own.highest(clocks.block) {
            publications.publish(clocks.block, highest);
        }
        all.join(&own);
    }
    for &(index, is_whole) in blocks {
        let (clocks, phases) = parts(&mut residents[index]);
        if is_whole { clocks.learn(&all) } else { phases.order_cluster(&all) }
    }
}

fn arrive(clocks: &mut Clocks, phases: &mut Phases, thread: u32, is_relaxed: bool) {
    if is_relaxed {
        phases.arrive_relaxed(clocks);
    } else {
        phases.arrive(clocks, thread, BarrierId::Cluster);
    }
}
