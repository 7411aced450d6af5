//! Bulk copies between global and shared memory, which one thread begins and which proceed while all threads do other
//! work (`cp.async.bulk`).
//!
//! A [`load`] arrives at a [`Barrier`] with its bytes. The thread that begins it, or another one, first announces the
//! bytes by [`Barrier::arrive_and_expect`]. The threads that wait for the barrier's phase then see the data. A
//! [`store`] belongs to a group of its thread: the thread calls [`commit`] and then [`wait_read`], before the shared
//! memory is written again, or [`wait`], before the data is read.
//!
//! Bulk copies access memory through the asynchronous proxy. Before a copy reads or overwrites what threads have
//! written, each writing thread calls [`barrier::fence_proxy_async`](crate::barrier::fence_proxy_async) and then
//! synchronises with the thread that begins the copy. After the wait for a copy no fence is needed.
//!
//! A copy has a multiple of 16 bytes, and both addresses are multiples of 16. A [`TensorMap`] copies boxes of a tensor.
//!
//! Bulk copies need a GPU of compute capability 9.0 or later, and PTX for sm_90. In older PTX they end the kernel with
//! an error. In the simulator a copy takes effect at once or as late as possible, depending on the order of threads,
//! and the checker reports accesses that are not ordered before or after it, and missing fences.
//!
//! ```
//! use cuda_std::barrier::{self, Barrier};
//! use cuda_std::{Global, GlobalMut, bulk, kernel, shared_array, thread};
//!
//! /// Doubles the elements of `x`: one block of 128 threads per 512 elements.
//! #[kernel(max_threads = 128)]
//! pub fn double(x: Global<f32>, y: GlobalMut<f32>) {
//!     let tile = shared_array![f32; 512];
//!     let full = Barrier::at(shared_array![u64; 1], 0);
//!     let (thread, first) = (thread::index_in_block() as usize, thread::block_idx_x() as usize * 512);
//!     if thread == 0 {
//!         full.init(1); // each phase has one arrival
//!         barrier::fence_init();
//!     }
//!     thread::sync_threads();
//!     if thread == 0 {
//!         let _ = full.arrive_and_expect(4 * 512);
//!         bulk::load(x.part(first, 512), tile, full);
//!     }
//!     full.wait_parity(false);
//!     for i in thread::block_stride(512) {
//!         tile.store(i, 2.0 * tile.load(i));
//!     }
//!     barrier::fence_proxy_async();
//!     thread::sync_threads();
//!     if thread == 0 {
//!         bulk::store(tile, y.part(first, 512));
//!         bulk::commit();
//!         bulk::wait_read::<0>();
//!     }
//! }
//! # fn main() {}
//! ```

mod reduction;
mod tensor_map;

pub use reduction::{Add, And, BulkNumber, Max, Min, NumberType, Or, Reduction, ReductionKind, Xor};
pub use tensor_map::{MAX_DIMENSIONS, TensorMap, TensorMapMut};

use crate::barrier::Barrier;
use crate::{Element, Global, GlobalMut, Shared, backend};

/// Ends the kernel if the two sides of a copy differ in length or if the copy has no multiple of 16 bytes. The
/// simulator checks the bytes and the addresses itself.
#[inline(always)]
#[track_caller]
fn check<T>(shared: Shared<T>, outside: usize, len: usize) -> u32
where
    T: Element,
{
    let bytes = (shared.len() * size_of::<T>()) as u32;
    if shared.len() != len {
        backend::unequal_lengths(shared.len(), len);
    }
    backend::check_bulk(shared.address_of(0), outside, bytes);
    bytes
}

/// Begins to copy all elements of `from` to `to`, which has the same length. The bytes arrive at `barrier`.
#[doc(alias = "cp.async.bulk.shared.global")]
#[inline(always)]
#[track_caller]
pub fn load<T: Element>(from: Global<'_, T>, to: Shared<T>, barrier: Barrier) {
    let bytes = check(to, from.as_ptr() as usize, from.len());
    // SAFETY: both sides have `bytes` bytes, and the addresses were checked.
    unsafe { backend::bulk_load(from.as_ptr().cast(), to.address_of(0), bytes, barrier.address(), None) }
}

/// Begins the same copy as [`load`], but from a buffer that the kernel also writes. Writes by threads need a
/// [proxy fence](crate::barrier::fence_proxy_async) before.
#[inline(always)]
#[track_caller]
pub fn load_written<T: Element>(from: GlobalMut<'_, T>, to: Shared<T>, barrier: Barrier) {
    // SAFETY: this is the same memory; the copy reads each element once.
    load(unsafe { Global::from_raw_parts(from.as_ptr(), from.len(), from.device()) }, to, barrier);
}

