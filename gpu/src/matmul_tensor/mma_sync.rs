//! Tensor cores: the warps of a block multiply fragments by `mma.sync`, which they load from shared memory by
//! `ldmatrix`.
//!
//! A block computes a tile of 128 rows; two warps are one above the other and `ACROSS` side by side, and each computes
//! 64 × 64 elements (64 × 32 for `f64`). Asynchronous copies fill four stages of 64 bytes along *k*. A row of a stage
//! has four vectors of 16 bytes, whose order depends on the row, so that the loads of fragments have no bank
//! conflicts. While the tensor cores multiply, the warp loads the fragments of the next 32 bytes. Blocks compute the
//! tiles of *C* in an order that reuses the L2 cache.
//!
//! The kernel is limited by the issue of `mma.sync`, which reaches about two thirds of an H100's tensor cores; the
//! other third needs `wgmma`. Sources: the kernels `MmaMultistage` of NVIDIA's CUTLASS; NVIDIA, "Parallel Thread
//! Execution ISA", the fragments of `mma`.

use core::marker::PhantomData;

use cuda_std::tensor::matrix::ldmatrix_unchecked;
use cuda_std::tensor::tf32;
use cuda_std::{AsyncCopies, Global, GlobalMut, Shared, bf16, dynamic_shared, f16, kernel, opaque, thread, unroll};

use crate::matmul::staging::{Target, copy_vector, ordered_tile, per_vector};
use crate::matmul::tuning::{MMA_ROWS, MMA_STAGES, STAGE_BYTES, mma_warp_columns};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem, Sum};

/// The number of 16-byte vectors of a row of a stage.
const VECTORS: usize = STAGE_BYTES / 16;

/// The number of rows of a warp's part of the tile.
const WARP_ROWS: usize = MMA_ROWS / 2;

/// The number of products of `mma.sync` in a warp's part of the tile.
const PRODUCTS: usize = 32;

