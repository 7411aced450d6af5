//! What the kernels with tiles share: how a thread's elements of a tile are arranged, and how sums become elements of
//! *C*.
//!
//! The sums of a block pass through shared memory, a few rows at a time. A warp then writes contiguous elements of *C*,
//! and the epilogue is in the PTX once for each kernel, not once for each sum of a thread.

use cuda_std::{AsyncCopies, Element, Global, GlobalMut, Shared, opaque, thread, unroll};

use super::{Epilogue, Output, Problem, Sum};

/// The number of elements of a type of `size` bytes in 16 bytes.
pub const fn per_vector(size: usize) -> usize {
    16 / size
}

/// Returns the position of element `i` of thread `thread` of `threads` in a row of a tile. Each thread has vectors of
/// 16 bytes that are `threads` vectors apart, so that the vectors of neighbouring threads are in different banks.
#[inline(always)]
const fn position(size: usize, threads: usize, thread: usize, i: usize) -> usize {
    let v = per_vector(size);
    i / v * threads * v + thread * v + i % v
}

/// Loads the `W` elements of `thread` of `THREADS` in the row of a tile that begins at vector `first + offset` of 16
/// bytes, arranged as by `position`. Elements have 4 or 8 bytes. If `offset` is constant, it becomes a part of the
/// load instruction.
///
/// # Safety
/// `tile` must have `THREADS * W` elements from the vector on, and `thread` must be below `THREADS`.
#[inline(always)]
pub unsafe fn fragment<S: Element, const W: usize, const THREADS: usize>(
    tile: Shared<S>,
    first: usize,
    offset: usize,
    thread: usize,
) -> [S; W] {
    let mut elements = [S::zeroed(); W];
    if size_of::<S>() == 4 {
        let vectors = tile.cast::<[S; 4]>();
        // SAFETY: by this function's contract, the tile has the row's vectors.
        let vectors = unsafe { vectors.part_unchecked(first + thread, vectors.len() - first - thread) };
        for piece in 0..W / 4 {
            // SAFETY: by this function's contract, the tile has the vector.
            let vector = unsafe { vectors.load_unchecked(offset + piece * THREADS) };
            for i in 0..4 {
                elements[4 * piece + i] = vector[i];
            }
        }
    } else {
        let vectors = tile.cast::<[S; 2]>();
        // SAFETY: by this function's contract, the tile has the row's vectors.
        let vectors = unsafe { vectors.part_unchecked(first + thread, vectors.len() - first - thread) };
        for piece in 0..W / 2 {
            // SAFETY: by this function's contract, the tile has the vector.
            let vector = unsafe { vectors.load_unchecked(offset + piece * THREADS) };
            for i in 0..2 {
                elements[2 * piece + i] = vector[i];
            }
        }
    }
    elements
}

/// Stores the `W` elements that [`fragment`] loads.
///
/// # Safety
/// `tile` must have `THREADS * W` elements from vector `first` on, and `thread` must be below `THREADS`.
#[inline(always)]
unsafe fn store_fragment<S: Element, const W: usize, const THREADS: usize>(
    tile: Shared<S>,
    first: usize,
    thread: usize,
    elements: [S; W],
) {
    if size_of::<S>() == 4 {
        let vectors = tile.cast::<[S; 4]>();
        for piece in 0..W / 4 {
            let vector = core::array::from_fn(|i| elements[4 * piece + i]);
            // SAFETY: by this function's contract, the tile has the vector.
            unsafe { vectors.store_unchecked(first + piece * THREADS + thread, vector) };
        }
    } else {
        let vectors = tile.cast::<[S; 2]>();
        for piece in 0..W / 2 {
            let vector = core::array::from_fn(|i| elements[2 * piece + i]);
            // SAFETY: by this function's contract, the tile has the vector.
            unsafe { vectors.store_unchecked(first + piece * THREADS + thread, vector) };
        }
    }
}

/// Returns row and column of the block's tile in the grid of tiles. Consecutive blocks compute tiles of the same 8
/// rows, so that blocks that run at the same time read few rows of *A* and columns of *B*, which the L2 cache then has.
#[inline(always)]
pub fn ordered_tile() -> [usize; 2] {
    const ROWS: u32 = 8;
    let (width, height) = (thread::grid_dim_x(), thread::grid_dim_y());
    let block = thread::block_idx_y() * width + thread::block_idx_x();
    let (group, rest) = (block / (ROWS * width), block % (ROWS * width));
    let rows = (height - group * ROWS).min(ROWS);
    [(group * ROWS + rest % rows) as usize, (rest / rows) as usize]
}

