//! What is tuned: the shapes of tiles and blocks. A shape that the threads of a block cannot share evenly does not compile. A
//! kernel's `max_threads` stands in its attribute as well, as a literal.

/// Rows and columns of a tile of all rungs but the last, and threads of a block along x.
pub const TILE: usize = 32;

/// Threads of a block along y, for all rungs but the last: each thread takes as many rows of the tile as it needs.
pub const BLOCK_ROWS: usize = 8;

/// What a block of [`transpose_vectorised`](super::transpose_vectorised()) takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Columns of *x* in a tile: a multiple of 128 bytes.
    pub columns: usize,
    /// Rows of *x* in a tile: a multiple of 128 bytes of a column.
    pub rows: usize,
    /// Threads of a block.
    pub threads: usize,
}

/// What a block of [`transpose_unaligned`](super::transpose_unaligned()) takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnalignedShape {
    /// Bytes of a row of *x* that a block loads: a multiple of 128. It stores somewhat fewer, wherever the row begins.
    pub row_bytes: usize,
    /// Rows of *x* that a block loads. It stores `alignment` bytes of each column less, because its part of a column begins at
    /// a multiple of `alignment`, which is in another row in each column. The tile above loads the rows in question, too.
    pub rows: usize,
    /// What a block stores of a column begins at a multiple of so many bytes, and is a multiple of them long: 32, which is a
    /// sector, or 64 or 128.
    pub alignment: usize,
    /// Threads of a block.
    pub threads: usize,
}

/// The shape for aligned elements of `width` bytes: tiles of 16 KiB, of which each thread has 32 bytes. It has 64 bytes where
/// elements are single bytes, which are turned 4 × 4 at a time.
pub(super) const fn aligned(width: usize) -> Shape {
    match width {
        1 => Shape { columns: 128, rows: 128, threads: 256 },
        2 => Shape { columns: 64, rows: 128, threads: 512 },
        4 => Shape { columns: 64, rows: 64, threads: 512 },
        _ => Shape { columns: 32, rows: 64, threads: 512 },
    }
}

/// The shape for elements of `width` bytes that are not aligned: 32 bytes per thread, 64 where elements have 4 or 8 bytes.
pub(super) const fn unaligned(width: usize) -> UnalignedShape {
    match width {
        8 => UnalignedShape { row_bytes: 512, rows: 64, alignment: 32, threads: 512 },
        4 => UnalignedShape { row_bytes: 512, rows: 64, alignment: 32, threads: 512 },
        _ => UnalignedShape { row_bytes: 128, rows: 128, alignment: 32, threads: 512 },
    }
}

/// Threads of a block of [`transpose_gathered`](super::transpose_gathered()).
pub const GATHERED_THREADS: usize = 256;

/// The shape for elements of `width` bytes, 1 or 2, in large matrices: 160 bytes per thread, and a column's 128 bytes per octet.
pub(super) const fn gathered(width: usize) -> UnalignedShape {
    let (row_bytes, rows) = if width == 1 { (256, 160) } else { (512, 80) };
    UnalignedShape { row_bytes, rows, alignment: 32, threads: GATHERED_THREADS }
}

/// The fewest bytes of a matrix of bytes or halves that [`transpose_gathered`](super::transpose_gathered()) takes: fewer are too few
/// of its tiles.
pub const GATHERED_FROM: usize = 4 << 20;

/// Bytes of a row of a tile of [`transpose_plain`](super::transpose_plain()) by a block of so many threads.
pub const fn plain_row_bytes(threads: usize) -> usize {
    if threads < 256 { threads } else { 256 }
}

/// Rows of that tile: of 32 bytes per thread, if elements are words.
pub const fn plain_rows(threads: usize) -> usize {
    32 * threads / plain_row_bytes(threads)
}

/// Threads of a block of [`transpose_plain`](super::transpose_plain()) for a matrix of `elements` of `width` bytes, if it takes that
/// matrix. `is_aligned` is whether rows and columns are whole vectors: where they are not, stores share sectors, and larger tiles
/// share fewer.
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
