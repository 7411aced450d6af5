//! Tests the checker on spin locks. If taking the lock is an acquire and returning it is a release, the accesses of one
//! critical section happen before the accesses of the next. Atomic accesses with a memory order, or fences, can provide
//! the acquire and the release.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use cuda_std::{GlobalMut, fence, kernel, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

/// Returns a launch configuration of `n` blocks of one thread.
fn threads(n: u32) -> LaunchConfig {
    LaunchConfig::new(n, 1)
}

/// Returns a launch configuration of `n` blocks of two warps.
fn blocks(n: u32) -> LaunchConfig {
    LaunchConfig::new(n, 64)
}

cases! {
    "locks.rs";
    acquired_and_released: RaceFree, |device| launch!(device, threads(4), acquired_and_released, 1, 1);
    taken_without_acquiring: Race("y"), |device| launch!(device, threads(4), taken_without_acquiring, 1, 1);
    given_back_without_releasing: Race("y"), |device| launch!(device, threads(4), given_back_without_releasing, 1, 1);
    fences_inside_the_lock: RaceFree, |device| launch!(device, threads(4), fences_inside_the_lock, 1, 1);
    no_fence_before_giving_back: Race("y"), |device| launch!(device, threads(4), no_fence_before_giving_back, 1, 1);
    no_fence_after_taking: Race("y"), |device| launch!(device, threads(4), no_fence_after_taking, 1, 1);
    given_back_too_early: Race("y"), |device| launch!(device, threads(4), given_back_too_early, 1, 1);
    two_locks_for_one_value: Race("y"), |device| launch!(device, threads(4), two_locks_for_one_value, 1, 2);
    a_lock_for_each_value: RaceFree, |device| launch!(device, threads(4), a_lock_for_each_value, 2, 2);
    tickets_served_in_turn: RaceFree, |device| launch!(device, threads(4), tickets_served_in_turn, 1, 1, 1);
    tickets_without_acquiring: Race("y"), |device| launch!(device, threads(4), tickets_without_acquiring, 1, 1, 1);
    a_lock_for_the_block: RaceFree, |device| launch!(device, blocks(3), a_lock_for_the_block, 64, 1);
    a_block_that_does_not_wait: Race("y"), |device| launch!(device, blocks(3), a_block_that_does_not_wait, 64, 1);
    a_block_that_is_not_waited_for: Race("y"), |device| launch!(device, blocks(3), a_block_that_is_not_waited_for, 64, 1);
}

// Sound: the next acquire observes each release.
#[kernel]
fn acquired_and_released(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    while lock.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    let old = y.load(0);
    y.store(0, old + 1);
    lock.store_release(0, 0);
}

// Faulty: a relaxed read-modify-write does not synchronise.
#[kernel]
fn taken_without_acquiring(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    while lock.atomic(0).compare_exchange(0, 1, Relaxed, Relaxed).is_err() {}
    let old = y.load(0); // race
    y.store(0, old + 1); // race
    lock.store_release(0, 0);
}

// Faulty: an acquire that observes a relaxed store does not synchronise.
#[kernel]
fn given_back_without_releasing(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    while lock.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    let old = y.load(0); // race
    y.store(0, old + 1); // race
    lock.store_relaxed(0, 0);
}

// Sound: a fence before the relaxed store is a release pattern. A fence after the relaxed read-modify-write is an
// acquire pattern.
#[kernel]
fn fences_inside_the_lock(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    while lock.atomic(0).compare_exchange(0, 1, Relaxed, Relaxed).is_err() {}
    fence();
    let old = y.load(0);
    y.store(0, old + 1);
    fence();
    lock.store_relaxed(0, 0);
}

// Faulty: without the fence before the store there is no release pattern.
#[kernel]
fn no_fence_before_giving_back(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    while lock.atomic(0).compare_exchange(0, 1, Relaxed, Relaxed).is_err() {}
    fence();
    let old = y.load(0); // race
    y.store(0, old + 1); // race
    lock.store_relaxed(0, 0);
}

// Faulty: without the fence after the read-modify-write there is no acquire pattern.
#[kernel]
fn no_fence_after_taking(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    while lock.atomic(0).compare_exchange(0, 1, Relaxed, Relaxed).is_err() {}
    let old = y.load(0); // race
    y.store(0, old + 1); // race
    fence();
    lock.store_relaxed(0, 0);
}

// Faulty: the store comes after the release, which orders only earlier accesses.
#[kernel]
fn given_back_too_early(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    while lock.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    let old = y.load(0); // race
    lock.store_release(0, 0);
    y.store(0, old + 1); // race
}

// Faulty: blocks that take different locks do not synchronise.
#[kernel]
fn two_locks_for_one_value(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    let mine = thread::block_idx_x() as usize % 2;
    while lock.atomic(mine).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    y.store(0, 1); // race
    lock.store_release(mine, 0);
}

// Sound: blocks that share a value also share its lock.
#[kernel]
fn a_lock_for_each_value(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    let mine = thread::block_idx_x() as usize % 2;
    while lock.atomic(mine).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    let old = y.load(mine);
    y.store(mine, old + 1);
    lock.store_release(mine, 0);
}

// Sound: the acquire of each block observes the release of the previous block. The drawing of tickets need not order
// anything.
#[kernel]
fn tickets_served_in_turn(y: GlobalMut<u32>, next: GlobalMut<u32>, serving: GlobalMut<u32>) {
    let ticket = next.atomic_add(0, 1);
    while serving.load_acquire(0) != ticket {}
    let old = y.load(0);
    y.store(0, old + 1);
    serving.store_release(0, ticket + 1);
}

// Faulty: a relaxed load that observes the release does not synchronise.
#[kernel]
fn tickets_without_acquiring(y: GlobalMut<u32>, next: GlobalMut<u32>, serving: GlobalMut<u32>) {
    let ticket = next.atomic_add(0, 1);
    while serving.load_relaxed(0) != ticket {}
    let old = y.load(0); // race
    y.store(0, old + 1); // race
    serving.store_release(0, ticket + 1);
}

// Sound: one barrier orders the block's accesses after the first thread's acquire, and another one before its release.
#[kernel]
fn a_lock_for_the_block(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    let me = thread::thread_idx_x() as usize;
    if me == 0 {
        while lock.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    }
    thread::sync_threads();
    let old = y.load(me);
    y.store(me, old + 1);
    thread::sync_threads();
    if me == 0 {
        lock.store_release(0, 0);
    }
}

// Faulty: without a barrier, the other threads' accesses are not ordered after the acquire.
#[kernel]
fn a_block_that_does_not_wait(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    let me = thread::thread_idx_x() as usize;
    if me == 0 {
        while lock.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    }
    y.store(me, 1); // race
    thread::sync_threads();
    if me == 0 {
        lock.store_release(0, 0);
    }
}

// Faulty: without a barrier, the other threads' accesses are not ordered before the release.
#[kernel]
fn a_block_that_is_not_waited_for(y: GlobalMut<u32>, lock: GlobalMut<u32>) {
    let me = thread::thread_idx_x() as usize;
    if me == 0 {
        while lock.atomic(0).compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    }
    thread::sync_threads();
    y.store(me, 1); // race
    if me == 0 {
        lock.store_release(0, 0);
    }
}
