//! The multiplication of tiles by the warps of a block, by `mma.sync`.
//!
//! A block of four warps computes a tile of 128 × 128 elements (128 × 64 for `f64`), and each warp a quarter of it.
//! Asynchronous copies fill three stages of 128 bytes along *k*. A row of a stage has eight vectors of 16 bytes, whose
//! order depends on the row, so that the loads of fragments have no bank conflicts. While the tensor cores multiply,
//! the warp loads the fragments of the next 32 bytes. Blocks compute the tiles of *C* in an order that reuses the L2
//! cache.

use core::marker::PhantomData;

use cuda_std::{AsyncCopies, Global, GlobalMut, Shared, opaque, thread, unroll};

use super::staging::{Target, copy_vector, ordered_tile, per_vector};
use super::tuning::{MMA_ROWS, MMA_STAGES, MMA_THREADS as THREADS, STAGE_BYTES, mma_warp_columns};
use super::{Epilogue, Operand, Output, Problem, Sum};

/// The number of 16-byte vectors of a row of a stage.
const VECTORS: usize = STAGE_BYTES / 16;

/// The number of rows of a warp's part of the tile.
const WARP_ROWS: usize = MMA_ROWS / 2;

/// The number of rows of A in a fragment, and the number of fragments of A in a warp's part of the tile.
const ROWS: usize = 16;
const DOWN: usize = WARP_ROWS / ROWS;

/// The maximum number of products of `mma.sync` in a warp's part of the tile.
const PRODUCTS: usize = 8 * DOWN;

/// The arguments of a kernel.
pub struct Arguments<'a, T, C, E> {
    /// The sizes and layouts.
    pub problem: Problem,
    /// The matrix A.
    pub a: Global<'a, T>,
    /// The matrix B.
    pub b: Global<'a, T>,
    /// The result.
    pub c: GlobalMut<'a, C>,
    /// One element per column.
    pub bias: Global<'a, C>,
    /// The epilogue.
    pub epilogue: E,
}

/// Computes the block's tile of C. A has contiguous rows and B contiguous columns, and both views and each row of A or
/// column of B begin at a multiple of 16 bytes. The block has 128 threads. `tiles` has the dynamic shared
/// memory of `tuning::mma_sync`.
#[inline(always)]
pub fn multiply_tile<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
    Arguments { problem, a, b, c, bias, epilogue }: Arguments<T, C, E>,
    tiles: Shared<T>,
) {
    problem.assert_views(&a, &b, &c);
    assert!(thread::block_dim_x() as usize == THREADS && problem.a.column == 1 && problem.b.row == 1);
    let (k, warp_columns) = (STAGE_BYTES / size_of::<T>(), mma_warp_columns(size_of::<T>()));
    let columns = 2 * warp_columns;
    let stage = (MMA_ROWS + columns) * k;
    let tiles = tiles.part(0, MMA_STAGES * stage);
    let [tile_row, tile_column] = ordered_tile();
    let (row, column) = (tile_row * MMA_ROWS, tile_column * columns);
    let (batch, end) = (thread::block_idx_z() as usize, problem.k as usize);
    let thread = thread::index_in_block() as usize % THREADS;
    let (rows_left, columns_left) = (problem.m as usize - row, problem.n as usize - column);
    let mut copier_a = Copier::new(a, problem.a.index(batch, row, 0), [MMA_ROWS, rows_left], problem.a.row, thread);
    let first = problem.b.index(batch, 0, column);
    let mut copier_b = Copier::new(b, first, [columns, columns_left], problem.b.column, thread);
    let (warp, lane) = (thread / 32, thread % 32);
    let (warp_row, warp_column) = (warp / 2, warp % 2);
    let rows = Rows::<T>::new([warp_row * WARP_ROWS, warp_column * warp_columns], lane);
    let across = Rows::<T>::ACROSS;

    let mut sums = [[T::Sum::ZERO; 4]; PRODUCTS];
    let mut copies = AsyncCopies::new();
    let next_stage = |start: usize| if start == (MMA_STAGES - 1) * stage { 0 } else { start + stage };
    let (mut begun, mut free, mut read, mut computed) = (0, 0, 0, 0);
    // The first product, of zeros, has no effect.
    let mut odd = Fragments::<T>::ZERO;
    while computed < end {
        loop {
            if begun >= MMA_STAGES - 1 {
                // The next stage has arrived, and all warps have read the one that the next copies overwrite.
                copies.wait::<{ MMA_STAGES - 2 }>();
                thread::sync_threads();
            }
            if begun * k < end {
                // SAFETY: `assert_views` has checked the views, `free` is the beginning of a stage, and by the contract
                // of the kernel all addresses are aligned.
                unsafe {
                    copier_a.copy(&mut copies, end - begun * k, tiles, free);
                    copier_b.copy(&mut copies, end - begun * k, tiles, free + MMA_ROWS * k);
                }
            }
            copies.commit();
            begun += 1;
            free = next_stage(free);
            if begun >= MMA_STAGES {
                break;
            }
        }
        unroll!(I in STAGE_BYTES / 64 => {
            if I < STAGE_BYTES / 64 / parts(size_of::<T>()) {
                let even = rows.load(tiles, read, 2 * I);
                odd.multiply(&mut sums);
                odd = rows.load(tiles, read, 2 * I + 1);
                even.multiply(&mut sums);
            }
        });
        computed += k;
        read = next_stage(read);
    }
    odd.multiply(&mut sums);

    // The sums pass through shared memory, one row of products of each warp after the other. The rows are 8 elements
    // longer, so that the pairs of a fragment are in different banks.
    let pitch = columns + 8;
    let staged = tiles.cast::<T::Sum>().part(0, 2 * ROWS * pitch);
    let pairs = staged.cast::<[T::Sum; 2]>();
    let target = Target { problem, c, bias, epilogue, batch, row, column };
    let mut pass = 0;
    while pass < DOWN {
        thread::sync_threads();
        unroll!(J in 8 => {
            unroll!(HALF in 2 => {
                if J < across {
                    let at = (warp_row * ROWS + HALF * 8 + lane / 4) * pitch + warp_column * warp_columns + 8 * J;
                    let [a, b] = [sums[J][2 * HALF], sums[J][2 * HALF + 1]];
                    // SAFETY: the pair is in the rows of the warp.
                    unsafe { pairs.store_unchecked(at / 2 + lane % 4, [a, b]) };
                }
            });
        });
        // The loop shifts the sums, so that their index is constant and they stay in registers.
        unroll!(I in DOWN - 1 => {
            unroll!(J in 8 => {
                if J < across {
                    sums[I * across + J] = sums[(I + 1) * across + J];
                }
            });
        });
        thread::sync_threads();
        let row_of = |staged: usize| row + staged / ROWS * WARP_ROWS + pass * ROWS + staged % ROWS;
        // SAFETY: the array has these rows, and `assert_views` has checked that the view has all elements of C.
        unsafe { target.finish_staged(staged, [2 * ROWS, columns, pitch], THREADS, row_of) };
        pass = opaque(pass + 1);
    }
}

