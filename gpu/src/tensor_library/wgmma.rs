//! Test kernels for the products of a warpgroup (`wgmma`).

use cuda_std::tensor::wgmma::{Accumulator, ROWS, Sums, WgmmaInstruction};
use cuda_std::tensor::{PanelLayout, Plain16, SharedTile, Swizzle32, Swizzle64, Swizzle128, tf32};
use cuda_std::{
    DeviceCopy, Element, Global, GlobalMut, barrier, bf16, dynamic_shared, e4m3, e5m2, f16, kernel, thread,
};

/// Writes `a`·`b`ᵀ to `d`, with 64 × `K` elements of `a` and `N` × `K` of `b`, both with contiguous rows. Launch one
/// block of 128 threads, with dynamic shared memory for `a` and `b`.
#[kernel(
    max_threads = 128,
    instances(T = [bf16], U = [bf16], V = [f32], L = [Swizzle128], N = [8, 256], K = [64]),
    instances(T = [bf16], U = [bf16], V = [f32], L = [Plain16, Swizzle32, Swizzle64], N = [64], K = [64]),
    instances(T = [f16], U = [f16], V = [f16, f32], L = [Swizzle128], N = [24], K = [128]),
    instances(T = [tf32], U = [tf32], V = [f32], L = [Swizzle128], N = [64], K = [32]),
    instances(T = [e4m3, e5m2], U = [e4m3, e5m2], V = [f32], L = [Swizzle128], N = [32], K = [128]),
    instances(T = [i8, u8], U = [i8, u8], V = [i32], L = [Swizzle64], N = [48], K = [64])
)]
pub fn multiply_shared<T, U, V, L, const N: usize, const K: usize>(a: Global<T>, b: Global<U>, d: GlobalMut<V>)
where
    T: Element,
    U: Element,
    V: WgmmaInstruction<T, U, N> + Sums<N> + DeviceCopy,
    L: PanelLayout,
{
    let left = SharedTile::<T, ROWS, K, L>::at(dynamic_shared(), 0);
    let right = SharedTile::<U, N, K, L>::at(dynamic_shared(), ROWS * K);
    for i in thread::block_stride(ROWS * K) {
        left.store(i / K, i % K, a.load(i));
    }
    for i in thread::block_stride(N * K) {
        right.store(i / K, i % K, b.load(i));
    }
    barrier::fence_proxy_async();
    thread::sync_threads();
    let sums = Accumulator::<V, N>::zeroed().begin().multiply_add(left.rows::<ROWS>(0), right.rows::<N>(0)).finish();
    sums.for_each(|row, column, value| d.store(N * row + column, value));
}

/// Writes `a`ᵀ·`b` to `d`, with `K` × 64 elements of `a` and `K` × `N` of `b`, both with contiguous rows. Launch one
/// block of 128 threads, with dynamic shared memory for `a` and `b`.
#[kernel(
    max_threads = 128,
    instances(T = [bf16], L = [Swizzle128], N = [128], K = [32]),
    instances(T = [f16], L = [Plain16, Swizzle32, Swizzle64], N = [64], K = [32])
)]
pub fn multiply_transposed<T, L, const N: usize, const K: usize>(a: Global<T>, b: Global<T>, d: GlobalMut<f32>)
where
    T: Element,
    f32: WgmmaInstruction<T, T, N> + Sums<N>,
    L: PanelLayout,
{
    let left = SharedTile::<T, K, ROWS, L>::at(dynamic_shared(), 0);
    let right = SharedTile::<T, K, N, L>::at(dynamic_shared(), ROWS * K);
    for i in thread::block_stride(ROWS * K) {
        left.store(i / ROWS, i % ROWS, a.load(i));
    }
    for i in thread::block_stride(N * K) {
        right.store(i / N, i % N, b.load(i));
    }
    barrier::fence_proxy_async();
    thread::sync_threads();
    let sums = Accumulator::<f32, N>::zeroed().begin();
    let sums = sums.multiply_add(left.transposed::<ROWS>(0), right.transposed::<N>(0)).finish();
    sums.for_each(|row, column, value| d.store(N * row + column, value));
}
