//! Atomics in global memory: for every key, a thread adds one to the count of the key's bin.
//!
//! This is the simplest version of the histogram. The L2 cache executes the additions and therefore limits the speed.
//! It serialises additions to the same word, so the kernel is slower still with few bins or with many equal keys.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::{EvenBins, Key};

/// Counts the keys per bin in global memory: adds the number of keys in bin `b` to `counts[b]`. `counts` must have one
/// element per bin of `bins`. Launch a one-dimensional grid of any size.
#[kernel(max_threads = 1024, instances(K = [u8, u32]))]
pub fn histogram_global<K: Key>(keys: Global<K>, bins: EvenBins, counts: GlobalMut<u32>) {
    for i in thread::grid_stride(keys.len()) {
        if let Some(bin) = bins.of(keys.load(i).value()) {
            counts.atomic_add(bin as usize, 1);
        }
    }
}
