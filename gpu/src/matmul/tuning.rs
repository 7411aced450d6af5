//! The sizes of blocks and tiles. The attribute of a kernel repeats its number of threads as a literal.

/// The number of threads of a block of the first rungs along each dimension, and the side of their tiles.
pub const SIDE: usize = 16;

/// The launch of a kernel: the tile of *C* that a block computes, and the block. The grid has ⌈*n* / columns⌉ ×
/// ⌈*m* / rows⌉ × batch blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tile {
    /// The number of rows of the tile.
    pub rows: u32,
    /// The number of columns of the tile.
    pub columns: u32,
    /// The number of threads of a block.
    pub threads: u32,
    /// The number of bytes of dynamic shared memory of a block.
    pub shared: u32,
}

impl Tile {
    const fn new(rows: usize, columns: usize, threads: usize, shared: usize) -> Self {
        Self { rows: rows as u32, columns: columns as u32, threads: threads as u32, shared: shared as u32 }
    }
}

/// The tile of [`matmul_register_blocks`](super::matmul_register_blocks()) whose threads have `WIDTH` × `WIDTH` sums.
pub const fn register_blocks(width: usize) -> Tile {
    Tile::new(16 * width, 16 * width, 256, 0)
}

/// The number of elements along *k* of a step of [`matmul_register_blocks`](super::matmul_register_blocks()).
pub const REGISTER_BLOCKS_K: usize = 8;

/// The tile of [`matmul_combine`](super::matmul_combine()), one element per thread.
pub const COMBINE: Tile = Tile::new(4, 64, 256, 0);

/// The number of threads of a block of [`matmul_vector`](super::matmul_vector()).
pub const VECTOR_THREADS: usize = 256;

/// The number of lines of the matrix that a thread of [`matmul_vector`](super::matmul_vector()) reads at once.
pub const VECTOR_LINES: usize = 4;

/// The number of 16-byte loads from each of these lines that a thread has in flight.
pub const VECTOR_STEPS: usize = 2;

/// The smallest number of threads along *k* of a block of [`matmul_vector`](super::matmul_vector()). They load 128
/// contiguous bytes.
pub const VECTOR_MIN_ALONG: usize = 8;

/// Returns the numbers of threads of a block of [`matmul_vector`](super::matmul_vector()) along *k* and across the
/// lines, for elements of `size` bytes. Every thread has loads for all its steps, if *k* is large enough for that.
pub fn vector_block(k: u32, size: usize) -> [u32; 2] {
    let steps = (k as usize / (16 / size) / VECTOR_STEPS).max(1);
    let along = (1_usize << steps.ilog2()).clamp(VECTOR_MIN_ALONG, VECTOR_THREADS);
    [along as u32, (VECTOR_THREADS / along) as u32]
}

/// The sides of the tile of [`matmul_pack`](super::matmul_pack()). A block has `PACK` × [`PACK_ROWS`] threads.
pub const PACK: usize = 32;

/// The number of rows of threads of a block of [`matmul_pack`](super::matmul_pack()).
pub const PACK_ROWS: usize = 8;

/// The number of bytes along *k* of a stage of `matmul_mma_sync`.
pub const STAGE_BYTES: usize = 128;

/// The sides of the tile of `matmul_async_copies`.
pub const ASYNC_SIDE: usize = 128;

/// The number of threads of a block of `matmul_async_copies`.
pub const ASYNC_THREADS: usize = 128;

/// The number of bytes along *k* of a stage of `matmul_async_copies`.
pub const ASYNC_BYTES: usize = 64;

/// The number of stages of `matmul_async_copies`.
pub const ASYNC_STAGES: usize = 3;

/// Returns the number of elements from a row of a stage of `matmul_async_copies` to the next one, for elements of
/// `size` bytes. The 16 bytes beyond the tile's side put the elements that a warp copies at once into different banks.
pub const fn async_pitch(size: usize) -> usize {
    ASYNC_SIDE + 16 / size
}

