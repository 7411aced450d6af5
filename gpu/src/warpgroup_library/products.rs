//! Test kernels for each instruction `wgmma`.

use cuda_std::tensor::mma::{A, Fragment};
use cuda_std::tensor::wgmma::{Accumulator, ROWS, Sums, WgmmaInstruction};
use cuda_std::tensor::{PanelLayout, Plain16, RowMajor, SharedTile, Swizzle32, Swizzle64, Swizzle128, Tile, tf32};
use cuda_std::{
    DeviceCopy, Element, Global, GlobalMut, barrier, bf16, dynamic_shared, e4m3, e5m2, f16, kernel, thread,
};

/// Copies `from` to `to`, both with contiguous rows, by all threads of the block.
#[inline(always)]
pub(super) fn fill<T: Element, const ROWS: usize, const COLUMNS: usize, L: PanelLayout>(
    to: SharedTile<T, ROWS, COLUMNS, L>,
    from: Global<T>,
) {
    for i in thread::block_stride(ROWS * COLUMNS) {
        to.store(i / COLUMNS, i % COLUMNS, from.load(i));
    }
}

/// Writes the sums to `to`, which has contiguous rows, from the row `row` on.
#[inline(always)]
pub(super) fn write<V: Sums<N>, const N: usize>(sums: Accumulator<V, N>, to: GlobalMut<[V; 2]>, row: usize)
where
    [V; 2]: DeviceCopy,
{
    sums.for_each_pair(|down, column, pair| to.store((N * (row + down) + column) / 2, pair));
}

/// Writes `a`·`b`ᵀ to `d`, with 64 × `K` elements of `a` and `N` × `K` of `b`, both with contiguous rows. Launch one
/// block of 128 threads, with dynamic shared memory for `a` and `b`.
#[kernel(
    max_threads = 128,
    instances(T = [bf16], U = [bf16], V = [f32], L = [Swizzle32], N = [
        8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128,
        136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256
    ], K = [16]),
    instances(T = [bf16], U = [bf16], V = [f32], L = [Plain16, Swizzle64, Swizzle128], N = [64], K = [64]),
    instances(T = [f16], U = [f16], V = [f16, f32], L = [Swizzle128], N = [40], K = [64]),
    instances(T = [tf32], U = [tf32], V = [f32], L = [Swizzle128], N = [24], K = [32]),
    instances(T = [e4m3, e5m2], U = [e4m3, e5m2], V = [f16, f32], L = [Swizzle128], N = [24], K = [128]),
    instances(T = [i8, u8], U = [i8, u8], V = [i32], L = [Swizzle64], N = [48], K = [64])
)]
pub fn multiply_shared<
    T: Element,
    U: Element,
    V: WgmmaInstruction<T, U, N> + Sums<N> + DeviceCopy,
    L: PanelLayout,
    const N: usize,
    const K: usize,
>(
    a: Global<T>,
    b: Global<U>,
    d: GlobalMut<[V; 2]>,
) {
    let left = SharedTile::<T, ROWS, K, L>::at(dynamic_shared(), 0);
    let right = SharedTile::<U, N, K, L>::at(dynamic_shared(), ROWS * K);
    fill(left, a);
    fill(right, b);
    barrier::fence_proxy_async();
    thread::sync_threads();
    let sums = Accumulator::<V, N>::zeroed().begin().multiply_add(left.rows::<ROWS>(0), right.rows::<N>(0));
    write(sums.finish(), d, 0);
}

/// Writes `a`ᵀ·`b` to `d`, with `K` × 64 elements of `a` and `K` × `N` of `b`, both with contiguous rows. Launch one
/// block of 128 threads, with dynamic shared memory for `a` and `b`.
#[kernel(
    max_threads = 128,
    instances(T = [bf16], L = [Swizzle128], N = [128], K = [32]),
    instances(T = [f16], L = [Plain16, Swizzle32, Swizzle64], N = [64], K = [32])
)]
pub fn multiply_transposed<T: Element, L: PanelLayout, const N: usize, const K: usize>(
    a: Global<T>,
    b: Global<T>,
    d: GlobalMut<[f32; 2]>,
) where
    f32: WgmmaInstruction<T, T, N> + Sums<N>,
{
    let left = SharedTile::<T, K, ROWS, L>::at(dynamic_shared(), 0);
    let right = SharedTile::<T, K, N, L>::at(dynamic_shared(), ROWS * K);
    fill(left, a);
    fill(right, b);
    barrier::fence_proxy_async();
    thread::sync_threads();
    let sums = Accumulator::<f32, N>::zeroed().begin();
    let sums = sums.multiply_add(left.transposed::<ROWS>(0), right.transposed::<N>(0));
    write(sums.finish(), d, 0);
}

/// Writes `a`·`b`ᵀ to `d` like [`multiply_shared()`], with `a` in registers: two fragments of `STEP` columns.
#[kernel(
    max_threads = 128,
    instances(T = [bf16, f16], V = [f32], STEP = [16], K = [32]),
    instances(T = [f16], V = [f16], STEP = [16], K = [32]),
    instances(T = [tf32], V = [f32], STEP = [8], K = [16]),
    instances(T = [e4m3, e5m2], V = [f32], STEP = [32], K = [64]),
    instances(T = [i8, u8], V = [i32], STEP = [32], K = [64])
)]
pub fn multiply_fragments<
    T: Tile<16, STEP, Registers = [u32; 4]>,
    V: WgmmaInstruction<T, T, 64> + Sums<64> + DeviceCopy,
    const STEP: usize,
    const K: usize,
>(
    a: Global<T>,
    b: Global<T>,
    d: GlobalMut<[V; 2]>,
) {
    let right = SharedTile::<T, 64, K, Swizzle64>::at(dynamic_shared(), 0);
    fill(right, b);
    barrier::fence_proxy_async();
    thread::sync_threads();
    let row = thread::index_in_block() as usize / 32 * 16;
    let left: [Fragment<A, T, 16, STEP>; 2] =
        [Fragment::load(RowMajor(a, K), row, 0), Fragment::load(RowMajor(a, K), row, STEP)];
    let sums = Accumulator::<V, 64>::zeroed().begin().multiply_add_fragments(false, left, right.rows::<64>(0));
    write(sums, d, 0);
}
