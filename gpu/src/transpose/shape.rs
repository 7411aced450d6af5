//! The shapes of the last rung's tiles and blocks: what is tuned, in one place. A shape that the threads cannot share evenly
//! does not compile. `max_threads` at the kernels bounds the threads.

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
    /// Rows of *x* that a block loads. It stores fewer: those that begin a column's first `alignment` bytes are shared
    /// with the tile above.
    pub rows: usize,
    /// Bytes of which what a block stores of each column is a multiple, and begins at a multiple: 32, a sector, or 64 or
    /// 128.
    pub alignment: usize,
    /// Threads of a block.
    pub threads: usize,
}

/// The shape for aligned elements of `width` bytes: tiles of 16 KiB, 32 bytes a thread. A thread turns 4 × 4 bytes, and so
/// has 64 bytes of them.
pub(super) const fn aligned(width: usize) -> Shape {
    match width {
        1 => Shape { columns: 128, rows: 128, threads: 256 },
        2 => Shape { columns: 64, rows: 128, threads: 512 },
        4 => Shape { columns: 64, rows: 64, threads: 512 },
        _ => Shape { columns: 32, rows: 64, threads: 512 },
    }
}

/// The shape for elements of `width` bytes that are not aligned: 32 bytes a thread, and 64 of those of 4 bytes.
pub(super) const fn unaligned(width: usize) -> UnalignedShape {
    match width {
        8 => UnalignedShape { row_bytes: 512, rows: 64, alignment: 32, threads: 512 },
        4 => UnalignedShape { row_bytes: 512, rows: 64, alignment: 32, threads: 512 },
        _ => UnalignedShape { row_bytes: 128, rows: 128, alignment: 32, threads: 512 },
    }
}
