//! Tuning constants. The attribute of a kernel repeats its `max_threads` as a literal.

use cuda_std::warp;

pub use crate::select::tuning::{SMALL, SMALLER};

/// The number of threads per block.
pub const THREADS: u32 = crate::select::tuning::THREADS;

/// The number of warps per block.
pub const WARPS: usize = (THREADS / warp::SIZE) as usize;

/// Returns the largest number of keys and values that a thread loads: 64 bytes of pairs of `bytes` bytes, but at least
/// 2 and at most 8.
pub const fn max_rows(bytes: usize) -> usize {
    match 64 / bytes {
        0 | 1 => 2,
        rows if rows > 8 => 8,
        rows => rows,
    }
}

/// Returns the number of elements in a tile of a kernel whose threads load `rows` keys and values each.
#[inline(always)]
pub const fn tile_elements(rows: usize) -> usize {
    THREADS as usize * rows
}