/// Begins an asynchronous copy of elements `first..first + count` of `from` to the 16 bytes of `to` from element `slot`
/// on, and sets the remaining elements of these bytes to zero.
///
/// # Safety
/// `count` elements must have at most 16 bytes. If `count` is not 0, `from` must have the elements, and element `first`
/// must be at a multiple of 16 bytes. `to` must have the 16 bytes, at a multiple of 16.
#[inline(always)]
pub unsafe fn copy_vector<T: Element>(
    copies: &mut AsyncCopies,
    from: &Global<T>,
    [first, count]: [usize; 2],
    to: Shared<T>,
    slot: usize,
) {
    let size = size_of::<T>();
    // SAFETY: this is the same memory.
    let bytes = unsafe { Global::<u8>::from_raw_parts(from.as_ptr().cast(), from.len() * size, from.device()) };
    // SAFETY: by this function's contract, both views have the bytes, and these are aligned.
    unsafe {
        copies.copy_padded_unchecked(bytes, [first * size, count * size], to.cast::<[u8; 16]>(), slot * size / 16)
    }
}

/// The tile of *C* that a block computes.
#[derive(Clone, Copy)]
pub struct Target<'a, C, E> {
    /// The sizes and layouts.
    pub problem: Problem,
    /// The result.
    pub c: GlobalMut<'a, C>,
    /// One element per column.
    pub bias: Global<'a, C>,
    /// The epilogue.
    pub epilogue: E,
    /// The number of the product in the batch.
    pub batch: usize,
    /// The first row of the tile.
    pub row: usize,
    /// The first column of the tile.
    pub column: usize,
}

