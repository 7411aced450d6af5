//! Split: a sort by one bit.
//!
//! A radix sort sorts by the lowest bit, then by the next one, and so on. Each pass puts the keys with a 0 in the bit
//! before those with a 1. It must be stable: keys with the same bit stay in their order, which the passes before have
//! made.
//!
//! ```text
//! index          0  1  2  3  4  5
//! bit            1  0  0  1  0  1
//! zeros          0  1  2  2  3  3      how many of the keys up to here have a 0
//! destination    3  0  1  4  2  5
//! ```
//!
//! Each thread has one key. A scan counts the zeros up to each key and including it, and from these numbers each thread
//! finds where its key goes. No thread searches, and no two have the same destination.
//!
//! The scan is there: after it, `zeros.load(i)` returns the number of keys with a 0 among the first i + 1, a `u32`.
//! `zeros.load(BLOCK - 1)` is their number in the whole block.

use cuda_std::prelude::*;

/// The number of keys, and of threads.
pub const BLOCK: usize = 128;

/// Sorts `keys` by their bit number `bit`, stably, into `sorted`. Launch one block of `BLOCK` threads.
#[kernel]
pub fn split(keys: Global<u32>, bit: u32, sorted: GlobalMut<u32>) {
    let zeros = shared_array![u32; BLOCK];
    let me = thread::thread_idx_x() as usize;
    let key = keys.load(me);
    let is_one = key >> bit & 1 == 1;
    zeros.store(me, u32::from(!is_one));
    thread::sync_threads();
    let mut distance = 1;
    while distance < BLOCK {
        let before = if me >= distance { zeros.load(me - distance) } else { 0 };
        thread::sync_threads();
        zeros.store(me, zeros.load(me) + before);
        thread::sync_threads();
        distance *= 2;
    }
    // Your code begins here.
    let destination: usize = todo!("the destination of this thread's key");
    sorted.store(destination, key);
    // Your code ends here.
}
