//! Asynchronous copies: `cp.async` moves the tiles of the next steps to shared memory while the block computes, and
//! each thread loads its fragments in 16-byte accesses, one position of *k* ahead.
//!
//! A block computes a tile of 128 × 128 elements. Shared memory has three stages of 64 bytes along *k*; a stage holds
//! the tile of *A* and that of *B*, both with contiguous rows (or columns) of *C*. An operand that is contiguous along
//! *k* is transposed by copies of single elements. Each thread has 8 × 16 sums, so that it multiplies 128 times for 6
//! loads. The sums are in pieces of 16 bytes, which neighbouring threads interleave: neither loads nor stores of shared
//! memory have bank conflicts. Blocks compute the tiles of *C* in an order that reuses the L2 cache.
//!
//! The kernel is limited by the multiplications. Sources: the kernels `SimtMultistage` of NVIDIA's CUTLASS; S. Boehm,
//! "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance", 2022.

use cuda_std::tensor::mma;
use cuda_std::{AsyncCopies, Global, GlobalMut, Shared, dynamic_shared, kernel, opaque, thread, unroll};

use crate::matmul::staging::{Target, copy_vector, fragment, ordered_tile, per_vector};
use crate::matmul::tuning::{ASYNC_BYTES, ASYNC_SIDE as SIDE, ASYNC_STAGES, ASYNC_THREADS as THREADS, async_pitch};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem, Sum};

/// The number of rows of threads: each thread has a part of the tile.
pub const DOWN: usize = 16;
/// The number of columns of threads.
pub const ACROSS: usize = THREADS / DOWN;

/// The number of rows of a thread's sums.
pub const HEIGHT: usize = SIDE / DOWN;
/// The number of columns of a thread's sums.
pub const WIDTH: usize = SIDE / ACROSS;

/// The number of positions along k that a copy of an operand with contiguous k covers.
const ALONG: usize = 8;

/// The number of positions along k of a stage with elements of 4 bytes.
pub const STEP: usize = ASYNC_BYTES / 4;

