//! Tuning constants: the shapes of tiles and blocks. The code does not compile if the threads of a block cannot share a
//! tile evenly. The attribute of a kernel repeats its `max_threads` as a literal.

/// The number of rows, and of columns, of a tile, and the number of threads per block along x, in all rungs except the
/// last.
pub const TILE: usize = 32;

/// The number of threads per block along y, for all rungs except the last. Each thread processes several rows of the
/// tile.
pub const BLOCK_ROWS: usize = 8;

/// The shape of the tile and of the block of [`transpose_vectorised`](super::transpose_vectorised()).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The number of columns of *x* in a tile. A row of the tile is a multiple of 128 bytes.
    pub columns: usize,
    /// The number of rows of *x* in a tile. A column of the tile is a multiple of 128 bytes.
    pub rows: usize,
    /// The number of threads per block.
    pub threads: usize,
}

/// The shape of the tile and of the block of [`transpose_unaligned`](super::transpose_unaligned()).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnalignedShape {
    /// The number of bytes of a row of *x* that a block loads, a multiple of 128. The block stores fewer bytes,
    /// depending on the alignment of the row.
    pub row_bytes: usize,
    /// The number of rows of *x* that a block loads. The block stores `alignment` bytes less of each column than it
    /// loads, because the stored part of a column starts at a multiple of `alignment`. The first stored row therefore
    /// differs from column to column. Neighbouring blocks load and store the rows that this block loads but does not
    /// store.
    pub rows: usize,
    /// The alignment in bytes of the part of a column that a block stores. The part starts at a multiple of this
    /// number, and its length is a multiple too. The value is 32 (a sector), 64 or 128.
    pub alignment: usize,
    /// The number of threads per block.
    pub threads: usize,
}

/// Returns the shape for aligned elements of `width` bytes: tiles of 16 KiB with 32 bytes per thread. For 1-byte
/// elements a thread has 64 bytes, because it transposes 4 × 4 bytes at a time.
pub(super) const fn aligned(width: usize) -> Shape {
    match width {
        1 => Shape { columns: 128, rows: 128, threads: 256 },
        2 => Shape { columns: 64, rows: 128, threads: 512 },
        4 => Shape { columns: 64, rows: 64, threads: 512 },
        _ => Shape { columns: 32, rows: 64, threads: 512 },
    }
}

/// Returns the shape for unaligned elements of `width` bytes: 32 bytes per thread, or 64 for elements of 4 or 8 bytes.
pub(super) const fn unaligned(width: usize) -> UnalignedShape {
    match width {
        4 | 8 => UnalignedShape { row_bytes: 512, rows: 64, alignment: 32, threads: 512 },
        _ => UnalignedShape { row_bytes: 128, rows: 128, alignment: 32, threads: 512 },
    }
}

/// The number of threads per block of [`transpose_gathered`](super::transpose_gathered()).
pub const GATHERED_THREADS: usize = 256;

/// Returns the shape for large matrices with elements of 1 or 2 bytes, given as `width`: 160 bytes per thread. Eight
/// threads together store 128 bytes of a column.
pub(super) const fn gathered(width: usize) -> UnalignedShape {
    let (row_bytes, rows) = if width == 1 { (256, 160) } else { (512, 80) };
    UnalignedShape { row_bytes, rows, alignment: 32, threads: GATHERED_THREADS }
}

/// The smallest size in bytes for which the host selects [`transpose_gathered`](super::transpose_gathered()). A smaller
/// matrix has too few of this kernel's large tiles to keep the GPU busy.
pub const GATHERED_FROM: usize = 4 << 20;

/// Returns the number of bytes in a row of a tile of [`transpose_plain`](super::transpose_plain()) for a block of
/// `threads` threads.
pub const fn plain_row_bytes(threads: usize) -> usize {
    if threads < 256 { threads } else { 256 }
}

/// Returns the number of rows of a tile of `transpose_plain`: 32 bytes per thread for 4-byte elements.
pub const fn plain_rows(threads: usize) -> usize {
    32 * threads / plain_row_bytes(threads)
}

/// Returns the number of threads per block of [`transpose_plain`](super::transpose_plain()) for a matrix of `elements`
/// elements of `width` bytes. Returns `None` if another kernel is faster. `is_aligned` must be true if rows and columns
/// are whole vectors. In other matrices, neighbouring tiles store parts of the same sectors. Larger tiles have fewer
/// such sectors.
pub const fn plain_threads(width: usize, elements: usize, is_aligned: bool) -> Option<usize> {
    if width < 4 {
        return None;
    }
    let (small, most, threads) = if is_aligned { (2048, 4096, [128, 256]) } else { (1344, 3584, [256, 512]) };
    if elements <= small * small {
        Some(threads[0])
    } else if elements <= most * most {
        Some(threads[1])
    } else {
        None
    }
}
