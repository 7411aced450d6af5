//! Clusters of blocks: a thread's position in its cluster, the cluster's barrier, and the shared memory of its blocks.
//! All functions here panic outside of a kernel.
//!
//! An address in the cluster's shared memory, which [`map`] returns, names a block and a byte of its shared memory.
//! Values are as in [`shared`](crate::shared). In a launch without clusters, each block is a cluster of its own.

use std::panic::Location;

use bytemuck::Pod;

use crate::block::Block;
use crate::current::expect_current;
use crate::faults::FaultKind;
use crate::faults::remote::ClusterMisuse;
use crate::geometry::Dim3;
use crate::memory::Scope;
use crate::observe::{observe, observe_remote, takes_value, value_read};
use crate::region::{ArrayPosition, Space};
use crate::source::Line;
use crate::watch::{Access, MemoryOrder, Touch, is_watching};

/// The position of the block's rank plus 1 in an address. The lower bits are the address in the block's shared memory.
const RANK_SHIFT: u32 = 24;
const ADDRESS: u32 = (1 << RANK_SHIFT) - 1;

fn over(a: Dim3, b: Dim3, f: impl Fn(u32, u32) -> u32) -> Dim3 {
    Dim3::new(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z))
}

/// Returns the extent of each cluster, in blocks.
#[track_caller]
pub fn dim() -> Dim3 {
    expect_current("cluster::dim").grid().config.cluster
}

/// Returns the extent of the grid, in clusters.
#[track_caller]
pub fn grid_dim() -> Dim3 {
    over(crate::thread::grid_dim(), dim(), |grid, cluster| grid / cluster)
}

/// Returns the index of the thread's cluster in the grid.
#[track_caller]
pub fn cluster_idx() -> Dim3 {
    over(crate::thread::block_idx(), dim(), |block, cluster| block / cluster)
}

/// Returns the index of the thread's block in its cluster.
#[track_caller]
pub fn block_idx() -> Dim3 {
    over(crate::thread::block_idx(), dim(), |block, cluster| block % cluster)
}

/// Returns the linear index of the thread's block in its cluster, with x varying fastest.
#[track_caller]
pub fn block_rank() -> u32 {
    expect_current("cluster::block_rank").cluster_rank()
}

/// Arrives at the barrier of the cluster, without waiting. Returns the number of the barrier's phase, for [`wait`]. The
/// arrival orders no accesses if `is_relaxed` is true.
///
/// It is a fault if the thread has arrived before without waiting.
#[track_caller]
pub fn arrive(is_relaxed: bool) -> u64 {
    expect_current("cluster::arrive").arrive_in_cluster(is_relaxed, Location::caller())
}

/// Waits until all threads of the cluster have arrived in the phase number `phase`, in which the thread has arrived.
///
/// It is a fault if some threads of the cluster never arrive, or if the thread has not arrived.
#[track_caller]
pub fn wait(phase: u64) {
    expect_current("cluster::wait").wait_in_cluster(phase, Location::caller());
}

/// Waits until all threads of the cluster have reached this barrier. It is a fault if some of them never reach it.
#[track_caller]
pub fn sync() {
    expect_current("cluster::sync").synchronize_cluster(Location::caller());
}

/// Returns the address in the cluster's shared memory of the array element that has the address `address` in the
/// caller's shared memory. The result addresses this element of the block with the rank `rank`. A rank out of range is
/// a fault.
#[track_caller]
pub fn map(address: u32, rank: u32) -> u32 {
    let (block, at) = (expect_current("cluster::map"), Location::caller());
    let cluster = block.cluster();
    let member = cluster.member(rank);
    let owner = match &member {
        Some(member) => member,
        None if rank == block.cluster_rank() => block,
        None => {
            let blocks = block.grid().config.cluster.count() as u32;
            block.raise(FaultKind::ClusterMisuse(ClusterMisuse::Rank { rank, blocks }), at)
        }
    };
    match block.context.arena.address_in(&owner.context.arena, address) {
        Ok(address) => (rank + 1) << RANK_SHIFT | address,
        Err(exceeded) => block.raise(exceeded.into(), at),
    }
}

