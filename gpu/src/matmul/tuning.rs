//! The sizes of blocks and tiles.

/// The number of threads of a block of the first rungs along each dimension, and the side of their tiles.
pub const SIDE: usize = 16;
