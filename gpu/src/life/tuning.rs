//! Tuning constants: the numbers of rows and warps in the kernels for packed boards, and the numbers from which the
//! host chooses a kernel and its grid. The attribute of a kernel repeats its `max_threads` and instances as literals.
//! `docs/notes/life.md` lists the experiments and their results.

/// The number of rows that a thread of [`life_bitpacked()`](super::life_bitpacked()) processes.
pub const ROWS_PER_THREAD: usize = 16;

/// The number of rows that a thread of [`life_bitpacked()`](super::life_bitpacked()) loads at once.
pub(super) const ROWS_AHEAD: usize = 8;

/// The number of rows that a thread of [`life_generations()`](super::life_generations()) loads at once. This kernel
/// loads twice as many words per row as [`life_bitpacked()`](super::life_bitpacked()).
pub(super) const AGES_AHEAD: usize = 8;

/// The number of rows that a thread of [`life_bitpacked_vectors()`](super::life_bitpacked_vectors()) processes.
pub const VECTOR_ROWS: usize = 12;

/// The number of warps per block of [`life_bitpacked_vectors()`](super::life_bitpacked_vectors()). Each warp processes
/// a strip of rows, one strip below the other.
pub const VECTOR_WARPS: u32 = 1;

/// The largest number of generations per launch of [`life_temporal()`](super::life_temporal()). A tile's margin has
/// this many rows.
pub const GENERATIONS_PER_LAUNCH: u32 = 8;

/// The number of warps per block of [`life_temporal()`](super::life_temporal()). Each warp processes a strip of rows,
/// one strip below the other.
pub(super) const TEMPORAL_WARPS: usize = 16;

/// The number of rows that a thread of [`life_temporal()`](super::life_temporal()) keeps in registers.
pub(super) const TEMPORAL_ROWS_PER_THREAD: usize = 16;

/// The largest number of generations per launch of [`life_streaming()`](super::life_streaming()). Some instances
/// compute fewer.
pub const DEEPEST: usize = 6;

/// The smallest board, in cells, on which [`life_streaming()`](super::life_streaming()) is faster than
/// [`life_temporal()`](super::life_temporal()): 5800² on an H200.
pub const STREAMING_FROM: usize = 1 << 25;

/// The smallest torus, in cells, on which [`life_streaming()`](super::life_streaming()) is faster than
/// [`life_temporal()`](super::life_temporal()) if no kernel has to write margins: 4096² on an H200.
pub const STREAMING_TORUS_FROM: usize = 1 << 24;

/// The largest number of waves of warps that the plan of [`life_streaming()`](super::life_streaming()) considers.
pub const STREAMING_WAVES: usize = 4;

/// The ratio of two times of the streaming kernel: the time of one wave of warps, divided by the time that warps are
/// idle at the end of a launch.
pub const STREAMING_WAITING: usize = 16;

/// The time for writing the margins before a launch of the streaming kernel, measured on an H200. The unit is the time
/// that a warp takes for one row of its strip.
pub const STREAMING_EDGES: usize = 10;

/// The number of rows that a warp of [`life_streaming()`](super::life_streaming()) copies to shared memory at once.
pub const STREAMING_ROWS: usize = 6;

/// The number of warps of [`life_streaming()`](super::life_streaming()) that fit into the registers of a
/// multiprocessor.
pub const STREAMING_WARPS: u32 = 8;

/// The number of warps per block of [`life_resident()`](super::life_resident()). Each warp processes a strip of rows,
/// one strip below the other.
pub const RESIDENT_WARPS: usize = 16;

/// The possible margins of [`life_resident()`](super::life_resident()), in rows. The host chooses one of them. The
/// number of rows of a margin is also the number of generations between two exchanges.
pub const RESIDENT_MARGINS: [u32; 5] = [4, 8, 12, 16, 24];

/// The approximate time of the resident kernel per generation, for each row of a thread, in nanoseconds, on an H200.
pub const RESIDENT_ROW: usize = 60;

/// The fixed time of the resident kernel per generation, in nanoseconds. The time of the rows is added to this time.
pub const RESIDENT_GENERATION: usize = 60;

/// The approximate time of the resident kernel for one exchange of margins, in nanoseconds.
pub const RESIDENT_EXCHANGE: usize = 1100;

/// The number of blocks of 256 threads per multiprocessor in kernels with a grid-stride loop. This is several times the
/// number that runs at once, so that all multiprocessors are busy until the end.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
