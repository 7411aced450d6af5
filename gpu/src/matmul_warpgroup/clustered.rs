//! Clustered: persistent clusters of two blocks, which share each step of *B*; stores that overlap the next tile.
//!
//! Each block multiplies tiles of 128 × `N` elements of *C*. Its first warpgroup copies steps of *A* and *B* to shared
//! memory, several steps ahead, and the other two multiply. The two blocks of a cluster have tiles one above the other,
//! so that each copies half of a step of *B* for both. A cluster goes on with the next tile of its own while the bulk
//! stores of the last one proceed.
//!
//! The kernel is limited by the tensor cores, and large products by the power that these may draw. Sources: CUTLASS's
//! `sm90_gemm_tma_warpspecialized_cooperative`; P. Shankhdhar, "Outperforming cuBLAS on H100", 2024.

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::wgmma::{self, Accumulator, ROWS, Sums, WgmmaInstruction};
use cuda_std::{Global, GlobalMut, bf16, cluster, dynamic_shared, kernel, shared_array, thread};

use super::arrangement::{Arrangement, ContiguousK, ContiguousRows, UNIT, load_unit};
use super::finish::{Target, finish, staging_bytes};
use crate::matmul::tuning::CLUSTERED_ROWS;
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem};

/// The rows of tiles that are computed together, so that they share columns of *B* in the L2 cache.
const ROWS_TOGETHER: u32 = 8;
/// The maximum number of stages.
const MAX_STAGES: usize = 8;

/// A stage of the pipeline, and the parity of the phase of its barriers.
#[derive(Clone, Copy)]
struct Stage<const STAGES: usize> {
    index: usize,
    parity: bool,
}

impl<const STAGES: usize> Stage<STAGES> {
    #[inline(always)]
    fn next(self) -> Self {
        let is_last = self.index == STAGES - 1;
        Self { index: if is_last { 0 } else { self.index + 1 }, parity: self.parity ^ is_last }
    }
}

/// The tiles of *C* that a cluster computes at once, in all products of a batch.
#[derive(Clone, Copy)]
struct Tiles {
    rows: u32,
    columns: u32,
    count: u32,
}

impl Tiles {
    /// Returns the product, row and column of tile number `tile`.
    #[inline(always)]
    fn place(self, tile: u32) -> [u32; 3] {
        let (batch, tile) = (tile / (self.rows * self.columns), tile % (self.rows * self.columns));
        let per_group = ROWS_TOGETHER * self.columns;
        let (group, rest) = (tile / per_group, tile % per_group);
        let height = (self.rows - group * ROWS_TOGETHER).min(ROWS_TOGETHER);
        [batch, group * ROWS_TOGETHER + rest % height, rest / height]
    }
}

