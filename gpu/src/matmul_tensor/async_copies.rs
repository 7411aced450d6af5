//! Asynchronous copies: `cp.async` moves the tiles of the next steps to shared memory while the block computes, and
//! each thread loads its fragments in 16-byte accesses, one step of *k* ahead.
//!
//! A block computes a tile of 128 × 128 elements. Shared memory has three stages of 64 bytes along *k*; a stage holds
//! the tile of *A* and that of *B*, both with contiguous rows (or columns) of *C*. An operand that is contiguous along
//! *k* is transposed by copies of single elements. Each thread has 8 × 8 sums in pieces of 16 bytes, which neighbouring
//! threads interleave, so that neither loads nor stores of shared memory have bank conflicts. Blocks compute the tiles
//! of *C* in an order that reuses the L2 cache.
//!
//! The kernel is limited by the multiplications. Sources: the kernels `SimtMultistage` of NVIDIA's CUTLASS; S. Boehm,
//! "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance", 2022.

use cuda_std::tensor::mma;
use cuda_std::{AsyncCopies, Global, GlobalMut, Shared, dynamic_shared, kernel, opaque, thread, unroll};

use crate::matmul::staging::{Target, copy_vector, fragment, ordered_tile, per_vector};
use crate::matmul::tuning::{ASYNC_SIDE as SIDE, ASYNC_STAGES, STAGE_BYTES, async_pitch};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem, Sum};

/// The number of sums of a thread along each dimension.
const WIDTH: usize = SIDE / 16;

/// The number of positions along k that a copy of an operand with contiguous k covers.
const ALONG: usize = 8;

/// The number of positions along k whose multiplications are unrolled: a part of a stage.
const UNROLLED: usize = 8;

/// Computes tiles of C from tiles of A and B that arrive by asynchronous copies. `A_K` and `B_K` are 1 if the operand
/// is contiguous along k; otherwise A has contiguous columns, B has contiguous rows, and the view and each column of A
/// or row of B begins at a multiple of 16 bytes. Launch one block of 256 threads per tile of 128 × 128 elements of C:
/// blocks along x for its columns, along y for its rows, and along z for the products, with the dynamic shared memory
/// of `tuning::async_copies`.
#[kernel(
    max_threads = 256,
    min_blocks = 2,
    instances(T = [f32], C = [f32], E = [Linear<f32>], A_K = [0, 1], B_K = [0, 1])
)]
pub fn matmul_async_copies<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>, const A_K: u32, const B_K: u32>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    mma::require();
    problem.assert_views(&a, &b, &c);
    assert!(thread::block_dim_x() == 256);
    let (pitch, k) = (async_pitch(size_of::<T>()), STAGE_BYTES / size_of::<T>());
    let tiles = dynamic_shared::<T>().part(0, ASYNC_STAGES * 2 * k * pitch);
    let [row, column] = ordered_tile().map(|tile| tile * SIDE);
    let (batch, end) = (thread::block_idx_z() as usize, problem.k as usize);
    let thread = thread::index_in_block() as usize % 256;
    let mut copier_a = Copier::<T, A_K> {
        view: a,
        next: problem.a.index(batch, row, 0),
        rows: problem.m as usize - row,
        stride: if A_K == 1 { problem.a.row } else { problem.a.column } as usize,
        thread,
    };
    let mut copier_b = Copier::<T, B_K> {
        view: b,
        next: problem.b.index(batch, 0, column),
        rows: problem.n as usize - column,
        stride: if B_K == 1 { problem.b.column } else { problem.b.row } as usize,
        thread,
    };
    let stage = 2 * k * pitch;
    // Begins the copies of the next stage, if there is one, to the elements of `tiles` from `at` on.
    let mut left = end;
    let mut begin = |copies: &mut AsyncCopies, at: usize| {
        if left != 0 {
            // SAFETY: `assert_views` has checked the views, `at` is the beginning of a stage, and the kernel's contract
            // has the alignment.
            unsafe {
                copier_a.copy(copies, left, tiles, at);
                copier_b.copy(copies, left, tiles, at + k * pitch);
            }
        }
        left = left.saturating_sub(k);
        copies.commit();
    };
    // A warp has 4 × 8 of the 16 × 16 threads, so that its loads touch the fewest different vectors.
    let (warp, lane) = (thread / 32, thread % 32);
    let at = [warp / 2 * 4 + lane / 8, warp % 2 * 8 + lane % 8];
    // The vectors from a position of k to the next one. `first` is the first vector of a stage.
    let vectors = pitch / per_vector(size_of::<T>());
    let load = |first: usize, i: usize| {
        // SAFETY: the stage has `k` rows of each tile with more than 128 elements, and `at` is below 16.
        unsafe {
            [
                fragment::<T, WIDTH>(tiles, first, i * vectors, at[0]),
                fragment(tiles, first + k * vectors, i * vectors, at[1]),
            ]
        }
    };

    let mut sums = [[T::Sum::ZERO; WIDTH]; WIDTH];
    let mut copies = AsyncCopies::new();
    if end != 0 {
        let mut filled = 0;
        while filled < ASYNC_STAGES - 1 {
            begin(&mut copies, filled * stage);
            // The loop is not unrolled, because the copies are a large part of the PTX.
            filled = opaque(filled + 1);
        }
        copies.wait::<1>();
        thread::sync_threads();
        begin(&mut copies, filled * stage);
        let (mut read, mut computed) = (0, 0);
        let mut even = load(0, 0);
        loop {
            let first = read / per_vector(size_of::<T>());
            let mut odd = load(first, 1);
            multiply(even, &mut sums);
            unroll!(I in UNROLLED / 2 - 1 => {
                even = load(first, 2 * I + 2);
                multiply(odd, &mut sums);
                odd = load(first, 2 * I + 3);
                multiply(even, &mut sums);
            });
            computed += UNROLLED;
            read += UNROLLED * pitch;
            if computed >= end {
                multiply(odd, &mut sums);
                break;
            }
            if computed % k == 0 {
                // The next stage has arrived, and all threads have read the one that the next copies overwrite.
                copies.wait::<1>();
                thread::sync_threads();
                let free = read - k * pitch;
                read = if free == (ASYNC_STAGES - 1) * stage { 0 } else { free + stage };
                begin(&mut copies, free);
            }
            even = load(read / per_vector(size_of::<T>()), 0);
            multiply(odd, &mut sums);
        }
    }
    let target = Target { problem, c, bias, epilogue, batch, row, column };
    // SAFETY: `assert_views` has checked that the view has all elements of C, and the block has 256 threads.
    unsafe { target.finish_square(at, tiles.cast::<T::Sum>(), sums) };
}

