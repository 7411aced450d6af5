//! Tuning constants. The attribute of a kernel repeats its `max_threads` and `min_blocks` as literals.

use cuda_std::warp;

/// The number of threads per block of [`sort_one_sweep`](super::sort_one_sweep()).
pub const THREADS: u32 = 384;

/// The number of warps per block of [`sort_one_sweep`](super::sort_one_sweep()).
pub const WARPS: usize = (THREADS / warp::SIZE) as usize;

/// The number of earlier tiles whose states a thread of [`sort_one_sweep`](super::sort_one_sweep()) loads at once in
/// the look-back.
pub const LOOK_BACK: usize = 8;

/// The number of threads per block of [`sort_one_block`](super::sort_one_block()).
pub const ONE_BLOCK_THREADS: u32 = 512;

/// The number of warps per block of [`sort_one_block`](super::sort_one_block()).
pub const ONE_BLOCK_WARPS: usize = (ONE_BLOCK_THREADS / warp::SIZE) as usize;

/// The number of threads per block of [`sort_digit_counts`](super::sort_digit_counts()).
pub const COUNT_THREADS: u32 = 512;

/// The number of blocks per multiprocessor of [`sort_digit_counts`](super::sort_digit_counts()).
pub const COUNT_BLOCKS: u32 = 2;

/// The number of 16-byte vectors that a thread of [`sort_digit_counts`](super::sort_digit_counts()) loads at once.
pub const VECTORS: usize = 4;

/// The number of threads per block of the textbooks' rungs.
pub const BLOCK: u32 = 256;

/// Returns the number of items per thread of [`sort_one_sweep`](super::sort_one_sweep()) for keys of `key` bytes and
/// payloads of `payload` bytes, or 0 if the kernel is not built for them.
pub const fn items(key: usize, payload: usize) -> usize {
    match (key, payload) {
        (4, 0) => 17,
        (4, 8) | (8, 0) => 12,
        (8, 8) => 11,
        (4, 4) | (1 | 2, 0 | 4) => 10,
        (8, 4) => 8,
        (4 | 8, 16) => 7,
        _ => 0,
    }
}

/// The largest number of keys per thread of [`sort_one_block`](super::sort_one_block()). For more keys, many blocks are
/// faster.
pub const ONE_BLOCK_ITEMS: u32 = 16;

/// Returns true if [`sort_one_block`](super::sort_one_block()) is built for keys of `key` bytes and payloads of
/// `payload` bytes.
pub const fn sorts_in_one_block(key: usize, payload: usize) -> bool {
    matches!((key, payload), (1 | 2, 0) | (4 | 8, 0 | 4 | 8 | 16))
}
