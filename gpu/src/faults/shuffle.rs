//! A shuffle whose mask names lanes that do not take part.
//!
//! What is wrong: the mask says that all 32 lanes come, and half of them have gone another way. The shuffle waits for them
//! for ever, or gives what their registers happen to hold.
//!
//! In [`reduce_shuffle()`](crate::reduce::reduce_shuffle()) every lane shuffles, those without an element with the operator's
//! identity.

use cuda_std::{Global, GlobalMut, kernel, thread, warp};

/// `y[0]` = the sum of `x`, whose second half takes no part in a shuffle that names it. One warp.
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
