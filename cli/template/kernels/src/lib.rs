//! The kernel: it counts how often each byte occurs.
#![no_std] // A GPU has only `core`.

use cuda_std::prelude::*;

/// Adds to `counts[b]` the number of `bytes` that equal `b`. `counts` has 256 elements, the grid one dimension.
#[kernel]
pub fn histogram(bytes: Global<u8>, counts: GlobalMut<u32>) {
    // Every block counts in its own shared memory, where an atomic addition costs far less than in global memory.
    let local = shared_array![u32; 256];
    // `block_stride(256)`: the block's threads take the 256 bins in turn, whatever the block's size.
    for bin in thread::block_stride(256) {
        local.store(bin, 0);
    }
    // Without this barrier a thread could count in a bin that another one has yet to clear. Delete it, and `cargo test`
    // names the line, the bin and the threads.
    thread::sync_threads();
    // `grid_stride`: the whole grid's threads take the elements in turn, so that any grid covers any length.
    for i in thread::grid_stride(bytes.len()) {
        local.atomic_add(usize::from(bytes.load(i)), 1);
    }
    thread::sync_threads();
    for bin in thread::block_stride(256) {
        counts.atomic_add(bin, local.load(bin));
    }
}
