//! Clusters: blocks that run at the same time, meet at the barrier of their cluster and access each other's shared
//! memory.
//!
//! # Design
//!
//! One OS thread runs all blocks of a cluster. A thread that waits at the cluster's barrier is in no queue of its
//! block. The last arrival wakes the waiting threads of all blocks. In a launch without clusters, a block is a cluster
//! of its own from its first call of these functions on.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use super::Block;
use crate::bulk::Operation;
use crate::faults::race::Element;
use crate::faults::remote::{ClusterMisuse, Lifetime, RemoteAccess};
use crate::faults::whereabouts::Whereabouts;
use crate::faults::{Fault, FaultKind};
use crate::geometry::Dim3;
use crate::lanes::{LANES, MAX_WARPS, Thread, bits};
use crate::source::Line;
use crate::synchronisations::SyncKind;
use crate::watch::{LateAccess, Touch, is_watching};

/// The maximum number of blocks per cluster: 16, the maximum of an H100.
pub(crate) const MAX_CLUSTER: u32 = 16;

/// The state that the blocks of a cluster share.
pub(crate) struct Cluster {
    /// The blocks by rank. The list is empty in a launch without clusters.
    members: RefCell<Vec<Weak<Block>>>,
    /// The number of threads of all blocks.
    threads: u32,
    /// The number of threads that have arrived in the current phase of the barrier.
    arrived: Cell<u32>,
    /// The number of phases that have ended.
    phase: Cell<u64>,
    /// The bulk copies that have begun and for whose end the issuing thread has not waited or that have no effect yet.
    pub(crate) pending: RefCell<Vec<Operation>>,
}

impl Cluster {
    /// Makes the cluster of `blocks` blocks of `threads` threads. Each block must [`join`](Block::join_cluster) it.
    pub(crate) fn new(blocks: u32, threads: u32) -> Self {
        let members: Vec<_> = (0..blocks).map(|_| Weak::new()).collect();
        Self {
            members: members.into(),
            threads: blocks * threads,
            arrived: Cell::new(0),
            phase: Cell::new(0),
            pending: RefCell::default(),
        }
    }

    /// Calls `f` with each block of the cluster, of which `own` is one.
    fn each(&self, own: &Block, mut f: impl FnMut(&Block)) {
        let members = self.members.borrow();
        if members.is_empty() {
            return f(own);
        }
        members.iter().filter_map(Weak::upgrade).for_each(|block| f(&block));
    }

    /// Returns the block of this rank, or `None` if the rank is out of range or the launch has no clusters.
    pub(crate) fn member(&self, rank: u32) -> Option<Rc<Block>> {
        self.members.borrow().get(rank as usize)?.upgrade()
    }
}

/// A block's part in its cluster.
#[derive(Default)]
pub(crate) struct Membership {
    cluster: RefCell<Option<Rc<Cluster>>>,
    rank: Cell<u32>,
    /// For each warp, the lanes that have arrived at the barrier and not waited yet.
    arrived: [Cell<u32>; MAX_WARPS],
    /// For each warp, the lanes that are suspended until the barrier's phase ends.
    waiting: [Cell<u32>; MAX_WARPS],
    /// For each warp, the lanes of `waiting` that have arrived and begun to wait by one call.
    synchronising: [Cell<u32>; MAX_WARPS],
    /// The source line of each thread's last arrival.
    lines: RefCell<Vec<Option<Line>>>,
    /// The last thread that began to wait, and its source line.
    at: Cell<Option<(Line, Thread)>>,
    /// True if all threads of the block synchronised in the last phase.
    was_whole: Cell<bool>,
    /// True if another block has accessed this block's shared memory.
    pub(crate) is_accessed: Cell<bool>,
    /// True if all threads of the block have exited.
    pub(crate) has_ended: Cell<bool>,
}

fn count(lanes: &[Cell<u32>]) -> u32 {
    lanes.iter().map(|lanes| lanes.get().count_ones()).sum()
}

impl Membership {
    /// Resets the state for another block.
    pub(super) fn begin(&self) {
        // Blocks that do not use their cluster end, too.
        self.has_ended.set(false);
        if self.cluster.take().is_some() {
            for lanes in [&self.arrived, &self.waiting, &self.synchronising] {
                lanes.iter().for_each(|lanes| lanes.set(0));
            }
            self.rank.set(0);
            self.lines.borrow_mut().clear();
            self.was_whole.set(false);
            self.is_accessed.set(false);
        }
    }

    /// Returns the number of threads of the block that wait at the barrier.
    pub(super) fn waiting(&self) -> u32 {
        count(&self.waiting)
    }

    /// Returns the mask of the lanes of `warp` that wait at the barrier.
    pub(super) fn waiting_lanes(&self, warp: usize) -> u32 {
        self.waiting[warp].get()
    }

    /// Returns true if `thread` waits at the barrier.
    pub(super) fn is_waiting(&self, thread: Thread) -> bool {
        self.waiting[thread.warp()].get() & thread.bit() != 0
    }

