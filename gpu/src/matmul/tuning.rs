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

/// The sides of the tile of [`matmul_pack`](super::matmul_pack()). A block has `PACK` × [`PACK_ROWS`] threads.
pub const PACK: usize = 32;

/// The number of rows of threads of a block of [`matmul_pack`](super::matmul_pack()).
pub const PACK_ROWS: usize = 8;

/// The number of bytes along *k* of a stage of `matmul_async_copies` and `matmul_mma_sync`.
pub const STAGE_BYTES: usize = 64;

/// The sides of the tile of `matmul_async_copies`.
pub const ASYNC_SIDE: usize = 128;

/// The number of stages of `matmul_async_copies`.
pub const ASYNC_STAGES: usize = 3;

/// Returns the number of elements from a row of a stage of `matmul_async_copies` to the next one, for elements of
/// `size` bytes. The 16 bytes beyond the tile's side put the elements that a warp copies at once into different banks.
pub const fn async_pitch(size: usize) -> usize {
    ASYNC_SIDE + 16 / size
}

/// Returns the tile of `matmul_async_copies` for elements of `size` bytes.
pub const fn async_copies(size: usize) -> Tile {
    let stage = 2 * STAGE_BYTES * async_pitch(size);
    Tile::new(ASYNC_SIDE, ASYNC_SIDE, 256, ASYNC_STAGES * stage)
}

/// The number of rows of the tile of `matmul_mma_sync`.
pub const MMA_ROWS: usize = 128;

/// The number of stages of `matmul_mma_sync`.
pub const MMA_STAGES: usize = 4;

/// Returns the number of columns of the part of a warp of `matmul_mma_sync`, for elements of *A* and *B* of `size`
/// bytes. The part has half of the tile's rows.
pub const fn mma_warp_columns(size: usize) -> usize {
    if size == 8 { 32 } else { 64 }
}

/// Returns the tile of `matmul_mma_sync` for elements of *A* and *B* of `size` bytes. `across` is the kernel's constant
/// `ACROSS`: the number of warps side by side.
pub const fn mma_sync(size: usize, across: usize) -> Tile {
    let columns = across * mma_warp_columns(size);
    Tile::new(MMA_ROWS, columns, 64 * across, MMA_STAGES * (MMA_ROWS + columns) * STAGE_BYTES)
}
