//! Where a thread stands in its block and grid, and the block's barrier.

use crate::backend;

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* #[inline(always)] pub fn $name() -> u32 { backend::$name() })*
    };
}

indices! {
    /// The thread's index in its block, x.
    thread_idx_x
    /// The thread's index in its block, y.
    thread_idx_y
    /// The thread's index in its block, z.
    thread_idx_z
    /// The block's index in the grid, x.
    block_idx_x
    /// The block's index in the grid, y.
    block_idx_y
    /// The block's index in the grid, z.
    block_idx_z
    /// Threads in a block along x.
    block_dim_x
    /// Threads in a block along y.
    block_dim_y
    /// Threads in a block along z.
    block_dim_z
    /// Blocks in the grid along x.
    grid_dim_x
    /// Blocks in the grid along y.
    grid_dim_y
    /// Blocks in the grid along z.
    grid_dim_z
}

/// An index or an extent in three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UVec3 {
    /// The dimension that varies fastest.
    pub x: u32,
    /// The second.
    pub y: u32,
    /// The third.
    pub z: u32,
}

macro_rules! triples {
    ($($(#[$doc:meta])* $name:ident $x:ident $y:ident $z:ident)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> UVec3 {
            UVec3 { x: $x(), y: $y(), z: $z() }
        }
    )*};
}

triples! {
    /// The thread's index in its block.
    #[doc(alias = "threadIdx")]
    thread_idx thread_idx_x thread_idx_y thread_idx_z
    /// The block's index in the grid.
    #[doc(alias = "blockIdx")]
    block_idx block_idx_x block_idx_y block_idx_z
    /// Threads in a block along each dimension.
    #[doc(alias = "blockDim")]
    block_dim block_dim_x block_dim_y block_dim_z
    /// Blocks in the grid along each dimension.
    #[doc(alias = "gridDim")]
    grid_dim grid_dim_x grid_dim_y grid_dim_z
}

/// A position in a two-dimensional grid of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index2d {
    /// `block_idx_x · block_dim_x + thread_idx_x`.
    pub x: usize,
    /// `block_idx_y · block_dim_y + thread_idx_y`.
    pub y: usize,
}

/// The thread's index in a one-dimensional grid: `block_idx_x · block_dim_x + thread_idx_x`, in 64 bits.
#[inline(always)]
pub fn index_1d() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// The thread's index in a two-dimensional grid, in 64 bits.
#[inline(always)]
pub fn index_2d() -> Index2d {
    Index2d { x: index_1d(), y: block_idx_y() as usize * block_dim_y() as usize + thread_idx_y() as usize }
}

/// A position in a three-dimensional grid of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index3d {
    /// `block_idx_x · block_dim_x + thread_idx_x`.
    pub x: usize,
    /// `block_idx_y · block_dim_y + thread_idx_y`.
    pub y: usize,
    /// `block_idx_z · block_dim_z + thread_idx_z`.
    pub z: usize,
}

/// The thread's index in a three-dimensional grid, in 64 bits.
#[inline(always)]
pub fn index_3d() -> Index3d {
    let Index2d { x, y } = index_2d();
    Index3d { x, y, z: block_idx_z() as usize * block_dim_z() as usize + thread_idx_z() as usize }
}

/// The thread's number in the grid, whatever its dimensions, in 64 bits: the blocks before its own, x fastest, times
/// the threads of a block, and its [`index_in_block`].
#[inline(always)]
pub fn index() -> usize {
    let blocks = (block_idx_z() as usize * grid_dim_y() as usize + block_idx_y() as usize) * grid_dim_x() as usize;
    (blocks + block_idx_x() as usize) * block_size() as usize + index_in_block() as usize
}

/// Whether it is the grid's first thread, of index 0 in all dimensions.
#[inline(always)]
pub fn first() -> bool {
    index() == 0
}

/// The thread's index within its block, x fastest: what `warp::lane_id` and the warps are counted by.
#[inline(always)]
pub fn index_in_block() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

/// Threads in a block.
#[inline(always)]
pub fn block_size() -> u32 {
    block_dim_x() * block_dim_y() * block_dim_z()
}

/// Waits until every thread of the block has come here; what each wrote before is then seen by all.
///
/// Every thread of the block must reach the same barrier. The simulator reports one that some never reach.
#[doc(alias = "__syncthreads")]
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    backend::sync_threads();
}

/// A barrier that also counts the threads for which `predicate` holds, and tells all of them.
#[doc(alias = "__syncthreads_count")]
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    backend::sync_threads_count(predicate)
}

/// A barrier that tells all threads whether `predicate` holds for every thread of the block.
#[doc(alias = "__syncthreads_and")]
#[inline(always)]
#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    backend::sync_threads_and(predicate)
}

/// A barrier that tells all threads whether `predicate` holds for some thread of the block.
#[doc(alias = "__syncthreads_or")]
#[inline(always)]
#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    backend::sync_threads_or(predicate)
}

/// Waits for about `nanos` nanoseconds, at most a millisecond, and lets others run: for a thread that waits for
/// another.
#[doc(alias = "__nanosleep")]
#[inline(always)]
#[track_caller]
pub fn nanosleep(nanos: u32) {
    backend::nanosleep(nanos);
}

/// Lanes in a warp, as [`warp::SIZE`](crate::warp::SIZE).
#[doc(alias = "warpSize")]
#[inline(always)]
pub fn warp_size() -> u32 {
    crate::warp::SIZE
}

// The fences under Rust-CUDA's names.
pub use crate::atomic::{fence as device_fence, fence as grid_fence, fence_system as system_fence};

/// The indices of `0..n` that are this thread's in a one-dimensional grid of any size: its own index, then one every
/// grid's width. Each index belongs to one thread, and neighbouring threads take neighbouring indices.
///
/// ```
/// # use cuda_std::{GlobalMut, kernel, thread};
/// #[kernel]
/// pub fn fill(y: GlobalMut<u32>, value: u32) {
///     for i in thread::grid_stride(y.len()) {
///         y.store(i, value);
///     }
/// }
/// # fn main() {}
/// ```
#[inline(always)]
pub fn grid_stride(n: usize) -> GridStride {
    GridStride { next: index_1d(), stride: grid_dim_x() as usize * block_dim_x() as usize, end: n }
}

/// As [`grid_stride`] along y: with both, any two-dimensional grid covers any `nx × ny` rectangle.
#[inline(always)]
pub fn grid_stride_y(n: usize) -> GridStride {
    GridStride { next: index_2d().y, stride: grid_dim_y() as usize * block_dim_y() as usize, end: n }
}

/// The indices of `0..n` that are this thread's in its block: its index in the block, then one every block's size.
#[inline(always)]
pub fn block_stride(n: usize) -> GridStride {
    GridStride { next: index_in_block() as usize, stride: block_size() as usize, end: n }
}

/// The iterator of [`grid_stride`], [`grid_stride_y`] and [`block_stride`], with 64-bit indices.
#[derive(Clone, Debug)]
pub struct GridStride {
    next: usize,
    stride: usize,
    end: usize,
}

impl Iterator for GridStride {
    type Item = usize;

    #[inline(always)]
    #[track_caller]
    fn next(&mut self) -> Option<usize> {
        let index = self.next;
        if !backend::branch(index < self.end) {
            return None;
        }
        // An index is below `end`, which is at most the length of something in memory, and a stride is below 2^42:
        // the sum stays far below 2^64.
        self.next = index.wrapping_add(self.stride);
        Some(index)
    }
}