/// Loads the value at `address`. A misaligned or unallocated address is a fault. It is also a fault if the block of the
/// address has ended, and in a checked launch, if nothing orders the access between the beginning and the end of that
/// block.
#[track_caller]
pub fn load<T: Pod>(address: u32) -> T {
    load_at(address, Location::caller())
}

/// Loads the value at `address` like [`load`]. Faults name `at` as the source line of the access.
pub fn load_at<T: Pod>(address: u32, at: &'static Location<'static>) -> T {
    let pointer = access::<T>(Access::Load, address, at);
    // SAFETY: `access` has checked that the value is in an arena and aligned to its size. Only this OS thread accesses
    // the arenas of the cluster's blocks, which live as long as the cluster. Any bytes are a valid `Pod` value.
    unsafe { pointer.read() }
}

/// Stores `value` at `address`. Faults as [`load`] does.
#[track_caller]
pub fn store<T: Pod>(address: u32, value: T) {
    store_at(address, value, Location::caller());
}

/// Stores `value` at `address` like [`store`]. Faults name `at` as the source line of the access.
pub fn store_at<T: Pod>(address: u32, value: T, at: &'static Location<'static>) {
    let pointer = access::<T>(Access::Store, address, at);
    // SAFETY: `access` has checked that the value is in a living arena and aligned. Only this OS thread accesses it.
    unsafe { pointer.write(value) }
}

/// Loads the value at `address` atomically for the threads of `scope`. The load is acquiring if `acquires` is true. A
/// thread may call this function repeatedly to wait for another thread's write. Faults as [`load`] does.
#[track_caller]
pub fn load_scoped<T: Pod>(address: u32, acquires: bool, scope: Scope) -> T {
    load_scoped_at(address, acquires, scope, Location::caller())
}

/// Loads the value at `address` like [`load_scoped`]. Faults name `at` as the source line of the access.
pub fn load_scoped_at<T: Pod>(address: u32, acquires: bool, scope: Scope, at: &'static Location<'static>) -> T {
    expect_current("cluster::load_scoped").poll_for(Space::Global, key(address), at);
    let pointer = access::<T>(Access::AtomicLoad(memory_order(acquires), scope), address, at);
    // SAFETY: `access` has checked that the value is in a living arena and aligned. Only this OS thread accesses it.
    value_read(unsafe { pointer.read() })
}

/// Stores `value` at `address` atomically for the threads of `scope`. The store is releasing if `releases` is true.
/// Faults as [`load`] does.
#[track_caller]
pub fn store_scoped<T: Pod>(address: u32, value: T, releases: bool, scope: Scope) {
    store_scoped_at(address, value, releases, scope, Location::caller());
}

/// Stores `value` at `address` like [`store_scoped`]. Faults name `at` as the source line of the access.
pub fn store_scoped_at<T: Pod>(address: u32, value: T, releases: bool, scope: Scope, at: &'static Location<'static>) {
    let pointer = access::<T>(Access::AtomicStore(memory_order(releases), scope), address, at);
    // SAFETY: `access` has checked that the value is in a living arena and aligned. Only this OS thread accesses it.
    if takes_value(|| unsafe { pointer.read() }, value) {
        // SAFETY: as for the read.
        unsafe { pointer.write(value) };
    }
    note_write(address, at);
}

/// Replaces the value at `address` with the result of `f`, atomically for the threads of `scope`, and returns the old
/// value. Faults as [`load`] does.
#[track_caller]
pub fn update_scoped<T: Pod>(address: u32, scope: Scope, f: impl FnOnce(T) -> T) -> T {
    let at = Location::caller();
    let pointer = access::<T>(Access::Update(scope), address, at);
    // SAFETY: `access` has checked that the value is in a living arena and aligned. Only this OS thread accesses it.
    let newest = unsafe { pointer.read() };
    let old = value_read(newest);
    let new = f(old);
    if takes_value(|| newest, new) {
        // SAFETY: as for the read.
        unsafe { pointer.write(new) };
    }
    if bytemuck::bytes_of(&old) == bytemuck::bytes_of(&new) {
        expect_current("cluster::update_scoped").poll_for(Space::Global, key(address), at);
    } else {
        note_write(address, at);
    }
    old
}