    /// Returns the source line at which `thread` has last arrived at the barrier.
    pub(super) fn line_of(&self, thread: Thread) -> Option<Line> {
        self.lines.borrow().get(thread.linear() as usize).copied().flatten()
    }

    /// Returns true if the cluster has more than one block.
    fn is_shared(&self) -> bool {
        self.cluster.borrow().as_ref().is_some_and(|cluster| !cluster.members.borrow().is_empty())
    }
}

impl Block {
    /// Makes this block the block with index `rank` of `cluster`.
    pub(crate) fn join_cluster(self: &Rc<Self>, cluster: &Rc<Cluster>, rank: u32) {
        cluster.members.borrow_mut()[rank as usize] = Rc::downgrade(self);
        *self.membership.cluster.borrow_mut() = Some(cluster.clone());
        self.membership.rank.set(rank);
    }

    pub(crate) fn cluster(&self) -> Rc<Cluster> {
        let mut cluster = self.membership.cluster.borrow_mut();
        let alone = || Cluster { members: RefCell::default(), ..Cluster::new(1, self.context.extent.threads) };
        cluster.get_or_insert_with(|| Rc::new(alone())).clone()
    }

    /// Returns the block's cluster if the launch has clusters or the block has used its own.
    #[inline]
    pub(crate) fn existing_cluster(&self) -> Option<Rc<Cluster>> {
        self.membership.cluster.borrow().clone()
    }

    /// Returns the block's rank in its cluster, with x varying fastest.
    pub(crate) fn cluster_rank(&self) -> u32 {
        self.membership.rank.get()
    }

