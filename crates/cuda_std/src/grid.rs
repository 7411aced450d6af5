//! Operations on the whole grid: its barrier, and the order of successive launches.
//!
//! # Design
//!
//! The driver provides one word of memory for the barrier to each cooperative launch. The protocol is that of CUDA's
//! cooperative groups: the word's highest bit flips when the last block arrives.

use crate::backend;

/// Waits until every thread of the grid has arrived. Afterwards each thread sees all earlier writes of the other
/// threads.
///
/// The launch must be cooperative (`LaunchConfig::cooperative`), so that all blocks run at the same time.
/// `Device::max_cooperative_blocks` returns the largest number of blocks. Every thread of the grid must reach the
/// barrier. The simulator reports blocks that do not reach it, and a launch that is not cooperative. A GPU hangs in the
/// first case and ends the kernel with an error in the second.
///
/// ```
/// use cuda_std::{GlobalMut, grid, kernel, thread};
///
/// /// `rounds` steps in one launch. Each step replaces an element by the sum of its two neighbours; the first and last
/// /// elements are neighbours. `a` and `b` have one element per thread.
/// #[kernel]
/// pub fn diffuse(rounds: u32, a: GlobalMut<u32>, b: GlobalMut<u32>) {
///     let (i, n) = (thread::index_1d(), a.len());
///     let (mut from, mut to) = (a, b);
///     for _ in 0..rounds {
///         to.store(i, from.load((i + 1) % n).wrapping_add(from.load((i + n - 1) % n)));
///         grid::sync();
///         (from, to) = (to, from);
///     }
/// }
/// # fn main() {}
/// ```
#[doc(alias = "grid_group::sync")]
#[inline(always)]
#[track_caller]
pub fn sync() {
    backend::sync_grid();
}

/// Waits until the previous launches in the same stream have ended and their writes are visible. A kernel that calls
/// this function may start while those launches still run.
///
/// Such an early start needs a GPU of compute capability 9.0 or later, PTX for it, and a launch outside of a graph. The
/// kernel then starts as soon as the previous kernel has called [`launch_dependents()`] or has no more blocks to start.
/// The launch, and the work before this call, overlap with the previous kernel. Without an early start, the kernel
/// starts when the previous kernel has ended, and this call does nothing.
///
/// Every thread must call this function before its first access to global memory. A checked device reports threads that
/// do not. Do not use `load_readonly` for data written by the previous launch, because that method requires memory that
/// is not written while the kernel runs.
///
/// ```
/// use cuda_std::{GlobalMut, grid, kernel, thread};
///
/// #[kernel]
/// pub fn increment(x: GlobalMut<u32>) {
///     grid::launch_dependents();
///     let i = thread::index_1d();
///     grid::wait_for_dependencies();
///     if i < x.len() {
///         x.store(i, x.load(i) + 1);
///     }
/// }
/// # fn main() {}
/// ```
#[doc(alias = "cudaGridDependencySynchronize")]
#[inline(always)]
#[track_caller]
pub fn wait_for_dependencies() {
    backend::wait_for_dependencies();
}

/// Allows the next launch in the same stream to start early if its kernel calls [`wait_for_dependencies()`]. The next
/// launch starts when all blocks of this launch have called this function or have ended. Its blocks use the resources
/// that this launch leaves free.
#[doc(alias = "cudaTriggerProgrammaticLaunchCompletion")]
#[inline(always)]
pub fn launch_dependents() {
    backend::launch_dependents();
}