/// Begins to copy all elements of `from` to the array that corresponds to `to` in each block of the cluster whose rank
/// has a bit in `ranks`. In each of these blocks, the bytes arrive at the barrier that corresponds to `barrier`. One
/// copy from global memory serves all of them.
///
/// These blocks must have initialised their barriers, followed by [`barrier::fence_init`](crate::barrier::fence_init)
/// and a barrier of the cluster, and must not end before the copy.
#[doc(alias = "multicast::cluster")]
#[inline(always)]
#[track_caller]
pub fn load_multicast<T: Element>(from: Global<'_, T>, to: Shared<T>, barrier: Barrier, ranks: u16) {
    let bytes = check(to, from.as_ptr() as usize, from.len());
    // SAFETY: both sides have `bytes` bytes, and the addresses were checked.
    unsafe { backend::bulk_load(from.as_ptr().cast(), to.address_of(0), bytes, barrier.address(), Some(ranks)) }
}

/// Begins to copy all elements of `from` to the array that corresponds to `to` in the block of the cluster with the
/// rank `rank`. The bytes arrive at that block's barrier that corresponds to `barrier`.
///
/// The source must not be written before the copy has ended, which only the receiving block learns from its barrier.
#[doc(alias = "cp.async.bulk.shared::cluster.shared::cta")]
#[inline(always)]
#[track_caller]
pub fn send<T: Element>(from: Shared<T>, to: Shared<T>, barrier: Barrier, rank: u32) {
    let bytes = check(from, to.address_of(0) as usize, to.len());
    backend::check_cluster_rank(rank);
    // SAFETY: both sides have `bytes` bytes, and the addresses and the rank were checked.
    unsafe { backend::bulk_send(from.address_of(0), to.address_of(0), bytes, barrier.address(), rank) }
}

/// Begins to copy all elements of `from` to `to`, which has the same length, as part of the calling thread's next
/// group.
#[doc(alias = "cp.async.bulk.global.shared")]
#[inline(always)]
#[track_caller]
pub fn store<T: Element>(from: Shared<T>, to: GlobalMut<'_, T>) {
    let bytes = check(from, to.as_ptr() as usize, to.len());
    // SAFETY: both sides have `bytes` bytes, and the addresses were checked.
    unsafe { backend::bulk_store(from.address_of(0), to.as_ptr().cast(), bytes) }
}

/// Begins to combine all elements of `from` with those of `to`, which has the same length, as part of the calling
/// thread's next group. Each element is updated atomically for the device, in no particular order.
///
/// The first argument is the operation: [`Add`], [`Min`], [`Max`], [`And`], [`Or`] or [`Xor`]. An operation that the
/// hardware does not have for the type does not compile.
#[doc(alias = "cp.reduce.async.bulk")]
#[inline(always)]
#[track_caller]
pub fn reduce<T: BulkNumber, R: Reduction<T>>(_reduction: R, from: Shared<T>, to: GlobalMut<'_, T>) {
    let bytes = check(from, to.as_ptr() as usize, to.len());
    // SAFETY: both sides have `bytes` bytes, and the addresses were checked.
    unsafe { backend::bulk_reduce::<T, R>(from.address_of(0), to.as_ptr(), bytes) }
}

/// Prefetches all elements of `from` to the L2 cache, without an effect on results. The view begins at a multiple of 16
/// bytes and has a multiple of 16 bytes. The simulator does not prefetch.
#[doc(alias = "cp.async.bulk.prefetch")]
#[inline(always)]
#[track_caller]
pub fn prefetch<T: Element>(from: Global<'_, T>) {
    let bytes = (from.len() * size_of::<T>()) as u32;
    backend::check_bulk(0, from.as_ptr() as usize, bytes);
    // SAFETY: the view has `bytes` bytes, and the address was checked.
    unsafe { backend::bulk_prefetch(from.as_ptr().cast(), bytes) }
}

/// Puts all stores and reductions that the calling thread has begun since the last `commit` into one group.
#[doc(alias = "cp.async.bulk.commit_group")]
#[inline(always)]
#[track_caller]
pub fn commit() {
    backend::bulk_commit();
}

/// Waits until at most the last `PENDING` groups of the calling thread are still in progress. The elements of all
/// earlier groups are then in global memory, and this thread sees them.
#[doc(alias = "cp.async.bulk.wait_group")]
#[inline(always)]
#[track_caller]
pub fn wait<const PENDING: usize>() {
    backend::bulk_wait::<PENDING>();
}

/// Waits until all but the last `PENDING` groups of the calling thread have read their shared memory, which may then be
/// written again. The elements need not be in global memory yet.
#[doc(alias = "cp.async.bulk.wait_group.read")]
#[inline(always)]
#[track_caller]
pub fn wait_read<const PENDING: usize>() {
    backend::bulk_wait_read::<PENDING>();
}
