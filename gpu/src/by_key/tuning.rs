//! Tuning constants. The attribute of a kernel repeats its `max_threads` as a literal.

use cuda_std::warp;

/// The number of threads per block.
pub const THREADS: u32 = crate::select::tuning::THREADS;

/// The number of warps per block.
pub const WARPS: usize = (THREADS / warp::SIZE) as usize;

/// The largest number of bytes of keys and values for which a thread loads about half as many as usual. The tiles are
/// then smaller, so more multiprocessors have work.
pub const SMALL: usize = 1 << 20;

/// The largest number of bytes of keys and values for which a thread loads about a quarter as many as usual.
pub const SMALLER: usize = 1 << 17;

/// Returns the largest number of keys and values that a thread loads: 15 pairs of up to 8 bytes, 7 of up to 16 bytes,
/// and 120 bytes of larger pairs, but at least one. The number is odd.
pub const fn max_rows(bytes: usize) -> usize {
    match (bytes, 120 / bytes) {
        (..=8, _) => 15,
        (9..=16, _) => 7,
        (_, 0) => 1,
        (_, rows) => rows - (rows + 1) % 2,
    }
}

/// Returns the numbers of keys and values that a thread may load if it loads at most `max`: all, about half and about a
/// quarter. The numbers are odd.
pub const fn rows_of(max: usize) -> [usize; 3] {
    [max, (max / 2) | 1, (max / 4) | 1]
}

/// Returns the number of elements in a tile of a kernel whose threads load `rows` keys and values each.
#[inline(always)]
pub const fn tile_elements(rows: usize) -> usize {
    THREADS as usize * rows
}
