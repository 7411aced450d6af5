//! Tests the checker on warps that produce data for other warps. These warps use barriers in shared memory, and atomics
//! of several scopes and widths.

use std::sync::atomic::Ordering::Relaxed;

use cuda_std::barrier::Barrier;
use cuda_std::{GlobalMut, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

/// Returns a launch configuration of two warps. The first warp produces data, and the second warp consumes it.
fn two_warps() -> LaunchConfig {
    LaunchConfig::new(1, 64)
}

cases! {
    "producers.rs";
    stored_then_arrived: RaceFree, |device| launch!(device, two_warps(), stored_then_arrived, 32);
    arrived_then_stored: Race("tile"), |device| launch!(device, two_warps(), arrived_then_stored, 32);
    read_before_waiting: Race("tile"), |device| launch!(device, two_warps(), read_before_waiting, 32);
    overwritten_while_read: Race("tile"), |device| launch!(device, two_warps(), overwritten_while_read, 64);
    overwritten_after_a_phase: RaceFree, |device| launch!(device, two_warps(), overwritten_after_a_phase, 64);
    arrived_and_not_waited: Race("tile"), |device| launch!(device, two_warps(), arrived_and_not_waited, 64);
    full_and_empty: RaceFree, |device| launch!(device, two_warps(), full_and_empty, 32);
    counted_in_the_block: RaceFree, |device| launch!(device, two_warps(), counted_in_the_block, 1);
    counted_in_each_block: Race("y"), |device| launch!(device, LaunchConfig::new(2, 1), counted_in_each_block, 1);
    counted_by_device_and_system: RaceFree, |device| launch!(device, LaunchConfig::new(2, 32), counted_by_device_and_system, 1);
    counted_by_block_and_device: Race("y"), |device| launch!(device, LaunchConfig::new(2, 1), counted_by_block_and_device, 1);
    words_beside_doubles: RaceFree, |device| launch!(device, two_warps(), words_beside_doubles, 4);
}

/// Returns an initialised barrier for all 64 threads of the block.
fn barrier() -> Barrier {
    let barrier = Barrier::at(shared_array![u64; 1], 0);
    initialise(barrier);
    barrier
}

fn initialise(barrier: Barrier) {
    if thread::index_in_block() == 0 {
        barrier.init(64);
    }
    thread::sync_threads();
}

// Sound: an arrival is a release, and the wait for its phase is an acquire.
#[kernel]
fn stored_then_arrived(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 32];
    let barrier = barrier();
    let me = thread::thread_idx_x() as usize;
    if me < 32 {
        tile.store(me, 1);
        let _ = barrier.arrive();
    } else {
        barrier.arrive_and_wait();
        y.store(me - 32, tile.load(63 - me));
    }
}

// Faulty: the store comes after the arrival, which releases only earlier accesses.
#[kernel]
fn arrived_then_stored(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 32];
    let barrier = barrier();
    let me = thread::thread_idx_x() as usize;
    if me < 32 {
        tile.store(me, 0);
    }
    thread::sync_threads();
    if me < 32 {
        let _ = barrier.arrive();
        tile.store(me, 1); // race
    } else {
        barrier.arrive_and_wait();
        let found = tile.load(63 - me); // race
        y.store(me - 32, found);
    }
}

// Faulty: the load comes before the wait.
#[kernel]
fn read_before_waiting(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 32];
    let barrier = barrier();
    let me = thread::thread_idx_x() as usize;
    if me < 32 {
        tile.store(me, 0);
    }
    thread::sync_threads();
    if me < 32 {
        tile.store(me, 1); // race
        let _ = barrier.arrive();
    } else {
        let arrival = barrier.arrive();
        let found = tile.load(63 - me); // race
        barrier.wait(arrival);
        y.store(me - 32, found);
    }
}

// Faulty: the first reader writes the next round's value while other threads may still read.
#[kernel]
fn overwritten_while_read(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 64];
    let barrier = barrier();
    let me = thread::thread_idx_x() as usize;
    for round in 0..2 {
        tile.store(me, round); // race
        barrier.arrive_and_wait();
        let found = tile.load(63 - me); // race
        y.store(me, found);
    }
}

// Sound: another phase signals that all threads have read.
#[kernel]
fn overwritten_after_a_phase(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 64];
    let barrier = barrier();
    let me = thread::thread_idx_x() as usize;
    for round in 0..2 {
        tile.store(me, round);
        barrier.arrive_and_wait();
        y.store(me, tile.load(63 - me));
        barrier.arrive_and_wait();
    }
}

// Faulty: an arrival is a release but not an acquire, even if it is the last one.
#[kernel]
fn arrived_and_not_waited(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 64];
    let barrier = barrier();
    let me = thread::thread_idx_x() as usize;
    tile.store(me, 0);
    thread::sync_threads();
    tile.store(me, 1); // race
    let _ = barrier.arrive();
    let found = tile.load(63 - me); // race
    y.store(me, found);
}

// Sound: one barrier signals that the tile is full, and the other signals that the tile was read.
#[kernel]
fn full_and_empty(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 32];
    let words = shared_array![u64; 2];
    let (full, empty) = (Barrier::at(words, 0), Barrier::at(words, 1));
    initialise(full);
    initialise(empty);
    let me = thread::thread_idx_x() as usize;
    for round in 0..3 {
        if me < 32 {
            tile.store(me, round);
            let _ = full.arrive();
            empty.arrive_and_wait();
        } else {
            full.arrive_and_wait();
            assert!(tile.load(63 - me) == round);
            let _ = empty.arrive();
        }
    }
    if me < 32 {
        y.store(me, 1);
    }
}

// Sound: all threads belong to the block, which the scope includes.
#[kernel]
fn counted_in_the_block(y: GlobalMut<u32>) {
    y.block_atomic(0).fetch_add(1, Relaxed);
}

// Faulty: neither scope includes the other block, so the accesses are not morally strong.
#[kernel]
fn counted_in_each_block(y: GlobalMut<u32>) {
    y.block_atomic(0).fetch_add(1, Relaxed); // race
}

// Sound: both scopes include both blocks.
#[kernel]
fn counted_by_device_and_system(y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.atomic(0).fetch_add(1, Relaxed);
    } else {
        y.system_atomic(0).fetch_add(1, Relaxed);
    }
}

// Faulty: one of the two scopes does not include the other block. Both scopes must include it.
#[kernel]
fn counted_by_block_and_device(y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.block_atomic(0).fetch_add(1, Relaxed); // race
    } else {
        y.atomic(0).fetch_add(1, Relaxed); // race
    }
}

// Sound: the double word ends where the word begins, so they do not overlap.
#[kernel]
fn words_beside_doubles(y: GlobalMut<u32>) {
    let words = shared_array![u32; 4];
    let me = thread::thread_idx_x() as usize;
    if me < 4 {
        words.store(me, 0);
    }
    thread::sync_threads();
    if me < 32 {
        words.cast::<u64>().atomic_add(0, 1);
    } else {
        words.atomic_add(2, 1);
    }
    thread::sync_threads();
    if me < 4 {
        y.store(me, words.load(me));
    }
}
