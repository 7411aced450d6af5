//! Bitonic, in one block: Batcher's sorting network in shared memory, a barrier per step.
//!
//! The network is that of [`sort_bitonic_step()`](super::sort_bitonic_step()). The speed is limited by the barriers,
//! and by one block: n is at most 2048.
//!
//! Sources: those of [`sort_bitonic_step()`](super::sort_bitonic_step()).

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

use super::bitonic::{pair, pairs};

/// The largest number of keys that one block sorts: two per thread.
pub const BLOCK_KEYS: usize = 2048;

/// Writes the sorted `keys` to `keys_out`, which must be as long, in one block. If `keys` is empty, sorts `keys_out` in
/// place. Launch one block of up to 1024 threads.
#[kernel(max_threads = 1024, max_elements = BLOCK_KEYS)]
pub fn sort_bitonic_block(keys: Global<u32>, keys_out: GlobalMut<u32>) {
    let (n, in_place) = (keys_out.len(), keys.is_empty());
    assert!(n <= BLOCK_KEYS && (in_place || n == keys.len()) && thread::grid_dim_x() == 1);
    let sorted = shared_array![u32; BLOCK_KEYS];
    for i in thread::block_stride(n) {
        sorted.store(i, if in_place { keys_out.load(i) } else { keys.load(i) });
    }
    thread::sync_threads();
    let mut width = 1;
    while width < n {
        let mut distance = width;
        while distance > 0 {
            for i in thread::block_stride(pairs(n)) {
                let (low, high) = pair(i, distance, distance == width);
                if high < n {
                    let (a, b) = (sorted.load(low), sorted.load(high));
                    if b < a {
                        sorted.store(low, b);
                        sorted.store(high, a);
                    }
                }
            }
            thread::sync_threads();
            distance /= 2;
        }
        width *= 2;
    }
    for i in thread::block_stride(n) {
        keys_out.store(i, sorted.load(i));
    }
}
