//! Operations on a cluster: a block's position in its cluster, the cluster's barrier, and the shared memory of its
//! blocks.
//!
//! A cluster is a group of blocks that run at the same time, near each other on the GPU. The launch sets its size
//! (`LaunchConfig::cluster`), or the kernel does (`#[kernel(cluster = 4)]`). Without either, each block is a cluster of
//! its own, and all functions here work with one block.
//!
//! Clusters need a GPU of compute capability 9.0 or later, and PTX for sm_90. In older PTX each block is a cluster of
//! its own, and `launch` refuses clusters.
//!
//! ```
//! use cuda_std::{Global, GlobalMut, cluster, kernel, shared_array, thread};
//!
//! /// Writes the sum of the elements of each cluster to `sums`, one element per cluster. Launch blocks of 32 threads with
//! /// one element each.
//! #[kernel(max_threads = 32)]
//! pub fn cluster_sum(x: Global<u32>, sums: GlobalMut<u32>) {
//!     let total = shared_array![u32; 1];
//!     if thread::index_in_block() == 0 {
//!         total.store(0, 0);
//!     }
//!     // From here on, all blocks of the cluster have begun, and their totals are 0.
//!     cluster::sync();
//!     let first = cluster::map_shared(total, 0);
//!     first.atomic_add(0, x.load(thread::index_1d()));
//!     // All additions are done. No block ends before, so that the memory of the first one still exists.
//!     cluster::sync();
//!     if cluster::block_rank() == 0 && thread::index_in_block() == 0 {
//!         sums.store(cluster::cluster_idx_x() as usize, total.load(0));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! # Design
//!
//! The names are those of CUDA's cooperative groups. An arrival is a value that the wait consumes, so that a thread
//! cannot wait without having arrived.

mod view;

pub use view::ClusterShared;

use crate::thread::UVec3;
use crate::{DeviceCopy, Shared, backend};

