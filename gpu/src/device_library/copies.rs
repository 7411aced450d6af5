//! Asynchronous copies.

use cuda_std::{AsyncCopies, Global, GlobalMut, kernel, shared_array, thread};

/// Threads of a block of [`copy_async`].
const BLOCK: usize = 64;

/// `y` = the vectors of four of `x`, which a thread has on their way two ahead; then, from `x.len()` on, `x` with each
/// block's vectors turned around, which threads copy for each other. Whole blocks of 64 threads, with as many vectors.
#[kernel(max_threads = 64)]
pub fn copy_async(x: Global<u32>, y: GlobalMut<u32>) {
    let words = shared_array![u32; 12 * BLOCK];
    let vectors = words.cast::<[u32; 4]>();
    let (thread, n) = (thread::index_in_block() as usize, x.len() / 4);
    let mut copies = AsyncCopies::new();
    let step = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut ahead = thread::index_1d();
    for stage in 0..2 {
        if ahead < n {
            copies.copy(x, ahead, vectors, stage * BLOCK + thread);
        }
        copies.commit();
        ahead += step;
    }
    let mut stage = 0;
    for i in thread::grid_stride(n) {
        copies.wait::<1>();
        y.store_vec(i, vectors.load(stage * BLOCK + thread));
        if ahead < n {
            copies.copy(x, ahead, vectors, (stage + 2) % 3 * BLOCK + thread);
        }
        copies.commit();
        ahead += step;
        stage = (stage + 1) % 3;
    }

    for i in thread::grid_stride(n) {
        copies.copy(x, i, vectors, thread);
        copies.commit();
        copies.wait::<0>();
        thread::sync_threads();
        y.store_vec(n + i, vectors.load(BLOCK - 1 - thread));
        thread::sync_threads();
    }
}
