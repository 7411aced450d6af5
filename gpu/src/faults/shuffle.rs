//! A shuffle whose mask names lanes that do not execute it.
//!
//! Fault: the mask names all 32 lanes, but half of them take another branch. The shuffle waits for those lanes for
//! ever, or returns unspecified values from their registers.
//!
//! In the correct [`reduce_shuffle()`](crate::reduce::reduce_shuffle()), every lane executes the shuffle. Lanes without
//! an element contribute the operator's identity.

use cuda_std::{Global, GlobalMut, kernel, thread, warp};

/// Writes the sum of `x` to `y[0]`. The mask of a shuffle names the upper half of the lanes, but these lanes do not
/// execute it. Launch one warp.
#[kernel(max_threads = 32)]
pub fn shuffle_outside_mask(x: Global<u32>, y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    let mut value = x.load(lane as usize);
    let mut delta = 16;
    while delta > 0 {
        if lane < delta {
            let above = warp::shuffle_down(warp::FULL_MASK, value, delta); // fault: shuffle
            value = value.wrapping_add(above);
        }
        delta /= 2;
    }
    warp::sync_warp(warp::FULL_MASK); // fault: elsewhere
    if lane == 0 {
        y.store(0, value);
    }
}
