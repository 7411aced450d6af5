//! Values handed from block to block behind a flag that does not wait for them.
//!
//! What is wrong: in [`flag_before_value()`] a block raises its flag and then stores the value that the flag stands for. In
//! [`flag_relaxed()`] the order is right and nobody keeps to it: a relaxed store does not wait for the stores before it, nor
//! do plain loads wait for the relaxed load before them.
//!
//! [`scan_look_back()`](crate::scan::scan_look_back()) puts flag and value into one word, which needs no order. Where that
//! has no room, the flag is stored with `store_release` and read with `load_acquire`.

use cuda_std::{GlobalMut, kernel, thread};

/// A running sum of the tickets, from block to block, with the flag raised too early. `ticket[0]` and `flags` (one per block)
/// start at 0, `sums` (one per block) at anything.
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

/// As [`flag_before_value()`], with the flag after the value, and neither release nor acquire.
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