/// The largest number of blocks per cluster that every GPU with clusters allows.
pub const MAX_PORTABLE_BLOCKS: u32 = 8;

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident $backend:ident)*) => {
        $($(#[$doc])* #[inline(always)] pub fn $name() -> u32 { backend::$backend() })*
    };
}

indices! {
    /// Returns the x index of the thread's cluster in the grid.
    cluster_idx_x cluster_idx_x
    /// Returns the y index of the thread's cluster in the grid.
    cluster_idx_y cluster_idx_y
    /// Returns the z index of the thread's cluster in the grid.
    cluster_idx_z cluster_idx_z
    /// Returns the number of clusters in the grid along x.
    grid_dim_x cluster_grid_dim_x
    /// Returns the number of clusters in the grid along y.
    grid_dim_y cluster_grid_dim_y
    /// Returns the number of clusters in the grid along z.
    grid_dim_z cluster_grid_dim_z
    /// Returns the x index of the thread's block in its cluster.
    block_idx_x cluster_block_idx_x
    /// Returns the y index of the thread's block in its cluster.
    block_idx_y cluster_block_idx_y
    /// Returns the z index of the thread's block in its cluster.
    block_idx_z cluster_block_idx_z
    /// Returns the number of blocks per cluster along x.
    dim_x cluster_dim_x
    /// Returns the number of blocks per cluster along y.
    dim_y cluster_dim_y
    /// Returns the number of blocks per cluster along z.
    dim_z cluster_dim_z
    /// Returns the linear index of the thread's block in its cluster, from 0 to [`num_blocks`] − 1, x fastest.
    #[doc(alias = "cluster_ctarank")]
    block_rank cluster_block_rank
    /// Returns the number of blocks per cluster.
    #[doc(alias = "dim_blocks")]
    num_blocks cluster_num_blocks
}

/// Returns the index of the thread's cluster in the grid.
#[inline(always)]
pub fn index() -> UVec3 {
    UVec3 { x: cluster_idx_x(), y: cluster_idx_y(), z: cluster_idx_z() }
}

/// Returns the number of clusters in the grid along each dimension.
#[inline(always)]
pub fn grid_dim() -> UVec3 {
    UVec3 { x: grid_dim_x(), y: grid_dim_y(), z: grid_dim_z() }
}

/// Returns the index of the thread's block in its cluster.
#[inline(always)]
pub fn block_index() -> UVec3 {
    UVec3 { x: block_idx_x(), y: block_idx_y(), z: block_idx_z() }
}

/// Returns the number of blocks per cluster along each dimension.
#[inline(always)]
pub fn dim() -> UVec3 {
    UVec3 { x: dim_x(), y: dim_y(), z: dim_z() }
}

/// Returns the thread's linear index in its cluster: the block's rank times the threads per block, plus
/// [`thread::index_in_block`](crate::thread::index_in_block).
#[inline(always)]
pub fn thread_rank() -> u32 {
    block_rank() * crate::thread::block_size() + crate::thread::index_in_block()
}

/// Returns the number of threads per cluster.
#[inline(always)]
pub fn num_threads() -> u32 {
    num_blocks() * crate::thread::block_size()
}

/// Returns true if the kernel can be launched with clusters of several blocks: in the simulator, and in PTX for sm_90
/// or later. The result is a constant.
#[inline(always)]
pub const fn is_available() -> bool {
    backend::HAS_CLUSTERS
}

/// A thread's arrival at the barrier of its cluster. The thread passes it to [`wait`].
#[derive(Debug)]
#[must_use = "pass it to `wait` before the next arrival; a thread that needs no wait drops it by `drop(…)`"]
pub struct Arrival(backend::ClusterArrival);

/// Waits until every thread of the cluster has arrived. Afterwards each thread sees all earlier writes of the other
/// threads, to shared and to global memory.
///
/// Every thread of the cluster must reach the barrier. The simulator reports threads that do not.
#[doc(alias = "barrier.cluster")]
#[inline(always)]
#[track_caller]
pub fn sync() {
    backend::cluster_sync();
}

/// Arrives at the barrier of the cluster without waiting. The thread does other work and [waits](wait) later. A thread
/// that has waited sees the writes that the others made before they arrived.
///
/// A thread must wait before it arrives again. The simulator reports a second arrival.
#[doc(alias = "barrier_arrive")]
#[inline(always)]
#[track_caller]
pub fn arrive() -> Arrival {
    Arrival(backend::cluster_arrive())
}

/// Arrives like [`arrive`], but orders no accesses (`.relaxed`). The threads that wait only know that this thread has
/// arrived, and so that its block has begun.
#[doc(alias = "barrier.cluster.arrive.relaxed")]
#[inline(always)]
#[track_caller]
pub fn arrive_relaxed() -> Arrival {
    Arrival(backend::cluster_arrive_relaxed())
}

/// Waits until every thread of the cluster has arrived, after this thread has arrived itself.
#[doc(alias = "barrier_wait")]
#[inline(always)]
#[track_caller]
pub fn wait(arrival: Arrival) {
    backend::cluster_wait(arrival.0);
}

/// Returns a view of the array of the block with the rank `rank` that corresponds to `array` in this block. The kernel
/// ends with an error if `rank` is not below [`num_blocks`].
///
/// The memory of another block exists from the block's beginning to its end. A [`sync`] must separate the first access
/// from the beginning of the kernel, and another one the last access from its end. The simulator reports an access that
/// may come too early or too late.
#[doc(alias = "map_shared_rank")]
#[doc(alias = "mapa")]
#[inline(always)]
#[track_caller]
pub fn map_shared<T: DeviceCopy>(array: Shared<T>, rank: u32) -> ClusterShared<T> {
    backend::check_cluster_rank(rank);
    // SAFETY: `check_cluster_rank` has checked the rank.
    unsafe { map_shared_unchecked(array, rank) }
}

/// Returns a view like [`map_shared`]. On a GPU the rank is not checked.
///
/// # Safety
/// `rank` must be below [`num_blocks`].
#[inline(always)]
#[track_caller]
pub unsafe fn map_shared_unchecked<T: DeviceCopy>(array: Shared<T>, rank: u32) -> ClusterShared<T> {
    // SAFETY: the array of the other block has the same length and alignment.
    unsafe { ClusterShared::from_raw_parts(backend::cluster_map(array.address_of(0), rank), array.len() as u32) }
}
