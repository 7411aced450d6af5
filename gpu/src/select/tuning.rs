//! Tuning constants. The attribute of a kernel repeats its `max_threads` as a literal.

use cuda_std::warp;

/// The number of threads per block of all kernels of select.
pub const THREADS: u32 = 256;

/// The number of warps per block of [`select_look_back`](super::select_look_back()).
pub const WARPS: usize = (THREADS / warp::SIZE) as usize;

/// The largest input in bytes for which a thread of the look-back kernel loads half as many elements as usual. The
/// tiles are then smaller, so more multiprocessors have work.
pub const SMALL: usize = 1 << 21;

/// The largest input in bytes for which a thread of the look-back kernel loads a quarter as many elements as usual.
pub const SMALLER: usize = 1 << 19;

/// Returns the largest number of elements of `bytes` bytes that a thread of the look-back kernel loads: 64 bytes of
/// them, but at least 1 and at most 16.
pub const fn max_rows(bytes: usize) -> usize {
    match 64 / bytes {
        0 => 1,
        rows if rows > 16 => 16,
        rows => rows,
    }
}

/// Returns the number of elements in a tile of the look-back kernel whose threads load `rows` elements each.
#[inline(always)]
pub const fn tile_elements(rows: usize) -> usize {
    THREADS as usize * rows
}
