//! A kernel that counts how often each byte value occurs.
#![no_std] // A GPU has only `core`.

use cuda_std::prelude::*;

/// Adds the number of `bytes` that equal `b` to `counts[b]`. `counts` has 256 elements. The grid has one dimension.
#[kernel]
pub fn histogram(bytes: Global<u8>, counts: GlobalMut<u32>) {
    // Each block first counts in shared memory, where an atomic addition costs far less than in global memory.
    let local = shared_array![u32; 256];
    // `block_stride(256)` divides the indices 0 to 255 among the threads of the block, which may have any size.
    for bin in thread::block_stride(256) {
        local.store(bin, 0);
    }
    // Without this barrier a thread could count in a bin that another thread has not cleared yet. If you delete it,
    // `cargo test` reports the line, the bin and the threads.
    thread::sync_threads();
    // `grid_stride` divides the elements among all threads of the grid, so a grid of any size covers any length.
    for i in thread::grid_stride(bytes.len()) {
        local.atomic_add(usize::from(bytes.load(i)), 1);
    }
    thread::sync_threads();
    for bin in thread::block_stride(256) {
        counts.atomic_add(bin, local.load(bin));
    }
}
