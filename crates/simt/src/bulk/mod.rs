//! Bulk copies between global and shared memory, which proceed while threads do other work (`cp.async.bulk`), with or
//! without a tensor map. All functions here panic outside of a kernel.
//!
//! # Design
//!
//! A copy is an agent of its own. The checker records its accesses when it begins: they race with all accesses that
//! neither precede its beginning nor follow its end. The effect on memory comes as a whole. In some schedules it comes
//! at once, and in the others when a thread reads the barrier or waits for the group.

pub(crate) mod agents;
mod checks;
mod operation;
mod tiling;
mod transactions;

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use bytemuck::Pod;
use rustc_hash::FxHashMap;

use self::agents::Agent;
pub use self::checks::prefetch;
use self::checks::{check, check_box};
pub(crate) use self::operation::{Kind, Operation};
use self::operation::{Target, with_member};
pub use self::tiling::{MAX_DIMENSIONS, Outside, Tiling};
use self::transactions::MAX_BYTES;
pub(crate) use self::transactions::TransactionCounts;
use crate::block::Block;
use crate::current::expect_current;
use crate::faults::bulk::BulkFault;
use crate::faults::{Fault, FaultKind};
use crate::source::Line;
use crate::synchronisations::SyncKind;
use crate::watch::is_watching;

/// Returns the word of a barrier whose bytes have all arrived, if no arrival is missing: the phase then ends. The
/// argument is the word before.
pub type EndOfPhase = fn(u64) -> Option<u64>;

/// A reduction: combines an element in memory and an element of the copy, both as the low bits of a word.
#[derive(Clone, Copy, Debug)]
pub struct Combine {
    /// The size of an element in bytes: 2, 4 or 8.
    pub element: usize,
    /// The function, whose first argument is the element in memory.
    pub f: fn(u64, u64) -> u64,
}

/// The state of a block's bulk copies.
#[derive(Default)]
pub(crate) struct BulkState {
    pub(crate) counts: TransactionCounts,
    /// The number of groups that each thread has committed.
    committed: RefCell<FxHashMap<u32, u64>>,
    /// The barriers that threads have initialised and not yet fenced, each with its thread.
    initialised: RefCell<Vec<(u32, usize)>>,
    /// True if the block has begun a copy.
    is_used: Cell<bool>,
}

impl BulkState {
    /// Resets the state for another block.
    pub(crate) fn begin(&self) {
        self.counts.begin();
        if !self.initialised.borrow().is_empty() {
            self.initialised.borrow_mut().clear();
        }
        if self.is_used.replace(false) {
            self.committed.borrow_mut().clear();
        }
    }
}

/// Begins to copy `outside`, which is in global memory, to the address `to` of shared memory. The bytes count as
/// arrivals at the barrier at the address `barrier`. With a mask of ranks, the copy goes to the same places in the
/// shared memory of each of these blocks of the cluster.
#[track_caller]
pub fn load(outside: Outside, to: u32, barrier: u32, ranks: Option<u16>, ends: EndOfPhase) {
    let (block, at) = (expect_current("bulk::load"), Location::caller());
    let own = block.cluster_rank();
    let ranks = ranks.map_or(1 << own, u32::from);
    let blocks = block.grid().config.cluster.count() as u32;
    if ranks == 0 || ranks >> blocks != 0 {
        block.raise(FaultKind::BulkCopy(BulkFault::Ranks { mask: ranks, blocks }), at);
    }
    let place = |rank: u32, address: u32| place_in(block, rank, address, at);
    let targets = (0..blocks).filter(|rank| ranks >> rank & 1 != 0).map(|rank| Target {
        rank,
        address: place(rank, to) as usize,
        barrier: place(rank, barrier),
    });
    begin(block, Kind::Load, outside, (0, targets.collect()), ends, at);
}

