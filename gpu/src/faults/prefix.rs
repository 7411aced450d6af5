//! Tuomanen's naive prefix sum, which works in place with one barrier per step.
//!
//! From: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4, `naive_prefix`.
//!
//! Fault: within a step, a thread overwrites its element before the thread whose index is larger by `distance` has read
//! it. That thread then adds an element that this step has already updated. It counts some elements twice.
//!
//! [`scan_naive_block()`](crate::scan::scan_naive_block()) is correct: it reads one buffer, writes another, and swaps
//! the two after each step. One barrier per step is then enough.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

/// Writes the prefix sums of `x` to `y`, with a race. Launch one block of as many threads as there are elements.
#[kernel(max_threads = 1024)]
pub fn prefix_in_place(x: Global<f64>, y: GlobalMut<f64>) {
    let sums = shared_array![f64; 1024];
    let i = thread::thread_idx_x() as usize;
    sums.store(i, x.load(i));
    let mut distance = 1;
    while distance < x.len() {
        thread::sync_threads();
        if i >= distance {
            let before = sums.load(i - distance); // fault: read
            sums.store(i, before + sums.load(i)); // fault: write
        }
        distance *= 2;
    }
    thread::sync_threads();
    y.store(i, sums.load(i));
}