/// Returns the tile of `matmul_async_copies` for elements of `size` bytes.
pub const fn async_copies(size: usize) -> Tile {
    let stage = 2 * ASYNC_BYTES * async_pitch(size);
    Tile::new(ASYNC_SIDE, ASYNC_SIDE, ASYNC_THREADS, ASYNC_STAGES * stage)
}

/// The number of rows of the tile of `matmul_mma_sync`.
pub const MMA_ROWS: usize = 128;

/// The number of stages of `matmul_mma_sync`.
pub const MMA_STAGES: usize = 3;

/// The number of threads of a block of `matmul_mma_sync`: two by two warps.
pub const MMA_THREADS: usize = 128;

/// Returns the number of columns of the part of a warp of `matmul_mma_sync`, for elements of *A* and *B* of `size`
/// bytes. The part has half of the tile's rows.
pub const fn mma_warp_columns(size: usize) -> usize {
    if size == 8 { 32 } else { 64 }
}

/// Returns the tile of `matmul_mma_sync` for elements of *A* and *B* of `size` bytes.
pub const fn mma_sync(size: usize) -> Tile {
    let columns = 2 * mma_warp_columns(size);
    Tile::new(MMA_ROWS, columns, MMA_THREADS, MMA_STAGES * (MMA_ROWS + columns) * STAGE_BYTES)
}

/// A tile of `matmul_clustered`, and the time that a step along *k* of 128 bytes takes with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClusteredTile {
    /// The number of columns. The tile of each of the two blocks of a cluster has 128 rows.
    pub columns: u32,
    /// True if the tiles of the two blocks are side by side, false if one is above the other.
    pub is_wide: bool,
    /// The time of a step, in cycles of the tensor cores; measured with long sums.
    pub cycles: u32,
}

impl ClusteredTile {
    const fn new(columns: u32, is_wide: bool, cycles: u32) -> Self {
        Self { columns, is_wide, cycles }
    }

    /// Returns the number of tiles of both blocks of a cluster that an `m` × `n` result has.
    pub fn count(self, m: u32, n: u32) -> u64 {
        let [rows, columns] = if self.is_wide { [128, 2 * self.columns] } else { [256, self.columns] };
        u64::from(m.div_ceil(rows)) * u64::from(n.div_ceil(columns))
    }
}

/// The tiles of `matmul_clustered`. If several are equally fast, the first one is used.
pub const CLUSTERED: [ClusteredTile; 5] = [
    ClusteredTile::new(256, false, 1024),
    ClusteredTile::new(192, false, 800),
    ClusteredTile::new(128, false, 610),
    ClusteredTile::new(256, true, 1150),
    ClusteredTile::new(128, true, 900),
];

/// The time in which a tile begins and ends, and the additional time of a launch, in the unit of
/// [`ClusteredTile::cycles`].
const CLUSTERED_START: [u64; 2] = [2500, 8000];

/// The number of bytes of the operands that a GPU reads in a cycle of the tensor cores.
const BYTES_PER_CYCLE: u64 = 1550;

/// The tile of a cluster of `matmul_cluster_split`, and its number of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClusterSplit {
    /// The number of rows of *C* of the tile, which has 128 columns.
    pub rows: u32,
    /// The number of blocks, of which each sums a part of *k*.
    pub blocks: u32,
}

/// The maximum number of blocks of a cluster of `matmul_cluster_split`.
pub const CLUSTER_SPLIT_BLOCKS: u32 = 8;

/// The numbers of rows of the tiles of `matmul_cluster_split`, and the time of a step of a block, in the unit of
/// [`ClusteredTile::cycles`].
const CLUSTER_SPLIT: [(u32, u64); 3] = [(32, 520), (64, 600), (128, 800)];

/// The time in which a cluster of `matmul_cluster_split` begins and ends, and how much longer this takes with each
/// block and with each row of the tile, in the unit of [`ClusteredTile::cycles`].
const CLUSTER_SPLIT_START: [u64; 3] = [5000, 800, 50];

