//! The book's naive prefix sum: in place, with one barrier per step.
//!
//! From: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4, `naive_prefix`.
//!
//! What is wrong: within a step a thread overwrites its element while the thread `distance` further on still has to read
//! it. A warp may take in an element that has already made the step, and counts what that took in twice.
//!
//! [`scan_naive_block()`](crate::scan::scan_naive_block()) reads one buffer and writes another, which take turns: then one
//! barrier per step is enough.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

/// `y` = the prefix sums of `x`, with a race. One block of as many threads as there are elements.
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
