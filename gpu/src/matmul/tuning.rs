//! The sizes of blocks and tiles.

/// The number of threads of a block of the first rungs along each dimension, and the side of their tiles.
pub const SIDE: usize = 16;

/// The number of rows of a block's tile in the kernels with clusters.
pub const CLUSTERED_ROWS: usize = 128;