/// Begins to copy the bytes at the address `from` of shared memory to `outside`, which is in global memory, or to
/// combine them with the elements there. The copy belongs to the calling thread's next group.
#[track_caller]
pub fn store(from: u32, outside: Outside, combine: Option<Combine>) {
    let (block, at) = (expect_current("bulk::store"), Location::caller());
    if combine.is_some() {
        block.take_turn();
    }
    begin(block, Kind::Store(combine), outside, (from as usize, Vec::new()), |_| None, at);
}

/// Begins to copy `bytes` bytes at the address `from` of shared memory to the address `to` of the shared memory of the
/// block of the rank `rank`. The bytes count as arrivals at that block's barrier at the address `barrier`. `to` and
/// `barrier` are addresses in the caller's shared memory that correspond to those of the other block.
#[track_caller]
pub fn send(from: u32, bytes: usize, to: u32, barrier: u32, rank: u32, ends: EndOfPhase) {
    let (block, at) = (expect_current("bulk::send"), Location::caller());
    let [address, barrier] = [to, barrier].map(|address| place_in(block, rank, address, at));
    let outside = Outside::Linear { address: address as usize, bytes };
    let target = Target { rank, address: address as usize, barrier };
    begin(block, Kind::Send, outside, (from as usize, vec![target]), ends, at);
}

/// Returns the address in the shared memory of the block of the rank `rank` that corresponds to `address`.
fn place_in(block: &Block, rank: u32, address: u32, at: Line) -> u32 {
    let mapped = with_member(block, rank, |owner| block.context.arena.address_in(&owner.context.arena, address));
    match mapped {
        Some(Ok(address)) => address,
        Some(Err(exceeded)) => block.raise(exceeded.into(), at),
        None => {
            let blocks = block.grid().config.cluster.count() as u32;
            block.raise(FaultKind::ClusterMisuse(crate::ClusterMisuse::Rank { rank, blocks }), at)
        }
    }
}

/// Begins a copy. `source` is the address from which a store or a send reads, and `targets` are the blocks to which a
/// load or a send writes.
fn begin(
    block: &Block,
    kind: Kind,
    outside: Outside,
    (source, targets): (usize, Vec<Target>),
    ends: EndOfPhase,
    at: Line,
) {
    if let Outside::Tile(tiling, coordinates) = &outside {
        check_box(block, tiling, *coordinates, matches!(kind, Kind::Store(_)), at);
    }
    let reads = (!matches!(kind, Kind::Load)).then_some(source);
    let writes = targets.iter().map(|target| (target.rank, target.address));
    for (rank, address) in reads.map(|source| (block.cluster_rank(), source)).into_iter().chain(writes) {
        with_member(block, rank, |owner| check(block, owner, &outside, address, at));
    }
    if block.is_unwinding() {
        return;
    }
    block.context.bulk.is_used.set(true);
    let issuer = (block.cluster_rank(), block.thread());
    let agents = [Agent::default(); 2];
    let mut operation =
        Operation { kind, outside, source, targets, ends, issuer, at, group: None, is_done: false, agents };
    operation.announce(block);
    if block.grid().schedule.completes_early() {
        operation.complete(block);
    }
    if !operation.is_done || matches!(kind, Kind::Store(_)) {
        block.cluster().pending.borrow_mut().push(operation);
    }
}

/// Puts the stores that the calling thread has begun since the last call into one group.
#[track_caller]
pub fn commit() {
    let block = expect_current("bulk::commit");
    let thread = block.thread();
    let mut committed = block.context.bulk.committed.borrow_mut();
    block.context.bulk.is_used.set(true);
    let group = committed.entry(thread.linear()).or_default();
    if let Some(cluster) = block.existing_cluster() {
        let mut pending = cluster.pending.borrow_mut();
        let is_own = |operation: &&mut Operation| {
            operation.issuer == (block.cluster_rank(), thread) && matches!(operation.kind, Kind::Store(_))
        };
        pending.iter_mut().filter(is_own).for_each(|operation| {
            operation.group.get_or_insert(*group);
        });
    }
    *group += 1;
}

