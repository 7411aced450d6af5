//! Pipelined: one warpgroup loads by tensor maps, several steps ahead, and two multiply.
//!
//! Each block computes one tile of 128 × 256 elements of *C*. The threads that multiply never compute addresses in
//! global memory, and the loading thread needs no registers for elements. The kernel is limited by the start and the
//! end of a tile, when the tensor cores wait. Source: CUTLASS's `sm90_gemm_tma_warpspecialized`.

use cuda_std::bulk::TensorMap;
use cuda_std::tensor::wgmma::{self, ROWS, Sums, WgmmaInstruction};
use cuda_std::{Global, GlobalMut, bf16, kernel, thread};

use super::arrangement::Arranged;
use super::finish::{Target, finish};
use super::pipeline::{Pipeline, Stage, TILE_ROWS, staging, warpgroup};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem};

/// Loads tiles by one warpgroup and multiplies them by two others. `K` elements are 128 bytes. The boxes of `a` and `b`
/// are 64 × 128 bytes, with a swizzle of 128 bytes. `flags` has the bits `A_ACROSS` and `B_ACROSS`. Launch one block of
/// 384 threads per tile of 128 × `N` elements, with `SHARED_BYTES` bytes of dynamic shared memory: blocks along x for
/// the columns of C, along y for its rows, and along z for the products.
#[kernel(
    max_threads = 384,
    min_blocks = 1,
    instances(T = [bf16], C = [bf16], E = [Linear<f32>], N = [256], K = [64])
)]
pub fn matmul_pipelined<
    T: Operand + Arranged,
    C: Output<T::Sum>,
    E: Epilogue<T::Sum, C>,
    const N: usize,
    const K: usize,
>(
    problem: Problem,
    flags: u32,
    a: TensorMap<T, 3>,
    b: TensorMap<T, 3>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) where
    T::Sum: Sums<N> + WgmmaInstruction<T, T, N>,
{
    wgmma::require();
    let pipeline = Pipeline::<T, N, K, 1>::make_stages(problem.k, flags);
    thread::sync_threads();
    let [column, row, batch] = [thread::block_idx_x(), thread::block_idx_y(), thread::block_idx_z()];
    let warpgroup = warpgroup();
    if warpgroup == 0 {
        wgmma::release_registers::<40>();
        if thread::index_in_block() == 0 {
            let at = [row * TILE_ROWS as u32, column * N as u32];
            pipeline.load((&a, &b), problem.matrices(batch), at, 0, &mut { Stage::LOADING });
        }
    } else {
        wgmma::take_registers::<232>();
        let consumer = (warpgroup as usize - 1) % 2;
        let sums = pipeline.multiply::<T::Sum>(consumer, &mut { Stage::MULTIPLYING });
        let at = [row as usize * TILE_ROWS + consumer * ROWS, column as usize * N];
        let target = Target { problem, batch: batch as usize, at, c, bias };
        finish(sums, target, epilogue, None, staging(consumer), 1 + consumer as u32);
    }
}
