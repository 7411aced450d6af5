//! Test kernels for `ldmatrix` and `stmatrix`.

use cuda_std::tensor::matrix::{ldmatrix, ldmatrix_trans, stmatrix, stmatrix_trans};
use cuda_std::tensor::mma::{A, Accumulator, B, Fragment, Product};
use cuda_std::tensor::{ColumnMajor, RowMajor, Tile, tf32};
use cuda_std::{Global, GlobalMut, bf16, e4m3, kernel, shared_array, thread, warp};

/// Loads `X` matrices of 8 × 8 elements of 16 bits, and transposed if `TRANS` is 1. Writes the registers of lane *l* to
/// `registers[X·l..]`. Stores the matrices in the same way to other rows, and copies these to `y`. The rows have 8
/// elements. Row *r* of `x` is at row 31 − *r* of the shared memory from which the matrices are loaded. `x` and `y`
/// have 8 · `X` rows. Other lanes write and read a row than pass its address. Launch one warp.
#[kernel(max_threads = 32, instances(X = [1, 2, 4], TRANS = [0, 1]))]
pub fn move_matrices<const X: usize, const TRANS: u32>(x: Global<u16>, registers: GlobalMut<u32>, y: GlobalMut<u16>) {
    let (from, to) = (shared_array![u16; 256], shared_array![u16; 256]);
    let lane = warp::lane_id() as usize;
    for i in 0..8 {
        from.store(8 * lane + i, x.load((8 * (31 - lane) + i) % x.len()));
    }
    warp::sync_warp(warp::FULL_MASK);
    let row = 8 * (31 - lane % (8 * X));
    let matrices: [u32; X] = if TRANS == 0 { ldmatrix(from, row) } else { ldmatrix_trans(from, row) };
    for i in 0..X {
        registers.store(X * lane + i, matrices[i]);
    }
    if TRANS == 0 {
        stmatrix(to, row, matrices);
    } else {
        stmatrix_trans(to, row, matrices);
    }
    warp::sync_warp(warp::FULL_MASK);
    if lane < 8 * X {
        let other = 8 * X - 1 - lane;
        for i in 0..8 {
            y.store(8 * other + i, to.load(8 * (31 - other) + i));
        }
    }
}

/// Writes the product of the 16 × 16 matrix `a` and the 16 × 8 matrix `b` to `c`, by way of shared memory. The rows of
/// `a` or its columns are contiguous, by `ROWS` = 1 or 0, and those of `b` in the same way. Launch one warp.
#[kernel(max_threads = 32, instances(ROWS = [0, 1]))]
pub fn multiply_tiles<const ROWS: u32>(a: Global<bf16>, b: Global<bf16>, c: GlobalMut<bf16>) {
    // A row of 24 elements has 48 bytes, so that the rows of a matrix are in different banks.
    let (left, right, out) = (shared_array![bf16; 24 * 16], shared_array![bf16; 24 * 16], shared_array![bf16; 8 * 16]);
    let lane = warp::lane_id() as usize;
    for i in (lane..256).step_by(32) {
        left.store(24 * (i / 16) + i % 16, a.load(i));
    }
    for i in (lane..128).step_by(32) {
        let width = if ROWS == 1 { 8 } else { 16 };
        right.store(24 * (i / width) + i % width, b.load(i));
    }
    warp::sync_warp(warp::FULL_MASK);
    let (a, b) = if ROWS == 1 {
        let a = Fragment::<A, bf16, 16, 16>::ldmatrix(RowMajor(left, 24), 0, 0);
        (a, Fragment::<B, bf16, 16, 8>::ldmatrix(RowMajor(right, 24), 0, 0))
    } else {
        let a = Fragment::<A, bf16, 16, 16>::ldmatrix(ColumnMajor(left, 24), 0, 0);
        (a, Fragment::<B, bf16, 16, 8>::ldmatrix(ColumnMajor(right, 24), 0, 0))
    };
    a.multiply_add(b, Accumulator::<f32, 16, 8>::zero()).to_bf16().stmatrix(RowMajor(out, 8), 0, 0);
    warp::sync_warp(warp::FULL_MASK);
    for i in (lane..128).step_by(32) {
        c.store(i, out.load(i));
    }
}

/// Writes the product of the 16 × `K` matrix `a` and the `K` × 8 matrix `b` to `c`, by `ldmatrix` of elements that have
/// 8 or 32 bits. The rows of `a` and the columns of `b` are contiguous. Launch one warp.
#[kernel(
    max_threads = 32,
    instances(T = [i8], V = [i32], K = [32]),
    instances(T = [e4m3], V = [f32], K = [32]),
    instances(T = [tf32], V = [f32], K = [8])
)]
pub fn multiply_whole_tiles<
    T: Product<T, V, 16, 8, K> + Tile<16, K, Registers = [u32; 4]> + Tile<K, 8, Registers = [u32; 2]>,
    V: Tile<16, 8>,
    const K: usize,
>(
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<V>,
) {
    let (left, right) = (shared_array![T; 16 * K], shared_array![T; 8 * K]);
    for i in thread::block_stride(16 * K) {
        left.store(i, a.load(i));
    }
    for i in thread::block_stride(8 * K) {
        right.store(i, b.load(i));
    }
    thread::sync_threads();
    let a = Fragment::<A, T, 16, K>::ldmatrix(RowMajor(left, K), 0, 0);
    let b = Fragment::<B, T, K, 8>::ldmatrix(ColumnMajor(right, K), 0, 0);
    a.multiply_add(b, Accumulator::<V, 16, 8>::zero()).store(RowMajor(c, 8), 0, 0);
}