/// Makes the calling thread arrive at the `mbarrier` at `address`, like [`shared::arrive`](crate::shared::arrive). `f`
/// is also given true if the barrier's phase waits for bytes. Faults as [`load`] does.
#[track_caller]
pub fn arrive_at_barrier(address: u32, f: impl FnOnce(u64, bool) -> (u64, bool)) -> u64 {
    let (block, at) = (expect_current("cluster::arrive_at_barrier"), Location::caller());
    let pointer = access::<u64>(Access::Arrive, address, at);
    with_owner(block, address, at, |owner, start| {
        let bulk = &owner.context.bulk;
        // SAFETY: `access` has checked that the value is in a living arena and aligned. Only this OS thread accesses
        // it.
        let old = unsafe { pointer.read() };
        let (new, is_over) = f(old, bulk.counts.outstanding(start as u32) != 0);
        // SAFETY: as for the read.
        unsafe { pointer.write(new) };
        owner.note_progress();
        block.note_write(at);
        if is_over {
            crate::bulk::end_phase(owner, start as u32);
        }
        old
    })
}

fn memory_order(is_strong: bool) -> MemoryOrder {
    if is_strong { MemoryOrder::AcquireRelease } else { MemoryOrder::Relaxed }
}

/// Returns a number for `address` that is no address in global memory. Reports of waiting threads compare it.
fn key(address: u32) -> usize {
    address as usize
}

fn note_write(address: u32, at: Line) {
    let block = expect_current("cluster::note_write");
    if is_watching() {
        block.note_change(Space::Global, key(address), at);
    }
    block.note_write(at);
}

/// Ends the launch with a fault at the caller's line. The fault is an out-of-bounds access to element `index` of a view
/// of `len` elements that begins at address `view`.
#[cold]
#[track_caller]
pub fn out_of_bounds(view: u32, index: usize, len: usize) -> ! {
    let (block, at) = (expect_current("cluster::out_of_bounds"), Location::caller());
    let (array, element_type) =
        with_owner(block, view, at, |owner, start| owner.context.arena.array_of_view(start, len));
    block.raise(FaultKind::OutOfBounds { space: Space::Shared, array, element_type, index, len }, at)
}

/// Calls `f` with the block that owns the shared memory at `address`, and the address there. If no such block exists,
/// reports a fault.
fn with_owner<R>(block: &Block, address: u32, at: Line, f: impl FnOnce(&Block, usize) -> R) -> R {
    let (rank, start) = ((address >> RANK_SHIFT).wrapping_sub(1), (address & ADDRESS) as usize);
    if rank == block.cluster_rank() {
        return f(block, start);
    }
    let member = block.cluster().member(rank);
    match member {
        Some(owner) => f(&owner, start),
        None => {
            let blocks = block.grid().config.cluster.count() as u32;
            block.raise(FaultKind::ClusterMisuse(ClusterMisuse::Rank { rank, blocks }), at)
        }
    }
}

/// Checks an access to a `T` at `address`, notifies the watcher, and returns the host pointer to the value.
fn access<T: Pod>(access: Access, address: u32, at: Line) -> *mut T {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16), "shared memory holds values of 1, 2, 4, 8 or 16 bytes") };
    let (block, bytes) = (expect_current("cluster::access"), size_of::<T>());
    with_owner(block, address, at, |owner, address| {
        let arena = &owner.context.arena;
        if !address.is_multiple_of(bytes) {
            let element = arena.locate(address, bytes).and_then(ArrayPosition::named).map(Box::new);
            block.raise(FaultKind::Misaligned { space: Space::Shared, element, address, size: bytes }, at);
        }
        let len = arena.len();
        if len < bytes || address > len - bytes {
            let space = Space::Shared;
            block.raise(FaultKind::OutOfBounds { space, array: None, element_type: None, index: address, len }, at);
        }
        let touch = Touch { space: Space::Shared, access, address, bytes, at };
        if std::ptr::eq(owner, block) {
            observe(touch)
        } else {
            observe_remote(block, owner, &touch)
        }
        // SAFETY: the arena has at least `len` bytes.
        unsafe { arena.base().add(address).cast() }
    })
}
