//! Register blocks: each thread computes *W* × *W* elements of *C*, so that each element that it loads from shared
//! memory is used *W* times.
//!
//! A block computes a tile of 16·*W* × 16·*W* elements. While it computes with a step of 8 elements along *k*, the
//! elements of the next step are on their way to registers. The kernel takes every type, layout and size, and is the
//! last resort for all that the later rungs do not take. It is limited by the instructions around the multiplications:
//! loads of single elements, and stores to shared memory.
//!
//! Source: V. Volkov and J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", 2008.

use cuda_std::{Global, GlobalMut, Shared, bf16, e4m3, e5m2, f16, kernel, opaque, shared_array, thread};

use super::staging::{Target, fragment, per_vector};
use super::tuning::REGISTER_BLOCKS_K as STEP;
use super::{Epilogue, Linear, Operand, Output, Problem, Sum};

/// Computes tiles of C, `W` × `W` elements per thread. Launch one block of 256 threads per tile of 16·`W` × 16·`W`
/// elements of C: blocks along x for its columns, along y for its rows, and along z for the products.
#[kernel(
    max_threads = 256,
    instances(T = [f32], C = [f32], E = [Linear<f32>], W = [4], min_blocks = 2),
    instances(T = [f32], C = [f32], E = [Linear<f32>], W = [8]),
    instances(T = [f64], C = [f64], E = [Linear<f64>], W = [4, 8]),
    instances(T = [f16], C = [f16, f32], E = [Linear<f32>], W = [8]),
    instances(T = [bf16], C = [bf16, f32], E = [Linear<f32>], W = [8]),
    instances(T = [e4m3, e5m2], C = [f32], E = [Linear<f32>], W = [8]),
    instances(T = [i8], C = [i32], E = [Linear<i32>], W = [8]),
    exported = "matmul"
)]
pub fn matmul_register_blocks<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>, const W: usize>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    problem.assert_views(&a, &b, &c);
    assert!(thread::block_dim_x() == 256);
    let thread = thread::index_in_block() as usize % 256;
    let (side, k) = (16 * W, problem.k as usize);
    let batch = thread::block_idx_z() as usize;
    let (row, column) = (thread::block_idx_y() as usize * side, thread::block_idx_x() as usize * side);
    // The rows of the tiles are 4 elements longer, so that the elements of a column of A are in different banks.
    let pitch = side + 4;
    let vectors = pitch / per_vector(size_of::<T::Sum>());
    let tiles = shared_array![T::Sum; 2 * STEP * (16 * W + 4)];
    let (tile_a, tile_b) = (tiles.part(0, STEP * pitch), tiles.part(STEP * pitch, STEP * pitch));

    let along_a = Along::new(thread, side, [problem.a.row as usize, problem.a.column as usize]);
    let along_b = Along::new(thread, side, [problem.b.column as usize, problem.b.row as usize]);
    let (rows, columns) = (problem.m as usize - row, problem.n as usize - column);
    let (first_a, first_b) = (problem.a.index(batch, row, 0), problem.b.index(batch, 0, column));
    // SAFETY: `assert_views` has checked that the views have these rows and columns from their first elements on.
    let mut next_a: [T::Sum; 4] = unsafe { along_a.load(&a, first_a, rows, 0, k, W / 2) };
    // SAFETY: `assert_views` has checked that the view of B has these columns and positions.
    let mut next_b: [T::Sum; 4] = unsafe { along_b.load(&b, first_b, columns, 0, k, W / 2) };
    let mut sums = [[T::Sum::ZERO; W]; W];
    let mut step = 0;
    while step < k {
        along_a.store(tile_a, pitch, next_a, W / 2);
        along_b.store(tile_b, pitch, next_b, W / 2);
        thread::sync_threads();
        step += STEP;
        // SAFETY: `assert_views` has checked that the view of A has these rows and positions.
        next_a = unsafe { along_a.load(&a, first_a, rows, step, k, W / 2) };
        // SAFETY: `assert_views` has checked that the view of B has these columns and positions.
        next_b = unsafe { along_b.load(&b, first_b, columns, step, k, W / 2) };
        let mut i = 0;
        while i < STEP {
            // SAFETY: each tile has `STEP` rows of more than `16 * W` elements, and both coordinates are below 16.
            let left = unsafe { fragment::<_, W, 16>(tile_a, i * vectors, 0, thread / 16) };
            // SAFETY: each tile has `STEP` rows of more than `16 * W` elements, and both coordinates are below 16.
            let right = unsafe { fragment::<_, W, 16>(tile_b, i * vectors, 0, thread % 16) };
            for i in 0..W {
                for j in 0..W {
                    sums[i][j] = left[i].multiply_add(right[j], sums[i][j]);
                }
            }
            // The loop is not unrolled, which keeps the PTX of all instances small.
            i = opaque(i + 1);
        }
        thread::sync_threads();
    }
    let target = Target { problem, c, bias, epilogue, batch, row, column };
    // SAFETY: `assert_views` has checked that the view has all elements of C, and the block has 256 threads.
    unsafe { target.finish_blocks::<_, W, W, 16>([thread / 16, thread % 16], tiles, sums) };
}

/// The elements that a thread copies of an operand's part of a step: `side` rows (or columns, for *B*) of [`STEP`]
/// elements along *k*. Neighbouring threads copy neighbouring elements, in whichever direction these are contiguous.
pub struct Along {
    /// The row and the position along k of the thread's first element in the part.
    first: [usize; 2],
    /// The rows and the positions along k to the thread's next element.
    step: [usize; 2],
    /// The numbers of elements from a row of the operand to the next one, and from a position along k to the next one.
    strides: [usize; 2],
}

impl Along {
    /// Returns the elements of a thread for an operand with these strides.
    #[inline(always)]
    pub fn new(thread: usize, side: usize, strides: [usize; 2]) -> Self {
        if strides[1] == 1 {
            Self { first: [thread / STEP, thread % STEP], step: [256 / STEP, 0], strides }
        } else {
            Self { first: [thread % side, thread / side], step: [0, 256 / side], strides }
        }
    }

    /// Loads and widens `count` elements of the part that begins at position `k` of the first row. The element of that
    /// row at position 0 has the index `index`. Elements from row `rows` and position `end` on are zero.
    ///
    /// # Safety
    /// `view` must have `rows` rows with `end` elements from `index` on.
    #[inline(always)]
    pub unsafe fn load<T: Operand>(
        &self,
        view: &Global<T>,
        index: usize,
        rows: usize,
        k: usize,
        end: usize,
        count: usize,
    ) -> [T::Sum; 4] {
        let mut elements = [T::Sum::ZERO; 4];
        for i in 0..4 {
            let [row, k] = [self.first[0] + i * self.step[0], k + self.first[1] + i * self.step[1]];
            if i < count && row < rows && k < end {
                // SAFETY: row and position were checked, and by this function's contract the view has the element.
                let element = unsafe { view.load_unchecked(index + row * self.strides[0] + k * self.strides[1]) };
                elements[i] = element.widen();
            }
        }
        elements
    }

    /// Stores `count` elements to the tile, whose rows have the elements of one position along k.
    #[inline(always)]
    pub fn store<S: Sum>(&self, tile: Shared<S>, pitch: usize, elements: [S; 4], count: usize) {
        for i in 0..4 {
            if i < count {
                let [row, k] = [self.first[0] + i * self.step[0], self.first[1] + i * self.step[1]];
                tile.store(k * pitch + row, elements[i]);
            }
        }
    }
}