/// Computes tiles of C by tensor cores. A has contiguous rows and B contiguous columns, and both views and each row of
/// A or column of B begin at a multiple of 16 bytes. Launch one block of 64 · `ACROSS` threads per tile of 128 × 64 ·
/// `ACROSS` elements of C (32 · `ACROSS` columns for `f64`): blocks along x for its columns, along y for its rows, and
/// along z for the products, with the dynamic shared memory of `tuning::mma_sync`.
#[kernel(
    instances(T = [f16], C = [f16, f32], E = [Linear<f32>], ACROSS = [2], max_threads = 128, min_blocks = 2),
    instances(T = [bf16], C = [bf16, f32], E = [Linear<f32>], ACROSS = [2], max_threads = 128, min_blocks = 2),
    instances(T = [tf32], C = [f32], E = [Linear<f32>], ACROSS = [2], max_threads = 128, min_blocks = 2),
    instances(T = [i8], C = [i32], E = [Linear<i32>], ACROSS = [2], max_threads = 128, min_blocks = 2),
    instances(T = [f16], C = [f16], E = [Linear<f32>], ACROSS = [4], max_threads = 256),
    instances(T = [bf16], C = [bf16], E = [Linear<f32>], ACROSS = [4], max_threads = 256),
    instances(T = [f64], C = [f64], E = [Linear<f64>], ACROSS = [4], max_threads = 256)
)]
pub fn matmul_mma_sync<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>, const ACROSS: usize>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    problem.assert_views(&a, &b, &c);
    let threads = 64 * ACROSS;
    assert!(thread::block_dim_x() as usize == threads && problem.a.column == 1 && problem.b.row == 1);
    let (k, warp_columns) = (STAGE_BYTES / size_of::<T>(), mma_warp_columns(size_of::<T>()));
    let columns = ACROSS * warp_columns;
    let stage = (MMA_ROWS + columns) * k;
    let tiles = dynamic_shared::<T>().part(0, MMA_STAGES * stage);
    let [tile_row, tile_column] = ordered_tile();
    let (row, column) = (tile_row * MMA_ROWS, tile_column * columns);
    let (batch, end) = (thread::block_idx_z() as usize, problem.k as usize);
    let thread = thread::index_in_block() as usize % threads;

    let copier = |view, tile_rows, next, rows: u32, stride: u64| Copier {
        view,
        tile_rows,
        next,
        rows: rows as usize,
        stride: stride as usize,
        threads,
        thread,
    };
    let (rows_left, columns_left) = (problem.m - row as u32, problem.n - column as u32);
    let mut copier_a = copier(a, MMA_ROWS, problem.a.index(batch, row, 0), rows_left, problem.a.row);
    let mut copier_b = copier(b, columns, problem.b.index(batch, 0, column), columns_left, problem.b.column);
    // Begins the copies of the next stage, if there is one, to the elements of `tiles` from `at` on.
    let mut left = end;
    let mut begin = |copies: &mut AsyncCopies, at: usize| {
        if left != 0 {
            // SAFETY: `assert_views` has checked the views, `at` is the beginning of a stage, and the kernel's contract
            // has the alignment.
            unsafe {
                copier_a.copy(copies, left, tiles, at);
                copier_b.copy(copies, left, tiles, at + MMA_ROWS * k);
            }
        }
        left = left.saturating_sub(k);
        copies.commit();
    };

    let (warp, lane) = (thread / 32, thread % 32);
    let (warp_row, warp_column) = (warp / ACROSS, warp % ACROSS);
    let [left_lane, right_lane] = lane_rows(T::ROWS, lane);
    let rows = Rows::<T> {
        left: Row::new(warp_row * WARP_ROWS, left_lane),
        right: Row::new(MMA_ROWS + warp_column * warp_columns, right_lane),
    };
    let (down, across) = (Rows::<T>::DOWN, Rows::<T>::ACROSS);
    let mut sums = [[T::Sum::ZERO; 4]; PRODUCTS];
    let mut copies = AsyncCopies::new();
    if end != 0 {
        let mut filled = 0;
        while filled < MMA_STAGES - 1 {
            begin(&mut copies, filled * stage);
            // The loop is not unrolled, because the copies are a large part of the PTX.
            filled = opaque(filled + 1);
        }
        copies.wait::<{ MMA_STAGES - 2 }>();
        thread::sync_threads();
        let (mut read, mut free, mut computed) = (0, filled * stage, 0);
        let mut even = rows.load(tiles, 0, 0);
        loop {
            begin(&mut copies, free);
            let odd = rows.load(tiles, read, 1);
            even.multiply::<T>(&mut sums);
            computed += k;
            if computed < end {
                // The next stage has arrived, and all threads have read the one that the next copies overwrite.
                copies.wait::<{ MMA_STAGES - 2 }>();
                thread::sync_threads();
                free = read;
                read = if read == (MMA_STAGES - 1) * stage { 0 } else { read + stage };
                even = rows.load(tiles, read, 0);
            }
            odd.multiply::<T>(&mut sums);
            if computed >= end {
                break;
            }
        }
    }

    // The sums pass through shared memory, one row of products of each warp after the other. The rows are 8 elements
    // longer, so that the pairs of a fragment are in different banks.
    let pitch = columns + 8;
    let staged = tiles.cast::<T::Sum>().part(0, 2 * T::ROWS * pitch);
    let pairs = staged.cast::<[T::Sum; 2]>();
    let target = Target { problem, c, bias, epilogue, batch, row, column };
    let mut pass = 0;
    while pass < down {
        thread::sync_threads();
        unroll!(J in 8 => {
            unroll!(HALF in 2 => {
                if J < across && HALF < T::ROWS / 8 {
                    let at = (warp_row * T::ROWS + HALF * 8 + lane / 4) * pitch + warp_column * warp_columns + 8 * J;
                    let [a, b] = [sums[J][2 * HALF], sums[J][2 * HALF + 1]];
                    // SAFETY: the pair is in the rows of the warp.
                    unsafe { pairs.store_unchecked(at / 2 + lane % 4, [a, b]) };
                }
            });
        });
        // The loop shifts the sums, so that their index is constant and they stay in registers.
        unroll!(I in 7 => {
            unroll!(J in 8 => {
                if I + 1 < down && J < across {
                    sums[I * across + J] = sums[(I + 1) * across + J];
                }
            });
        });
        thread::sync_threads();
        let row_of = |staged: usize| row + staged / T::ROWS * WARP_ROWS + pass * T::ROWS + staged % T::ROWS;
        // SAFETY: the array has these rows, and `assert_views` has checked that the view has all elements of C.
        unsafe { target.finish_staged(staged, [2 * T::ROWS, columns, pitch], threads, row_of) };
        pass = opaque(pass + 1);
    }
}

/// Returns the row of A and the column of B in a fragment that the lane loads, each with the number of the element in
/// the 32 bytes of a step: by `ldmatrix` the first element of 16 bytes, or else the lane's element.
#[inline(always)]
fn lane_rows(rows: usize, lane: usize) -> [[usize; 2]; 2] {
    if rows == 8 {
        return [[lane / 4, lane % 4]; 2];
    }
    [[lane % 16, lane / 16], [lane % 8 + lane / 16 * 8, lane / 8 % 2]]
}

