//! Mistakes that need another block between two accesses: lost updates, atomics of a narrow scope, locks taken in
//! opposite orders, and locks that are handed over without a release. Where nothing else is said, each block has one
//! thread.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use cuda_std::atomic::BlockAtomicU32;
use cuda_std::{GlobalMut, fence, kernel, thread, warp};

use super::Verdict::{Faulty, Sound, Wrong};
use super::{By, Kind, grid, race};

families! {
    "blocks_in_turn.rs";
    "lost updates" {
        the_largest_by_volatile: Wrong(By::Some), of grid(4, 1), [5, 9, 2, 7], [0; 1], |y| y == [9];
        the_largest_by_exchanges: Sound, of grid(4, 1), [5, 9, 2, 7], [0; 1], |y| y == [9];
        tickets_by_load_and_store: Wrong(By::Some), of grid(4, 1), [0; 1], [0; 4], |y| y == [1; 4];
        tickets_by_updates: Sound, of grid(4, 1), [0; 1], [0; 4], |y| y == [1; 4];
    }
    "atomics of a scope" {
        counted_by_blocks_in_one_word: race("y"), of grid(2, 32), [0; 1], [0; 2], |y| y == [64, 0];
        counted_in_a_word_for_each_block: Sound, of grid(2, 32), [0; 1], [0; 2], |y| y == [32, 32];
        counted_in_a_local_variable: Sound, of grid(2, 64), [0; 1], [0; 128], |y| y == [3; 128];
    }
    "deadlocks of locks" {
        three_forks_left_first: Faulty(Kind::NoProgress, "", By::Some), of grid(3, 1), [0; 3], [0; 3], |y| y == [2; 3];
        three_forks_lower_first: Sound, of grid(3, 1), [0; 3], [0; 3], |y| y == [2; 3];
        left_with_the_lock: Faulty(Kind::NoProgress, "", By::Every), of grid(2, 1), [0; 1], [0; 1], |y| y == [1];
        left_without_the_lock: Sound, of grid(2, 1), [0; 1], [0; 1], |y| y == [1];
        a_holder_waits_for_its_warp: Faulty(Kind::NoProgress, "", By::Every),
            of grid(1, 4), [0; 1], [0; 1], |y| y == [4];
        a_holder_waits_for_no_lane: Sound, of grid(1, 4), [0; 1], [0; 1], |y| y == [4];
    }
    "locks" {
        a_queue_lock_relaxed: Faulty(Kind::Race, "y", By::Some), of grid(3, 1), [0; 7], [0; 1], |y| y == [3];
        a_queue_lock: Sound, of grid(3, 1), [0; 7], [0; 1], |y| y == [3];
        a_ticket_lock_relaxed: race("y"), of grid(3, 1), [0; 2], [0; 1], |y| y == [3];
        a_ticket_lock: Sound, of grid(3, 1), [0; 2], [0; 1], |y| y == [3];
        a_writer_looks_and_enters: Faulty(Kind::Race, "y", By::Thorough), of grid(3, 1), [0; 1], [0; 4], |y| y[0] == 1;
        a_writer_enters_by_an_exchange: Sound, of grid(3, 1), [0; 1], [0; 4], |y| y[0] == 1;
    }
}

// Faulty: another block may store a larger value between the load and the store, which then overwrites it.
#[kernel]
fn the_largest_by_volatile(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let value = x.load(thread::block_idx_x() as usize);
    if y.load_volatile(0) < value {
        y.store_volatile(0, value);
    }
}

// Sound: the exchange fails if another block has stored in between, and the loop then compares again.
#[kernel]
fn the_largest_by_exchanges(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let value = x.load(thread::block_idx_x() as usize);
    let mut seen = y.load_relaxed(0);
    while seen < value {
        let found = y.atomic_compare_exchange(0, seen, value);
        if found == seen {
            break;
        }
        seen = found;
    }
}

// Faulty: an acquiring load and a releasing store are two operations, so that two blocks may draw one ticket.
#[kernel]
fn tickets_by_load_and_store(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let ticket = x.load_acquire(0);
    x.store_release(0, ticket + 1);
    y.atomic_add(ticket as usize, 1);
}

// Sound: each update returns another ticket.
#[kernel]
fn tickets_by_updates(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let ticket = x.atomic_add(0, 1);
    y.store(ticket as usize, 1);
}

// Faulty: updates of block scope are not atomic for the other block.
#[kernel]
fn counted_by_blocks_in_one_word(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    y.block_atomic(0).fetch_add(1, Relaxed); // fault
}

// Sound: all threads that update a word are of one block.
#[kernel]
fn counted_in_a_word_for_each_block(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    y.block_atomic(thread::block_idx_x() as usize).fetch_add(1, Relaxed);
}

// Sound: each thread has its own variable.
#[kernel]
fn counted_in_a_local_variable(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let count = BlockAtomicU32::new(1);
    count.fetch_add(2, Relaxed);
    y.store(thread::index_1d(), count.load(Relaxed));
}

// Faulty: if each block has locked its left fork, each waits for its right one.
#[kernel]
fn three_forks_left_first(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let left = thread::block_idx_x() as usize;
    let right = (left + 1) % 3;
    while x.atomic(left).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    while x.atomic(right).compare_exchange(0, 1, Acquire, Relaxed).is_err() {} // fault
    y.store(left, y.load(left) + 1);
    y.store(right, y.load(right) + 1);
    x.store_release(right, 0);
    x.store_release(left, 0);
}

