//! A kernel of the program's own that uses the library's collectives.

use cuda_std::prelude::*;
use gpu::collective::arrangement::load_blocked;
use gpu::collective::block::{MAX_WARPS, block_broadcast, block_exclusive_scan};
use gpu::operator::Sum;

/// The number of elements per thread.
pub const ITEMS: usize = 4;

/// Appends the positive elements of `x` to `kept`, and adds their number to `count[0]`. Each block appends its elements
/// in order. The order of the blocks is unspecified. A block processes [`ITEMS`] elements per thread.
#[kernel(max_threads = 1024)]
pub fn keep_positive(x: Global<f32>, kept: GlobalMut<f32>, count: GlobalMut<u32>) {
    let aggregates = shared_array![u32; MAX_WARPS];
    let place = shared_array![u32; 1];
    let tile = thread::block_idx_x() as usize * thread::block_size() as usize * ITEMS;
    let items = load_blocked::<f32, ITEMS>(x, tile, 0.0);
    let mut positive = 0;
    for item in items {
        positive += u32::from(item > 0.0);
    }
    // The number of positive elements of the threads before this one, and of the whole block.
    let (before, total) = block_exclusive_scan::<u32, Sum>(aggregates, positive);
    let first = if thread::index_in_block() == 0 { count.atomic_add(0, total) } else { 0 };
    let mut at = (block_broadcast(place, first, 0) + before) as usize;
    for item in items {
        if item > 0.0 {
            kept.store(at, item);
            at += 1;
        }
    }
}
