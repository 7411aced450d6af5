//! Tuning constants. The attribute of the kernel repeats its `max_threads` as a literal.

use cuda_std::warp;

/// The number of threads per block.
pub const THREADS: u32 = 256;

/// The number of warps per block.
pub const WARPS: usize = (THREADS / warp::SIZE) as usize;

/// The largest input in bytes for which a thread loads at most 3 vectors. The tiles are then smaller, so more
/// multiprocessors have work.
pub const SMALL: usize = 1 << 21;

/// The largest input in bytes for which a thread loads one vector.
pub const SMALLER: usize = 1 << 19;

/// The number of tiles from which a kernel of its own finds the first segment of each tile.
pub const SEARCHED_TILES: usize = 1024;

/// The number of tiles in a group. The first tile of a group publishes the value of the segment that is open there.
pub const GROUP: u32 = warp::SIZE;

/// Returns the largest number of vectors that a thread loads. `vector` elements become values of `bytes` bytes
/// together.
///
/// The number is odd, so that the threads of a warp access their vectors in different banks of shared memory. A thread
/// has at most 32 elements.
pub const fn max_chunks(bytes: usize, vector: usize) -> usize {
    match (bytes, vector) {
        (0..=16, 0..=4) => 7,
        (0..=16, 5..=8) | (17..=48, 0..=4) => 3,
        _ => 1,
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
