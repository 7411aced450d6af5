//! The unrolled loop whose bound underflows, and whose tail repeats its work.
//!
//! From: N. Wilt, "The CUDA Handbook", ch. 11, `saxpy_unrolled<n>`, and the same loop in ch. 5, `GlobalCopy`.
//!
//! What is wrong: the loop goes on while `i < n − span`, where `span` is what the grid takes in a turn. In unsigned
//! numbers that is almost 2⁶⁴ for vectors shorter than a span, and the loop runs past their end. In C nothing tells;
//! Rust's checked subtraction panics. And after the loop, the tail does its work not once but as often as the loop is
//! unrolled, because two nested loops count in the same variable. It is the same thread each time, so that there is no
//! race: with the result in an array of its own, as in the book, it only costs time, and in place, as here, it is wrong.
//! Only a comparison with a reference shows that.
//!
//! [`saxpy_unrolled()`](crate::saxpy::saxpy_unrolled()) counts up to the end in one loop, and asks whether a whole span of
//! the block is left.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

/// Elements of each vector that a thread loads before it works on the first.
pub const UNROLL: usize = 4;

/// `y = a·x + y` as the book has it: for vectors of a whole number of spans, which are [`UNROLL`] elements for each
/// thread of the grid.
#[kernel(max_threads = 512)]
pub fn bound_wraps(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    saxpy_below(x.len().wrapping_sub(span()), a, x, y);
}

/// As [`bound_wraps()`], with a subtraction that is checked where overflow is.
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
