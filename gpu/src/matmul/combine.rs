//! Combine: adds the partial sums of a product whose *k* was split between several blocks, and applies the epilogue.
//!
//! Each thread adds the partial sums of one element of *C* in the order of the splits, so that the result is the same
//! from run to run. The kernel is limited by memory.

use cuda_std::{Global, GlobalMut, bf16, f16, kernel, thread};

use super::tuning::COMBINE;
use super::{Epilogue, Linear, Output, Problem, Sum};

/// Computes each element of C from its `splits` partial sums. `partials` has the matrices of m × n sums of all products
/// one after the other, and these once for each split. Launch one block of 256 threads per 4 × 64 elements of C: blocks
/// along x for its columns, along y for its rows, and along z for the products.
#[kernel(
    max_threads = 256,
    instances(S = [f32], C = [f32, f16, bf16], E = [Linear<f32>]),
    instances(S = [f64], C = [f64], E = [Linear<f64>]),
    instances(S = [i32], C = [i32], E = [Linear<i32>]),
    exported = "matmul"
)]
pub fn matmul_combine<S: Sum, C: Output<S>, E: Epilogue<S, C>>(
    splits: u32,
    problem: Problem,
    partials: Global<S>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    let (rows, columns) = (COMBINE.rows as usize, COMBINE.columns as usize);
    let thread = thread::index_in_block() as usize;
    let row = thread::block_idx_y() as usize * rows + thread / columns;
    let column = thread::block_idx_x() as usize * columns + thread % columns;
    let batch = thread::block_idx_z() as usize;
    let (m, n) = (problem.m as usize, problem.n as usize);
    if row >= m || column >= n {
        return;
    }
    let first = (batch * m + row) * n + column;
    let mut sum = S::ZERO;
    for split in 0..splits as usize {
        sum = sum.add(partials.load(first + split * problem.batch as usize * m * n));
    }
    let at = problem.c.index(batch, row, column);
    c.store(at, epilogue.finish(sum, [row, column], || c.load(at), || bias.load(column)));
}
