//! Tuning constants: the sizes of grids and blocks. They were chosen by measurements of saxpy (`docs/notes/saxpy.md`).

/// The number of threads per block of [`scale_grid()`](super::scale_grid()).
pub const BLOCK: u32 = 256;

/// The number of threads per block of scale's last rung. Each thread processes one vector. Then the block ends and the
/// next block takes its place.
pub const BLOCK_VECTORISED: u32 = 128;

/// The largest number of blocks of [`scale_grid()`](super::scale_grid()) per multiprocessor. This many blocks keep all
/// multiprocessors busy until the end.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
