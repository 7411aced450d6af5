//! Clustered: persistent clusters of two blocks, which share each step of *B*; stores that overlap the next tile.
//!
//! Each block multiplies tiles of 128 × `N` elements of *C*. Its first warpgroup copies steps of *A* and *B* to shared
//! memory, several steps ahead, and the other two multiply. The two blocks of a cluster have tiles one above the other,
//! so that each copies half of a step of *B* for both. A cluster goes on with its next tile while the stores of the last
//! one proceed.
//!
//! A warpgroup waits for its products before it begins the next ones: the tensor cores then have those of the other
//! warpgroup. Large products are limited by the power that the tensor cores draw, so that every instruction of the loop
//! over *k* costs speed. Sources: CUTLASS's `sm90_gemm_tma_warpspecialized_cooperative`; P. Shankhdhar, "Outperforming
//! cuBLAS on H100", 2024.

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::{self, TensorMap, TensorMapMut};
use cuda_std::tensor::tf32;
use cuda_std::tensor::wgmma::{self, Accumulator, ROWS, Sums, WgmmaInstruction};
use cuda_std::{
    Global, GlobalMut, Shared, bf16, cluster, dynamic_shared, e4m3, e5m2, f16, kernel, shared_array, thread, warp,
};

use super::arrangement::{Arranged, Arrangement, ContiguousK, UNIT, load_unit};
use super::finish::{STAGING_BYTES, Target, finish};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem};

/// The number of rows of a block's tile.
pub const TILE_ROWS: usize = 128;
/// The number of threads of a block.
pub const THREADS: u32 = 384;
/// The number of bytes along *k* of a step.
const STEP_BYTES: usize = 128;
/// The number of bytes of the shared memory for all stages.
const STAGES_BYTES: usize = 192 << 10;
/// The maximum number of stages.
const MAX_STAGES: usize = 8;
/// The rows of tiles that are computed together, so that they share columns of *B* in the L2 cache.
const ROWS_TOGETHER: u32 = 8;

/// Returns the number of stages for tiles of `columns` columns.
const fn stages(columns: usize) -> usize {
    STAGES_BYTES / ((TILE_ROWS + columns) * STEP_BYTES)
}

/// The number of bytes of dynamic shared memory that a block needs.
pub const SHARED_BYTES: usize = STAGES_BYTES + 2 * STAGING_BYTES;

/// A stage of the pipeline, and the parity of the phase of its barriers.
#[derive(Clone, Copy)]
struct Stage {
    index: u32,
    parity: bool,
}

impl Stage {
    /// Returns the next one of `stages` stages.
    #[inline(always)]
    fn next(self, stages: usize) -> Self {
        let is_last = self.index == stages as u32 - 1;
        Self { index: if is_last { 0 } else { self.index + 1 }, parity: self.parity ^ is_last }
    }
}

/// The barriers of the stages.
#[derive(Clone, Copy)]
struct Barriers(Shared<u64>);

impl Barriers {
    /// Returns the barrier at which the bytes of a stage arrive.
    #[inline(always)]
    fn full(self, stage: Stage) -> Barrier {
        // The remainder shows the compiler that the index is in bounds.
        Barrier::at(self.0, stage.index as usize % MAX_STAGES)
    }