/// Waits until at most the last `allowed` groups of the calling thread are still in progress, or, with `only_reads`,
/// until all others have read their shared memory.
#[track_caller]
pub fn wait(allowed: usize, only_reads: bool) {
    let (block, at) = (expect_current("bulk::wait"), Location::caller());
    if block.is_unwinding() || block.leaves_out(SyncKind::BulkWait, at) {
        return;
    }
    let Some(cluster) = block.existing_cluster() else { return };
    let issuer = (block.cluster_rank(), block.thread());
    let committed = block.context.bulk.committed.borrow().get(&issuer.1.linear()).copied().unwrap_or(0);
    let is_covered = |operation: &mut Operation| {
        operation.issuer == issuer && operation.group.is_some_and(|group| group + (allowed as u64) < committed)
    };
    let mut covered: Vec<Operation> = cluster.pending.borrow_mut().extract_if(.., is_covered).collect();
    for operation in &mut covered {
        if matches!(operation.kind, Kind::Store(Some(_))) {
            block.take_turn();
        }
        operation.complete(block);
        let agent = operation.agents[usize::from(!only_reads)];
        block.notify(|watcher, context| watcher.join_agents(context, &[issuer.1], &[agent]));
        if !only_reads {
            operation.retire(block);
        }
    }
    if only_reads && is_watching() {
        cluster.pending.borrow_mut().extend(covered);
    }
}

/// Returns the word of the barrier at `address`, without an access that the checker sees.
#[track_caller]
pub fn peek(address: u32) -> u64 {
    let arena = &expect_current("bulk::peek").context.arena;
    if !address.is_multiple_of(8) || address as usize + size_of::<u64>() > arena.len() {
        return 0;
    }
    // SAFETY: the word is in the arena and aligned. Only this OS thread accesses the arena.
    crate::raw::guard::exempt(|| unsafe { arena.base().add(address as usize).cast::<u64>().read() })
}

/// Lets the copies take effect that arrive at the barrier at `address`. A thread calls this function before it reads
/// the barrier's word.
#[inline]
#[track_caller]
pub fn poll(address: u32) {
    let block = expect_current("bulk::poll");
    if let Some(cluster) = block.existing_cluster()
        && !cluster.pending.borrow().is_empty()
    {
        let rank = block.cluster_rank();
        let arrives = |target: &Target| (target.rank, target.barrier) == (rank, address);
        let is_of = |operation: &mut Operation| !operation.is_done && operation.targets.iter().any(arrives);
        let arriving: Vec<Operation> = cluster.pending.borrow_mut().extract_if(.., is_of).collect();
        arriving.into_iter().for_each(|mut operation| operation.complete(block));
    }
}

/// Notes that the calling thread initialises the barrier at `address`.
#[track_caller]
pub fn note_init(address: u32) {
    let block = expect_current("bulk::note_init");
    block.context.bulk.counts.forget(address);
    if is_watching() {
        block.context.bulk.initialised.borrow_mut().push((block.thread().linear(), address as usize));
    }
}

/// Returns true if the current phase of the barrier at `address` waits for bytes, or if more bytes than expected have
/// arrived.
#[track_caller]
pub fn is_outstanding(address: u32) -> bool {
    expect_current("bulk::is_outstanding").context.bulk.counts.outstanding(address) != 0
}

/// Returns the line at which the calling thread told the barrier at `address` to expect bytes in its current phase.
/// Returns `None` if another thread was the last to do so.
#[track_caller]
pub fn own_expectation(address: u32) -> Option<&'static Location<'static>> {
    let block = expect_current("bulk::own_expectation");
    block.context.bulk.counts.expected_by(address, block.thread())
}

/// Adds `bytes` bytes to those that the current phase of the barrier at `address` expects.
#[track_caller]
pub fn expect(address: u32, bytes: u32, ends: EndOfPhase) {
    let (block, at) = (expect_current("bulk::expect"), Location::caller());
    let count = block.context.bulk.counts.expect(address, bytes, block.thread(), at);
    if count > MAX_BYTES {
        block.raise(FaultKind::BulkCopy(BulkFault::TooManyBytes { count: count as u64 }), at);
    }
    settle(block, address, ends);
}

