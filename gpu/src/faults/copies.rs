//! Vectors that asynchronous copies bring to shared memory.
//!
//! What is wrong in the first: two groups of copies are under way, and it waits for the first where it needs both. In the
//! second: it begins to fill a place in which other threads still read.
//!
//! [`scan_pipelined()`](crate::scan::scan_pipelined()) waits for the group that it needs, and has each thread read what it
//! has copied itself.

use cuda_std::{AsyncCopies, Global, GlobalMut, kernel, shared_array, thread};

/// Threads of a block, and vectors of a tile.
pub const THREADS: usize = 64;

/// `y` = `x`, but for a wait that ends too early. One block; `x` and `y` are whole tiles of vectors.
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

/// `y` = `x` with each tile of vectors turned around, with a race from the second tile on. One block; `x` and `y` are whole
/// tiles of vectors.
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
