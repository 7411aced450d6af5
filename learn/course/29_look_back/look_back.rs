//! Look-back: a scan in one pass, with blocks that wait for earlier blocks.
//!
//! Each block scans a tile of 64 elements, and needs the sum of all elements before its tile. It publishes what it has
//! as the *state* of its tile: first the tile's own sum, flagged `SUM`, and later the sum from the first element of all
//! to the end of the tile, flagged `PREFIX`. To find the sum before its tile, it looks back:
//!
//! ```text
//! tile              0        1        2        3        4
//! state of it    PREFIX   PREFIX     SUM      SUM    this block
//!                             ←────────←────────
//! before = 0 + sum(3) + sum(2) + prefix(1): complete
//! ```
//!
//! The state of a tile is 0 until its block publishes one. Until then the look-back reads it again. Blocks
//! draw the number of their tile in the order in which they begin, so the blocks of all earlier tiles have begun, and
//! no wait lasts for ever. That holds for `tile`, not for the index of the block.
//!
//! `states.load_relaxed(i)` reads a state that another block may write at the same time: it is atomic, and it reads
//! memory anew at each call. `flag(state)` is 0, `SUM` or `PREFIX`, and `value(state)` is the sum: both in one word, so
//! the one is never older than the other. Thread 0 executes the hole; the state of its tile is `SUM` then. `before`
//! begins as 0.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements of a tile.
pub const TILE: usize = 64;
/// The flag of the sum of a tile.
pub const SUM: u32 = 1;
/// The flag of the sum of all elements to the end of a tile.
pub const PREFIX: u32 = 2;

/// Returns the state with a flag and a sum.
fn state_of(flag: u32, sum: u32) -> u64 {
    u64::from(flag) << 32 | u64::from(sum)
}

/// Returns the flag of a state.
fn flag(state: u64) -> u32 {
    (state >> 32) as u32
}

/// Returns the sum in a state.
fn value(state: u64) -> u32 {
    state as u32
}

/// Scans `x`: `y[i]` is the sum of `x[0]` to `x[i]`. The grid has a block of [`TILE`] threads for each tile. `tickets`
/// has one element, `states` one per tile, and all are 0.
#[kernel]
pub fn scan(x: Global<u32>, y: GlobalMut<u32>, tickets: GlobalMut<u32>, states: GlobalMut<u64>) {
    let drawn = shared_array![u32; 1];
    let warp_sums = shared_array![u32; 2];
    let sum_before = shared_array![u32; 1];
    let me = thread::thread_idx_x();
    if me == 0 {
        drawn.store(0, tickets.atomic_add(0, 1));
    }
    thread::sync_threads();
    let tile = drawn.load(0) as usize;
    let i = tile * TILE + me as usize;
    let mut sum = if i < x.len() { x.load(i) } else { 0 };
    for step in 0..5 {
        let lower = warp::shuffle_up(u32::MAX, sum, 1 << step);
        sum += if warp::lane_id() >= 1 << step { lower } else { 0 };
    }
    if me % 32 == 31 {
        warp_sums.store(me as usize / 32, sum);
    }
    thread::sync_threads();
    if me == 0 {
        let own = warp_sums.load(0) + warp_sums.load(1);
        states.store_relaxed(tile, state_of(SUM, own));
        let mut before = 0;
        // Your code begins here.
        todo!("add the sums of the earlier tiles to `before`, back to the first that has a prefix");
        // Your code ends here.
        states.store_relaxed(tile, state_of(PREFIX, before + own));
        sum_before.store(0, before);
    }
    thread::sync_threads();
    if i < y.len() {
        let lower_warp = if me >= 32 { warp_sums.load(0) } else { 0 };
        y.store(i, sum_before.load(0) + lower_warp + sum);
    }
}
