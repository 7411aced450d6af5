//! Tuning constants. `docs/notes/histogram.md` lists the experiments and their results.

/// The number of threads per block of [`histogram_global`](super::histogram_global()) and
/// [`histogram_privatised`](super::histogram_privatised()).
pub const BLOCK: u32 = 1024;

/// The number of blocks per multiprocessor of the same two kernels, if shared memory permits. Two blocks use all
/// threads of a multiprocessor.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 2;

/// The number of 16-byte vectors that a thread of [`histogram_replicated`](super::histogram_replicated()) loads while
/// it counts as many earlier vectors. The kernel's source has one call of `count` per vector, so it must change with
/// this number.
pub const VECTORS: usize = 4;

/// The largest number of counters, including copies, in a block of
/// [`histogram_replicated`](super::histogram_replicated()). These counters take 32 KiB.
pub const MAX_REPLICATED: u32 = 8192;

/// The launch shape of [`histogram_replicated`](super::histogram_replicated()).
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

/// The launch shape for keys of 32 bits: one block per multiprocessor, which uses all shared memory of the
/// multiprocessor.
pub(super) const WORDS: Shape = Shape { threads: 1024, blocks_per_multiprocessor: 1 };
