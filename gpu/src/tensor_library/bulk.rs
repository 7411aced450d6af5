//! Test kernels for bulk copies and tensor maps. Blocks have 64 threads.

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::{self, Add, And, BulkNumber, Max, Min, Or, Reduction, TensorMap, TensorMapMut, Xor};
use cuda_std::{Element, Global, GlobalMut, Shared, bf16, cluster, f16, kernel, shared_array, thread, warp};

/// The number of elements that a block of these kernels copies at a time.
pub const TILE: usize = 256;

/// Returns the block's barrier in `words`, with a count of one arrival per phase. Afterwards all blocks of the cluster
/// know the barrier.
#[inline(always)]
fn new_barrier(words: Shared<u64>) -> Barrier {
    let full = Barrier::at(words, 0);
    if thread::index_in_block() == 0 {
        full.init(1);
        barrier::fence_init();
    }
    cluster::wait(cluster::arrive_relaxed());
    full
}

/// Copies `x` to `y` through shared memory, a tile per block, and adds 1 to each element there.
#[kernel(max_threads = 64)]
pub fn bulk_copy(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; TILE];
    let full = Barrier::at(shared_array![u64; 1], 0);
    let first = thread::block_idx_x() as usize * TILE;
    if thread::index_in_block() == 0 {
        full.init(1);
        barrier::fence_init();
        bulk::prefetch(x.part(first, TILE));
    }
    thread::sync_threads();
    let is_chosen = thread::elect_one();
    if is_chosen && warp::warp_id() == 0 {
        let _ = full.arrive_and_expect(4 * TILE as u32);
        bulk::load(x.part(first, TILE), tile, full);
    }
    full.await_parity(false);
    for i in thread::block_stride(TILE) {
        tile.store(i, tile.load(i) + 1);
    }
    barrier::fence_proxy_async();
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        bulk::store(tile, y.part(first, TILE));
        bulk::commit();
        bulk::wait::<0>();
    }
}

/// Copies `x` to `y` by one block: the first warp loads tiles ahead into two stages, and the second warp stores them.
#[kernel(max_threads = 64)]
pub fn bulk_pipeline(x: Global<u32>, y: GlobalMut<u32>) {
    let stages = shared_array![u32; 2 * TILE];
    let words = shared_array![u64; 4];
    let full = |stage: usize| Barrier::at(words, stage);
    let empty = |stage: usize| Barrier::at(words, 2 + stage);
    if thread::index_in_block() == 0 {
        for stage in 0..2 {
            full(stage).init(1);
            empty(stage).init(1);
        }
        barrier::fence_init();
    }
    thread::sync_threads();
    let tiles = x.len() / TILE;
    if thread::index_in_block() == 0 {
        for tile in 0..tiles {
            let stage = tile % 2;
            // The first wait for each stage returns at once, because the phase before the first has this parity.
            empty(stage).await_parity(tile / 2 % 2 == 0);
            full(stage).expect(4 * TILE as u32);
            let _ = full(stage).arrive();
            bulk::load(x.part(tile * TILE, TILE), stages.part(stage * TILE, TILE), full(stage));
        }
    } else if thread::index_in_block() == 32 {
        for tile in 0..tiles {
            let stage = tile % 2;
            full(stage).await_parity(tile / 2 % 2 == 1);
            bulk::store(stages.part(stage * TILE, TILE), y.part(tile * TILE, TILE));
            bulk::commit();
            bulk::wait_read::<0>();
            let _ = empty(stage).arrive();
        }
    }
}

/// Adds the elements of each tile of `x` to those of `y`, which has one tile. Launch one block per tile.
#[kernel(max_threads = 64, instances(T = [u32, i32, u64, f16, bf16, f32, f64]))]
pub fn bulk_reduce<T: BulkNumber>(x: Global<T>, y: GlobalMut<T>)
where
    Add: Reduction<T>,
{
    let tile = shared_array![T; TILE];
    let first = thread::block_idx_x() as usize * TILE;
    for i in thread::block_stride(TILE) {
        tile.store(i, x.load(first + i));
    }
    barrier::fence_proxy_async();
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        bulk::reduce(Add, tile, y);
        bulk::commit();
        bulk::wait_read::<0>();
    }
}