impl<C: Element, E> Target<'_, C, E> {
    /// Computes and stores four elements of *C* from `sums`, which are in adjacent columns. Skips elements outside *C*.
    ///
    /// # Safety
    /// `c` must have every element of *C*.
    #[inline(always)]
    pub unsafe fn finish<S: Sum>(&self, row: usize, column: usize, sums: [S; 4])
    where
        C: Output<S>,
        E: Epilogue<S, C>,
    {
        let Problem { m, n, c: strides, .. } = self.problem;
        if row >= m as usize {
            return;
        }
        let (at, step) = (strides.index(self.batch, row, column), strides.column as usize);
        let is_inside = |i: usize| column + i < n as usize;
        // SAFETY: row and column are in C, and by this function's contract `c` has all elements of C.
        let load = |i: usize| unsafe { self.c.load_unchecked(at + i * step) };
        let previous = |i: usize| if is_inside(i) { load(i) } else { C::zeroed() };
        let bias = |i: usize| if is_inside(i) { self.bias.load(column + i) } else { C::zeroed() };
        let elements = self.epilogue.finish_all(sums, |i| [row, column + i], previous, bias);
        let is_aligned = (self.c.as_ptr() as usize).is_multiple_of(16) && at.is_multiple_of(4);
        if is_aligned && step == 1 && column + 4 <= n as usize {
            if size_of::<C>() == 8 {
                let [a, b, c, d] = elements;
                // SAFETY: the four elements are in C and adjacent, and `c` is aligned.
                unsafe {
                    store_vector(&self.c, at / 2, [a, b]);
                    store_vector(&self.c, at / 2 + 1, [c, d]);
                }
            } else {
                // SAFETY: the four elements are in C and adjacent, and `c` is aligned.
                unsafe { store_vector(&self.c, at / 4, elements) };
            }
            return;
        }
        unroll!(I in 4 => {
            if column + I < n as usize {
                // SAFETY: row and column are in C, and by this function's contract `c` has all elements of C.
                unsafe { self.c.store_unchecked(at + I * step, elements[I]) };
            }
        });
    }

    /// Computes and stores the tile, of which each of 16 × `ACROSS` threads has `H` × `W` sums, arranged as by
    /// [`position`]. The calling thread has the sums of the thread in row and column `at` of these. `staged` has at
    /// least 16 rows of `ACROSS * W` elements, at a multiple of 16 bytes, and is free after a barrier.
    ///
    /// # Safety
    /// `c` must have every element of *C*. The block must have `16 * ACROSS` threads. The numbers of `at` must be below
    /// 16 and `ACROSS`.
    #[inline(always)]
    pub unsafe fn finish_blocks<S: Sum, const H: usize, const W: usize, const ACROSS: usize>(
        &self,
        at: [usize; 2],
        staged: Shared<S>,
        mut sums: [[S; W]; H],
    ) where
        C: Output<S>,
        E: Epilogue<S, C>,
    {
        let (size, columns) = (size_of::<S>(), ACROSS * W);
        let staged = staged.part(0, 16 * columns);
        let mut pass = 0;
        while pass < H {
            thread::sync_threads();
            // SAFETY: the array has 16 rows, and by this function's contract the numbers are below 16 and `ACROSS`.
            unsafe { store_fragment::<S, W, ACROSS>(staged, at[0] * (columns / per_vector(size)), at[1], sums[0]) };
            // The loop shifts the sums, so that their index is constant and they stay in registers.
            for i in 1..H {
                sums[i - 1] = sums[i];
            }
            thread::sync_threads();
            let row_of = |row| self.row + position(size, 16, row, pass);
            // SAFETY: the array has these rows, and by this function's contract `c` has all elements of C.
            unsafe { self.finish_staged(staged, [16, columns, columns], 16 * ACROSS, row_of) };
            pass = opaque(pass + 1);
        }
    }

    /// Computes and stores the elements of *C* whose sums are in `staged`: `rows` rows of `columns` sums, which begin
    /// `pitch` elements apart. `row_of` returns the row of *C* of each row. `threads` is the size of the block.
    ///
    /// # Safety
    /// `staged` must have the rows, and `c` every element of *C*. `columns` and `pitch` must be multiples of 4.
    #[inline(always)]
    pub unsafe fn finish_staged<S: Sum>(
        &self,
        staged: Shared<S>,
        [rows, columns, pitch]: [usize; 3],
        threads: usize,
        row_of: impl Fn(usize) -> usize,
    ) where
        C: Output<S>,
        E: Epilogue<S, C>,
    {
        let mut first = 4 * thread::index_in_block() as usize;
        while first < rows * columns {
            let (row, column) = (first / columns, first % columns);
            // SAFETY: by this function's contract, the array has the four elements.
            let sums = unsafe { quad(staged, row * pitch + column) };
            // SAFETY: by this function's contract, `c` has all elements of C.
            unsafe { self.finish(row_of(row), self.column + column, sums) };
            // The loop is not unrolled, so that the PTX has the epilogue once.
            first = opaque(first + 4 * threads);
        }
    }
}

/// Loads four adjacent elements of 4 or 8 bytes. `first` must be a multiple of 4.
///
/// # Safety
/// `tile` must have the elements.
#[inline(always)]
unsafe fn quad<S: Element>(tile: Shared<S>, first: usize) -> [S; 4] {
    if size_of::<S>() == 4 {
        // SAFETY: by this function's contract, the tile has the elements.
        return unsafe { tile.cast::<[S; 4]>().load_unchecked(first / 4) };
    }
    let tile = tile.cast::<[S; 2]>();
    // SAFETY: by this function's contract, the tile has the elements.
    let ([a, b], [c, d]) = unsafe { (tile.load_unchecked(first / 2), tile.load_unchecked(first / 2 + 1)) };
    [a, b, c, d]
}

/// Sets elements `V·index..V·index + V` in one access, if they have at most 16 bytes.
///
/// # Safety
/// `c` must have the elements, and begin at a multiple of 16 bytes.
#[inline(always)]
unsafe fn store_vector<C: Element, const V: usize>(c: &GlobalMut<C>, index: usize, elements: [C; V])
where
    [C; V]: Element,
{
    // SAFETY: this is the same memory, and by this function's contract it is aligned.
    let vectors = unsafe { GlobalMut::<[C; V]>::from_raw_parts(c.as_ptr().cast(), c.len() / V, c.device()) };
    // SAFETY: by this function's contract, the view has the elements.
    unsafe { vectors.store_unchecked(index, elements) };
}