    /// Returns the barrier at which the warpgroups arrive that have read a stage.
    #[inline(always)]
    fn empty(self, stage: Stage) -> Barrier {
        Barrier::at(self.0, MAX_STAGES + stage.index as usize % MAX_STAGES)
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

/// Multiplies tiles of 128 × `N` elements by persistent clusters. `K` elements are 128 bytes. The boxes of `a` and `b` are
/// 64 × 128 bytes, and those of `stores` 64 rows of 128 bytes, all with a swizzle of 128 bytes. `flags` has the bits
/// [`A_ACROSS`], [`B_ACROSS`] and [`STORES`]. Launch clusters of two blocks of 384 threads, with [`SHARED_BYTES`] bytes
/// of dynamic shared memory.
#[kernel(
    max_threads = 384,
    min_blocks = 1,
    cluster = 2,
    instances(T = [f16], C = [f16], E = [Linear<f32>], N = [128, 256], K = [64]),
    instances(T = [bf16], C = [bf16], E = [Linear<f32>], N = [128, 256], K = [64]),
    instances(T = [f16, bf16], C = [f32], E = [Linear<f32>], N = [128], K = [64]),
    instances(T = [tf32], C = [f32], E = [Linear<f32>], N = [128, 256], K = [32]),
    instances(T = [e4m3, e5m2], C = [f32], E = [Linear<f32>], N = [256], K = [128]),
    instances(T = [i8], C = [i32], E = [Linear<i32>], N = [128, 256], K = [128])
)]
pub fn matmul_clustered<T, C, E, const N: usize, const K: usize>(
    problem: Problem,
    flags: u32,
    a: TensorMap<T, 3>,
    b: TensorMap<T, 3>,
    stores: TensorMapMut<C, 3>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) where
    T: Operand + Arranged,
    T::Sum: Sums<N> + WgmmaInstruction<T, T, N>,
    C: Output<T::Sum>,
    E: Epilogue<T::Sum, C>,
{
    wgmma::require();
    let (left_len, right_len) = (TILE_ROWS * K, N * K);
    // The end of the stages is checked here, so that no later access needs a check.
    let shared = dynamic_shared::<T>().part(0, stages(N) * (left_len + right_len));
    let first_right = stages(N) * left_len;
    let barriers = Barriers(shared_array![u64; 2 * MAX_STAGES]);
    if thread::index_in_block() == 0 {
        a.prefetch_map();
        b.prefetch_map();
        for index in 0..stages(N) as u32 {
            let stage = Stage { index, parity: false };
            barriers.full(stage).init(1);
            // Both multiplying warpgroups of both blocks have read a stage before it is loaded again.
            barriers.empty(stage).init(4);
        }
        barrier::fence_init();
    }
    cluster::wait(cluster::arrive_relaxed());

    let (rows, columns) = (problem.m.div_ceil(2 * TILE_ROWS as u32), problem.n.div_ceil(N as u32));
    let tiles = Tiles { rows, columns, count: rows * columns * problem.batch };
    let steps = problem.k.div_ceil(K as u32);
    let (is_a_across, is_b_across) = (flags & A_ACROSS != 0, flags & B_ACROSS != 0);
    let (rank, clusters) = (cluster::block_rank(), thread::grid_dim_x() / 2);
    // The shuffle shows the assembler that the number is the same in all lanes.
    let warpgroup = warp::shuffle_idx(warp::FULL_MASK, thread::index_in_block() / wgmma::THREADS, 0);
    let thread = thread::index_in_block() % wgmma::THREADS;
    let mut tile = thread::block_idx_x() / 2;
    if warpgroup == 0 {
        wgmma::release_registers::<40>();
        // The parity of the phase before the first one: all stages are empty.
        let mut stage = Stage { index: 0, parity: true };
        while thread == 0 && tile < tiles.count {
            let [batch, row, column] = tiles.place(tile);
            let row = (2 * row + rank) * TILE_ROWS as u32;
            let column = column * N as u32 + rank * (N as u32 / 2);
            for step in 0..steps {
                let full = barriers.full(stage);
                barriers.empty(stage).await_parity(stage.parity);
                let _ = full.arrive_and_expect(((left_len + right_len) * size_of::<T>()) as u32);
                let k = step * K as u32;
                let left = stage.index as usize * left_len;
                let right = first_right + stage.index as usize * right_len + rank as usize * (right_len / 2);
                // SAFETY: `part` has checked the end of the stages, and each unit begins at a multiple of 1024 bytes.
                unsafe {
                    for unit in 0..TILE_ROWS / UNIT {
                        let at = (is_a_across, [row + (unit * UNIT) as u32, k, batch]);
                        load_unit::<T, K>(&a, at, (shared, left + unit * UNIT * K), full, None);
                    }
                    for unit in 0..N / 2 / UNIT {
                        let at = (is_b_across, [column + (unit * UNIT) as u32, k, batch]);
                        load_unit::<T, K>(&b, at, (shared, right + unit * UNIT * K), full, Some(0b11));
                    }
                }
                stage = stage.next(stages(N));
            }
            tile += clusters;
        }
    } else {
        wgmma::take_registers::<232>();
        // The remainder shows the compiler that the number is 0 or 1.
        let consumer = (warpgroup as usize - 1) % 2;
        let staging = {
            let first = STAGES_BYTES + consumer * STAGING_BYTES;
            dynamic_shared::<u32>().part(first / 4, STAGING_BYTES / 4)
        };
        let mut stage = Stage { index: 0, parity: false };
        while tile < tiles.count {
            let position = Position { shared, barriers, consumer, steps };
            let sums = match (is_a_across, is_b_across) {
                (false, false) => position.multiply::<T::Sum, ContiguousK, ContiguousK, N, K>(&mut stage),
                (false, true) => position.multiply::<T::Sum, ContiguousK, T::Across, N, K>(&mut stage),
                (true, false) => position.multiply::<T::Sum, T::Across, ContiguousK, N, K>(&mut stage),
                (true, true) => position.multiply::<T::Sum, T::Across, T::Across, N, K>(&mut stage),
            };
            let [batch, row, column] = tiles.place(tile);
            let row = (2 * row + rank) as usize * TILE_ROWS + consumer * ROWS;
            let target = Target { problem, batch: batch as usize, at: [row, column as usize * N], c, bias };
            let stores = (flags & STORES != 0 && epilogue.is_conversion()).then_some(&stores);
            finish(sums, target, epilogue, stores, staging, 1 + consumer as u32);
            tile += clusters;
        }
        bulk::wait_read::<0>();
    }
    cluster::sync();
}

