//! Tuning constants. The attribute of the kernel repeats its `max_threads` as a literal.

use cuda_std::warp;

/// The number of threads per block.
pub const THREADS: u32 = 256;

/// The number of warps per block.
pub const WARPS: usize = (THREADS / warp::SIZE) as usize;

/// The largest input in bytes for which a thread loads half as many vectors as usual. The tiles are then smaller, so
/// more multiprocessors have work.
pub const SMALL: usize = 1 << 21;

/// The largest input in bytes for which a thread loads a quarter as many vectors as usual.
pub const SMALLER: usize = 1 << 19;

/// The number of tiles in a group. The first tile of a group publishes the value of the segment that is open there.
pub const GROUP: u32 = warp::SIZE;

/// Returns the largest number of vectors that a thread loads. A vector becomes values of `bytes` bytes together: they
/// take up to 64 bytes, but there are at least 1 and at most 4 vectors.
pub const fn max_chunks(bytes: usize) -> usize {
    match 64 / bytes {
        0 => 1,
        chunks if chunks > 4 => 4,
        chunks => chunks,
    }
}

/// Returns the number of elements in a tile of a kernel whose threads load `chunks` vectors of `vector` elements.
#[inline(always)]
pub const fn tile_elements(chunks: usize, vector: usize) -> usize {
    THREADS as usize * chunks * vector
}

/// Returns the number of states of `tiles` tiles: one per tile and one per group.
#[inline(always)]
pub const fn states(tiles: usize) -> usize {
    tiles + tiles.div_ceil(GROUP as usize)
}
