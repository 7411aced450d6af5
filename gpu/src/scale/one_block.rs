//! One block: the index of a thread in its block is the index of its element.
//!
//! The kernel is limited by the time of a launch. The length is at most the number of threads in one block. Source: the
//! scalar multiply kernel of Tuomanen's ch. 4. That kernel has no bounds test and needs vectors of exactly 512
//! elements.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::Scalable;

/// The largest number of elements: the number of threads in the largest block.
pub const MAX_ELEMENTS: usize = 1024;

/// Computes `y = s·x` for at most 1024 elements, in one block with one thread per element. `x` and `y` must have the
/// same length. The block must have at least as many threads as `x` has elements.
#[kernel(max_threads = 1024, max_elements = MAX_ELEMENTS, instances(T = [f32, i32]))]
pub fn scale_one_block<T: Scalable>(s: T, x: Global<T>, y: GlobalMut<T>) {
    let i = thread::thread_idx_x() as usize;
    if i < y.len() {
        y.store(i, T::times(s, x.load(i)));
    }
}