/// The flag of an operand *A* whose rows are contiguous: it is stored as the transpose of *A*.
pub const A_ACROSS: u32 = 1;
/// The flag of an operand *B* whose columns are contiguous in the direction of *n*: it is stored as *B*.
pub const B_ACROSS: u32 = 2;
/// The flag of a result that boxes can be stored to.
pub const STORES: u32 = 4;

/// A multiplying warpgroup.
#[derive(Clone, Copy)]
struct Position<T> {
    shared: Shared<T>,
    barriers: Barriers,
    /// The number of the warpgroup.
    consumer: usize,
    /// The number of steps along *k*.
    steps: u32,
}

impl<T: Arranged> Position<T> {
    /// Returns the products of all steps of a tile, and moves `stage` to the stage that follows.
    #[inline(always)]
    #[track_caller]
    fn multiply<S, A: Arrangement, B: Arrangement, const N: usize, const K: usize>(
        self,
        stage: &mut Stage,
    ) -> Accumulator<S, N>
    where
        S: Sums<N> + WgmmaInstruction<T, T, N>,
    {
        let (left_len, right_len) = (TILE_ROWS * K, N * K);
        let first_right = stages(N) * left_len;
        let mut sums = Accumulator::<S, N>::zeroed();
        for step in 0..self.steps {
            self.barriers.full(*stage).await_parity(stage.parity);
            let (left, right) = (stage.index as usize * left_len, first_right + stage.index as usize * right_len);
            // SAFETY: the kernel has checked the end of the stages, each of which begins at a multiple of 1024 bytes.
            let (left, right) = unsafe {
                let left = A::part::<T, ROWS, TILE_ROWS, K>(self.shared, left, self.consumer * ROWS);
                (left, B::part::<T, N, N, K>(self.shared, right, 0))
            };
            sums = sums.begin().multiply_add_or_replace(step > 0, left, right).finish();
            // Threads 0 and 1 tell one block each.
            let thread = thread::index_in_block() % wgmma::THREADS;
            if thread < 2 {
                self.barriers.empty(*stage).arrive_at(thread);
            }
            *stage = stage.next(stages(N));
        }
        sums
    }
}
