//! Naive, over any length: Hillis and Steele's scan in global memory, one launch per step.
//!
//! What it changes: blocks cannot wait for each other, so each step is a launch of its own, ⌈log₂ n⌉ in all, and two buffers
//! take turns as those of one block did.
//! Limited by memory traffic: every step reads and writes all elements, 8 log₂ n bytes per `f32` where 8 would do.
//! Sources: as for one block.

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::shifted;
use crate::operator::{Operator, Sum};

/// One step: `y[i]` = `x[i − distance]` and `x[i]` combined, or `x[i]` where there is no element so far before it.
///
/// `x` counts as moved up by `shift` elements, the identity before it: 1 makes the first step of an exclusive scan. `y`
/// must be as long as `x`. A one-dimensional grid of blocks of up to 256 threads.
#[kernel(max_threads = 256, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_naive_step<T: Element, O: Operator<T>>(x: Global<T>, y: GlobalMut<T>, distance: usize, shift: usize) {
    for i in thread::grid_stride(y.len()) {
        let own = shifted::<T, O>(x, i, shift);
        let value = if i >= distance { O::combine(shifted::<T, O>(x, i - distance, shift), own) } else { own };
        y.store(i, value);
    }
}
