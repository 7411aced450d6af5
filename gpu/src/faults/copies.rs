//! Asynchronous copies to shared memory: a kernel that reads copied vectors too early, and a kernel that starts copies
//! too early.
//!
//! Fault in [`copies_not_waited_for()`]: two groups of copies are in flight. The kernel reads both, but waits only for
//! the first group. Fault in [`copies_over_reads()`]: the kernel starts to overwrite vectors that other threads still
//! read.
//!
//! [`scan_pipelined()`](crate::scan::scan_pipelined()) is correct: it waits for the group that it reads, and each
//! thread reads only the vectors that it has copied.

use cuda_std::{AsyncCopies, Global, GlobalMut, kernel, shared_array, thread};

/// The number of threads per block, and of vectors per tile.
pub const THREADS: usize = 64;

/// Copies `x` to `y`, with a wait that ends too early. Launch one block. `x` and `y` must consist of whole tiles of
/// vectors.
#[kernel(max_threads = 64)]
pub fn copies_not_waited_for(x: Global<u32>, y: GlobalMut<u32>) {
    let vectors = shared_array![[u32; 4]; 2 * THREADS];
    let thread = thread::thread_idx_x() as usize;
    let mut copies = AsyncCopies::new();
    let mut stage = 0;
    for tile in 0..x.len() / (4 * THREADS) {
        copies.copy(x, tile * THREADS + thread, vectors, stage + thread); // fault: early copy
        copies.commit();
        copies.wait::<1>();
        let vector = vectors.load(stage + thread); // fault: early read
        y.store_vec(tile * THREADS + thread, vector);
        stage = THREADS - stage;
    }
}

/// Copies `x` to `y` with the vectors of each tile in reverse order, with a race from the second tile on. Launch one
/// block. `x` and `y` must consist of whole tiles of vectors.
#[kernel(max_threads = 64)]
pub fn copies_over_reads(x: Global<u32>, y: GlobalMut<u32>) {
    let vectors = shared_array![[u32; 4]; THREADS];
    let thread = thread::thread_idx_x() as usize;
    let mut copies = AsyncCopies::new();
    for tile in 0..x.len() / (4 * THREADS) {
        copies.copy(x, tile * THREADS + thread, vectors, thread); // fault: copy
        copies.commit();
        copies.wait::<0>();
        thread::sync_threads();
        let vector = vectors.load(THREADS - 1 - thread); // fault: read
        y.store_vec(tile * THREADS + thread, vector);
    }
}
