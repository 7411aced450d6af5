//! The whole grid: a barrier of all blocks.

use crate::backend;

/// Waits until every thread of the grid has come here; what each wrote before is then seen by all.
///
/// The launch must be cooperative (`LaunchConfig::cooperative`), which has all blocks run at the same time: there may be no more
/// than `Device::most_cooperative_blocks` gives. Every thread of the grid must reach the barrier. The simulator reports blocks
/// that do not, and a launch that is not cooperative; a GPU hangs in the first case, and ends the kernel with an error in the
/// second.
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