/// The calling lane's registers of the fragments that a warp multiplies in a step: those of A, and those of pairs of
/// adjacent fragments of B.
#[derive(Clone, Copy)]
struct Fragments {
    lefts: [[u32; 4]; 8],
    rights: [[u32; 4]; 4],
}

impl Fragments {
    /// Adds the products of all fragments to the sums.
    #[inline(always)]
    fn multiply<T: Operand>(self, sums: &mut [[T::Sum; 4]; PRODUCTS]) {
        unroll!(I in 8 => {
            unroll!(J in 8 => {
                if I < Rows::<T>::DOWN && J < Rows::<T>::ACROSS {
                    let right = [self.rights[J / 2][J % 2 * 2], self.rights[J / 2][J % 2 * 2 + 1]];
                    let at = I * Rows::<T>::ACROSS + J;
                    sums[at] = T::multiply(self.lefts[I], right, sums[at]);
                }
            });
        });
    }
}

/// The rows of a stage from which a lane loads its registers.
struct Rows<T> {
    left: Row<T>,
    right: Row<T>,
}

impl<T: Operand> Rows<T> {
    /// The number of fragments of A in a warp's part of the tile.
    const DOWN: usize = WARP_ROWS / T::ROWS;
    /// The number of fragments of B in a warp's part of the tile.
    const ACROSS: usize = PRODUCTS / Self::DOWN;

    /// Loads the fragments of step `step` of the stage that begins at element `stage` of `tiles`.
    #[inline(always)]
    fn load(&self, tiles: Shared<T>, stage: usize, step: usize) -> Fragments {
        let k = STAGE_BYTES / size_of::<T>();
        let (mut lefts, mut rights) = ([[0; 4]; 8], [[0; 4]; 4]);
        let (first_left, first_right) = (stage + self.left.element(step), stage + self.right.element(step));
        unroll!(I in 8 => {
            if I < Self::DOWN {
                // SAFETY: the stage has these rows of A.
                lefts[I] = unsafe { left_fragment(tiles, first_left, I * T::ROWS * k) };
            }
        });
        unroll!(J in 4 => {
            if J < Self::ACROSS / 2 {
                // SAFETY: the stage has these columns of B.
                rights[J] = unsafe { right_fragments(tiles, first_right, J * 16 * k) };
            }
        });
        Fragments { lefts, rights }
    }
}

/// The row of a stage from which a lane loads its part of fragments.
struct Row<T> {
    /// The first element of the row.
    first: usize,
    /// The vector in the first step, and the element in the vector.
    vector: usize,
    within: usize,
    /// The number by which vectors of the row are swizzled.
    swizzle: usize,
    element: PhantomData<T>,
}

impl<T> Row<T> {
    #[inline(always)]
    fn new(first_row: usize, [row, part]: [usize; 2]) -> Self {
        let row = first_row + row;
        let (vector, within) = if size_of::<T>() == 8 { (part / 2, part % 2) } else { (part, 0) };
        let first = row * (STAGE_BYTES / size_of::<T>());
        Self { first, vector, within, swizzle: swizzle(size_of::<T>(), row), element: PhantomData }
    }

    /// Returns the lane's element of step `step` of 32 bytes.
    #[inline(always)]
    fn element(&self, step: usize) -> usize {
        self.first + ((2 * step + self.vector) ^ self.swizzle) * per_vector(size_of::<T>()) + self.within
    }
}

/// Returns the number with which the numbers of a row's vectors are combined by exclusive or. Rows that a warp reads at
/// once have their vectors in different banks: 8 rows of one vector by `ldmatrix`, or 4 rows of two vectors for
/// elements of 8 bytes. Rows that are 8 apart have the same number.
#[inline(always)]
const fn swizzle(size: usize, row: usize) -> usize {
    if size == 8 { row / 2 % 2 * 2 } else { row / 2 % VECTORS }
}

/// Loads the lane's registers of a fragment of A from element `first + offset` on.
///
/// # Safety
/// `tiles` must have the fragment.
#[inline(always)]
unsafe fn left_fragment<T: Operand>(tiles: Shared<T>, first: usize, offset: usize) -> [u32; 4] {
    // SAFETY: by this function's contract, the elements from `first` on are in the array.
    let part = unsafe { tiles.part_unchecked(first, tiles.len() - first) };
    if size_of::<T>() == 8 {
        // SAFETY: by this function's contract, the array has the element.
        let [low, high] = unsafe { words(part, offset) };
        return [low, high, 0, 0];
    }
    // SAFETY: by this function's contract, the array has the row of the fragment.
    rounded::<T>(unsafe { ldmatrix_unchecked(part, offset) })
}

