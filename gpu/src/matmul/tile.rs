//! Tile: a block keeps tiles of 16 × 16 elements of *A* and *B* in shared memory, and uses each element 16 times.
//!
//! The kernel reads global memory along the contiguous direction of each operand. The element of a thread that reads
//! along a column goes to a column of the tile, whose elements are in few banks. The kernel is limited by shared
//! memory: each multiplication needs two loads from it. Source: the second example of matrix multiplication of NVIDIA's
//! "CUDA C++ Programming Guide".

use cuda_std::{Global, GlobalMut, Shared, kernel, shared_array, thread};

use super::tuning::SIDE;
use super::{Epilogue, Linear, Operand, Output, Problem, Strides, Sum};

/// Computes each element of C from tiles of A and B in shared memory. Launch one block of 16 × 16 threads per 16 × 16
/// elements of C: blocks along x for its columns, along y for its rows, and along z for the products.
#[kernel(
    max_threads = 256,
    instances(T = [f32], C = [f32], E = [Linear<f32>]),
    instances(T = [f64], C = [f64], E = [Linear<f64>])
)]
pub fn matmul_tile<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    let tiles = (shared_array![T; SIDE * SIDE], shared_array![T; SIDE * SIDE]);
    through_tiles::<T, C, E, SIDE>(tiles, problem, a, b, c, bias, epilogue);
}

/// Computes the thread's element of C. The rows of the tiles of A and B start `PITCH` elements apart.
#[inline(always)]
pub(super) fn through_tiles<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>, const PITCH: usize>(
    (tile_a, tile_b): (Shared<T>, Shared<T>),
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    let Problem { m, n, k, .. } = problem;
    // In a block of 16 × 16 threads, the remainders never change the values.
    let (x, y) = (thread::thread_idx_x() as usize % SIDE, thread::thread_idx_y() as usize % SIDE);
    let (first_row, first_column) = (thread::block_idx_y() as usize * SIDE, thread::block_idx_x() as usize * SIDE);
    let batch = thread::block_idx_z() as usize;
    let mut sum = T::Sum::ZERO;
    for step in (0..k as usize).step_by(SIDE) {
        copy::<T, PITCH>(tile_a, a, problem.a, batch, [first_row, step], [m, k]);
        copy::<T, PITCH>(tile_b, b, problem.b, batch, [step, first_column], [k, n]);
        thread::sync_threads();
        for i in 0..SIDE {
            let (left, right) = (tile_a.load(y * PITCH + i), tile_b.load(i * PITCH + x));
            sum = left.widen().multiply_add(right.widen(), sum);
        }
        thread::sync_threads();
    }
    let (row, column) = (first_row + y, first_column + x);
    if row < m as usize && column < n as usize {
        let at = problem.c.index(batch, row, column);
        c.store(at, epilogue.finish(sum, [row, column], || c.load(at), || bias.load(column)));
    }
}

/// Copies the thread's element of the tile that begins in the row and column `first` of an operand with `size` rows and
/// columns. Elements outside the operand are zero.
#[inline(always)]
fn copy<T: Operand, const PITCH: usize>(
    tile: Shared<T>,
    view: Global<T>,
    strides: Strides,
    batch: usize,
    first: [usize; 2],
    size: [u32; 2],
) {
    let (x, y) = (thread::thread_idx_x() as usize % SIDE, thread::thread_idx_y() as usize % SIDE);
    let (down, across) = if strides.column == 1 { (y, x) } else { (x, y) };
    let (row, column) = (first[0] + down, first[1] + across);
    let is_inside = row < size[0] as usize && column < size[1] as usize;
    let element = if is_inside { view.load(strides.index(batch, row, column)) } else { T::zeroed() };
    tile.store(down * PITCH + across, element);
}
