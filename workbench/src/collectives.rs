//! Kernels that use each function of [`gpu::collective`] that kernels of other crates may use, for the cases. They run
//! in the simulator alone: no PTX is built for them.

use cuda_std::prelude::*;
use gpu::collective::LANES;
use gpu::collective::arrangement::{load_blocked, load_striped, store_blocked, store_striped};
use gpu::collective::block::{
    MAX_WARPS, block_broadcast, block_exclusive_scan, block_inclusive_scan, block_reduce, block_reduce_full,
    warp_prefix,
};
use gpu::collective::compaction::{gather, store_gathered};
use gpu::collective::tile::{self, scan_vectors, warp_aggregate, warp_scan};
use gpu::collective::warp::{warp_broadcast, warp_exclusive_scan, warp_inclusive_scan, warp_reduce};
use gpu::operator::{Affine, Compose, Sum};

/// The warps of a block of [`full_block()`] and [`tile_scan()`].
pub const WARPS: usize = 4;

/// The chunks of a warp in [`tile_scan()`], each of 32 vectors of 4 elements.
pub const CHUNKS: usize = 2;

cuda_std::kernels![block_scans, warp_scans, reductions, full_block, copy_tiles, tile_scan, compaction];

/// Writes the scans of the block's values, its aggregate and the value of its last thread.
#[kernel(max_threads = 1024)]
pub fn block_scans(
    x: Global<Affine>,
    inclusive: GlobalMut<Affine>,
    exclusive: GlobalMut<Affine>,
    ends: GlobalMut<Affine>,
) {
    let (first, second) = (shared_array![Affine; MAX_WARPS], shared_array![Affine; MAX_WARPS]);
    let place = shared_array![Affine; 1];
    let thread = thread::index_in_block();
    let value = x.load(thread as usize);
    let (scanned, aggregate) = block_inclusive_scan::<Affine, Compose>(first, value);
    inclusive.store(thread as usize, scanned);
    let (before, same) = block_exclusive_scan::<Affine, Compose>(second, value);
    exclusive.store(thread as usize, before);
    let last = block_broadcast(place, value, thread::block_size() - 1);
    if thread == 0 {
        ends.store(0, aggregate);
        ends.store(1, same);
        ends.store(2, last);
    }
}

/// Writes the scans of each warp and the value of its lane 3.
#[kernel(max_threads = 1024)]
pub fn warp_scans(x: Global<u64>, inclusive: GlobalMut<u64>, exclusive: GlobalMut<u64>, third: GlobalMut<u64>) {
    let thread = thread::index_in_block() as usize;
    let value = x.load(thread);
    inclusive.store(thread, warp_inclusive_scan::<u64, Sum>(value));
    exclusive.store(thread, warp_exclusive_scan::<u64, Sum>(value));
    third.store(thread, warp_broadcast(value, 3));
}

/// Writes the combination of the values of each warp, and of the block. Launch with a power of two of threads.
#[kernel(max_threads = 1024)]
pub fn reductions(x: Global<Affine>, of_warps: GlobalMut<Affine>, of_block: GlobalMut<Affine>) {
    let aggregates = shared_array![Affine; MAX_WARPS];
    let thread = thread::index_in_block() as usize;
    let value = x.load(thread);
    let of_warp = warp_reduce::<Affine, Compose>(thread::block_size().min(warp::SIZE), value);
    if warp::lane_id() == 0 {
        of_warps.store(thread / LANES, of_warp);
    }
    let of_all = block_reduce::<Affine, Compose>(aggregates, value);
    if thread == 0 {
        of_block.store(0, of_all);
    }
}

/// Writes the sum of the values of each block. Launch with blocks of [`WARPS`] warps.
#[kernel(max_threads = 128)]
pub fn full_block(x: Global<u32>, sums: GlobalMut<u32>) {
    let aggregates = shared_array![[u32; WARPS]; 1];
    let sum = block_reduce_full::<u32, Sum, WARPS, WARPS>(aggregates, x.load(thread::index_1d()));
    if thread::index_in_block() == 0 {
        sums.store(thread::block_idx_x() as usize, sum);
    }
}

/// Loads a tile in one arrangement and stores it in the same one.
#[kernel(max_threads = 1024)]
pub fn copy_tiles(x: Global<u16>, by_blocks: GlobalMut<u16>, by_stripes: GlobalMut<u16>) {
    let start = thread::block_idx_x() as usize * thread::block_size() as usize * 3;
    store_blocked::<u16, 3>(by_blocks, start, load_blocked(x, start, 7));
    store_striped::<u16, 3>(by_stripes, start, load_striped(x, start, 7));
}

/// Writes the inclusive scan of one tile. Launch one block of [`WARPS`] warps.
#[kernel(max_threads = 128)]
pub fn tile_scan(x: Global<u32>, y: GlobalMut<u32>) {
    let aggregates = shared_array![u32; WARPS];
    let (warp, lane) = (warp::warp_id() as usize, warp::lane_id() as usize);
    let first = warp * CHUNKS * LANES + lane;
    let is_whole = x.len() >= 4 * WARPS * CHUNKS * LANES;
    // SAFETY: the launch passes whole buffers, which start at multiples of 256 bytes, and `x` contains the vectors of
    // all warps if `is_whole` is true.
    let mut items = unsafe { tile::load::<u32, 4, CHUNKS>(x, first, CHUNKS as u32, is_whole, 0) };
    scan_vectors::<u32, Sum, 4, CHUNKS>(&mut items);
    let aggregate = warp_aggregate::<u32, Sum, 4, CHUNKS>(&items);
    if lane == 0 {
        aggregates.store(warp, aggregate);
    }
    thread::sync_threads();
    let (prefix, _) = warp_prefix::<u32, Sum, WARPS>(aggregates, warp);
    warp_scan::<u32, Sum, 4, CHUNKS>(&mut items, false, None);
    // SAFETY: `y` is as long as `x`, and a whole buffer too.
    unsafe { tile::store::<u32, Sum, 4, CHUNKS>(y, first, CHUNKS as u32, is_whole, items, prefix) };
}

/// Writes the odd elements of two rows, in order. Launch one block of one warp.
#[kernel(max_threads = 32)]
pub fn compaction(x: Global<u32>, y: GlobalMut<u32>) {
    let place = shared_array![u32; 2 * LANES];
    let lane = warp::lane_id() as usize;
    let items = [x.load(lane), x.load(LANES + lane)];
    // SAFETY: `place` has an element for each item.
    unsafe { gather::<u32, 2>(place, 0, &items, items[0] & 1 | (items[1] & 1) << 1) };
    thread::sync_threads();
    store_gathered(y, 0, place.part(0, y.len()));
}
