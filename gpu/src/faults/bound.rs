//! An unrolled loop whose bound underflows, and whose tail processes elements several times.
//!
//! From: N. Wilt, "The CUDA Handbook", ch. 11, `saxpy_unrolled<n>`, and the same loop in ch. 5, `GlobalCopy`.
//!
//! Fault: the loop continues while `i < n − span`, where `span` is the number of elements that the grid processes per
//! pass. For vectors shorter than a span, the unsigned difference wraps to almost 2⁶⁴, and the loop accesses elements
//! beyond the end. In C this is silent. Rust's checked subtraction panics.
//!
//! The tail is processed [`UNROLL`] times, because two nested loops use the same counter. The same thread processes an
//! element each time, so there is no race. In the book, the result is in a separate array, so the repetition costs only
//! time. Here the result overwrites `y`, so the result is wrong. Only a comparison with a reference shows this.
//!
//! [`saxpy_unrolled()`](crate::saxpy::saxpy_unrolled()) is correct: it has one loop up to the end, which tests in each
//! pass whether a whole span of the block remains.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

/// The number of elements of each vector that a thread loads before it computes the first result.
pub const UNROLL: usize = 4;

/// Computes `y = a·x + y` with the loop and the tail of the book. For vectors shorter than a span, the kernel reads out
/// of bounds. For longer vectors, the last elements of the result are wrong. A span is [`UNROLL`] elements per thread
/// of the grid.
#[kernel(max_threads = 512)]
pub fn bound_wraps(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    saxpy_below(x.len().wrapping_sub(span()), a, x, y);
}

/// Does the same as [`bound_wraps()`], but with a subtraction that panics if overflow checks are enabled.
#[kernel(max_threads = 512)]
pub fn bound_underflows(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    let bound = x.len() - span(); // fault: bound
    saxpy_below(bound, a, x, y);
}

fn span() -> usize {
    UNROLL * thread::block_dim_x() as usize * thread::grid_dim_x() as usize
}

fn saxpy_below(bound: usize, a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    let (n, block) = (x.len(), thread::block_dim_x() as usize);
    let mut i = UNROLL * thread::block_idx_x() as usize * block + thread::thread_idx_x() as usize;
    while i < bound {
        let mut sums = [0.0; UNROLL];
        for j in 0..UNROLL {
            let x = x.load(i + j * block); // fault: read
            sums[j] = GpuFloat::mul_add(a, x, y.load(i + j * block));
        }
        for j in 0..UNROLL {
            y.store(i + j * block, sums[j]);
        }
        i += span();
    }
    for _ in 0..UNROLL {
        for j in 0..UNROLL {
            let index = i + j * block;
            if index < n {
                y.store(index, GpuFloat::mul_add(a, x.load(index), y.load(index)));
            }
        }
    }
}
