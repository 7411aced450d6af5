//! One block: the thread's index in its block is the element's index in the vector.
//!
//! Limited by the launch, and to the threads that a block may have. Source: the scalar multiply kernel of the book's
//! ch. 4, there without the bounds test, for vectors of exactly 512 elements.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::Scalable;

/// The most elements: the threads of the largest block.
pub const MOST_ELEMENTS: usize = 1024;

/// `y = s·x` in one block, one thread per element: at most 1024 elements. `x` and `y` have the same length, and the block as
/// many threads or more.
#[kernel(max_threads = 1024, max_elements = MOST_ELEMENTS, instances(T = [f32, i32]))]
pub fn scale_one_block<T: Scalable>(s: T, x: Global<T>, y: GlobalMut<T>) {
    let i = thread::thread_idx_x() as usize;
    if i < y.len() {
        y.store(i, T::times(s, x.load(i)));
    }
}
