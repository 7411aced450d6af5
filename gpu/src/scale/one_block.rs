//! One block: the thread's index in its block is the element's index in the vector.
//!
//! Limited by the launch, and to the threads that a block may have. Source: the scalar multiply kernel of the book's
//! ch. 4, there without the bounds test, for vectors of exactly 512 elements.

use cuda_std::{Argument, Element, Global, GlobalMut, KernelParam, kernel, thread};

use crate::operator::{Operator, Product};

/// The most elements: the threads of the largest block.
pub const MOST_ELEMENTS: usize = 1024;

/// `y = s·x` in one block, a thread an element: at most 1024 elements. `x` and `y` have the same length, and the block as
/// many threads or more.
#[kernel(max_threads = 1024, instances(T = [f32, i32]))]
pub fn scale_one_block<T>(s: T, x: Global<T>, y: GlobalMut<T>)
where
    T: Element + KernelParam + Argument,
    Product: Operator<T>,
{
    let i = thread::thread_idx_x() as usize;
    if i < y.len() {
        y.store(i, Product::combine(s, x.load(i)));
    }
}