/// Ends the phase of the barrier at `barrier` of `owner` if all its bytes and arrivals have come.
fn settle(owner: &Block, barrier: u32, ends: EndOfPhase) {
    if owner.context.bulk.counts.outstanding(barrier) != 0 {
        return;
    }
    // SAFETY: the watcher or the kernel's first access has checked that the barrier is in the arena and aligned. Only
    // this OS thread accesses it.
    unsafe {
        let word = owner.context.arena.base().add(barrier as usize).cast::<u64>();
        if let Some(new) = ends(word.read()) {
            word.write(new);
            end_phase(owner, barrier);
        }
    }
}

/// Notes that a phase of the barrier at `barrier` of `owner` ends.
pub(crate) fn end_phase(owner: &Block, barrier: u32) {
    owner.context.bulk.counts.end_phase(barrier);
    owner.note_progress();
    if is_watching() {
        owner.notify(|watcher, context| watcher.end_phase(context, barrier as usize));
    }
}

/// Orders the calling thread's earlier accesses before those of asynchronous copies that begin later
/// (`fence.proxy.async`), those of shared memory alone if `is_shared` is true.
#[track_caller]
pub fn fence_proxy(is_shared: bool) {
    let block = expect_current("bulk::fence_proxy");
    if is_watching() && !block.leaves_out(SyncKind::ProxyFence, Location::caller()) {
        block.notify(|watcher, context| watcher.proxy_fence(context, is_shared));
    }
}

/// Makes the barriers that the calling thread has initialised known to asynchronous copies and, after a barrier of the
/// cluster, to the other blocks (`fence.mbarrier_init`).
#[track_caller]
pub fn fence_init() {
    let block = expect_current("bulk::fence_init");
    let thread = block.thread().linear();
    let own = block.context.bulk.initialised.borrow_mut().extract_if(.., |(by, _)| *by == thread).collect::<Vec<_>>();
    if is_watching() && !block.leaves_out(SyncKind::ProxyFence, Location::caller()) {
        let barriers: Vec<usize> = own.into_iter().map(|(_, address)| address).collect();
        block.notify(|watcher, context| watcher.init_fence(context, &barriers));
    }
}

impl Block {
    /// Ends the copies of this block, whose threads have exited. Returns the fault of a copy that may still access the
    /// block's shared memory.
    pub(crate) fn end_copies(&self) -> Option<Fault> {
        if !self.context.bulk.is_used.get() {
            return None;
        }
        if let Some((thread, at)) = self.watcher().and_then(|watcher| watcher.unfinished(&self.context)) {
            return Some(self.fault_of(thread, Some(at.into()), FaultKind::BulkCopy(BulkFault::NotWaited)));
        }
        let cluster = self.existing_cluster()?;
        let rank = self.cluster_rank();
        let is_own = |operation: &mut Operation| operation.issuer.0 == rank;
        let own: Vec<Operation> = cluster.pending.borrow_mut().extract_if(.., is_own).collect();
        own.into_iter().for_each(|mut operation| operation.complete(self));
        None
    }
}

/// Replaces the value at `ptr` with the result of `f` atomically.
///
/// # Safety
/// `ptr` must point to a value that is only accessed atomically, and be aligned to its size: 2, 4 or 8.
unsafe fn update<T: Pod>(ptr: *mut T, f: impl Fn(T) -> T) {
    macro_rules! update {
        ($Atomic:ty) => {{
            // SAFETY: the caller guarantees the memory and its alignment.
            let cell = unsafe { <$Atomic>::from_ptr(ptr.cast()) };
            cell.update(Ordering::Relaxed, Ordering::Relaxed, |old| bytemuck::cast(f(bytemuck::cast(old))));
        }};
    }
    crate::raw::guard::exempt(|| match size_of::<T>() {
        2 => update!(AtomicU16),
        4 => update!(AtomicU32),
        _ => update!(AtomicU64),
    });
}
