//! Values that a block passes to another block, with a flag that does not order the accesses to the value.
//!
//! Fault in [`flag_before_value()`]: a block sets its flag and then stores the value that the flag announces. Fault in
//! [`flag_relaxed()`]: the program order is right, but the accesses may be reordered. A relaxed store does not wait for
//! earlier stores, and plain loads do not wait for an earlier relaxed load.
//!
//! [`scan_look_back()`](crate::scan::scan_look_back()) puts flag and value into one word, which needs no ordering. If
//! flag and value need several words, store the flag with `store_release` and load it with `load_acquire`.

use cuda_std::{GlobalMut, kernel, thread};

/// Computes a running sum of the tickets from block to block, but sets each flag too early. `ticket[0]` and `flags`
/// (one element per block) must be 0. `sums` (one element per block) may have any values.
#[kernel]
pub fn flag_before_value(ticket: GlobalMut<u32>, flags: GlobalMut<u32>, sums: GlobalMut<u64>) {
    if thread::index_in_block() != 0 {
        return;
    }
    let mine = ticket.atomic_add(0, 1) as usize;
    let mut before = 0;
    if mine > 0 {
        while flags.load_acquire(mine - 1) == 0 {}
        before = sums.load(mine - 1); // fault: early read
    }
    flags.store_release(mine, 1);
    sums.store(mine, before + mine as u64); // fault: late write
}

/// Does the same as [`flag_before_value()`], but sets the flag after it stores the value. The store has no release
/// ordering and the load has no acquire ordering.
#[kernel]
pub fn flag_relaxed(ticket: GlobalMut<u32>, flags: GlobalMut<u32>, sums: GlobalMut<u64>) {
    if thread::index_in_block() != 0 {
        return;
    }
    let mine = ticket.atomic_add(0, 1) as usize;
    let mut before = 0;
    if mine > 0 {
        while flags.load_relaxed(mine - 1) == 0 {}
        before = sums.load(mine - 1); // fault: relaxed read
    }
    sums.store(mine, before + mine as u64); // fault: relaxed write
    flags.store_relaxed(mine, 1);
}
