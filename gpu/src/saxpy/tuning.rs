//! Tuning constants: the sizes of grids and blocks. `docs/notes/saxpy.md` lists the experiments and their results.

/// The number of threads per block, for all rungs of saxpy except the last.
pub const BLOCK: u32 = 256;

/// The number of threads per block of saxpy's last rung. Each thread processes one vector. Then the block ends and the
/// next block takes its place.
pub const BLOCK_VECTORISED: u32 = 128;

/// The largest number of blocks per multiprocessor for rungs of saxpy whose grid may have any size. This many blocks
/// keep all multiprocessors busy until the end.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
