//! A product of large matrices: the last kernel of docs/warpgroups.md.

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::wgmma::{self, Accumulator, ROWS};
use cuda_std::tensor::{SharedTile, Swizzle128};
use cuda_std::{GlobalMut, bf16, bf16x2, cluster, dynamic_shared, kernel, shared_array, thread};

/// The numbers of rows and columns of the tile of C that a block computes, and the number of columns of a step.
pub const TILE: [usize; 3] = [128, 256, 64];
/// The number of steps that are loaded ahead.
const STAGES: usize = 4;
/// The rows of tiles of C that are computed together, so that they share columns of B in the L2 cache.
const ROWS_TOGETHER: u32 = 16;

/// A stage of the pipeline, and the parity of the phase of its barriers.
#[derive(Clone, Copy)]
struct Stage {
    index: usize,
    parity: bool,
}

impl Stage {
    /// Returns the next stage.
    #[inline(always)]
    fn next(self) -> Self {
        let is_last = self.index == STAGES - 1;
        Self { index: if is_last { 0 } else { self.index + 1 }, parity: self.parity ^ is_last }
    }
}

/// Returns row and column of tile number `tile` in a matrix of `rows` × `columns` tiles.
#[inline(always)]
fn place(tile: u32, rows: u32, columns: u32) -> (u32, u32) {
    let per_group = ROWS_TOGETHER * columns;
    let (group, rest) = (tile / per_group, tile % per_group);
    let height = (rows - group * ROWS_TOGETHER).min(ROWS_TOGETHER);
    (group * ROWS_TOGETHER + rest % height, rest / height)
}

/// Writes `a`·`b`ᵀ to `c`, with m × `k` elements of `a` and n × `k` of `b`. `sizes` are m, n and k, multiples of 256,
/// 256 and 64. The boxes of `a` and `b` have 64 × 128 elements and a swizzle of 128 bytes.
///
/// The first warpgroup of a block loads steps of `a` and `b`; the other two multiply. Two blocks are a cluster: each
/// loads half of the step of `b` for both. Launch clusters of two blocks of 384 threads, with 196,608 bytes of dynamic
/// shared memory.
#[kernel(max_threads = 384, min_blocks = 1, cluster = 2)]
pub fn matmul_pipelined(sizes: [u32; 3], a: TensorMap<bf16, 2>, b: TensorMap<bf16, 2>, c: GlobalMut<bf16x2>) {
    const BYTES: usize = 2 * (TILE[0] + TILE[1]) * TILE[2];
    let left = SharedTile::<bf16, { TILE[0] }, { TILE[2] }, Swizzle128>::array_at::<STAGES>(dynamic_shared(), 0);
    let first_right = STAGES * TILE[0] * TILE[2];
    let right =
        SharedTile::<bf16, { TILE[1] }, { TILE[2] }, Swizzle128>::array_at::<STAGES>(dynamic_shared(), first_right);
    let words = shared_array![u64; 2 * STAGES];
    let full = |stage: Stage| Barrier::at(words, stage.index);
    let empty = |stage: Stage| Barrier::at(words, STAGES + stage.index);
    if thread::index_in_block() == 0 {
        for index in 0..STAGES {
            Barrier::at(words, index).init(1);
            // Both consuming warpgroups of both blocks have read a stage before it is loaded again.
            Barrier::at(words, STAGES + index).init(4);
        }
        barrier::fence_init();
    }
    cluster::wait(cluster::arrive_relaxed());

    let [m, n, k] = sizes;
    let (rows, columns, steps) = (m / (2 * TILE[0] as u32), n / TILE[1] as u32, k / TILE[2] as u32);
    let (rank, clusters) = (cluster::block_rank(), thread::grid_dim_x() / 2);
    let (warpgroup, thread) = (thread::index_in_block() / wgmma::THREADS, thread::index_in_block() % wgmma::THREADS);
    let mut tile = thread::block_idx_x() / 2;
    if warpgroup == 0 {
        wgmma::release_registers::<24>();
        // The parity of the phase before the first one: all stages are empty.
        let mut stage = Stage { index: 0, parity: true };
        while thread == 0 && tile < rows * columns {
            let (row, column) = place(tile, rows, columns);
            let (row, column) = ((2 * row + rank) * TILE[0] as u32, column * TILE[1] as u32 + rank * 128);
            for step in 0..steps {
                empty(stage).await_parity(stage.parity);
                let _ = full(stage).arrive_and_expect(BYTES as u32);
                let at = (step * TILE[2] as u32) as i32;
                a.load_rows([at, row as i32], left.get(stage.index).rows::<128>(0), full(stage));
                let half = right.get(stage.index).rows::<128>(rank as usize * 128);
                b.load_rows_multicast([at, column as i32], half, full(stage), 0b11);
                stage = stage.next();
            }
            tile += clusters;
        }
    } else {
        wgmma::take_registers::<240>();
        let first_row = (warpgroup as usize - 1) * ROWS;
        let mut stage = Stage { index: 0, parity: false };
        let mut last = stage;
        while tile < rows * columns {
            let mut sums = Accumulator::<f32, { TILE[1] }>::zeroed().begin();
            for step in 0..steps {
                full(stage).await_parity(stage.parity);
                let (left, right) = (left.get(stage.index), right.get(stage.index));
                let factors = (left.rows::<ROWS>(first_row), right.rows::<{ TILE[1] }>(0));
                sums = sums.multiply_add_or_replace(step > 0, factors.0, factors.1).wait::<1>();
                // The products with the last stage have ended. Threads 0 and 1 tell one block each.
                if step > 0 && thread < 2 {
                    empty(last).arrive_at(thread);
                }
                last = stage;
                stage = stage.next();
            }
            let sums = sums.finish();
            if thread < 2 {
                empty(last).arrive_at(thread);
            }
            let (row, column) = place(tile, rows, columns);
            let first_row = (2 * row + rank) as usize * TILE[0] + first_row;
            let first_column = column as usize * TILE[1];
            sums.for_each_pair(|row, column, [low, high]| {
                let index = (first_row + row) * n as usize + first_column + column;
                c.store(index / 2, bf16x2::from_f32(low, high));
            });
            tile += clusters;
        }
    }
    cluster::sync();
}