/// Loads the lane's registers of two adjacent fragments of B from element `first + offset` on, two each.
///
/// # Safety
/// `tiles` must have the fragments.
#[inline(always)]
unsafe fn right_fragments<T: Operand>(tiles: Shared<T>, first: usize, offset: usize) -> [u32; 4] {
    // SAFETY: by this function's contract, the elements from `first` on are in the array.
    let part = unsafe { tiles.part_unchecked(first, tiles.len() - first) };
    if size_of::<T>() == 8 {
        // SAFETY: by this function's contract, the array has both elements.
        let ([a, b], [c, d]) = unsafe { (words(part, offset), words(part, offset + STAGE_BYTES)) };
        return [a, b, c, d];
    }
    // SAFETY: by this function's contract, the array has the row of the fragment.
    rounded::<T>(unsafe { ldmatrix_unchecked(part, offset) })
}

#[inline(always)]
fn rounded<T: Operand>([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    [T::rounded(a), T::rounded(b), T::rounded(c), T::rounded(d)]
}

/// Loads an element of 8 bytes as two words, the lower one first.
///
/// # Safety
/// `part` must have the element.
#[inline(always)]
unsafe fn words<T: Operand>(part: Shared<T>, index: usize) -> [u32; 2] {
    // SAFETY: by this function's contract, the array has the element.
    let bits = unsafe { part.cast::<u64>().load_unchecked(index) };
    [bits as u32, (bits >> 32) as u32]
}

/// Copies the parts of the stages of an operand. In the names and comments, the operand is A; rows are columns for B.
struct Copier<'a, T> {
    view: Global<'a, T>,
    /// The number of rows of the tile.
    tile_rows: usize,
    /// The index of the element of the tile's first row at the first position of the next stage.
    next: usize,
    /// The number of rows of the operand from the tile's first row on.
    rows: usize,
    /// The number of elements to the next row.
    stride: usize,
    /// The number of threads of the block.
    threads: usize,
    thread: usize,
}

impl<T: Operand> Copier<'_, T> {
    /// Begins the copies of the next stage to the elements of `tiles` from `at` on. `left` positions along k are left.
    /// Elements beyond the operand become zero.
    ///
    /// # Safety
    /// The view must have `rows` rows with `left` elements from `next` on, and the view and each row must begin at a
    /// multiple of 16 bytes. `tiles` must have the stage's elements.
    #[inline(always)]
    unsafe fn copy(&mut self, copies: &mut AsyncCopies, left: usize, tiles: Shared<T>, at: usize) {
        let k = STAGE_BYTES / size_of::<T>();
        if self.rows >= self.tile_rows && left >= k {
            // SAFETY: by this function's contract, the whole part of the stage is in the view.
            unsafe { self.copy_part::<true>(copies, left, tiles, at) };
        } else {
            // SAFETY: these are the conditions of this function's contract.
            unsafe { self.copy_part::<false>(copies, left, tiles, at) };
        }
        self.next += k;
    }

    /// Begins the copies like [`copy`](Self::copy). If `WHOLE` is true, all elements of the stage are in the operand.
    ///
    /// # Safety
    /// The conditions of [`copy`](Self::copy) must hold.
    #[inline(always)]
    unsafe fn copy_part<const WHOLE: bool>(&self, copies: &mut AsyncCopies, left: usize, tiles: Shared<T>, at: usize) {
        let (k, v) = (STAGE_BYTES / size_of::<T>(), per_vector(size_of::<T>()));
        let (row, vector) = (self.thread / VECTORS, self.thread % VECTORS);
        // Rows of different passes are a multiple of 8 apart, so that they have the same swizzle.
        let slot = at + row * k + (vector ^ swizzle(size_of::<T>(), row)) * v;
        let first = self.next + row * self.stride + vector * v;
        for i in 0..self.tile_rows * VECTORS / self.threads {
            let down = i * self.threads / VECTORS;
            let count = match (WHOLE, row + down < self.rows) {
                (true, _) => v,
                (_, true) => left.saturating_sub(vector * v).min(v),
                _ => 0,
            };
            // SAFETY: the elements are in the view, or else `count` is 0. They and the slot are aligned.
            unsafe { copy_vector(copies, &self.view, [first + down * self.stride, count], tiles, slot + down * k) };
        }
    }
}
