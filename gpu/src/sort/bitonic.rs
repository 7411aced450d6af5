//! Bitonic, over a grid: Batcher's sorting network in global memory, one launch per step.
//!
//! The network merges sorted sequences of 1, 2, 4, … keys into sequences of twice the length. A merge first compares
//! each key of the first sequence with its mirror image in the second, and then keys at half of the distance, a
//! quarter, and so on. All comparisons put the lesser key first. Keys beyond the end would therefore never move, and
//! the number of keys need not be a power of two: comparisons with them are left out.
//!
//! The speed is limited by the log₂ n · (log₂ n + 1) / 2 launches, each of which reads and writes all keys.
//!
//! Sources: K. E. Batcher, "Sorting Networks and their Applications", AFIPS 1968; the CUDA sample `sortingNetworks`.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// Executes one step: compares the keys of each pair and puts the lesser first. If `keys` is not empty, the step
/// reads its keys there instead of in `keys_out`.
///
/// The host launches the steps of all merges, from width 1 on. `keys_out` must be as long as `keys`, if that is not
/// empty. Launch a one-dimensional grid with up to 256 threads per block.
#[kernel(max_threads = 256)]
pub fn sort_bitonic_step(keys: Global<u32>, keys_out: GlobalMut<u32>, distance: usize, is_mirrored: u32) {
    let (n, in_place) = (keys_out.len(), keys.is_empty());
    for i in thread::grid_stride(pairs(n)) {
        let (low, high) = pair(i, distance, is_mirrored != 0);
        if low < n {
            let a = if in_place { keys_out.load(low) } else { keys.load(low) };
            let b = match (high < n, in_place) {
                (true, true) => keys_out.load(high),
                (true, false) => keys.load(high),
                (false, _) => u32::MAX,
            };
            keys_out.store(low, a.min(b));
            if high < n {
                keys_out.store(high, a.max(b));
            }
        }
    }
}

/// Returns the number of pairs in a step over `n` keys, including those beyond the end.
#[inline(always)]
pub const fn pairs(n: usize) -> usize {
    n.next_power_of_two().div_ceil(2)
}

/// Returns the indices of pair `i`: `distance` apart, or mirrored in sequences of twice `distance` keys. `distance`
/// must be a power of two.
#[inline(always)]
pub const fn pair(i: usize, distance: usize, is_mirrored: bool) -> (usize, usize) {
    let (start, place) = ((i & !(distance - 1)) * 2, i & (distance - 1));
    (start + place, start + if is_mirrored { 2 * distance - 1 - place } else { distance + place })
}
