//! What is tuned, in one place: grids and blocks. What was tried, and what came of it, is in `docs/notes/saxpy.md`.

/// Threads of a block, for all rungs but the last.
pub const BLOCK: u32 = 256;

/// Threads of a block of the last rung, whose blocks take one vector per thread and then make room for the next block.
pub const BLOCK_VECTORISED: u32 = 128;

/// The most blocks for each of a GPU's multiprocessors where the grid may have any size: enough that all are busy until
/// the end.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
