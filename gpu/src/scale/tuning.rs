//! Tuning constants: grids and blocks. They come from the measurements of saxpy in `docs/notes/saxpy.md`.

/// The number of threads per block of [`scale_grid()`](super::scale_grid()).
pub const BLOCK: u32 = 256;

/// The number of threads per block of scale's last rung. Each thread processes one vector, and then the block makes
/// room for the next one.
pub const BLOCK_VECTORISED: u32 = 128;

/// The largest number of blocks of [`scale_grid()`](super::scale_grid()) per multiprocessor. This many blocks keep all
/// multiprocessors busy until the end.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
