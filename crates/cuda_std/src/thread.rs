//! A thread's position in its block and grid, and the block's barrier.

use crate::backend;

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* #[inline(always)] pub fn $name() -> u32 { backend::$name() })*
    };
}

indices! {
    /// Returns the thread's x index in its block.
    thread_idx_x
    /// Returns the thread's y index in its block.
    thread_idx_y
    /// Returns the thread's z index in its block.
    thread_idx_z
    /// Returns the block's x index in the grid.
    block_idx_x
    /// Returns the block's y index in the grid.
    block_idx_y
    /// Returns the block's z index in the grid.
    block_idx_z
    /// Returns the number of threads per block along x.
    block_dim_x
    /// Returns the number of threads per block along y.
    block_dim_y
    /// Returns the number of threads per block along z.
    block_dim_z
    /// Returns the number of blocks in the grid along x.
    grid_dim_x
    /// Returns the number of blocks in the grid along y.
    grid_dim_y
    /// Returns the number of blocks in the grid along z.
    grid_dim_z
}

/// An index or an extent in three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UVec3 {
    /// The x component, which varies fastest.
    pub x: u32,
    /// The y component.
    pub y: u32,
    /// The z component.
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
    /// Returns the thread's index in its block.
    #[doc(alias = "threadIdx")]
    thread_idx thread_idx_x thread_idx_y thread_idx_z
    /// Returns the block's index in the grid.
    #[doc(alias = "blockIdx")]
    block_idx block_idx_x block_idx_y block_idx_z
    /// Returns the number of threads per block along each dimension.
    #[doc(alias = "blockDim")]
    block_dim block_dim_x block_dim_y block_dim_z
    /// Returns the number of blocks in the grid along each dimension.
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

/// Returns the thread's index in a one-dimensional grid in 64 bits: `block_idx_x · block_dim_x + thread_idx_x`.
#[inline(always)]
pub fn index_1d() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// Returns the thread's index in a two-dimensional grid in 64 bits.
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

/// Returns the thread's index in a three-dimensional grid in 64 bits.
#[inline(always)]
pub fn index_3d() -> Index3d {
    let Index2d { x, y } = index_2d();
    Index3d { x, y, z: block_idx_z() as usize * block_dim_z() as usize + thread_idx_z() as usize }
}

/// Returns the thread's linear index in a grid of any dimensions, in 64 bits. It is the block's linear index, x
/// fastest, times the threads per block, plus [`index_in_block`].
#[inline(always)]
pub fn index() -> usize {
    let blocks = (block_idx_z() as usize * grid_dim_y() as usize + block_idx_y() as usize) * grid_dim_x() as usize;
    (blocks + block_idx_x() as usize) * block_size() as usize + index_in_block() as usize
}

/// Returns true for the grid's first thread, whose index is 0 in all dimensions.
#[inline(always)]
pub fn first() -> bool {
    index() == 0
}

/// Returns the thread's linear index within its block, x fastest. Warps and lanes follow this order.
#[inline(always)]
pub fn index_in_block() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

/// Returns the number of threads per block.
#[inline(always)]
pub fn block_size() -> u32 {
    block_dim_x() * block_dim_y() * block_dim_z()
}

/// Waits until every thread of the block has arrived. Afterwards each thread sees all earlier writes of the other
/// threads.
///
/// Every thread of the block must reach the same barrier. The simulator reports a barrier that some threads never
/// reach.
#[doc(alias = "__syncthreads")]
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    backend::sync_threads();
}

/// Waits like [`sync_threads`] and returns the number of the block's threads for which `predicate` is true.
#[doc(alias = "__syncthreads_count")]
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    backend::sync_threads_count(predicate)
}

/// Waits like [`sync_threads`] and returns true if `predicate` is true for every thread of the block.
#[doc(alias = "__syncthreads_and")]
#[inline(always)]
#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    backend::sync_threads_and(predicate)
}

/// Waits like [`sync_threads`] and returns true if `predicate` is true for any thread of the block.
#[doc(alias = "__syncthreads_or")]
#[inline(always)]
#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    backend::sync_threads_or(predicate)
}

/// Waits for about `nanos` nanoseconds, at most a millisecond, while other threads run. Use this function in a loop
/// that polls.
#[doc(alias = "__nanosleep")]
#[inline(always)]
#[track_caller]
pub fn nanosleep(nanos: u32) {
    backend::nanosleep(nanos);
}

/// Returns the number of lanes in a warp, [`warp::SIZE`](crate::warp::SIZE).
#[doc(alias = "warpSize")]
#[inline(always)]
pub const fn warp_size() -> u32 {
    32
}

/// Returns true in one lane of the warp, which the hardware chooses, and false in all others. All 32 lanes of the warp
/// must call this function together.
///
/// The compiler then knows that the code that follows runs in one lane, and uses fewer instructions for it than after a
/// comparison of an index. In PTX before sm_90 and in the simulator it is the first lane.
#[doc(alias = "elect.sync")]
#[inline(always)]
#[track_caller]
pub fn elect_one() -> bool {
    backend::elect_one()
}

// Rust-CUDA's names for the fences.
pub use crate::atomic::{fence as device_fence, fence as grid_fence, fence_system as system_fence};

/// Returns an iterator over those indices of `0..n` that belong to this thread, in a one-dimensional grid of any size.
/// The first index is the thread's index in the grid, and the step is the number of threads in the grid. Each index
/// belongs to one thread, and neighbouring threads have neighbouring indices.
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

/// Returns an iterator like [`grid_stride`], but along y. With both, a two-dimensional grid of any size covers any `nx
/// × ny` rectangle.
#[inline(always)]
pub fn grid_stride_y(n: usize) -> GridStride {
    GridStride { next: index_2d().y, stride: grid_dim_y() as usize * block_dim_y() as usize, end: n }
}

/// Returns an iterator over those indices of `0..n` that belong to this thread, if its block divides them among its
/// threads. The first index is the thread's index in the block, and the step is the number of threads in the block.
#[inline(always)]
pub fn block_stride(n: usize) -> GridStride {
    GridStride { next: index_in_block() as usize, stride: block_size() as usize, end: n }
}

/// The iterator that [`grid_stride`], [`grid_stride_y`] and [`block_stride`] return, with 64-bit indices.
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
        // An index is below `end`, at most the length of an array in memory, and a stride is below 2^42. The sum is far
        // below 2^64.
        self.next = index.wrapping_add(self.stride);
        Some(index)
    }
}
