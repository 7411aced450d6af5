//! Clustered: persistent clusters of two blocks, which share each step of *B*; stores that overlap the next tile.
//!
//! Each block multiplies tiles of 128 × `N` elements of *C*. Its first warpgroup copies steps of *A* and *B* to shared
//! memory, several steps ahead, and the other two multiply. The two blocks of a cluster have tiles one above the other,
//! so that each copies half of a step of *B* for both. If *A* has few rows, the tiles are side by side, and the blocks
//! share steps of *A*. A cluster goes on with its next tile while the stores of the last one proceed.
//!
//! A warpgroup waits for its products before it begins the next ones: the tensor cores then have those of the other
//! warpgroup. Large products are limited by the power that the tensor cores draw, so that every instruction of the loop
//! over *k* costs speed. Sources: CUTLASS's `sm90_gemm_tma_warpspecialized_cooperative`; P. Shankhdhar, "Outperforming
//! cuBLAS on H100", 2024.

use cuda_std::bulk::{self, TensorMap, TensorMapMut};
use cuda_std::tensor::tf32;
use cuda_std::tensor::wgmma::{self, ROWS, Sums, WgmmaInstruction};
use cuda_std::{Global, GlobalMut, bf16, cluster, e4m3, e5m2, f16, kernel, thread};

use super::arrangement::Arranged;
use super::finish::{Target, finish};
use super::pipeline::{Pipeline, STORES, Stage, TILE_ROWS, WIDE, staging, warpgroup};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem};

/// The rows of tiles that are computed together, so that they share columns of *B* in the L2 cache.
const ROWS_TOGETHER: u32 = 8;

/// The tiles of *C* that a cluster computes at once, in all products of a batch.
#[derive(Clone, Copy)]
pub struct Tiles {
    /// The number of rows of tiles of a product.
    pub rows: u32,
    /// The number of columns of tiles of a product.
    pub columns: u32,
    /// The number of all tiles.
    pub count: u32,
}

impl Tiles {
    /// Returns the product, row and column of tile number `tile`.
    #[inline(always)]
    pub fn place(self, tile: u32) -> [u32; 3] {
        let (batch, tile) = (tile / (self.rows * self.columns), tile % (self.rows * self.columns));
        let per_group = ROWS_TOGETHER * self.columns;
        let (group, rest) = (tile / per_group, tile % per_group);
        let height = (self.rows - group * ROWS_TOGETHER).min(ROWS_TOGETHER);
        [batch, group * ROWS_TOGETHER + rest % height, rest / height]
    }
}

/// Multiplies tiles of 128 × `N` elements by persistent clusters. `K` elements are 128 bytes. The boxes of `a` and `b`
/// are 64 × 128 bytes, and those of `stores` 64 rows of 128 bytes, all with a swizzle of 128 bytes. `flags` has the
/// bits `A_ACROSS`, `B_ACROSS`, `STORES` and `WIDE`. Launch clusters of two blocks of 384 threads, with `SHARED_BYTES`
/// bytes of dynamic shared memory.
#[kernel(
    max_threads = 384,
    min_blocks = 1,
    cluster = 2,
    instances(T = [f16], C = [f16], E = [Linear<f32>], N = [128, 192, 256], K = [64]),
    instances(T = [bf16], C = [bf16], E = [Linear<f32>], N = [128, 192, 256], K = [64]),
    instances(T = [f16, bf16], C = [f32], E = [Linear<f32>], N = [128], K = [64]),
    instances(T = [tf32], C = [f32], E = [Linear<f32>], N = [128, 256], K = [32]),
    instances(T = [e4m3, e5m2], C = [f32], E = [Linear<f32>], N = [256], K = [128]),
    instances(T = [i8], C = [i32], E = [Linear<i32>], N = [128, 256], K = [128]),
    exported = "matmul_warpgroup"
)]
pub fn matmul_clustered<
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
    stores: TensorMapMut<C, 3>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) where
    T::Sum: Sums<N> + WgmmaInstruction<T, T, N>,
{
    wgmma::require();
    if thread::index_in_block() == 0 {
        a.prefetch_map();
        b.prefetch_map();
    }
    let pipeline = Pipeline::<T, N, K, 2>::make_stages(problem.k, flags);
    cluster::wait(cluster::arrive_relaxed());

    let (height, width) = (TILE_ROWS as u32, N as u32);
    let is_wide = flags & WIDE != 0;
    let [rows, columns] = if is_wide { [height, 2 * width] } else { [2 * height, width] };
    let (rows, columns) = (problem.m.div_ceil(rows), problem.n.div_ceil(columns));
    let tiles = Tiles { rows, columns, count: rows * columns * problem.batch };
    let (rank, clusters) = (cluster::block_rank(), thread::grid_dim_x() / 2);
    // Returns the place of this block's tile in that of the cluster.
    let place = |row: u32, column: u32| match is_wide {
        true => [row * height, (2 * column + rank) * width],
        false => [(2 * row + rank) * height, column * width],
    };
    let mut tile = thread::block_idx_x() / 2;
    let warpgroup = warpgroup();
    if warpgroup == 0 {
        wgmma::release_registers::<40>();
        let mut stage = Stage::LOADING;
        while thread::index_in_block() == 0 && tile < tiles.count {
            let [batch, row, column] = tiles.place(tile);
            pipeline.load((&a, &b), problem.matrices(batch), place(row, column), rank, &mut stage);
            tile += clusters;
        }
    } else {
        wgmma::take_registers::<232>();
        // The remainder shows the compiler that the number is 0 or 1.
        let consumer = (warpgroup as usize - 1) % 2;
        let mut stage = Stage::MULTIPLYING;
        while tile < tiles.count {
            let sums = pipeline.multiply::<T::Sum>(consumer, &mut stage);
            let [batch, row, column] = tiles.place(tile);
            let at = place(row, column).map(|index| index as usize);
            let target = Target { problem, batch: batch as usize, at: [at[0] + consumer * ROWS, at[1]], c, bias };
            let stores = (flags & STORES != 0).then_some(&stores);
            finish(sums, target, epilogue, stores, staging(consumer), 1 + consumer as u32);
            tile += clusters;
        }
        bulk::wait_read::<0>();
    }
    cluster::sync();
}
