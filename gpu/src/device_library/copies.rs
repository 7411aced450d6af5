//! Test kernels for asynchronous copies.

use cuda_std::{AsyncCopies, Element, Global, GlobalMut, kernel, shared_array, thread};

use crate::operator::Affine;

/// The number of threads per block of [`copy_async`].
const BLOCK: usize = 64;

/// Copies `x` to `y` in vectors of four elements, with two asynchronous copies in flight per thread. It then copies `x`
/// a second time, to `y[x.len()]` and the elements after it, with the vectors of each block in reverse order. For this
/// second copy, threads read vectors from shared memory that other threads have copied. Launch blocks of 64 threads.
/// `x` must have a whole number of vectors per block.
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

/// Copies `x` to `y` and fills the rest of `y` with zeros. `x` may begin at any address and end within a vector. `y`
/// must consist of whole 16-byte vectors of `N` elements. Launch blocks of 64 threads.
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
