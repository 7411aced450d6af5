//! Flag: mend this kernel from its report alone.
//!
//! One block computes a value, and all blocks need it. The value is a plain element; a flag beside it says that the
//! value is there. Atomic loads and stores of the flag let the blocks wait for it:
//!
//! ```text
//! block 0                    block 1
//! value[0] = 3·x[0]          wait until flag[0] is 1
//! flag[0] = 1          →     read value[0]
//! ```
//!
//! This order of the lines says nothing about the order in which another block sees the two stores: the hardware and
//! the compiler may let a later store overtake an earlier one, and a later load an earlier one. An atomic access has a
//! memory order:
//!
//! | load | store | orders |
//! |---|---|---|
//! | `load_relaxed(i)` | `store_relaxed(i, value)` | this element only |
//! | `load_acquire(i)` | `store_release(i, value)` | all before the store, before all after the load that sees it |
//!
//! On most days the kernel returns the right result. The check also searches for orders in which it does not.

use cuda_std::prelude::*;

/// `y[b] = 3·x[0] + b` for every block `b`. Each block has one thread, and an element of `y`. `value` and `flag` have
/// one element, and `flag[0]` is 0.
#[kernel]
pub fn share(x: Global<u32>, value: GlobalMut<u32>, flag: GlobalMut<u32>, y: GlobalMut<u32>) {
    // Your code begins here.
    let block = thread::block_idx_x() as usize;
    if block == 0 {
        value.store(0, 3 * x.load(0));
        flag.store_relaxed(0, 1);
    }
    while flag.load_relaxed(0) == 0 {}
    y.store(block, value.load(0) + block as u32);
    // Your code ends here.
}
