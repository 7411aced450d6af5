//! The first kernels of docs/tensor.md: a product of matrices of any size, step by step.

use cuda_std::tensor::mma::{A, Accumulator, B, Fragment};
use cuda_std::tensor::{ColumnMajor, RowMajor};
use cuda_std::{Global, GlobalMut, bf16, kernel, shared_array, thread, warp};

/// Writes the product of the matrices `a` (m × `k`) and `b` (`k` × `n`) to `c`. The rows of `a` and `c` are contiguous,
/// and the columns of `b`. `k` must be a multiple of 16. Launch n / 8 × m / 16 blocks of one warp.
#[kernel(max_threads = 32)]
pub fn matmul_warp(n: usize, k: usize, a: Global<bf16>, b: Global<bf16>, c: GlobalMut<f32>) {
    let (row, column) = (16 * thread::block_idx_y() as usize, 8 * thread::block_idx_x() as usize);
    let mut sums = Accumulator::<f32, 16, 8>::zero();
    for step in (0..k).step_by(16) {
        let left = Fragment::<A, bf16, 16, 16>::load(RowMajor(a, k), row, step);
        let right = Fragment::<B, bf16, 16, 8>::load(ColumnMajor(b, k), step, column);
        sums = left.multiply_add(right, sums);
    }
    sums.store(RowMajor(c, n), row, column);
}

/// Does the same as [`matmul_warp()`], but four warps share tiles in shared memory. Launch n / 16 × m / 32 blocks of
/// 128 threads.
#[kernel(max_threads = 128)]
pub fn matmul_shared(n: usize, k: usize, a: Global<bf16>, b: Global<bf16>, c: GlobalMut<f32>) {
    // A row of 16 elements begins every 24 elements, so that the rows of a matrix are in different banks.
    let (left, right) = (shared_array![bf16; 24 * 32], shared_array![bf16; 24 * 16]);
    let (row, column) = (32 * thread::block_idx_y() as usize, 16 * thread::block_idx_x() as usize);
    let (down, across) = (warp::warp_id() as usize / 2 * 16, warp::warp_id() as usize % 2 * 8);
    let mut sums = Accumulator::<f32, 16, 8>::zero();
    for step in (0..k).step_by(16) {
        for i in thread::block_stride(32 * 16) {
            left.store(i / 16 * 24 + i % 16, a.load((row + i / 16) * k + step + i % 16));
        }
        for i in thread::block_stride(16 * 16) {
            right.store(i / 16 * 24 + i % 16, b.load((column + i / 16) * k + step + i % 16));
        }
        thread::sync_threads();
        let a = Fragment::<A, bf16, 16, 16>::ldmatrix(RowMajor(left, 24), down, 0);
        let b = Fragment::<B, bf16, 16, 8>::ldmatrix(ColumnMajor(right, 24), 0, across);
        sums = a.multiply_add(b, sums);
        thread::sync_threads();
    }
    sums.store(RowMajor(c, n), row + down, column + across);
}
