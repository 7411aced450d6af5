//! Backwards: a gather, and lanes that run against the direction of memory.
//!
//! This kernel copies a vector in reverse order. There are two ways to see it. In a scatter, a thread takes one element
//! of `x` and computes where it goes. In a gather, a thread takes one place of `y` and computes where its element comes
//! from. A gather is the habit to take up: each element of the result has exactly one thread, so no two threads can
//! store to the same place.
//!
//! ```text
//! place in y       0    1    2    3    4    5    6        n = 7
//! element of x     6    5    4    3    2    1    0
//! ```
//!
//! The last element of `n` has the index `n − 1`. Indices are unsigned: a subtraction below 0 ends the kernel with a
//! fault. `y.len()` returns the length, and `thread::index_1d()` the index of a thread in the grid.
//!
//! Neighbouring threads then read neighbouring elements in falling order. That costs nothing: memory moves whole
//! sectors of 32 bytes, and what counts is which sectors a warp touches, not the order of its lanes in them.
//!
//! Budget: at most 1.1 × the bytes that must move.

use cuda_std::prelude::*;

/// Stores the elements of `x` to `y` in reverse order. Both have the same length. One thread per element; the grid may
/// have more threads than elements.
#[kernel]
pub fn reverse(x: Global<u32>, y: GlobalMut<u32>) {
    // Your code begins here.
    todo!("store the element of x that belongs to this thread's place in y");
    // Your code ends here.
}
