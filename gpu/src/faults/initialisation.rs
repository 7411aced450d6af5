//! Double-checked initialisation: the first block computes a value for all blocks, and later blocks reuse it.
//!
//! Fault: the first load of the state is relaxed, because that is cheaper. A block may therefore see that the value is
//! ready before it sees the value. Blocks that find the state `BUSY` wait with an acquire load, which is correct.
//!
//! An acquire load in the first check repairs the race, as in `hand_over` of the device library.

use cuda_std::{GlobalMut, kernel, thread};

/// The state in which no block has started to compute the value.
const EMPTY: u32 = 0;
/// The state in which one block computes the value.
const BUSY: u32 = 1;
/// The state in which the value is ready.
const READY: u32 = 2;

/// In each block *b*, writes to `y[b]` the value that the first block computes, with a race. `state[0]` must be 0.
/// `value[0]` may have any value.
#[kernel]
pub fn double_checked(state: GlobalMut<u32>, value: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::index_in_block() != 0 {
        return;
    }
    if state.load_relaxed(0) != READY {
        if state.atomic_compare_exchange(0, EMPTY, BUSY) == EMPTY {
            value.store(0, 42); // fault: write
            state.store_release(0, READY);
        } else {
            while state.load_acquire(0) != READY {}
        }
    }
    y.store(thread::block_idx_x() as usize, value.load(0)); // fault: read
}