// Sound: all blocks lock the lower fork first, so that the waits form no cycle.
#[kernel]
fn three_forks_lower_first(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let left = thread::block_idx_x() as usize;
    let right = (left + 1) % 3;
    while x.atomic(left.min(right)).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    while x.atomic(left.max(right)).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    y.store(left, y.load(left) + 1);
    y.store(right, y.load(right) + 1);
    x.store_release(right, 0);
    x.store_release(left, 0);
}

// Faulty: the block without work returns and never unlocks.
#[kernel]
fn left_with_the_lock(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    while x.load_relaxed(0) == 1 || x.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {} // fault
    if y.load(0) == 1 || thread::grid_dim_x() == 2 {
        return;
    }
    y.store(0, 1);
    x.store_release(0, 0);
}

// Sound: each path unlocks.
#[kernel]
fn left_without_the_lock(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    while x.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    if y.load(0) == 0 {
        y.store(0, 1);
    }
    x.store_release(0, 0);
}

// Faulty: the lane with the lock waits for lanes that wait for the lock.
#[kernel]
fn a_holder_waits_for_its_warp(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    while x.load_relaxed(0) == 1 || x.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {} // fault
    y.store(0, y.load(0) + 1);
    warp::sync_warp(0xF);
    x.store_release(0, 0);
}

// Sound: since sm_70 the lane with the lock continues while the other lanes wait for it.
#[kernel]
fn a_holder_waits_for_no_lane(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    while x.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    y.store(0, y.load(0) + 1);
    x.store_release(0, 0);
    warp::sync_warp(0xF);
}

/// Enters the queue of a lock (Mellor-Crummey and Scott): `x[0]` is the last block of the queue, counted from 1,
/// `x[1 + block]` is the next block, and `x[4 + block]` is 1 while a block waits.
fn enter(x: GlobalMut<u32>) {
    let me = thread::block_idx_x() as usize;
    x.store_relaxed(4 + me, 1);
    let before = x.atomic(0).swap(me as u32 + 1, AcqRel) as usize;
    if before > 0 {
        x.store_release(before, me as u32 + 1);
        while x.load_acquire(4 + me) == 1 {}
    }
}

/// Leaves the queue of a lock. Returns the next block, which waits, if there is one.
fn leave(x: GlobalMut<u32>) -> Option<usize> {
    let me = thread::block_idx_x() as usize;
    if x.load_relaxed(1 + me) == 0 && x.atomic(0).compare_exchange(me as u32 + 1, 0, Release, Relaxed).is_ok() {
        return None;
    }
    while x.load_acquire(1 + me) == 0 {}
    Some(x.load_acquire(1 + me) as usize - 1)
}

// Faulty: the relaxed hand-over does not release the counter for the next block.
#[kernel]
fn a_queue_lock_relaxed(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    enter(x);
    y.store(0, y.load(0) + 1); // fault
    if let Some(next) = leave(x) {
        x.store_relaxed(4 + next, 0);
    }
}

// Sound: the hand-over releases, and the next block acquires it.
#[kernel]
fn a_queue_lock(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    enter(x);
    y.store(0, y.load(0) + 1);
    if let Some(next) = leave(x) {
        x.store_release(4 + next, 0);
    }
}

// Faulty: the relaxed store lets the next ticket in, but does not release the counter.
#[kernel]
fn a_ticket_lock_relaxed(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let ticket = x.atomic_add(0, 1);
    while x.load_acquire(1) != ticket {}
    y.store(0, y.load(0) + 1); // fault
    x.store_relaxed(1, ticket + 1);
}

// Sound: a fence before the relaxed store releases the counter.
#[kernel]
fn a_ticket_lock(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let ticket = x.atomic_add(0, 1);
    while x.load_acquire(1) != ticket {}
    y.store(0, y.load(0) + 1);
    fence();
    x.store_relaxed(1, ticket + 1);
}

/// The bit of a lock's word that a writer sets. The other bits count readers.
const WRITER: u32 = 1 << 16;

/// Enters as a reader of a lock for readers and writers.
fn read(x: GlobalMut<u32>) {
    loop {
        while x.load_relaxed(0) >= WRITER {}
        if x.atomic(0).fetch_add(1, Acquire) < WRITER {
            return;
        }
        x.atomic(0).fetch_sub(1, Relaxed);
    }
}

// Faulty: a reader may enter after the writer has looked and before it sets its bit.
#[kernel]
fn a_writer_looks_and_enters(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    if block == 0 {
        while x.load_acquire(0) != 0 {}
        x.atomic(0).fetch_or(WRITER, Acquire);
        y.store(0, 1); // fault
        x.atomic(0).fetch_and(!WRITER, Release);
    } else {
        read(x);
        let found = y.load(0); // fault
        y.store(block, found);
        x.atomic(0).fetch_sub(1, Release);
    }
}

// Sound: the writer sets its bit only if there is no reader at that moment.
#[kernel]
fn a_writer_enters_by_an_exchange(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    if block == 0 {
        while x.atomic(0).compare_exchange(0, WRITER, Acquire, Relaxed).is_err() {}
        y.store(0, 1);
        x.atomic(0).fetch_and(!WRITER, Release);
    } else {
        read(x);
        let found = y.load(0);
        y.store(block, found);
        x.atomic(0).fetch_sub(1, Release);
    }
}