/// Computes tiles of C from tiles of A and B that arrive by asynchronous copies. Unless A is contiguous along k, it has
/// contiguous columns, and the view and each column begins at a multiple of 16 bytes; likewise B has contiguous rows.
/// Launch one block of 128 threads per tile of 128 × 128 elements of C: blocks along x for its columns, along y for its
/// rows, and along z for the products, with the dynamic shared memory of `tuning::async_copies`.
#[kernel(
    max_threads = 128,
    min_blocks = 2,
    instances(T = [f32], C = [f32], E = [Linear<f32>]),
    exported = "matmul_tensor"
)]
pub fn matmul_async_copies<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    mma::require();
    problem.assert_views(&a, &b, &c);
    assert!(thread::block_dim_x() as usize == THREADS);
    let (pitch, k) = (async_pitch(size_of::<T>()), ASYNC_BYTES / size_of::<T>());
    let tiles = dynamic_shared::<T>().part(0, ASYNC_STAGES * 2 * k * pitch);
    let [row, column] = ordered_tile().map(|tile| tile * SIDE);
    let (batch, end) = (thread::block_idx_z() as usize, problem.k as usize);
    let thread = thread::index_in_block() as usize % THREADS;
    let (rows, columns) = (problem.m as usize - row, problem.n as usize - column);
    let strides_a = [problem.a.row, problem.a.column].map(|stride| stride as usize);
    let strides_b = [problem.b.column, problem.b.row].map(|stride| stride as usize);
    let mut copier_a = Copier::new(a, problem.a.index(batch, row, 0), rows, strides_a, thread);
    let mut copier_b = Copier::new(b, problem.b.index(batch, 0, column), columns, strides_b, thread);
    // A warp has 8 × 4 of the 16 × 8 threads, so that its loads touch the fewest different vectors.
    let (warp, lane) = (thread / 32, thread % 32);
    let at = [warp / 2 * 8 + lane / 4, warp % 2 * 4 + lane % 4];
    // The vectors from a position of k to the next one.
    let vectors = pitch / per_vector(size_of::<T>());
    let load = |[left, right]: [usize; 2], i: usize| Fragments {
        // SAFETY: the stage has `k` rows of the tile with more than 128 elements, and `at[0]` is below 16.
        left: unsafe { fragment::<T, HEIGHT, DOWN>(tiles, left, i * vectors, 0) },
        // SAFETY: the stage has `k` rows of the tile with more than 128 elements, and `at[1]` is below 8.
        right: unsafe { fragment::<T, WIDTH, ACROSS>(tiles, right, i * vectors, 0) },
    };

    let mut sums = [[T::Sum::ZERO; WIDTH]; HEIGHT];
    let mut copies = AsyncCopies::new();
    let stage = 2 * k * pitch;
    let next_stage = |stages: usize| if stages == (ASYNC_STAGES - 1) * stage { 0 } else { stages + stage };
    let (mut begun, mut free, mut read, mut computed) = (0, 0, 0, 0);
    // The thread's first vectors of A and B in a stage. The compiler would otherwise compute them again in each step.
    let first = [opaque(at[0]), opaque(k * vectors + at[1])];
    // The first product, of zeros, has no effect.
    let mut odd = Fragments { left: [T::zeroed(); HEIGHT], right: [T::zeroed(); WIDTH] };
    while computed < end {
        loop {
            if begun >= ASYNC_STAGES - 1 {
                // The next stage has arrived, and all threads have read the one that the next copies overwrite.
                copies.wait::<{ ASYNC_STAGES - 2 }>();
                thread::sync_threads();
            }
            if begun * k < end {
                // SAFETY: `assert_views` has checked the views, `free` is the beginning of a stage, and the kernel's
                // contract has the alignment.
                unsafe {
                    copier_a.copy(&mut copies, end - begun * k, tiles, free);
                    copier_b.copy(&mut copies, end - begun * k, tiles, free + k * pitch);
                }
            }
            copies.commit();
            begun += 1;
            free = next_stage(free);
            if begun >= ASYNC_STAGES {
                break;
            }
        }
        let from = first.map(|first| first + read / per_vector(size_of::<T>()));
        unroll!(I in STEP / 2 => {
            let even = load(from, 2 * I);
            odd.multiply(&mut sums);
            odd = load(from, 2 * I + 1);
            even.multiply(&mut sums);
        });
        computed += k;
        read = next_stage(read);
    }
    odd.multiply(&mut sums);
    let target = Target { problem, c, bias, epilogue, batch, row, column };
    // SAFETY: `assert_views` has checked that the view has all elements of C, and the block has 16 × 8 threads.
    unsafe { target.finish_blocks::<T::Sum, HEIGHT, WIDTH, ACROSS>(at, tiles.cast::<T::Sum>(), sums) };
}

/// A thread's elements of a column of A and of a row of B.
#[derive(Clone, Copy)]
pub struct Fragments<T> {
    /// The elements of the column of A.
    pub left: [T; HEIGHT],
    /// The elements of the row of B.
    pub right: [T; WIDTH],
}

impl<T: Operand> Fragments<T> {
    /// Adds the products of all elements to the sums.
    #[inline(always)]
    pub fn multiply(self, sums: &mut [[T::Sum; WIDTH]; HEIGHT]) {
        unroll!(J in WIDTH => {
            unroll!(I in HEIGHT => {
                let i = if J % 2 == 0 { I } else { HEIGHT - 1 - I };
                sums[i][J] = self.left[i].widen().multiply_add(self.right[J].widen(), sums[i][J]);
            });
        });
    }
}

/// Copies the parts of the stages of an operand. In the names and comments, the operand is A; rows are columns for B.
pub struct Copier<'a, T> {
    view: Global<'a, T>,
    /// The index of the element that the thread copies first in the next stage.
    next: usize,
    /// The row and the position of that element in the tile.
    row: usize,
    position: usize,
    /// The number of elements to the element that the thread copies next, if that is in another row for an operand that
    /// is contiguous along k, or else at another position.
    step: usize,
    /// The number of elements to the next stage.
    advance: usize,
    /// The number of rows of the operand from the tile's first row on.
    rows: usize,
    /// True if the operand is contiguous along k.
    is_along: bool,
}

/// The number of positions along k between two copies of a thread, for an operand with contiguous columns.
const fn positions_apart(size: usize) -> usize {
    THREADS / (SIDE / per_vector(size))
}

