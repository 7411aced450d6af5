//! What is tuned, in one place: grids and blocks. The figures are those of saxpy, in `docs/notes/saxpy.md`.

/// Threads of a block of [`scale_grid()`](super::scale_grid()).
pub const BLOCK: u32 = 256;

/// Threads of a block of the last rung, whose blocks take one vector per thread and then make room for the next block.
pub const BLOCK_VECTORISED: u32 = 128;

/// The most blocks of [`scale_grid()`](super::scale_grid()) for each of a GPU's multiprocessors: enough that all are busy until
/// the end.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
