//! Naive: each thread computes one element of *C* from a row of *A* and a column of *B* in global memory.
//!
//! The kernel is limited by loads: each multiplication needs two. Source: the first example of matrix multiplication of
//! NVIDIA's "CUDA C++ Programming Guide".

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::tuning::SIDE;
use super::{Epilogue, Linear, Operand, Output, Problem, Sum};

/// Computes each element of C from a row of A and a column of B. Launch one block of 16 × 16 threads per 16 × 16
/// elements of C: blocks along x for its columns, along y for its rows, and along z for the products.
#[kernel(
    max_threads = 256,
    instances(T = [f32], C = [f32], E = [Linear<f32>]),
    instances(T = [f64], C = [f64], E = [Linear<f64>])
)]
pub fn matmul_naive<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    let column = thread::block_idx_x() as usize * SIDE + thread::thread_idx_x() as usize;
    let row = thread::block_idx_y() as usize * SIDE + thread::thread_idx_y() as usize;
    let batch = thread::block_idx_z() as usize;
    if row >= problem.m as usize || column >= problem.n as usize {
        return;
    }
    let mut sum = T::Sum::ZERO;
    for i in 0..problem.k as usize {
        let left = a.load(problem.a.index(batch, row, i)).widen();
        let right = b.load(problem.b.index(batch, i, column)).widen();
        sum = left.multiply_add(right, sum);
    }
    let at = problem.c.index(batch, row, column);
    c.store(at, epilogue.finish(sum, [row, column], || c.load(at), || bias.load(column)));
}
