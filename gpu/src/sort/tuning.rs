//! Tuning constants. The attribute of a kernel repeats its `max_threads` and `min_blocks` as literals.

use cuda_std::warp;

use crate::collective::LANES;

/// The number of earlier tiles whose states a thread of [`sort_one_sweep`](super::sort_one_sweep()) loads at once in
/// the look-back.
pub const LOOK_BACK: usize = 8;

/// The number of threads per block of [`sort_one_block`](super::sort_one_block()).
pub const ONE_BLOCK_THREADS: u32 = 512;

/// The number of warps per block of [`sort_one_block`](super::sort_one_block()).
pub const ONE_BLOCK_WARPS: usize = (ONE_BLOCK_THREADS / warp::SIZE) as usize;

/// The number of keys per thread whose loads overlap in [`sort_one_block`](super::sort_one_block()).
pub const ONE_BLOCK_CHUNK: usize = 4;

/// The number of threads per block of [`sort_digit_counts`](super::sort_digit_counts()).
pub const COUNT_THREADS: u32 = 512;

/// The number of blocks per multiprocessor of [`sort_digit_counts`](super::sort_digit_counts()).
pub const COUNT_BLOCKS: u32 = 2;

/// The number of bytes of keys from which [`sort_digit_counts`](super::sort_digit_counts()) has several copies of its
/// counters.
pub const COPIES_BYTES: usize = 1 << 25;

/// The largest number of bytes of all copies of the counters of [`sort_digit_counts`](super::sort_digit_counts()).
pub const MAX_COUNT_BYTES: usize = 64 << 10;

/// The number of 16-byte vectors that a thread of [`sort_digit_counts`](super::sort_digit_counts()) loads at once.
pub const VECTORS: usize = 4;

/// The number of threads per block of the textbooks' rungs.
pub const BLOCK: u32 = 256;

/// The tile of a block of [`sort_one_sweep`](super::sort_one_sweep()).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepTile {
    /// The largest number of items per thread.
    pub items: usize,
    /// The number of warps per block.
    pub warps: usize,
}

impl SweepTile {
    /// Returns the number of threads per block.
    pub const fn threads(self) -> usize {
        self.warps * LANES
    }
}

/// The smallest number of items per thread of [`sort_one_sweep`](super::sort_one_sweep()).
pub const MIN_SWEEP_ITEMS: usize = 4;

/// With more tiles per multiprocessor, [`sort_one_sweep`](super::sort_one_sweep()) has the largest tiles.
pub const MAX_ROUNDS: usize = 8;

/// Returns the tile of [`sort_one_sweep`](super::sort_one_sweep()) for keys of `key` bytes and payloads of `payload`
/// bytes, or `None` if the kernel is not built for them.
///
/// Keys are fastest in many small blocks, and keys with payloads in one large block per multiprocessor: it writes
/// longer runs of each digit, at fewer places at a time.
pub const fn one_sweep_tile(key: usize, payload: usize) -> Option<SweepTile> {
    let (items, warps) = match (key, payload) {
        (1 | 8, 0) => (22, 12),
        (2 | 4, 0) => (21, 12),
        (1 | 2 | 4, 4) | (4, 8) => (24, 20),
        (8, 4) => (22, 16),
        (8, 8) => (18, 20),
        (4, 16) => (16, 20),
        (8, 16) => (12, 20),
        _ => return None,
    };
    Some(SweepTile { items, warps })
}

/// The largest number of keys per thread of [`sort_one_block`](super::sort_one_block()). For more keys, many blocks are
/// faster.
pub const ONE_BLOCK_ITEMS: u32 = 16;

/// The number of blocks that sort few keys together. A row has the largest number of keys of a range, and the number of
/// blocks for the range: 1 is [`sort_one_block`](super::sort_one_block()), and more are a cluster
/// (`gpu::sort_cluster`).
///
/// If a device cannot run the blocks of a row, the next row holds. After the last row, keys are sorted by one block if
/// it has room for them, and otherwise by many blocks. Every GPU with clusters runs clusters of 8 blocks, but not every
/// one runs those of 16. docs/notes/sort.md has measurements.
pub const CLUSTER_ROWS: [(usize, u32); 3] = [(4096, 1), (32_768, 8), (65_536, 16)];

/// Returns true if [`sort_one_block`](super::sort_one_block()) is built for keys of `key` bytes and payloads of
/// `payload` bytes.
pub const fn sorts_in_one_block(key: usize, payload: usize) -> bool {
    matches!((key, payload), (1 | 2, 0) | (4 | 8, 0 | 4 | 8 | 16))
}