/// Combines the elements of each tile of `x` with those of the five tiles of `y`: minima, maxima, conjunctions,
/// disjunctions and exclusive disjunctions. Launch one block per tile.
#[kernel(max_threads = 64, instances(T = [u32, i32, u64, i64]))]
pub fn bulk_combine<T: BulkNumber>(x: Global<T>, y: GlobalMut<T>)
where
    Min: Reduction<T>,
    Max: Reduction<T>,
    And: Reduction<T>,
    Or: Reduction<T>,
    Xor: Reduction<T>,
{
    let tile = shared_array![T; TILE];
    let first = thread::block_idx_x() as usize * TILE;
    for i in thread::block_stride(TILE) {
        tile.store(i, x.load(first + i));
    }
    barrier::fence_proxy_async();
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        bulk::reduce(Min, tile, y.part(0, TILE));
        bulk::reduce(Max, tile, y.part(TILE, TILE));
        bulk::reduce(And, tile, y.part(2 * TILE, TILE));
        bulk::reduce(Or, tile, y.part(3 * TILE, TILE));
        bulk::reduce(Xor, tile, y.part(4 * TILE, TILE));
        bulk::commit();
        bulk::wait::<0>();
    }
}

/// Writes to `y`, for each block of a cluster of two, the tile that the other block has sent: its part of `x`.
#[kernel(max_threads = 64, cluster = 2)]
pub fn bulk_exchange(x: Global<u32>, y: GlobalMut<u32>) {
    let (own, received) = (shared_array![u32; TILE], shared_array![u32; TILE]);
    let full = new_barrier(shared_array![u64; 1]);
    let first = thread::block_idx_x() as usize * TILE;
    for i in thread::block_stride(TILE) {
        own.store(i, x.load(first + i));
    }
    barrier::fence_proxy_async();
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        let _ = full.arrive_and_expect(4 * TILE as u32);
        bulk::send(own, received, full, cluster::block_rank() ^ 1);
    }
    full.await_parity(false);
    for i in thread::block_stride(TILE) {
        y.store(first + i, received.load(i));
    }
    cluster::sync();
}

/// Writes to `y`, for each block of a cluster of two, the same tiles of `x`, one after the other. Each block loads half
/// of a tile for both, and loads the next one when both have read the last.
#[kernel(max_threads = 64, cluster = 2)]
pub fn bulk_multicast(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; TILE];
    let words = shared_array![u64; 2];
    let [full, empty] = [0, 1].map(|word| Barrier::at(words, word));
    let (rank, half) = (cluster::block_rank(), TILE / 2);
    if thread::index_in_block() == 0 {
        full.init(1);
        empty.init(4);
        barrier::fence_init();
    }
    cluster::wait(cluster::arrive_relaxed());
    for number in 0..x.len() / TILE {
        if thread::index_in_block() == 0 {
            empty.await_parity(number % 2 == 0);
            let _ = full.arrive_and_expect(4 * TILE as u32);
            let (start, part) = (rank as usize * half, tile.part(rank as usize * half, half));
            bulk::load_multicast(x.part(number * TILE + start, half), part, full, 0b11);
        }
        full.await_parity(number % 2 == 1);
        for i in thread::block_stride(TILE) {
            y.store(rank as usize * x.len() + number * TILE + i, tile.load(i));
        }
        // Each warp has read the tile, and tells both blocks.
        warp::sync_warp(warp::FULL_MASK);
        if warp::lane_id() == 0 {
            empty.arrive_at(0);
            empty.arrive_at(1);
        }
    }
    cluster::sync();
}

/// The number of elements of a tile of [`tensor_copy()`] along each dimension.
pub const BOX: usize = 32;

