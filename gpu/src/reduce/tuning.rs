//! Tuning constants of the rungs. The attribute of a kernel repeats its `max_threads` as a literal.

/// The number of items per thread in [`reduce_unrolled_last_warp()`](super::reduce_unrolled_last_warp()) and
/// [`reduce_completely_unrolled()`](super::reduce_completely_unrolled()). The distance between two items of a thread is
/// the number of threads per block.
pub const BLOCKS_ON_LOAD: usize = 8;

/// The number of items per thread of [`reduce_shuffle()`](super::reduce_shuffle()): one item per row.
pub const ROWS: usize = 8;

/// The number of 16-byte loads that a thread of [`reduce_grid_stride()`](super::reduce_grid_stride()) has in flight.
pub const LOADS: usize = 4;

/// The number of threads per block of [`reduce_one_tile()`](super::reduce_one_tile()).
pub const ONE_TILE_BLOCK: u32 = 256;

/// The number of threads per block of the reduction kernels that need several launches.
pub const BLOCK: u32 = 256;

/// The number of threads per block of [`reduce_grid_stride()`](super::reduce_grid_stride()). Larger blocks leave fewer
/// partial results for the last block.
pub const GRID_STRIDE_BLOCK: u32 = 512;

/// Returns the number of blocks of [`reduce_grid_stride()`](super::reduce_grid_stride()) per multiprocessor for an
/// input of `bytes` bytes. This is the number of blocks that run on a multiprocessor at once with 32 registers per
/// thread. For inputs of 4 GiB or more, a larger grid is faster, although its blocks do not all run at the same time.
pub const fn blocks_per_multiprocessor(bytes: usize) -> u32 {
    match bytes >> 32 {
        0 => 4,
        1 => 32,
        _ => 64,
    }
}

/// The largest number of tiles per multiprocessor for which the host launches
/// [`reduce_one_tile()`](super::reduce_one_tile()), with one block per tile. An input that small cannot keep all
/// multiprocessors busy, and small blocks finish sooner.
pub const TILES_PER_MULTIPROCESSOR: u32 = 2;
