//! A test kernel for each product of `mma.sync`.

use cuda_std::tensor::mma::{A, Accumulator, B, Fragment, Product};
use cuda_std::tensor::{ColumnMajor, RowMajor, Tile, tf32};
use cuda_std::{Global, GlobalMut, bf16, e4m3, e5m2, f16, kernel, thread};

/// Writes `a`·`b` + `c` to `d`, for one matrix of each operand per block. `a`, `c` and `d` have contiguous rows, and
/// `b` has contiguous columns. Launch blocks of one warp.
#[kernel(
    max_threads = 32,
    instances(T = [f16], U = [f16], V = [f16, f32], M = [16], N = [8], K = [8, 16]),
    instances(T = [bf16], U = [bf16], V = [f32], M = [16], N = [8], K = [8, 16]),
    instances(T = [tf32], U = [tf32], V = [f32], M = [16], N = [8], K = [4, 8]),
    instances(T = [f64], U = [f64], V = [f64], M = [8], N = [8], K = [4]),
    instances(T = [f64], U = [f64], V = [f64], M = [16], N = [8], K = [4, 8, 16]),
    instances(T = [i8, u8], U = [i8, u8], V = [i32], M = [8], N = [8], K = [16]),
    instances(T = [i8, u8], U = [i8, u8], V = [i32], M = [16], N = [8], K = [16, 32]),
    instances(T = [e4m3, e5m2], U = [e4m3, e5m2], V = [f32], M = [16], N = [8], K = [32])
)]
pub fn multiply<
    T: Product<U, V, M, N, K>,
    U: Tile<K, N>,
    V: Tile<M, N>,
    const M: usize,
    const N: usize,
    const K: usize,
>(
    a: Global<T>,
    b: Global<U>,
    c: Global<V>,
    d: GlobalMut<V>,
) {
    let block = thread::block_idx_x() as usize;
    let a = Fragment::<A, T, M, K>::load(RowMajor(a, K), M * block, 0);
    let b = Fragment::<B, U, K, N>::load(ColumnMajor(b, K), 0, N * block);
    let c = Accumulator::<V, M, N>::load(RowMajor(c, N), M * block, 0);
    a.multiply_add(b, c).store(RowMajor(d, N), M * block, 0);
}
