//! The whole grid: a barrier of all blocks, and the launches before and after it.
//!
//! # Design
//!
//! The barrier is a word that the driver provides to a cooperative launch, with the protocol of CUDA's cooperative
//! groups: the word's highest bit turns when the last block has arrived.

use crate::backend;

/// Waits until every thread of the grid has come here; what each wrote before is then seen by all.
///
/// The launch must be cooperative (`LaunchConfig::cooperative`), which has all blocks run at the same time: there may
/// be no more than `Device::max_cooperative_blocks` gives. Every thread of the grid must reach the barrier. The
/// simulator reports blocks that do not, and a launch that is not cooperative; a GPU hangs in the first case, and ends
/// the kernel with an error in the second.
///
/// ```
/// use cuda_std::{GlobalMut, grid, kernel, thread};
///
/// /// `rounds` steps in which each element becomes the sum of its neighbours, with both ends joined; one launch. Both of `a` and
/// /// `b` have an element per thread.
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

/// Waits until the launches before in the same stream have ended, and what they wrote is seen: a kernel that calls it
/// may begin while they still run.
///
/// On GPUs of compute capability 9.0 and later, and PTX for them, such a kernel is launched as soon as the one before
/// allows it by [`launch_dependents()`], or has no more blocks to begin: the launch itself, and what the kernel does
/// before the call, then take no time of their own. Elsewhere, and in recorded graphs, it begins when the one before
/// has ended, and this does nothing.
///
/// Every thread calls it before its first access to global memory. A checked device reports a thread that does not.
/// What the launch before writes must not be read by `load_readonly`, which is for memory that nobody writes while the
/// kernel runs.
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

/// Allows the next launch in the same stream to begin, if its kernel [waits](wait_for_dependencies()) for this one:
/// when all blocks have called it or have ended. Its blocks take the room that those of this launch leave.
#[doc(alias = "cudaTriggerProgrammaticLaunchCompletion")]
#[inline(always)]
pub fn launch_dependents() {
    backend::launch_dependents();
}