impl ClusterSplit {
    /// Returns the tile and the number of blocks with which `matmul_cluster_split` is fastest, and its time in the unit
    /// of [`ClusteredTile::cycles`]. `sizes` are m, n, the number of steps along k, and the number of products.
    /// `active` returns how many clusters of a number of blocks run at the same time.
    pub fn fastest([m, n, steps, batch]: [u32; 4], multiprocessors: u32, active: impl Fn(u32) -> u32) -> (Self, u64) {
        let times = CLUSTER_SPLIT.into_iter().map(|(rows, cycles)| {
            let rows_of_tiles = m.div_ceil(rows);
            let tiles = u64::from(rows_of_tiles) * u64::from(n.div_ceil(128));
            let tiles = tiles.saturating_mul(batch.into());
            // As many blocks as run at once.
            let all_run =
                |&blocks: &u32| tiles <= u64::from(multiprocessors / blocks) && tiles <= u64::from(active(blocks));
            let blocks = (2..=steps.min(CLUSTER_SPLIT_BLOCKS)).rev().find(all_run).unwrap_or(1);
            let rounds = tiles.saturating_mul(blocks.into()).div_ceil(multiprocessors.max(1).into());
            let sums = rounds.saturating_mul(u64::from(steps.div_ceil(blocks)) * cycles);
            // Each further row of tiles reads B again, from a cache.
            let reread = n.saturating_add((n / 5).saturating_mul(rows_of_tiles.saturating_sub(1).min(20)));
            let [start, of_block, of_row] = CLUSTER_SPLIT_START;
            let start = start + of_block * u64::from(blocks) + of_row * u64::from(rows);
            (Self { rows, blocks }, overlapped(sums, [m, reread, steps, batch]).saturating_add(start))
        });
        times.min_by_key(|&(_, time)| time).unwrap_or((Self { rows: 128, blocks: 1 }, u64::MAX))
    }
}

/// Returns the time of products that take `cycles`, and whose operands are read meanwhile. The sizes are m, n, the
/// number of steps along k, and the number of products.
fn overlapped(cycles: u64, [m, n, steps, batch]: [u32; 4]) -> u64 {
    let bytes = (u64::from(m) + u64::from(n)).saturating_mul(128 * u64::from(steps)).saturating_mul(batch.into());
    let reads = bytes / BYTES_PER_CYCLE;
    cycles.max(reads).saturating_add(cycles.min(reads) / 4)
}

/// The time of the second launch of a product with split sums, in the unit of [`ClusteredTile::cycles`].
const COMBINE_START: u64 = 15000;

/// The number of partial sums that are written, read and added in a cycle.
const COMBINED_PER_CYCLE: u64 = 110;

/// Returns the time of the products of `matmul_clustered` with tiles of this kind. `sizes` are m, n, the number of
/// steps along k, and the number of products.
fn clustered_time(tile: ClusteredTile, [m, n, steps, batch]: [u32; 4], multiprocessors: u32) -> u64 {
    let clusters = u64::from(multiprocessors / 2).max(1);
    let rounds = tile.count(m, n).saturating_mul(batch.into()).div_ceil(clusters);
    // The boxes beyond the last row are slow.
    let cycles = match tile {
        ClusteredTile { is_wide: false, cycles, .. } if m <= 128 => u64::from(cycles) * 3 / 2,
        ClusteredTile { cycles, .. } if m <= 64 => u64::from(cycles) * 5 / 4,
        ClusteredTile { cycles, .. } => cycles.into(),
    };
    let [of_tile, of_launch] = CLUSTERED_START;
    let time = overlapped(rounds.saturating_mul(u64::from(steps) * cycles + of_tile), [m, n, steps, batch]);
    time.saturating_add(of_launch)
}