/// Adds the products of the elements of a column of A and a row of B to the sums.
#[inline(always)]
fn multiply<T: Operand>([left, right]: [[T; WIDTH]; 2], sums: &mut [[T::Sum; WIDTH]; WIDTH]) {
    for i in 0..WIDTH {
        for j in 0..WIDTH {
            sums[i][j] = left[i].widen().multiply_add(right[j].widen(), sums[i][j]);
        }
    }
}

/// Copies the parts of the stages of an operand. In the names and comments, the operand is A; rows are columns for B.
struct Copier<'a, T, const BY_K: u32> {
    view: Global<'a, T>,
    /// The index of the element of the tile's first row at the first position of the next stage.
    next: usize,
    /// The number of rows of the operand from the tile's first row on.
    rows: usize,
    /// The number of elements to the next row if the operand is contiguous along k, or else to the next position.
    stride: usize,
    thread: usize,
}

impl<T: Operand, const BY_K: u32> Copier<'_, T, BY_K> {
    /// Begins the copies of the next stage to the elements of `tiles` from `at` on. `left` positions along k are left.
    /// Elements beyond the operand become zero.
    ///
    /// # Safety
    /// The view must have `rows` rows with `left` elements from `next` on. `tiles` must have the stage's elements.
    /// Unless `BY_K` is 1, the view and each column must begin at a multiple of 16 bytes.
    #[inline(always)]
    unsafe fn copy(&mut self, copies: &mut AsyncCopies, left: usize, tiles: Shared<T>, at: usize) {
        let k = STAGE_BYTES / size_of::<T>();
        if self.rows >= SIDE && left >= k {
            // SAFETY: by this function's contract, the whole part of the stage is in the view.
            unsafe { self.copy_part::<true>(copies, left, tiles, at) };
        } else {
            // SAFETY: these are the conditions of this function's contract.
            unsafe { self.copy_part::<false>(copies, left, tiles, at) };
        }
        self.next += if BY_K == 1 { k } else { k * self.stride };
    }

    /// Begins the copies like [`copy`](Self::copy). If `WHOLE` is true, all elements of the stage are in the operand.
    ///
    /// # Safety
    /// The conditions of [`copy`](Self::copy) must hold.
    #[inline(always)]
    unsafe fn copy_part<const WHOLE: bool>(&self, copies: &mut AsyncCopies, left: usize, tiles: Shared<T>, at: usize) {
        let (k, v, pitch) = (STAGE_BYTES / size_of::<T>(), per_vector(size_of::<T>()), async_pitch(size_of::<T>()));
        if BY_K == 1 {
            // A warp copies 8 positions of 4 rows, which are in different banks.
            for i in 0..SIDE * k / 256 {
                let row = self.thread / ALONG + i / (k / ALONG) * (256 / ALONG);
                let position = self.thread % ALONG + i % (k / ALONG) * ALONG;
                let count = usize::from(WHOLE || row < self.rows && position < left);
                let first = self.next + row * self.stride + position;
                // SAFETY: the element is in the view, or else `count` is 0, and the slot is in the stage.
                unsafe {
                    copies.copy_padded_unchecked(
                        self.view,
                        [first, count],
                        tiles.cast::<[T; 1]>(),
                        at + position * pitch + row,
                    );
                }
            }
        } else {
            for i in 0..SIDE * k / v / 256 {
                let vector = self.thread + i * 256;
                let (position, row) = (vector / (SIDE / v), vector % (SIDE / v) * v);
                let count = match (WHOLE, position < left) {
                    (true, _) => v,
                    (_, true) => self.rows.saturating_sub(row).min(v),
                    _ => 0,
                };
                let first = self.next + position * self.stride + row;
                // SAFETY: the elements are in the view, or else `count` is 0. They and the slot are aligned.
                unsafe { copy_vector(copies, &self.view, [first, count], tiles, at + position * pitch + row) };
            }
        }
    }
}
