//! What is tuned of the rungs. A kernel's `max_threads` stands in its attribute as well, as a literal.

/// Items per thread of the rungs that unroll the last warp or the whole tree: one of each of so many blocks of elements.
pub const BLOCKS_ON_LOAD: usize = 8;

/// Items per thread of [`reduce_shuffle()`](super::reduce_shuffle()): one of each of so many rows of a warp.
pub const ROWS: usize = 8;

/// Loads of 16 bytes that a thread of the last rung has in flight.
pub const LOADS: usize = 4;

/// Threads of a block of [`reduce_one_tile()`](super::reduce_one_tile()).
pub const ONE_TILE_BLOCK: u32 = 256;
