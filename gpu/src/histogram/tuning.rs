//! Tuning constants. `docs/notes/histogram.md` lists the experiments and their results.

/// The number of threads per block of histogram's first two rungs.
pub const BLOCK: u32 = 1024;

/// The number of blocks per multiprocessor of the first two rungs, if shared memory permits. They use all threads of a
/// multiprocessor.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 2;

/// The number of 16-byte vectors that a thread of the last rung loads while it counts the same number of vectors. The
/// kernel's loop has this many calls, written one by one.
pub const VECTORS: usize = 4;

/// The largest number of counters, including copies, in a block of the last rung: 32 KiB.
pub const MAX_REPLICATED: u32 = 8192;

/// The launch shape of histogram's last rung.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The number of threads per block.
    pub threads: u32,
    /// The number of blocks per multiprocessor.
    pub blocks_per_multiprocessor: u32,
}

/// The launch shape for keys of 8 bits: two blocks per multiprocessor, so that one may count while the other starts or
/// ends.
pub(super) const BYTES: Shape = Shape { threads: 512, blocks_per_multiprocessor: 2 };

/// The launch shape for keys of 32 bits: one block per multiprocessor, which uses all its shared memory.
pub(super) const WORDS: Shape = Shape { threads: 1024, blocks_per_multiprocessor: 1 };
