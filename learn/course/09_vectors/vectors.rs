//! Vectors: 16 bytes per access, and what is left at the end.
//!
//! Each access is an instruction, and a request to memory. If a thread accesses 4 neighbouring `f32` at once, 16 bytes,
//! a kernel needs a quarter of the instructions and of the requests for the same bytes.
//!
//! ```text
//! elements       0  1  2  3 | 4  5  6  7 | 8  9 10 11 | 12 13
//! vectors             0     |      1     |      2     | the tail: no whole vector
//! ```
//!
//! `x.load_vec::<4>(v)` returns the elements `4·v` to `4·v + 3` as an array of the type `[f32; 4]`: it counts in
//! vectors, not in elements. `y.store_vec(v, array)` stores an array. A vector must lie in the view as a whole. So the
//! elements past the last whole vector, at most 3, are accessed one by one, by `x.load(i)` and `y.store(i, value)`.
//!
//! `thread::index_1d()` returns the index of a thread in the grid. The grid has enough threads for one vector each, and
//! at least 64. Each element of `y` may be stored by one thread only.
//!
//! Budgets: at most 1.1 × the bytes that must move, and at most 1.1 × the requests that they need with 16 bytes per
//! lane.

use cuda_std::prelude::*;

/// `y[i] = s·x[i]` for every `i`. Launch at least one thread per 4 elements, and at least 4 threads.
#[kernel]
pub fn scale(s: f32, x: Global<f32>, y: GlobalMut<f32>) {
    // Your code begins here.
    todo!("scale this thread's vector, and let a few threads scale the tail");
    // Your code ends here.
}
