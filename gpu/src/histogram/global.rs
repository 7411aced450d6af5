//! Atomics in global memory: every key adds one to its bin's count.
//!
//! What it changes: nothing yet, this is the plain answer. Limited by the L2 cache, which does the additions: those to one
//! word come one after the other, so that few bins, or keys that are alike, make it slower still.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::{EvenBins, Key};

/// Adds to `counts[b]` how many of `keys` are in bin `b` of `bins`; any one-dimensional grid. `counts` has an element for
/// each bin.
#[kernel(max_threads = 1024, instances(K = [u8, u32]))]
pub fn histogram_global<K: Key>(keys: Global<K>, bins: EvenBins, counts: GlobalMut<u32>) {
    for i in thread::grid_stride(keys.len()) {
        if let Some(bin) = bins.of(keys.load(i).value()) {
            counts.atomic_add(bin as usize, 1);
        }
    }
}
