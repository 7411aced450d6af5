//! Naive, in one block: Hillis and Steele's scan in shared memory, with two buffers that are swapped after each step.
//!
//! In step *k*, each element is combined with the element 2ᵏ positions before it. After ⌈log₂ n⌉ steps, each element
//! holds its prefix. The kernel in Tuomanen's book works in place with one barrier per step. That kernel has a race: a
//! thread may overwrite its element before the thread 2ᵏ further on has read the element. Here a step reads one buffer
//! and writes the other, so one barrier per step is enough.
//!
//! The kernel has a single block, so n is at most 1024. Its n log₂ n operations limit its speed.
//!
//! Sources: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", CACM 29 (12), 1986; B. Tuomanen, "Hands-On GPU
//! Programming with Python and CUDA", ch. 4.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::shifted;
use crate::operator::{Operator, Sum};

/// The largest number of elements that one block scans: one per thread.
pub const BLOCK_ELEMENTS: usize = 1024;

/// Writes the scan of `x` to `y` in one block. `x` may have at most one element per thread of the block.
///
/// `shift` must be 0 for the inclusive scan and 1 for the exclusive scan. `y` must be as long as `x`. Launch one block.
#[kernel(max_threads = 1024, max_elements = BLOCK_ELEMENTS, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_naive_block<T: Element, O: Operator<T>>(x: Global<T>, y: GlobalMut<T>, shift: usize) {
    let buffers = shared_array![T; 2 * BLOCK_ELEMENTS];
    let (i, n) = (thread::thread_idx_x() as usize, x.len());
    assert!(n <= thread::block_dim_x() as usize);
    let mut value = if i < n { shifted::<T, O>(x, i, shift) } else { O::IDENTITY };
    let mut buffer = 0;
    buffers.store(i, value);
    thread::sync_threads();
    let mut distance = 1;
    while distance < n {
        if i >= distance {
            value = O::combine(buffers.load(buffer + i - distance), value);
        }
        // Swaps the buffers. All reads of the next step's target precede the barrier above.
        buffer = BLOCK_ELEMENTS - buffer;
        buffers.store(buffer + i, value);
        thread::sync_threads();
        distance *= 2;
    }
    if i < n {
        y.store(i, value);
    }
}
