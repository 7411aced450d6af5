//! Asynchronous copies.

use cuda_std::{AsyncCopies, Element, Global, GlobalMut, kernel, shared_array, thread};

use crate::operator::Affine;

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

/// `y` = `x`, which may begin anywhere and end within a vector, and zeros after it. `y` is whole vectors, `N` elements of 16 bytes.
/// Blocks of 64 threads.
#[kernel(max_threads = 64, instances(T = [f32], N = [4]), instances(T = [f64, Affine], N = [2]))]
pub fn copy_async_by_elements<T: Element, const N: usize>(x: Global<T>, y: GlobalMut<T>) {
    let (vectors, thread) = (shared_array![[T; N]; BLOCK], thread::index_in_block() as usize);
    let mut copies = AsyncCopies::new();
    for i in thread::grid_stride(y.len() / N) {
        copies.copy_by_elements(x, N * i, vectors, thread);
        copies.commit();
        copies.wait::<0>();
        y.store_vec(i, vectors.load(thread));
    }
}
