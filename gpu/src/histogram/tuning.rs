//! What is tuned, in one place. What was tried, and what came of it, is in `docs/notes/histogram.md`.

/// Threads of a block of the first two rungs.
pub const BLOCK: u32 = 1024;

/// Their blocks per multiprocessor, as far as shared memory allows: all threads that it holds.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 2;

/// Vectors of 16 bytes that a thread of the last rung has under way while it counts as many. Its loop spells them out.
pub const VECTORS: usize = 4;

/// The most counters that copies of the bins may take in a block of the last rung: 32 KiB.
pub const MOST_REPLICATED: u32 = 8192;

/// How the last rung is launched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks per multiprocessor.
    pub blocks_per_multiprocessor: u32,
}

/// Keys of 8 bits: two blocks, of which one may count while the other begins or ends.
pub(super) const fn of_bytes() -> Shape {
    Shape { threads: 512, blocks_per_multiprocessor: 2 }
}

/// Keys of 32 bits: one block, which has all the shared memory of a multiprocessor.
pub(super) const fn of_words() -> Shape {
    Shape { threads: 1024, blocks_per_multiprocessor: 1 }
}