impl<'a, T: Operand> Copier<'a, T> {
    /// Returns the copier of the operand whose element `first` is the first one of the tile. `strides` are the numbers
    /// of elements to the next row and to the next position.
    #[inline(always)]
    pub fn new(view: Global<'a, T>, first: usize, rows: usize, strides: [usize; 2], thread: usize) -> Self {
        let (k, v) = (ASYNC_BYTES / size_of::<T>(), per_vector(size_of::<T>()));
        let is_along = strides[1] == 1;
        let (row, position, step) = if is_along {
            (thread / ALONG, thread % ALONG, THREADS / ALONG * strides[0])
        } else {
            (thread % (SIDE / v) * v, thread / (SIDE / v), positions_apart(size_of::<T>()) * strides[1])
        };
        // An operand that is not contiguous along k has contiguous columns.
        let next = first + if is_along { row * strides[0] + position } else { position * strides[1] + row };
        Self { view, next, row, position, step, advance: k * strides[1], rows, is_along }
    }

    /// Begins the copies of the next stage to the elements of `tiles` from `at` on. `left` positions along k are left.
    /// Elements beyond the operand become zero.
    ///
    /// # Safety
    /// The view must have `rows` rows with `left` elements from the stage's first element on. `tiles` must have the
    /// stage's elements. Unless the operand is contiguous along k, the view and each column must begin at a multiple of
    /// 16 bytes.
    #[inline(always)]
    pub unsafe fn copy(&mut self, copies: &mut AsyncCopies, left: usize, tiles: Shared<T>, at: usize) {
        let is_whole = self.rows >= SIDE && left >= ASYNC_BYTES / size_of::<T>();
        let slot = at + self.position * async_pitch(size_of::<T>()) + self.row;
        // SAFETY: by this function's contract, the part of the stage inside the operand is in the view.
        unsafe {
            match (self.is_along, is_whole) {
                (true, true) => self.copy_elements::<true>(copies, left, tiles, slot),
                (true, false) => self.copy_elements::<false>(copies, left, tiles, slot),
                (false, true) => self.copy_vectors::<true>(copies, left, tiles, slot),
                (false, false) => self.copy_vectors::<false>(copies, left, tiles, slot),
            }
        }
        self.next += self.advance;
    }

    /// Begins the copies like [`copy`](Self::copy) for an operand that is contiguous along k. The thread's first slot
    /// is `slot`. If `WHOLE` is true, all elements of the stage are in the operand.
    ///
    /// # Safety
    /// The conditions of [`copy`](Self::copy) must hold.
    #[inline(always)]
    unsafe fn copy_elements<const WHOLE: bool>(
        &self,
        copies: &mut AsyncCopies,
        left: usize,
        tiles: Shared<T>,
        slot: usize,
    ) {
        let (k, pitch) = (ASYNC_BYTES / size_of::<T>(), async_pitch(size_of::<T>()));
        let mut from = self.next;
        // A warp copies 8 positions of 4 rows, which are in different banks.
        for i in 0..SIDE / (THREADS / ALONG) {
            let down = i * (THREADS / ALONG);
            for along in (0..k).step_by(ALONG) {
                let is_inside = WHOLE || self.row + down < self.rows && self.position + along < left;
                let (element, to) = ([from + along, usize::from(is_inside)], slot + along * pitch + down);
                // SAFETY: the element is in the view, or else the count is 0, and the slot is in the stage.
                unsafe { copies.copy_padded_unchecked(self.view, element, tiles.cast::<[T; 1]>(), to) };
            }
            from += self.step;
        }
    }

    /// Begins the copies like [`copy_elements`](Self::copy_elements) for an operand with contiguous columns.
    ///
    /// # Safety
    /// The conditions of [`copy`](Self::copy) must hold.
    #[inline(always)]
    unsafe fn copy_vectors<const WHOLE: bool>(
        &self,
        copies: &mut AsyncCopies,
        left: usize,
        tiles: Shared<T>,
        slot: usize,
    ) {
        let (size, k) = (size_of::<T>(), ASYNC_BYTES / size_of::<T>());
        let mut from = self.next;
        for along in (0..k).step_by(positions_apart(size)) {
            let count = match (WHOLE, self.position + along < left) {
                (true, _) => per_vector(size),
                (_, true) => self.rows.saturating_sub(self.row).min(per_vector(size)),
                _ => 0,
            };
            let to = slot + along * async_pitch(size);
            // SAFETY: the elements are in the view, or else `count` is 0. They and the slot are aligned.
            unsafe { copy_vector(copies, &self.view, [from, count], tiles, to) };
            from += self.step;
        }
    }
}
