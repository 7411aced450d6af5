//! Tuning constants. The attribute of a kernel repeats its `max_threads` as a literal.

use cuda_std::warp;

use crate::collective::LANES;
pub use crate::scan::tuning::PIPELINED_THREADS;
use crate::scan::tuning::PIPELINED_WARPS;

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

/// The smallest input in bytes for which the pipelined kernel is the default.
pub const PIPELINED_FROM: usize = 10 << 20;

/// The number of vectors of 16 bytes of a tile that a thread of the pipelined kernel reads. It is odd, so that the
/// lanes, which read consecutive vectors, have no bank conflicts.
pub const PIPELINED_CHUNKS: usize = 5;

/// The number of rounds after which a block of the pipelined kernel stores the elements that it has gathered. With more
/// rounds, a block waits less for other blocks.
pub const LAG: usize = 2;

/// The number of rounds before its round in which a block starts the copies of a tile.
pub const AHEAD: usize = 2;

/// The number of tiles in the shared-memory ring of the pipelined kernel: those that are gathered but not stored, that
/// of the round, and those that are being copied.
pub const STAGES: usize = LAG + 1 + AHEAD;

/// The number of blocks of the pipelined kernel per multiprocessor. The kernel's `min_blocks` repeats it.
pub const BLOCKS: u32 = 2;

/// The dynamic shared memory of a block of the pipelined kernel, in bytes.
pub const RING_BYTES: u32 = (STAGES * 16 * pipelined_tile_elements(1)) as u32;

/// Returns the number of elements in a tile of the pipelined kernel. `vector` is the number of elements in 16 bytes.
#[inline(always)]
pub const fn pipelined_tile_elements(vector: usize) -> usize {
    PIPELINED_WARPS * LANES * PIPELINED_CHUNKS * vector
}

const _: () = assert!(PIPELINED_CHUNKS % 2 == 1 && PIPELINED_CHUNKS * 4 <= 24 && LAG > 0 && AHEAD > 0);
