//! An unrolled loop whose bound underflows and whose tail repeats its work.
//!
//! From: N. Wilt, "The CUDA Handbook", ch. 11, `saxpy_unrolled<n>`, and the same loop in ch. 5, `GlobalCopy`.
//!
//! Fault: the loop continues while `i < n − span`, where `span` is the number of elements that the grid processes per
//! pass. For vectors shorter than a span, the unsigned difference wraps to almost 2⁶⁴, and the loop runs beyond the
//! end. C reports nothing; Rust's checked subtraction panics.
//!
//! The tail repeats its work as often as the loop is unrolled, because two nested loops use one counter. The same
//! thread repeats it each time, so there is no race. If the result has its own array, as in the book, the repetition
//! costs only time. In place, as here, the result is wrong, and only a comparison with a reference shows it.
//!
//! [`saxpy_unrolled()`](crate::saxpy::saxpy_unrolled()) has one loop up to the end, and tests in each pass whether a
//! whole span of the block remains.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

/// The number of elements of each vector that a thread loads before it computes the first result.
pub const UNROLL: usize = 4;

/// Computes `y = a·x + y` with the loop and the tail of the book. Vectors shorter than a span are read out of bounds;
/// for other vectors, the last elements are wrong. A span is [`UNROLL`] elements per thread of the grid.
#[kernel(max_threads = 512)]
pub fn bound_wraps(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    saxpy_below(x.len().wrapping_sub(span()), a, x, y);
}

/// Does the same as [`bound_wraps()`] with a subtraction that panics where overflow checks are on.
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