    /// Returns true if threads of the block wait at the barrier of a cluster of several blocks and no other thread of
    /// the block can run.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_at_cluster_barrier(&self) -> bool {
        self.run_queue.is_idle() && self.membership.waiting() > 0 && self.membership.is_shared()
    }

    /// Makes the current thread arrive at the barrier of its cluster. Returns the number of the current phase, for
    /// [`wait_in_cluster`](Self::wait_in_cluster).
    pub(crate) fn arrive_in_cluster(&self, is_relaxed: bool, at: Line) -> u64 {
        let cluster = self.cluster();
        let phase = cluster.phase.get();
        if self.is_unwinding() {
            return phase;
        }
        self.note_arrival(at);
        if is_watching() {
            self.note_seen(at);
            if !self.leaves_out(SyncKind::Cluster, at) {
                self.notify(|watcher, block| watcher.cluster_arrival(block, block.thread(), is_relaxed));
            }
        }
        self.count_arrival(&cluster);
        phase
    }

    /// Makes the current thread wait for the end of the phase in which it has arrived.
    pub(crate) fn wait_in_cluster(&self, phase: u64, at: Line) {
        if self.is_unwinding() {
            return;
        }
        let (membership, thread) = (&self.membership, self.thread());
        let warp = thread.warp();
        if membership.arrived[warp].get() & thread.bit() == 0 {
            self.raise(FaultKind::ClusterMisuse(ClusterMisuse::WaitWithoutArrival), at);
        }
        if self.cluster().phase.get() == phase {
            if is_watching() {
                self.note_seen(at);
            }
            membership.at.set(Some((at, thread)));
            membership.waiting[warp].set(membership.waiting[warp].get() | thread.bit());
            self.suspend();
        }
        self.end_wait();
    }

    /// Makes the current thread wait until all threads of its cluster have reached the barrier.
    pub(crate) fn synchronize_cluster(&self, at: Line) {
        if self.is_unwinding() || self.leaves_out(SyncKind::Cluster, at) {
            return;
        }
        self.note_arrival(at);
        if is_watching() {
            self.note_seen(at);
        }
        let (membership, thread) = (&self.membership, self.thread());
        membership.at.set(Some((at, thread)));
        for lanes in [&membership.waiting, &membership.synchronising] {
            let lanes = &lanes[thread.warp()];
            lanes.set(lanes.get() | thread.bit());
        }
        self.count_arrival(&self.cluster());
        self.suspend();
        self.end_wait();
    }

    /// Notes that the current thread arrives at the line `at`. Reports a fault if it has not waited since it last
    /// arrived.
    fn note_arrival(&self, at: Line) {
        let (membership, thread) = (&self.membership, self.thread());
        let arrived = &membership.arrived[thread.warp()];
        let mut lines = membership.lines.borrow_mut();
        if arrived.get() & thread.bit() != 0 {
            let first = lines.get(thread.linear() as usize).copied().flatten().unwrap_or(at);
            drop(lines);
            self.raise(FaultKind::ClusterMisuse(ClusterMisuse::ArrivedTwice(Box::new(first.into()))), at);
        }
        arrived.set(arrived.get() | thread.bit());
        lines.resize(self.context.extent.threads as usize, None);
        lines[thread.linear() as usize] = Some(at);
    }

    fn end_wait(&self) {
        let arrived = &self.membership.arrived[self.thread().warp()];
        arrived.set(arrived.get() & !self.thread().bit());
        if is_watching() && !self.membership.was_whole.get() {
            self.notify(|watcher, block| watcher.cluster_wait(block));
        }
    }

    fn count_arrival(&self, cluster: &Cluster) {
        cluster.arrived.set(cluster.arrived.get() + 1);
        if cluster.arrived.get() == cluster.threads {
            cluster.arrived.set(0);
            cluster.phase.set(cluster.phase.get() + 1);
            if is_watching() {
                self.order_cluster(cluster);
            }
            cluster.each(self, Self::leave_cluster_barrier);
        }
    }

    /// Notifies the watcher that all threads of the cluster have arrived.
    fn order_cluster(&self, cluster: &Cluster) {
        let Some(watcher) = self.watcher() else { return };
        cluster.each(self, |block| {
            let membership = &block.membership;
            let is_whole = count(&membership.synchronising) == block.context.extent.threads;
            membership.was_whole.set(is_whole);
            // A thread that synchronises knows the same accesses now as when it arrived.
            for (warp, lanes) in membership.synchronising.iter().enumerate().filter(|_| !is_whole) {
                for lane in bits(lanes.get()) {
                    let thread = block.context.extent.thread(warp as u32 * LANES + lane as u32);
                    watcher.cluster_arrival(&block.context, thread, false);
                }
            }
        });
        let members: Vec<Rc<Block>> = cluster.members.borrow().iter().filter_map(Weak::upgrade).collect();
        let alone = members.is_empty().then_some(self);
        let blocks = members.iter().map(|block| &**block).chain(alone).filter(|one| !one.membership.has_ended.get());
        let line = |membership: &Membership| {
            let at = membership.at.get().filter(|_| membership.was_whole.get());
            at.map(|(at, _)| at)
        };
        let blocks: Vec<_> = blocks.map(|block| (&block.context, line(&block.membership))).collect();
        watcher.cluster_barrier(&blocks);
    }

    fn leave_cluster_barrier(&self) {
        let membership = &self.membership;
        for (warp, (waiting, synchronising)) in membership.waiting.iter().zip(&membership.synchronising).enumerate() {
            synchronising.set(0);
            let lanes = waiting.replace(0);
            if lanes != 0 {
                self.run_queue.wake(warp, lanes);
            }
        }
        self.counts.barriers.set(self.counts.barriers.get() + 1);
        self.turn.count_barrier();
        self.note_progress();
    }

    /// Returns the fault of a cluster none of whose threads can continue, because some of them wait at the cluster's
    /// barrier. Returns `None` if no thread of this block waits there.
    #[cold]
    pub(crate) fn cluster_deadlock(&self) -> Option<Fault> {
        if self.membership.waiting() == 0 {
            return None;
        }
        let (at, thread) = self.membership.at.get()?;
        let (mut waiting, mut exited) = (0, 0);
        let mut missing: Option<(Dim3, Box<Whereabouts>)> = None;
        self.cluster().each(self, |block| {
            waiting += count(&block.membership.waiting);
            exited += block.run_queue.exited();
            let is_absent = |thread: &Thread| block.membership.arrived[thread.warp()].get() & thread.bit() == 0;
            if missing.is_none() {
                let absent = block.context.extent.iter().find(is_absent);
                missing = absent.map(|thread| (block.context.index(), Box::new(block.whereabouts(thread))));
            }
        });
        let (block, missing) = missing.unwrap_or_else(|| (self.context.index(), Box::new(self.whereabouts(thread))));
        let kind = FaultKind::ClusterBarrierNotReached { waiting, exited, block, missing };
        Some(self.fault_of(thread, Some(at.into()), kind))
    }

    /// Reports a fault if `owner`, whose shared memory the current thread accesses, has ended.
    pub(crate) fn check_owner(&self, owner: &Self, touch: &Touch) {
        if owner.membership.has_ended.get() && !self.is_unwinding() {
            self.raise(owner.lost_access(touch, Lifetime::HasEnded), touch.at);
        }
    }

    /// Returns the fault of an access by another block to the shared memory of this block, which has ended, if nothing
    /// orders the access before its end.
    #[inline]
    pub(crate) fn access_after_end(&self) -> Option<Fault> {
        let late = if self.membership.is_accessed.get() { self.late_access() } else { None };
        late.or_else(|| self.end_products()).or_else(|| self.end_copies())
    }

    #[cold]
    #[inline(never)]
    fn late_access(&self) -> Option<Fault> {
        let LateAccess { block, thread, touch } = self.watcher()?.access_after_end(&self.context)?;
        let kind = self.lost_access(&touch, Lifetime::MayHaveEnded);
        let location = Some(touch.at.into());
        Some(Fault { block: Some(block), thread: Some(thread.index()), ..self.fault_of(thread, location, kind) })
    }

    /// Returns the fault for the access `touch` by another block to the shared memory of this block.
    #[cold]
    fn lost_access(&self, touch: &Touch, problem: Lifetime) -> FaultKind {
        let element = Element::in_shared(&self.context.arena, touch.address, touch.bytes);
        // The thread that ran last is the last one to exit.
        let last = Some(self.whereabouts(self.thread()));
        let (owner, access) = (self.context.index(), touch.access.into());
        FaultKind::RemoteAccess(Box::new(RemoteAccess { owner, element, access, problem, last }))
    }
}