/// Multiplies tiles of 128 × `N` elements by persistent clusters. The boxes of `a` and `b` have 64 × 128 bytes, with a
/// swizzle of 128 bytes; `K` elements are 128 bytes. Rows, columns and steps beyond the ends of the matrices are zero.
/// Launch clusters of two blocks of 384 threads, with the dynamic shared memory of `tuning::clustered_bytes`.
#[kernel(
    max_threads = 384,
    min_blocks = 1,
    cluster = 2,
    instances(T = [bf16], C = [bf16], E = [Linear<f32>], A = [ContiguousK], B = [ContiguousK, ContiguousRows], N = [256], K = [64], STAGES = [3])
)]
pub fn matmul_clustered<T, C, E, A, B, const N: usize, const K: usize, const STAGES: usize>(
    problem: Problem,
    a: TensorMap<T, 3>,
    b: TensorMap<T, 3>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) where
    T: Operand,
    T::Sum: Sums<N> + WgmmaInstruction<T, T, N>,
    C: Output<T::Sum>,
    E: Epilogue<T::Sum, C>,
    A: Arrangement,
    B: Arrangement,
{
    let (left_len, right_len) = (CLUSTERED_ROWS * K, N * K);
    let shared = dynamic_shared::<T>();
    let first_right = STAGES * left_len;
    let words = shared_array![u64; 2 * MAX_STAGES];
    let full = |stage: Stage<STAGES>| Barrier::at(words, stage.index);
    let empty = |stage: Stage<STAGES>| Barrier::at(words, MAX_STAGES + stage.index);
    if thread::index_in_block() == 0 {
        for index in 0..STAGES {
            Barrier::at(words, index).init(1);
            // Both multiplying warpgroups of both blocks have read a stage before it is loaded again.
            Barrier::at(words, MAX_STAGES + index).init(4);
        }
        barrier::fence_init();
    }
    cluster::wait(cluster::arrive_relaxed());

    let rows = problem.m.div_ceil(2 * CLUSTERED_ROWS as u32);
    let columns = problem.n.div_ceil(N as u32);
    let tiles = Tiles { rows, columns, count: rows * columns * problem.batch };
    let steps = problem.k.div_ceil(K as u32);
    let (rank, clusters) = (cluster::block_rank(), thread::grid_dim_x() / 2);
    let (warpgroup, thread) = (thread::index_in_block() / wgmma::THREADS, thread::index_in_block() % wgmma::THREADS);
    let mut tile = thread::block_idx_x() / 2;
    if warpgroup == 0 {
        wgmma::release_registers::<40>();
        // The parity of the phase before the first one: all stages are empty.
        let mut stage = Stage::<STAGES> { index: 0, parity: true };
        while thread == 0 && tile < tiles.count {
            let [batch, row, column] = tiles.place(tile);
            let row = (2 * row + rank) * CLUSTERED_ROWS as u32;
            let column = column * N as u32 + rank * (N as u32 / 2);
            for step in 0..steps {
                empty(stage).await_parity(stage.parity);
                let _ = full(stage).arrive_and_expect(((left_len + right_len) * size_of::<T>()) as u32);
                let k = step * K as u32;
                let left = stage.index * left_len;
                for unit in 0..CLUSTERED_ROWS / UNIT {
                    let at = [row + (unit * UNIT) as u32, k, batch];
                    load_unit::<T, A, K>(&a, at, (shared, left + unit * UNIT * K), full(stage), None);
                }
                let right = first_right + stage.index * right_len + rank as usize * (right_len / 2);
                for unit in 0..N / 2 / UNIT {
                    let at = [column + (unit * UNIT) as u32, k, batch];
                    load_unit::<T, B, K>(&b, at, (shared, right + unit * UNIT * K), full(stage), Some(0b11));
                }
                stage = stage.next();
            }
            tile += clusters;
        }
    } else {
        wgmma::take_registers::<232>();
        let consumer = warpgroup as usize - 1;
        let staging = {
            let first = STAGES * (left_len + right_len) * size_of::<T>() / 16;
            let words = staging_bytes::<C>(N) / 16;
            dynamic_shared::<[u32; 4]>().part(first + consumer * words, words)
        };
        let mut stage = Stage::<STAGES> { index: 0, parity: false };
        let mut last = stage;
        while tile < tiles.count {
            let mut sums = Accumulator::<T::Sum, N>::zeroed().begin();
            for step in 0..steps {
                full(stage).await_parity(stage.parity);
                let left = A::part::<T, ROWS, CLUSTERED_ROWS, K>(shared, stage.index * left_len, consumer * ROWS);
                let right = B::part::<T, N, N, K>(shared, first_right + stage.index * right_len, 0);
                sums = sums.multiply_add_or_replace(step > 0, left, right).wait::<1>();
                // The products with the last stage have ended. Threads 0 and 1 tell one block each.
                if step > 0 && thread < 2 {
                    empty(last).arrive_at(thread);
                }
                last = stage;
                stage = stage.next();
            }
            let sums = sums.finish();
            if steps > 0 && thread < 2 {
                empty(last).arrive_at(thread);
            }
            let [batch, row, column] = tiles.place(tile);
            let row = (2 * row + rank) as usize * CLUSTERED_ROWS + consumer * ROWS;
            let target = Target { problem, batch: batch as usize, row, column: column as usize * N, c, bias };
            finish(sums, target, epilogue, staging, 1 + consumer as u32);
            tile += clusters;
        }
        cuda_std::bulk::wait_read::<0>();
    }
    cluster::sync();
}
