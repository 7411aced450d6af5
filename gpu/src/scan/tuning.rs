//! What is tuned of the single-pass scans, in one place. A kernel's `max_threads` and `min_blocks` stand in its attribute as
//! well, as literals. What was tried, and what came of it, is in `docs/notes/scan.md`.

use cuda_std::warp;

use crate::collective::LANES;

/// Threads of a block of the look-back.
pub const THREADS: u32 = 256;

/// Warps of a block of the look-back.
pub const WARPS: usize = (THREADS / warp::SIZE) as usize;

/// The most vectors that a thread of the look-back reads.
pub const CHUNKS: usize = 8;

/// Bytes up to which the look-back's threads read half as many: more multiprocessors then have work, and each still has at most
/// one tile.
pub const SMALL: usize = 1 << 20;

/// Bytes up to which they read a quarter as many.
pub const SMALLER: usize = 1 << 18;

/// Elements of a tile of the look-back, of which each thread reads `chunks` vectors of `vector` elements.
#[inline(always)]
pub const fn tile_elements(chunks: usize, vector: usize) -> usize {
    THREADS as usize * chunks * vector
}

/// The most states that a lane looks at together in the look-back. While a scan is so small that all its tiles begin at once,
/// none has a prefix yet, and a warp that looked at one row of states at a time would wait for memory once per row.
pub(super) const LOOK_BACK_ROWS: usize = 4;

/// Bytes from which on the pipelined scan is faster than the look-back: each of its blocks needs several tiles.
pub const PIPELINED_FROM: usize = 10 << 20;

/// Tiles that the ring of the pipelined scan holds in shared memory: one that is scanned, one that is to be, one that is
/// summed, and one on its way.
pub const STAGES: usize = 4;

/// Warps of a block of the pipelined scan that scan its tiles. One more is the scout.
pub(super) const PIPELINED_WARPS: usize = 8;

/// Vectors of a tile that a thread of the pipelined scan scans.
pub(super) const PIPELINED_CHUNKS: usize = 6;

/// Threads of a block of the pipelined scan.
pub const PIPELINED_THREADS: u32 = (PIPELINED_WARPS as u32 + 1) * warp::SIZE;

/// Blocks of the pipelined scan that a multiprocessor is to hold.
pub const BLOCKS: u32 = 2;

/// Dynamic shared memory of a block of the pipelined scan, in bytes.
pub const RING_BYTES: u32 = (STAGES * 16 * pipelined_tile_elements(1)) as u32;

/// Elements of a tile of the pipelined scan, of which `vector` are 16 bytes.
#[inline(always)]
pub const fn pipelined_tile_elements(vector: usize) -> usize {
    PIPELINED_WARPS * LANES * PIPELINED_CHUNKS * vector
}

/// The most states that a lane of the scout looks at together. Between two tiles of a block lie as many as there are other
/// blocks, and this is enough for all of them on a GPU of up to 144 multiprocessors.
pub(super) const GAP_ROWS: usize = 9;

/// How often the first block of the pipelined scan looks whether the whole grid has started, before it goes on with the blocks
/// that have. On a free device a grid starts in about the time of one look.
pub(super) const LOOKS: u32 = 32;