/// Copies the box of `x` at the coordinates `from` to the box of `y` at `to`, and all elements of its tile to `z`, as
/// they are in shared memory. The box has `bytes` bytes, and `z` has the elements of gaps in the tile. One block.
#[kernel(max_threads = 64, instances(T = [f16, f32]))]
pub fn tensor_copy<T: Element>(
    x: TensorMap<T, 2>,
    y: TensorMapMut<T, 2>,
    z: GlobalMut<T>,
    from: [i32; 2],
    to: [i32; 2],
    bytes: u32,
) {
    let tile = shared_array![T; 3 * BOX * BOX].aligned(1024).part(0, z.len());
    let full = Barrier::at(shared_array![u64; 1], 0);
    // With a swizzle, the rows of a narrow box have gaps, which the copy does not write.
    for i in thread::block_stride(z.len()) {
        tile.store(i, z.load(i));
    }
    barrier::fence_proxy_async();
    if thread::index_in_block() == 0 {
        x.prefetch_map();
        full.init(1);
        barrier::fence_init();
    }
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        x.prefetch(from);
        let _ = full.arrive_and_expect(bytes);
        x.load(from, tile, full);
    }
    full.await_parity(false);
    for i in thread::block_stride(z.len()) {
        z.store(i, tile.load(i));
    }
    if thread::index_in_block() == 0 {
        y.store(tile, to);
        bulk::commit();
        bulk::wait::<0>();
    }
}

/// Copies one box from `x` to `y`, for one to five dimensions. A box has 64 elements. One block.
#[kernel(max_threads = 64)]
pub fn tensor_dimensions(
    x1: TensorMap<u32, 1>,
    x3: TensorMap<u32, 3>,
    x4: TensorMap<u32, 4>,
    x5: TensorMap<u32, 5>,
    y: GlobalMut<u32>,
) {
    let tiles = shared_array![u32; 4 * 64 + 28].aligned(128);
    let full = Barrier::at(shared_array![u64; 1], 0);
    if thread::index_in_block() == 0 {
        full.init(1);
        barrier::fence_init();
    }
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        let _ = full.arrive_and_expect(4 * 4 * 64);
        x1.load([4], tiles.part(0, 64), full);
        x3.load([4, -1, 1], tiles.part(64, 64), full);
        x4.load([0, 1, 0, 1], tiles.part(128, 64), full);
        x5.load([4, 1, 1, 0, 1], tiles.part(192, 64), full);
    }
    full.await_parity(false);
    for i in thread::block_stride(4 * 64) {
        y.store(i, tiles.load(i));
    }
}

/// Adds 1 to the elements of the box of `y` at the coordinates `at`. One block per addition.
#[kernel(max_threads = 64)]
pub fn tensor_reduce(y: TensorMapMut<f32, 2>, at: [i32; 2]) {
    let tile = shared_array![f32; BOX * BOX + 28].aligned(128).part(0, BOX * BOX);
    for i in thread::block_stride(BOX * BOX) {
        tile.store(i, 1.0);
    }
    barrier::fence_proxy_async();
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        y.reduce(Add, tile, at);
        bulk::commit();
        bulk::wait_read::<0>();
    }
}

/// Writes to `y`, for each block of a cluster of two, the box of `x` at the coordinates 0, which block 0 loads for
/// both.
#[kernel(max_threads = 64, cluster = 2)]
pub fn tensor_multicast(x: TensorMap<f32, 2>, y: GlobalMut<f32>) {
    let tile = shared_array![f32; BOX * BOX + 28].aligned(128).part(0, BOX * BOX);
    let full = new_barrier(shared_array![u64; 1]);
    let rank = cluster::block_rank();
    if thread::index_in_block() == 0 {
        let _ = full.arrive_and_expect(4 * (BOX * BOX) as u32);
        if rank == 0 {
            x.load_multicast([0, 0], tile, full, 0b11);
        }
    }
    full.await_parity(false);
    for i in thread::block_stride(BOX * BOX) {
        y.store(rank as usize * BOX * BOX + i, tile.load(i));
    }
}
