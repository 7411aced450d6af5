//! Atomics in global memory: every key adds one to the count of its bin.
//!
//! This is the simplest rung. The L2 cache limits it, because it executes the additions. Additions to one word are
//! serialised, so few bins or similar keys make the rung slower still.

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
