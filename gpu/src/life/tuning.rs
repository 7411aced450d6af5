//! What is tuned: rows and warps of the packed rungs. A kernel's `max_threads` stands in its attribute as well, as a literal.

/// Rows that a thread of [`life_bitpacked()`](super::life_bitpacked()) works on.
pub const ROWS_PER_THREAD: usize = 16;

/// Rows that it loads at a time.
pub(super) const ROWS_AHEAD: usize = 8;

/// Rows that a thread of [`life_generations()`](super::life_generations()), which has twice as many words, loads at a time.
pub(super) const AGES_AHEAD: usize = 8;

/// Rows that a thread of [`life_bitpacked_vectors()`](super::life_bitpacked_vectors()) works on.
pub const VECTOR_ROWS: usize = 12;

/// Warps of its blocks, each below the one before.
pub const VECTOR_WARPS: u32 = 1;

/// The most generations that a launch of [`life_temporal()`](super::life_temporal()) runs: the rows of a tile's margin.
pub const GENERATIONS_PER_LAUNCH: u32 = 8;

/// Warps of its blocks, each below the one before.
pub(super) const TEMPORAL_WARPS: usize = 16;

/// Rows that a thread of it keeps.
pub(super) const TEMPORAL_ROWS_PER_THREAD: usize = 16;

/// Rows that a warp of [`life_streaming()`](super::life_streaming()) takes in at a time.
pub const STREAMING_ROWS: usize = 6;

/// Warps of it that a multiprocessor has registers for.
pub const STREAMING_WARPS: u32 = 8;

/// Warps of the blocks of [`life_resident()`](super::life_resident()), each below the one before.
pub const RESIDENT_WARPS: usize = 16;
