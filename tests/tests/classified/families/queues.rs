//! Queues between blocks, and sums that each block passes on to the next one or to the last one.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use cuda_std::{GlobalMut, fence, kernel, thread};

use super::Verdict::Sound;
use super::{grid, race};

families! {
    "queues.rs";
    "queues" {
        a_slot_published_relaxed: race("y"), of grid(2, 1), [0; 3], [0; 3], |y| y == [1, 2, 3];
        a_slot_published: Sound, of grid(2, 1), [0; 3], [0; 3], |y| y == [1, 2, 3];
        a_slot_given_back_relaxed: race("y"), of grid(2, 1), [0; 2], [0; 2], |y| y[1] == 6;
        a_slot_given_back: Sound, of grid(2, 1), [0; 2], [0; 2], |y| y[1] == 6;
    }
    "sums passed on" {
        a_prefix_not_released: race("y"), of grid(3, 1), [0; 3], [0; 3], |y| y == [1, 3, 6];
        a_prefix_in_its_flag: Sound, of grid(3, 1), [0; 3], [0; 3], |y| y == [1, 3, 6];
        a_prefix_by_fences: Sound, of grid(3, 1), [0; 3], [0; 3], |y| y == [1, 3, 6];
        the_last_block_without_a_barrier: race("y"), of grid(2, 64), [0; 1], [0; 129], |y| y[128] == 128;
        the_last_block_behind_barriers: Sound, of grid(2, 64), [0; 1], [0; 129], |y| y[128] == 128;
    }
}

// Faulty: the relaxed store of a slot's state does not release the item.
#[kernel]
fn a_slot_published_relaxed(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    for slot in 0..3 {
        if thread::block_idx_x() == 0 {
            y.store(slot, slot as u32 + 1); // fault
            x.store_relaxed(slot, 1);
        } else {
            while x.load_acquire(slot) == 0 {}
            let item = y.load(slot); // fault
            assert!(item == slot as u32 + 1);
        }
    }
}

// Sound: the state of each slot is released and acquired.
#[kernel]
fn a_slot_published(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    for slot in 0..3 {
        if thread::block_idx_x() == 0 {
            y.store(slot, slot as u32 + 1);
            x.store_release(slot, 1);
        } else {
            while x.load_acquire(slot) == 0 {}
            assert!(y.load(slot) == slot as u32 + 1);
        }
    }
}

// Faulty: the consumer gives the slot back without a release, so that the producer may overwrite an unread item.
#[kernel]
fn a_slot_given_back_relaxed(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let mut sum = 0;
    for item in 1..4 {
        if thread::block_idx_x() == 0 {
            while x.load_acquire(0) != 0 {}
            y.store(0, item); // fault
            x.store_release(0, 1);
        } else {
            while x.load_acquire(0) != 1 {}
            sum += y.load(0); // fault
            x.store_relaxed(0, 0);
        }
    }
    if thread::block_idx_x() == 1 {
        y.store(1, sum);
    }
}

// Sound: full and empty are both released and acquired.
#[kernel]
fn a_slot_given_back(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let mut sum = 0;
    for item in 1..4 {
        if thread::block_idx_x() == 0 {
            while x.atomic(0).load(Acquire) != 0 {}
            y.store(0, item);
            x.atomic(0).store(1, Release);
        } else {
            while x.atomic(0).load(Acquire) != 1 {}
            sum += y.load(0);
            x.atomic(0).store(0, Release);
        }
    }
    if thread::block_idx_x() == 1 {
        y.store(1, sum);
    }
}

// Faulty: a block passes its sum on without a release.
#[kernel]
fn a_prefix_not_released(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    let mut before = 0;
    if block > 0 {
        while x.load_acquire(block - 1) == 0 {}
        before = y.load(block - 1); // fault
    }
    y.store(block, before + block as u32 + 1); // fault
    x.store_relaxed(block, 1);
}

// Sound: sum and flag are one word, so that nothing else needs an order.
#[kernel]
fn a_prefix_in_its_flag(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    let mut before = if block == 0 { 1 << 31 } else { 0 };
    while before == 0 {
        before = x.load_relaxed(block - 1);
    }
    let sum = before + block as u32 + 1;
    x.store_relaxed(block, sum);
    y.store(block, sum & 0xFFFF);
}

// Sound: fences beside the relaxed flag.
#[kernel]
fn a_prefix_by_fences(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    let mut before = 0;
    if block > 0 {
        while x.load_relaxed(block - 1) == 0 {}
        fence();
        before = y.load(block - 1);
    }
    y.store(block, before + block as u32 + 1);
    fence();
    x.store_relaxed(block, 1);
}

// Faulty: the first thread counts its block before the other threads have stored.
#[kernel]
fn the_last_block_without_a_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    y.store(thread::index_1d(), 1); // fault
    if i == 0 && x.atomic(0).fetch_add(1, AcqRel) == 1 {
        // fault
        let sum = (0..128).map(|i| y.load(i)).sum();
        y.store(128, sum);
    }
}

// Sound: the barrier orders the block's stores before the count, which releases and acquires.
#[kernel]
fn the_last_block_behind_barriers(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    y.store(thread::index_1d(), 1);
    thread::sync_threads();
    if i == 0 && x.atomic(0).fetch_add(1, AcqRel) == 1 {
        y.store(128, (0..128).map(|i| y.load(i)).sum());
    }
}
