//! Lock: one thread at a time.
//!
//! An atomic update changes one element. Here two elements belong together: the largest value, and its index. A thread
//! that changes both must keep the others out meanwhile: it takes a lock, an element that is 1 while some thread has
//! it.
//!
//! ```text
//! lock  0 → 1   taken by one thread; the others try again
//!       1 → 0   given back; another thread takes it
//! ```
//!
//! `lock.atomic(0).compare_exchange(0, 1, success, failure)` stores 1 if the element is 0, in one step. It returns
//! `Ok(0)` if it did, and `Err(1)` if the lock was taken. `success` and `failure` are the memory orders of the two
//! cases: `Relaxed` orders nothing else, and `Acquire` orders all that comes after it. `lock.store_release(0, value)`
//! orders all that came before it; `lock.store_relaxed(0, value)` does not.
//!
//! What a thread does while it has the lock must come after what the thread before it has done.
//!
//! The kernel as it stands takes no lock.

use core::sync::atomic::Ordering::{Acquire, Relaxed};

use cuda_std::prelude::*;

/// Sets `best[0]` to the largest element of `x`, and `best[1]` to its index. One thread per element. `lock` has one
/// element, and it is 0 before and after. `best[0]` is 0 before, and smaller than some element.
#[kernel]
pub fn largest(x: Global<u32>, best: GlobalMut<u32>, lock: GlobalMut<u32>) {
    let i = thread::index_1d();
    let value = x.load(i);
    // Your code begins here.
    if value > best.load(0) {
        best.store(0, value);
        best.store(1, i as u32);
    }
    // Your code ends here.
}
