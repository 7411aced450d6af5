//! Tuning constants of the single-pass scans. The attribute of a kernel repeats its `max_threads` and `min_blocks` as
//! literals. `docs/notes/scan.md` lists the experiments and their results.

use cuda_std::warp;

use crate::collective::LANES;

/// The number of threads per block of the look-back scan.
pub const THREADS: u32 = 256;

/// The number of warps per block of the look-back scan.
pub const WARPS: usize = (THREADS / warp::SIZE) as usize;

/// The largest number of vectors that a thread of the look-back scan loads.
pub const CHUNKS: usize = 8;

/// The largest input in bytes for which the threads of the look-back scan load half as many vectors as usual. The tiles
/// are then smaller, so more multiprocessors have work. Each multiprocessor still has at most one tile.
pub const SMALL: usize = 1 << 20;

/// The largest input in bytes for which the threads of the look-back scan load a quarter as many vectors as usual.
pub const SMALLER: usize = 1 << 18;

/// Returns the number of elements in a tile of the look-back scan. Each thread loads `chunks` vectors of `vector`
/// elements.
#[inline(always)]
pub const fn tile_elements(chunks: usize, vector: usize) -> usize {
    THREADS as usize * chunks * vector
}

/// The largest number of states that a lane loads at once in the look-back. In a small scan, all tiles start at the
/// same time and none has a prefix yet. A warp that loaded one row of states at a time would wait for memory once per
/// row.
pub const LOOK_BACK_ROWS: usize = 4;

/// The smallest input in bytes for which the pipelined scan is faster than the look-back scan. For smaller inputs, each
/// block would have too few tiles for a pipeline.
pub const PIPELINED_FROM: usize = 10 << 20;

/// The number of tiles in the shared-memory ring of the pipelined scan: one that is being copied, one that is being
/// summed, one that waits for its scan, and one that is being scanned.
pub const STAGES: usize = 4;

/// The number of warps per block that scan tiles in the pipelined scan. The block has one more warp, the scout.
pub const PIPELINED_WARPS: usize = 8;

/// The number of vectors of a tile that a thread of the pipelined scan scans.
pub const PIPELINED_CHUNKS: usize = 6;

/// The number of threads per block of the pipelined scan.
pub const PIPELINED_THREADS: u32 = (PIPELINED_WARPS as u32 + 1) * warp::SIZE;

/// The number of blocks of the pipelined scan per multiprocessor.
pub const BLOCKS: u32 = 2;

/// The dynamic shared memory of a block of the pipelined scan, in bytes.
pub const RING_BYTES: u32 = (STAGES * 16 * pipelined_tile_elements(1)) as u32;

/// Returns the number of elements in a tile of the pipelined scan. `vector` is the number of elements in 16 bytes.
#[inline(always)]
pub const fn pipelined_tile_elements(vector: usize) -> usize {
    PIPELINED_WARPS * LANES * PIPELINED_CHUNKS * vector
}

/// The largest number of states that a lane of the scout loads at once. Between two tiles of a block lies one tile of
/// each other block. This number covers them on a GPU of up to 144 multiprocessors.
pub const GAP_ROWS: usize = 9;

/// The number of times that the first block of the pipelined scan checks whether the whole grid has started. It then
/// continues with the blocks that have started. On an idle device a grid starts in about the time of one check.
pub const LOOKS: u32 = 32;