/// Returns the row of A and the column of B in a fragment that the lane loads, each with the number of the element in
/// the 32 bytes of a fragment: by `ldmatrix` the first element of 16 bytes, or else the lane's element.
#[inline(always)]
fn lane_rows(size: usize, lane: usize) -> [[usize; 2]; 2] {
    if size == 8 {
        return [[lane / 4, lane % 4]; 2];
    }
    let v = per_vector(size);
    [[lane % 16, lane / 16 * v], [lane % 8 + lane / 16 * 8, lane / 8 % 2 * v]]
}

/// Returns the number of fragments along *k* that one product takes, for elements of `size` bytes.
const fn parts(size: usize) -> usize {
    if size == 8 { 2 } else { 1 }
}

/// The calling lane's registers of the fragments that a warp multiplies in a step: those of A, and those of pairs of
/// adjacent fragments of B. Only `f64` has the second part of each.
#[derive(Clone, Copy)]
struct Fragments<T: Operand> {
    lefts: [[T::Registers; 2]; DOWN],
    rights: [[T::Registers; 2]; 4],
}

impl<T: Operand> Fragments<T> {
    const ZERO: Self = Self { lefts: [[T::ZERO_REGISTERS; 2]; DOWN], rights: [[T::ZERO_REGISTERS; 2]; 4] };

    /// Adds the products of all fragments to the sums.
    #[inline(always)]
    fn multiply(self, sums: &mut [[T::Sum; 4]; PRODUCTS]) {
        unroll!(I in DOWN => {
            unroll!(J in 8 => {
                if J < Rows::<T>::ACROSS {
                    let at = I * Rows::<T>::ACROSS + J;
                    sums[at] = T::multiply(self.lefts[I], self.rights[J / 2], J % 2, sums[at]);
                }
            });
        });
    }
}

/// The elements of the first stage from which a lane loads its parts of the first fragments of A and of B.
struct Rows<T> {
    left: usize,
    right: usize,
    element: PhantomData<T>,
}

impl<T: Operand> Rows<T> {
    /// The number of fragments of B in a warp's part of the tile.
    const ACROSS: usize = mma_warp_columns(size_of::<T>()) / 8;

    /// Returns the elements of a lane whose warp has the rows and columns from `first` on. In a stage, the columns of B
    /// follow the rows of A.
    #[inline(always)]
    fn new([first_row, first_column]: [usize; 2], lane: usize) -> Self {
        let element = |first: usize, [row, element]: [usize; 2]| {
            let (size, row) = (size_of::<T>(), first + row);
            row * (STAGE_BYTES / size) + (element ^ (swizzle(size, row) * per_vector(size)))
        };
        let [left, right] = lane_rows(size_of::<T>(), lane);
        Self { left: element(first_row, left), right: element(MMA_ROWS + first_column, right), element: PhantomData }
    }

