//! What is tuned, in one place: rows and warps of the packed rungs, and what the host's plans choose by. A kernel's `max_threads` and
//! instances stand in its attribute as well, as literals. What was tried, and what came of it, is in `docs/notes/life.md`.

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

/// The most generations that a launch of [`life_streaming()`](super::life_streaming()) runs. Some instances are for fewer.
pub const DEEPEST: usize = 6;

/// The fewest cells of a board that it is faster on than [`life_temporal()`](super::life_temporal()): 5800², on an H200.
pub const STREAMING_FROM: usize = 1 << 25;

/// The same for a torus that needs no margins written: 4096².
pub const STREAMING_TORUS_FROM: usize = 1 << 24;

/// The most times that each of a device's warps takes another strip of its rows.
pub const STREAMING_WAVES: usize = 4;

/// What a round of all warps takes, in units of what the warps wait at the end.
pub const STREAMING_WAITING: usize = 16;

/// What writing the margins before a launch takes: in rows of a strip. Measured on an H200.
pub const STREAMING_EDGES: usize = 10;

/// Rows that a warp of [`life_streaming()`](super::life_streaming()) takes in at a time.
pub const STREAMING_ROWS: usize = 6;

/// Warps of it that a multiprocessor has registers for.
pub const STREAMING_WARPS: u32 = 8;

/// Warps of the blocks of [`life_resident()`](super::life_resident()), each below the one before.
pub const RESIDENT_WARPS: usize = 16;

/// Rows of a margin of its tiles that the plan chooses from, which are the generations between two exchanges.
pub const RESIDENT_MARGINS: [u32; 5] = [4, 8, 12, 16, 24];

/// Nanoseconds, about, that a row of a thread's takes in a generation. Measured on an H200.
pub const RESIDENT_ROW: usize = 60;

/// What a generation takes beside its rows.
pub const RESIDENT_GENERATION: usize = 60;

/// What an exchange of margins takes.
pub const RESIDENT_EXCHANGE: usize = 1100;

/// Blocks of 256 threads that a multiprocessor is given by kernels that go on by strides of the grid: a few times as many as it has
/// room for, so that the last ones end together.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
