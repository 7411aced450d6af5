//! One warpgroup: products of tiles in shared memory (`wgmma`), which a tensor map loads.
//!
//! A block of 128 threads computes 64 × 128 elements of *C*. One thread begins the copies of a step of *A* and *B*, all
//! wait for them, and multiply. The factors go from shared memory to the tensor cores without registers. The kernel is
//! limited by latency: the tensor cores wait for each step. Several blocks per multiprocessor hide a part of it.
//! Source: the PTX manual's section on asynchronous warpgroup instructions.

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::wgmma;
use cuda_std::tensor::wgmma::{Accumulator, ROWS, Sums, WgmmaInstruction};
use cuda_std::{Global, GlobalMut, bf16, dynamic_shared, kernel, shared_array, thread};

use super::arrangement::{Arranged, Arrangement, ContiguousK, UNIT, load_unit};
use super::finish::{STAGING_BYTES, Target, finish};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem};

/// The number of bytes of dynamic shared memory of a block with tiles of `columns` columns.
pub const fn wgmma_bytes(columns: usize) -> usize {
    (ROWS + columns) * 128 + STAGING_BYTES
}

/// Multiplies tiles in shared memory by one warpgroup. `K` elements are 128 bytes, and contiguous in `a` and `b`, whose
/// boxes are 64 × 128 bytes, with a swizzle of 128 bytes. Launch one block of 128 threads per tile of 64 × `N`
/// elements, with `wgmma_bytes` bytes of dynamic shared memory: blocks along x for the columns of C, along y for its
/// rows, and along z for the products.
#[kernel(
    max_threads = 128,
    instances(T = [bf16], C = [bf16], E = [Linear<f32>], N = [128], K = [64])
)]
pub fn matmul_wgmma<T: Operand + Arranged, C: Output<T::Sum>, E: Epilogue<T::Sum, C>, const N: usize, const K: usize>(
    problem: Problem,
    a: TensorMap<T, 3>,
    b: TensorMap<T, 3>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) where
    T::Sum: Sums<N> + WgmmaInstruction<T, T, N>,
{
    wgmma::require();
    let (left_len, right_len) = (ROWS * K, N * K);
    // The end of the tiles is checked here, so that no later access needs a check.
    let shared = dynamic_shared::<T>().part(0, left_len + right_len);
    let full = Barrier::at(shared_array![u64; 1], 0);
    let thread = thread::index_in_block();
    if thread == 0 {
        full.init(1);
        barrier::fence_init();
    }
    thread::sync_threads();
    let [column, row, batch] = [thread::block_idx_x(), thread::block_idx_y(), thread::block_idx_z()];
    let (row, column) = (row * ROWS as u32, column * N as u32);
    let matrices = problem.matrices(batch);
    let mut sums = Accumulator::<T::Sum, N>::zeroed();
    let mut parity = false;
    for k in (0..problem.k).step_by(K) {
        // SAFETY: `part` has checked the end of the tiles, each of which begins at a multiple of 1024 bytes.
        unsafe {
            if thread == 0 {
                let _ = full.arrive_and_expect(((left_len + right_len) * size_of::<T>()) as u32);
                load_unit::<T, UNIT, K>(&a, (false, [row, k, matrices[0]]), (shared, 0), full, None);
                for unit in 0..N / UNIT {
                    let at = (false, [column + (unit * UNIT) as u32, k, matrices[1]]);
                    load_unit::<T, UNIT, K>(&b, at, (shared, left_len + unit * UNIT * K), full, None);
                }
            }
            full.await_parity(parity);
            let left = ContiguousK::part::<T, ROWS, ROWS, K>(shared, 0, 0);
            let right = ContiguousK::part::<T, N, N, K>(shared, left_len, 0);
            sums = sums.begin().multiply_add(left, right).finish();
        }
        parity = !parity;
        // All warps have waited for their products before the tiles are loaded again.
        thread::sync_threads();
    }
    let staging = dynamic_shared::<u32>().part((ROWS + N) * 128 / 4, STAGING_BYTES / 4);
    let target = Target { problem, batch: batch as usize, at: [row as usize, column as usize], c, bias };
    finish(sums, target, epilogue, None, staging, 1);
}