    /// Loads the fragments of step `step` of the stage that begins at element `stage` of `tiles`.
    #[inline(always)]
    fn load(&self, tiles: Shared<T>, stage: usize, step: usize) -> Fragments<T> {
        let k = STAGE_BYTES / size_of::<T>();
        let mut fragments = Fragments::ZERO;
        unroll!(PART in 2 => {
            if PART < parts(size_of::<T>()) {
                // The number of the fragment changes other bits than the element in the fragment. Thus it can be
                // combined with the sum, as if the vectors had no other order.
                let fragment = (parts(size_of::<T>()) * step + PART) * (32 / size_of::<T>());
                let (left, right) = ((stage + self.left) ^ fragment, (stage + self.right) ^ fragment);
                unroll!(I in DOWN => {
                    // SAFETY: the stage has these rows of A.
                    fragments.lefts[I][PART] = unsafe { load_fragment(tiles, left, I * ROWS * k, k) };
                });
                unroll!(J in 4 => {
                    if J < Self::ACROSS / 2 {
                        // SAFETY: the stage has these columns of B.
                        fragments.rights[J][PART] = unsafe { load_fragment(tiles, right, J * 16 * k, k) };
                    }
                });
            }
        });
        fragments
    }
}

/// Returns the number with which the numbers of a row's vectors are combined by exclusive or. Rows that a warp reads at
/// once have their vectors in different banks: 8 rows of one vector by `ldmatrix`, or 4 rows of two vectors for
/// elements of 8 bytes. Rows that are 8 apart have the same number.
#[inline(always)]
const fn swizzle(size: usize, row: usize) -> usize {
    if size == 8 { row % 4 * 2 } else { row % VECTORS }
}

/// Loads the lane's registers of a fragment of A, or of two adjacent fragments of B, from element `first + offset` on.
///
/// # Safety
/// `tiles` must have the fragments, whose rows begin `pitch` elements apart.
#[inline(always)]
unsafe fn load_fragment<T: Operand>(tiles: Shared<T>, first: usize, offset: usize, pitch: usize) -> T::Registers {
    // SAFETY: by this function's contract, the elements from `first` on are in the array.
    let part = unsafe { tiles.part_unchecked(first, tiles.len() - first) };
    // SAFETY: by this function's contract, the array has the fragments.
    unsafe { T::load(part, offset, pitch) }
}

/// Copies the parts of the stages of an operand. In the names and comments, the operand is A; rows are columns for B.
struct Copier<'a, T> {
    view: Global<'a, T>,
    /// The index of the first element that the thread copies in the next stage.
    next: usize,
    /// The number of elements to the next vector that the thread copies, which is [`APART`] rows below.
    step: usize,
    /// The row of the thread's first vector in the tile, and the position of the vector along k.
    row: usize,
    position: usize,
    /// The number of rows of the tile, and that of the operand from the tile's first row on.
    tile_rows: usize,
    rows: usize,
}

/// The number of rows between two vectors that a thread copies. It is a multiple of 8, so that both have the same
/// place in their rows.
const APART: usize = THREADS / VECTORS;

impl<'a, T: Operand> Copier<'a, T> {
    /// Returns the copier of a tile whose first element has the index `first`. Rows begin `stride` elements apart.
    #[inline(always)]
    fn new(view: Global<'a, T>, first: usize, [tile_rows, rows]: [usize; 2], stride: u64, thread: usize) -> Self {
        let (row, position) = (thread / VECTORS, thread % VECTORS * per_vector(size_of::<T>()));
        let stride = stride as usize;
        Self { view, next: first + row * stride + position, step: APART * stride, row, position, tile_rows, rows }
    }

    /// Begins the copies of the next stage to the elements of `tiles` from `at` on. `left` positions along k are left.
    /// Elements beyond the operand become zero.
    ///
    /// # Safety
    /// The view must have `rows` rows with `left` elements from the stage's first element on, and the view and each row
    /// must begin at a multiple of 16 bytes. `tiles` must have the stage's elements.
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
        let (size, k) = (size_of::<T>(), STAGE_BYTES / size_of::<T>());
        let slot = at + self.row * k + (self.position ^ (swizzle(size, self.row) * per_vector(size)));
        let mut from = self.next;
        for down in (0..self.tile_rows).step_by(APART) {
            let count = match (WHOLE, self.row + down < self.rows) {
                (true, _) => per_vector(size),
                (_, true) => left.saturating_sub(self.position).min(per_vector(size)),
                _ => 0,
            };
            // SAFETY: the elements are in the view, or else `count` is 0. They and the slot are aligned.
            unsafe { copy_vector(copies, &self.view, [from, count], tiles, slot + down * k) };
            from += self.step;
        }
    }
}
