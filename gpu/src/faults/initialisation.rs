//! Double-checked initialisation: whoever comes first makes a value for all, and whoever finds it made takes it.
//!
//! What is wrong: the first look at the state is relaxed, to be cheap. It may see that the value is ready before it sees the
//! value. Those who find the state in between wait with an acquire, and are right.
//!
//! An acquire at the first look is all it needs, as in `hand_over` of the device library.

use cuda_std::{GlobalMut, kernel, thread};

/// Nobody has begun; someone makes the value; it is made.
const EMPTY: u32 = 0;
const BUSY: u32 = 1;
const READY: u32 = 2;

/// `y[b]` = the value that the first block makes, with a race. `state[0]` starts at 0, `value[0]` at anything.
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