/// Returns the tile by which `matmul_clustered` multiplies fastest, of those for which `is_built` returns true. `sizes`
/// are m, n, the number of steps along k, and the number of products.
pub fn clustered_tile(
    sizes: [u32; 4],
    multiprocessors: u32,
    is_built: impl Fn(&ClusteredTile) -> bool,
) -> ClusteredTile {
    let tiles = CLUSTERED.into_iter().filter(is_built);
    tiles.min_by_key(|&tile| clustered_time(tile, sizes, multiprocessors)).unwrap_or(CLUSTERED[2])
}

/// Returns the number of parts into which the sums of a product are split, a divisor of `divisible` steps, and its time
/// in the unit of [`ClusteredTile::cycles`]. `sizes` are m, n, the number of steps along k, and the number of products.
/// The number of parts is 1 if the product is not faster with split sums.
pub fn splits([m, n, steps, batch]: [u32; 4], divisible: u32, multiprocessors: u32) -> (u32, u64) {
    let time = |splits: u32| {
        let sizes = [m, n, steps / splits, splits.saturating_mul(batch)];
        // All types have kernels for partial sums with tiles of 128 columns.
        let tiles = CLUSTERED.into_iter().filter(|tile| splits == 1 || tile.columns == 128);
        let product = tiles.map(|tile| clustered_time(tile, sizes, multiprocessors)).min();
        let sums = (u64::from(m) * u64::from(n)).saturating_mul(splits.into());
        let combine = if splits > 1 { COMBINE_START + sums / COMBINED_PER_CYCLE } else { 0 };
        product.unwrap_or(u64::MAX).saturating_add(combine)
    };
    let divisors = (1..=divisible.clamp(1, MAX_SPLITS)).filter(|splits| divisible.is_multiple_of(*splits));
    let times = divisors.map(|splits| (splits, time(splits)));
    times.min_by_key(|&(_, time)| time).unwrap_or((1, u64::MAX))
}

/// The maximum number of parts of the sums of a product.
const MAX_SPLITS: u32 = 64;

/// The steps along *k* of a kernel whose blocks compute one tile each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockSteps {
    /// The number of bytes along *k*.
    pub bytes: usize,
    /// The time of a step, in nanoseconds, of a block that is alone on a multiprocessor of an H100. Two blocks on the
    /// same multiprocessor take twice as long.
    pub time: u64,
}

/// The steps of `matmul_async_copies`.
pub const ASYNC_STEPS: BlockSteps = BlockSteps { bytes: ASYNC_BYTES, time: 2050 };

/// The steps of `matmul_mma_sync`. Those of `f64` take longer.
pub const MMA_STEPS: [BlockSteps; 2] =
    [BlockSteps { bytes: STAGE_BYTES, time: 720 }, BlockSteps { bytes: STAGE_BYTES, time: 1000 }];

/// The times in nanoseconds in which a block begins and ends, and that of the second launch of a product with split
/// sums.
const BLOCK_START: u64 = 2000;
const COMBINE_TIME: u64 = 8000;

/// The number of partial sums that the second launch adds in a nanosecond.
const COMBINED_PER_NANOSECOND: u64 = 500;

/// Returns the number of parts, a divisor of the number of steps, into which the sums of a product are split by a
/// kernel whose blocks compute one tile each. `sizes` are m, n and the number of steps along k.
pub fn block_splits([m, n, steps]: [u32; 3], tile: Tile, time: u64, multiprocessors: u32) -> u32 {
    let tiles = u64::from(m.div_ceil(tile.rows)) * u64::from(n.div_ceil(tile.columns));
    let time = |splits: u32| {
        let blocks = tiles.saturating_mul(splits.into()).div_ceil(multiprocessors.max(1).into());
        let sums = u64::from(m) * u64::from(n) * u64::from(splits);
        let combine = if splits > 1 { COMBINE_TIME + sums / COMBINED_PER_NANOSECOND } else { 0 };
        blocks.saturating_mul(u64::from(steps / splits) * time + BLOCK_START).saturating_add(combine)
    };
    let divisors = (1..=steps.clamp(1, MAX_SPLITS)).filter(|splits| steps.is_multiple_of(*splits));
    divisors.min_by_key(|&splits| time(splits)).unwrap_or(1)
}
