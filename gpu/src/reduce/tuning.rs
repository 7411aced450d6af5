//! What is tuned of the rungs, in one place. A kernel's `max_threads` stands in its attribute as well, as a literal.

/// Items per thread of the rungs that unroll the last warp or the whole tree: one of each of so many blocks of elements.
pub const BLOCKS_ON_LOAD: usize = 8;

/// Items per thread of [`reduce_shuffle()`](super::reduce_shuffle()): one of each of so many rows of a warp.
pub const ROWS: usize = 8;

/// Loads of 16 bytes that a thread of the last rung has in flight.
pub const LOADS: usize = 4;

/// Threads of a block of [`reduce_one_tile()`](super::reduce_one_tile()).
pub const ONE_TILE_BLOCK: u32 = 256;

/// Threads of a block of the rungs that take several launches.
pub const BLOCK: u32 = 256;

/// Threads of a block of [`reduce_grid_stride()`](super::reduce_grid_stride()). Larger blocks leave fewer partial results for the
/// last one.
pub const GRID_STRIDE_BLOCK: u32 = 512;

/// Its blocks for each multiprocessor, for an input of so many bytes: as many as it holds at once, with 32 registers per thread. From
/// 4 GiB on it is faster with more of them, whose parts are read one after the other.
pub const fn blocks_per_multiprocessor(bytes: usize) -> u32 {
    match bytes >> 32 {
        0 => 4,
        1 => 32,
        _ => 64,
    }
}

/// Up to so many tiles per multiprocessor [`reduce_one_tile()`](super::reduce_one_tile()) has a block for each: so small an input
/// cannot keep all multiprocessors busy anyway, and small blocks are done sooner.
pub const TILES_PER_MULTIPROCESSOR: u32 = 2;
