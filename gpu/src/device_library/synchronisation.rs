//! Test kernels for barriers, shuffles and votes.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread, warp};

/// The number of threads per block of [`block_sum`], which is also the number of elements that a block adds.
const BLOCK: usize = 256;

/// Computes the sum of the 256 elements of block *b* by a tree in shared memory, and writes it to `sums[b]`. Launch
/// blocks of 256 threads.
#[kernel(max_threads = 256)]
pub fn block_sum(x: Global<f64>, sums: GlobalMut<f64>) {
    let tile = shared_array![f64; BLOCK];
    let thread = thread::index_in_block() as usize;
    tile.store(thread, x.load(thread::index_1d()));
    thread::sync_threads();
    let mut stride = BLOCK / 2;
    while stride > 0 {
        if thread < stride {
            tile.store(thread, tile.load(thread) + tile.load(thread + stride));
        }
        thread::sync_threads();
        stride /= 2;
    }
    if thread == 0 {
        sums.store(thread::block_idx_x() as usize, tile.load(0));
    }
}

/// For each block *b*, writes the number of its even elements to `counts[b]`, and its elements of `x` to `reversed` in
/// reverse order. The counting barrier orders the accesses to shared memory. Launch blocks of up to 256 threads.
#[kernel(max_threads = 256)]
pub fn count_even(x: Global<u32>, counts: GlobalMut<u32>, reversed: GlobalMut<u32>) {
    let tile = shared_array![u32; BLOCK];
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    let value = x.load(i);
    tile.store(thread, value);
    let count = thread::sync_threads_count(value.is_multiple_of(2));
    reversed.store(i, tile.load(thread::block_size() as usize - 1 - thread));
    if thread == 0 {
        counts.store(thread::block_idx_x() as usize, count);
    }
}

/// In lane `i` of a full warp, writes the results of five shuffles to `out[5·i..]`.
#[kernel(max_threads = 1024)]
pub fn shuffles(x: Global<u64>, out: GlobalMut<u64>) {
    let i = thread::index_1d();
    let (lane, value) = (warp::lane_id(), x.load(i));
    out.store(5 * i, warp::shuffle_idx(warp::FULL_MASK, value, (7 * lane + 3) % warp::SIZE));
    out.store(5 * i + 1, warp::shuffle_up(warp::FULL_MASK, value, 3));
    out.store(5 * i + 2, warp::shuffle_down(warp::FULL_MASK, value, 5));
    out.store(5 * i + 3, warp::shuffle_xor(warp::FULL_MASK, value, 9));
    // Executes a shuffle of a narrow type whose mask names only the odd lanes.
    if lane % 2 == 1 {
        let narrow = warp::shuffle_xor(0xAAAA_AAAA, value as u8, 2);
        out.store(5 * i + 4, u64::from(narrow));
    }
}

/// In thread `i`, writes the results of the warp votes to `out[5·i..]`: ballot, any, all, and the mask. The fifth
/// element is the value that the previous lane stored in shared memory; lane 0 reads the value of the last lane. The
/// last warp may be partial. Launch blocks of up to 256 threads.
#[kernel(max_threads = 256)]
pub fn votes(x: Global<u32>, out: GlobalMut<u32>) {
    let values = shared_array![u32; BLOCK];
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    let mask = warp::mask_in_block(thread::block_size());
    let value = x.load(i);
    out.store(5 * i, warp::ballot(mask, value.is_multiple_of(3)));
    out.store(5 * i + 1, u32::from(warp::any(mask, value == 40)));
    out.store(5 * i + 2, u32::from(warp::all(mask, value < 40)));
    values.store(thread, value);
    warp::sync_warp(mask);
    let lane = warp::lane_id();
    let before = if lane == 0 { mask.count_ones() - 1 } else { lane - 1 };
    out.store(5 * i + 3, mask);
    out.store(5 * i + 4, values.load(thread - lane as usize + before as usize));
}
