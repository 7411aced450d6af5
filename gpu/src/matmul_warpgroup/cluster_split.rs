//! Cluster split: the blocks of a cluster share a tile, split its sums along *k*, and add them through shared memory.
//!
//! The kernel computes the transpose of *C*: the columns of *B* are the rows of a product of a warpgroup, and the rows
//! of *A* its columns, of which tensor cores take as few as eight. So a product with few rows, as a linear layer has
//! for few inputs, wastes neither multiplications nor loads. Its blocks each sum a part of *k*, which occupies the
//! whole GPU without a second launch. Each block of the cluster then adds the sums of all for some rows of the tile, in
//! the order of the blocks, so that the result is the same from run to run.
//!
//! With few rows, the kernel is limited by memory, and with more by the loads of a multiprocessor, about 45 bytes per
//! cycle. Sources: CUTLASS's stream-K kernels, for sums that are split; the guide for CUDA C++, "Distributed Shared
//! Memory".

use cuda_std::barrier::sync_named;
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::wgmma::{self, ROWS, Sums, WgmmaInstruction};
use cuda_std::{Global, GlobalMut, bf16, cluster, dynamic_shared, f16, kernel, thread, warp};

use super::arrangement::Arranged;
use super::pipeline::{A_ACROSS, B_ACROSS, Pipeline, Stage, TILE_ROWS, stages_bytes, warpgroup};
use crate::matmul::staging::Target as RowsTarget;
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem, Sum, generate};

/// The number of threads of a block: two multiplying warpgroups and a loading warp.
pub const CLUSTER_SPLIT_THREADS: u32 = 288;
/// The number of sums that a thread adds and stores at once, in adjacent columns of *C*.
pub const WIDTH: usize = 4;
/// The number of sums from a row of *C* to the next one in shared memory. The stores of a warp use all banks.
pub const PITCH: usize = TILE_ROWS + 4;

/// Returns the number of bytes of dynamic shared memory of a block with tiles of `rows` rows of *C*.
pub const fn cluster_split_bytes(rows: usize) -> usize {
    stages_bytes(rows)
}

/// Multiplies tiles of `N` × 128 elements of *C* by clusters, whose blocks have equal parts of *k*. `K` elements are
/// 128 bytes. The boxes of `b` are 64 × 128 bytes, and those of `a` too or, if `N` is less than 64, `N` × 128 bytes,
/// all with a swizzle of 128 bytes. `flags` has the bit `B_ACROSS`; the elements of `a` are contiguous along *k*.
/// Launch clusters of up to 8 blocks of 288 threads with `cluster_split_bytes` bytes of dynamic shared memory: clusters
/// along x for the columns of C, blocks along y for its rows, and along z for the products.
#[kernel(
    max_threads = 288,
    min_blocks = 1,
    instances(T = [f16], C = [f16], E = [Linear<f32>], N = [32, 64, 128], K = [64]),
    instances(T = [bf16], C = [bf16], E = [Linear<f32>], N = [32, 64, 128], K = [64]),
    exported = "matmul_warpgroup",
    allow(generic = "so GPUs reach the memory of other blocks")
)]
pub fn matmul_cluster_split<
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
    problem.assert_result(&c);
    let (rank, blocks) = (cluster::block_rank(), cluster::num_blocks());
    let [tile, row, batch] = [thread::block_idx_x() / blocks, thread::block_idx_y(), thread::block_idx_z()];
    let (row, column) = (row * N as u32, tile * TILE_ROWS as u32);
    // The operands change places.
    let flags = if flags & B_ACROSS != 0 { A_ACROSS } else { 0 };
    let pipeline = Pipeline::<T, N, K, 1>::make_stages(problem.k, flags).part(rank, blocks);
    let partials = dynamic_shared::<T::Sum>().part(0, N * PITCH);
    thread::sync_threads();
    let warpgroup = warpgroup();
    if warpgroup == 2 {
        if thread::index_in_block() == 2 * wgmma::THREADS {
            let [of_a, of_b] = problem.matrices(batch);
            pipeline.load((&b, &a), [of_b, of_a], [column, row], 0, &mut { Stage::LOADING });
        }
    } else {
        // The remainder shows the compiler that the number is 0 or 1.
        let consumer = warpgroup as usize % 2;
        let sums = pipeline.multiply_by_rows::<T::Sum>(consumer, &mut { Stage::MULTIPLYING });
        // Both warpgroups have multiplied all stages, whose memory the sums take.
        sync_named(1, 2 * wgmma::THREADS);
        sums.for_each_pair(|of_b, of_a, [low, high]| {
            let at = of_a * PITCH + consumer * ROWS + of_b;
            // SAFETY: `of_a` and the one after it are below `N`, and the column of C is below `PITCH`.
            unsafe {
                partials.store_unchecked(at, low);
                partials.store_unchecked(at + PITCH, high);
            }
        });
    }
    cluster::sync();

    let (row, column, batch) = (row as usize, column as usize, batch as usize);
    let (lane, warp) = (warp::lane_id() as usize, warp::warp_id() as usize);
    let (rows, step) = (N.min(problem.m as usize - row), blocks as usize * (CLUSTER_SPLIT_THREADS as usize / 32));
    let target = RowsTarget { problem, c, bias, epilogue, batch, row, column };
    for i in (rank as usize + warp * blocks as usize..rows).step_by(step) {
        let mut sums = [<T::Sum as Sum>::ZERO; WIDTH];
        for other in 0..blocks {
            // SAFETY: `other` is the rank of a block of the cluster.
            let quads = unsafe { cluster::map_shared_unchecked(partials, other) }.cast::<[T::Sum; WIDTH]>();
            // SAFETY: `i` is below `N`, and a row has more than 32 × `WIDTH` sums.
            let added = unsafe { quads.load_unchecked(i * (PITCH / WIDTH) + lane) };
            sums = generate(|j| sums[j].add(added[j]));
        }
        // SAFETY: `assert_result` has checked the end of `c`.
        unsafe { target.finish(row + i, column + lane * WIDTH, sums) };
    }
    // No block ends while others read its sums.
    cluster::sync();
}
