//! Naive, over any length: Hillis and Steele's scan in global memory, one launch per step.
//!
//! Blocks cannot wait for each other, so each of the ⌈log₂ n⌉ steps is a separate launch. Each step reads one buffer in
//! global memory and writes another, and the host swaps the two. The speed is limited by memory, because every step
//! reads and writes all elements.
//!
//! Sources: those of [`scan_naive_block()`](super::scan_naive_block()).

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::shifted;
use crate::operator::{Operator, Sum};

/// Computes one step: `y[i]` combines `x[i − distance]` and `x[i]`, or is `x[i]` if `i` is below `distance`.
///
/// If `shift` is not 0, the kernel reads `x[i − shift]` instead of `x[i]`, and the identity instead of elements before
/// `x[0]`. The first step of an exclusive scan has a `shift` of 1. `y` must be as long as `x`. Launch a one-dimensional
/// grid with up to 256 threads per block.
#[kernel(max_threads = 256, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_naive_step<T: Element, O: Operator<T>>(x: Global<T>, y: GlobalMut<T>, distance: usize, shift: usize) {
    for i in thread::grid_stride(y.len()) {
        let own = shifted::<T, O>(x, i, shift);
        let value = if i >= distance { O::combine(shifted::<T, O>(x, i - distance, shift), own) } else { own };
        y.store(i, value);
    }
}
