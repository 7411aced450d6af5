//! Tests the checker on barriers in loops: trees, alternating buffers and reused tiles.

use cuda_std::{GlobalMut, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

const THREADS: usize = 96;

/// Returns a launch configuration of one block of `THREADS` threads.
fn block() -> LaunchConfig {
    LaunchConfig::new(1, THREADS as u32)
}

cases! {
    "loops.rs";
    tree: RaceFree, |device| launch!(device, LaunchConfig::new(2, 64), tree, 2);
    tree_without_the_last_barrier: Race("sums"), |device| launch!(device, LaunchConfig::new(2, 64), tree_without_the_last_barrier, 2);
    two_buffers: RaceFree, |device| launch!(device, block(), two_buffers, THREADS);
    one_buffer: Race("now"), |device| launch!(device, block(), one_buffer, THREADS);
    two_boards_in_global_memory: RaceFree, |device| launch!(device, block(), two_boards_in_global_memory, THREADS, THREADS);
    two_boards_that_do_not_change_places: Race("even"), |device| launch!(device, block(), two_boards_that_do_not_change_places, THREADS, THREADS);
    barriers_at_both_ends_of_a_round: RaceFree, |device| launch!(device, block(), barriers_at_both_ends_of_a_round, THREADS);
    a_barrier_at_one_end_of_a_round: Race("tile"), |device| launch!(device, block(), a_barrier_at_one_end_of_a_round, THREADS);
    rounds_of_uneven_length: RaceFree, |device| launch!(device, LaunchConfig::new(3, 64), rounds_of_uneven_length, 3);
    a_sum_that_each_takes_over: RaceFree, |device| launch!(device, block(), a_sum_that_each_takes_over, 1);
    a_sum_that_two_take_over: Race("sum"), |device| launch!(device, block(), a_sum_that_two_take_over, 1);
    scan_in_registers_and_two_barriers: RaceFree, |device| launch!(device, block(), scan_in_registers_and_two_barriers, THREADS);
}

#[kernel]
fn tree(y: GlobalMut<u32>) {
    let sums = shared_array![u32; 64];
    let thread = thread::thread_idx_x() as usize;
    sums.store(thread, 1);
    let mut stride = 32;
    while stride > 0 {
        thread::sync_threads();
        if thread < stride {
            sums.store(thread, sums.load(thread) + sums.load(thread + stride));
        }
        stride /= 2;
    }
    thread::sync_threads();
    if thread == 63 {
        y.store(thread::block_idx_x() as usize, sums.load(0));
    }
}

/// A kernel with a race. One thread computes the result and another thread stores it, without a barrier between them.
#[kernel]
fn tree_without_the_last_barrier(y: GlobalMut<u32>) {
    let sums = shared_array![u32; 64];
    let thread = thread::thread_idx_x() as usize;
    sums.store(thread, 1);
    let mut stride = 32;
    while stride > 1 {
        thread::sync_threads();
        if thread < stride {
            sums.store(thread, sums.load(thread) + sums.load(thread + stride));
        }
        stride /= 2;
    }
    thread::sync_threads();
    if thread == 0 {
        let all = sums.load(0) + sums.load(1);
        sums.store(0, all); // race
    }
    if thread == 63 {
        let all = sums.load(0); // race
        y.store(thread::block_idx_x() as usize, all);
    }
}

#[kernel]
fn two_buffers(y: GlobalMut<u32>) {
    let (one, other) = (shared_array![u32; THREADS], shared_array![u32; THREADS]);
    let (mut now, mut next) = (one, other);
    let thread = thread::thread_idx_x() as usize;
    now.store(thread, thread as u32);
    for _ in 0..7 {
        thread::sync_threads();
        next.store(thread, now.load((thread + 1) % THREADS));
        (now, next) = (next, now);
    }
    y.store(thread, now.load(thread));
}

#[kernel]
fn one_buffer(y: GlobalMut<u32>) {
    let now = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    now.store(thread, thread as u32);
    for _ in 0..7 {
        thread::sync_threads();
        let neighbour = now.load((thread + 1) % THREADS); // race
        now.store(thread, neighbour); // race
    }
    y.store(thread, now.load(thread));
}

#[kernel]
fn two_boards_in_global_memory(even: GlobalMut<u32>, odd: GlobalMut<u32>) {
    let (mut now, mut next) = (even, odd);
    let thread = thread::thread_idx_x() as usize;
    for _ in 0..5 {
        let sum = now.load(thread) + now.load((thread + 1) % THREADS) + 1;
        next.store(thread, sum);
        thread::sync_threads();
        (now, next) = (next, now);
    }
}

/// A kernel with a race. Every round reads one buffer, writes the other one, and copies the result back without a
/// barrier.
#[kernel]
fn two_boards_that_do_not_change_places(even: GlobalMut<u32>, odd: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    for _ in 0..5 {
        let neighbour = even.load((thread + 1) % THREADS); // race
        odd.store(thread, neighbour + 1);
        even.store(thread, odd.load(thread)); // race
        thread::sync_threads();
    }
}

#[kernel]
fn barriers_at_both_ends_of_a_round(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    let mut sum = 0;
    for round in 0..4 {
        tile.store(thread, round);
        thread::sync_threads();
        sum += tile.load((thread + 50) % THREADS);
        thread::sync_threads();
    }
    y.store(thread, sum);
}

#[kernel]
fn a_barrier_at_one_end_of_a_round(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    let mut sum = 0;
    for round in 0..4 {
        tile.store(thread, round); // race
        thread::sync_threads();
        sum += tile.load((thread + 50) % THREADS); // race
    }
    y.store(thread, sum);
}

/// A race-free kernel. The blocks execute different numbers of barriers, but all threads of one block execute the same
/// number.
#[kernel]
fn rounds_of_uneven_length(y: GlobalMut<u32>) {
    let turns = shared_array![u32; 1];
    let (thread, block) = (thread::thread_idx_x(), thread::block_idx_x());
    if thread == 0 {
        turns.store(0, 0);
    }
    thread::sync_threads();
    for round in 0..3 * block {
        if thread == round {
            turns.store(0, turns.load(0) + 1);
        }
        thread::sync_threads();
    }
    if thread == 60 {
        y.store(block as usize, turns.load(0));
    }
}

/// A race-free kernel. The threads add to a sum one after the other, with a barrier between two threads.
#[kernel]
fn a_sum_that_each_takes_over(sum: GlobalMut<u32>) {
    let thread = thread::thread_idx_x();
    for turn in 0..8 {
        if thread == 11 * turn {
            sum.store(0, sum.load(0) + 1);
        }
        thread::sync_threads();
    }
}

#[kernel]
fn a_sum_that_two_take_over(sum: GlobalMut<u32>) {
    let thread = thread::thread_idx_x();
    for turn in 0..8 {
        if thread / 2 == 5 * turn {
            sum.store(0, turn); // race
        }
        thread::sync_threads();
    }
}

/// A race-free kernel. It is the in-place scan that textbooks show, corrected by a second barrier in each step.
#[kernel]
fn scan_in_registers_and_two_barriers(y: GlobalMut<u32>) {
    let sums = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    sums.store(thread, 1);
    let mut distance = 1;
    while distance < THREADS {
        thread::sync_threads();
        let before = if thread >= distance { sums.load(thread - distance) } else { 0 };
        thread::sync_threads();
        sums.store(thread, sums.load(thread) + before);
        distance *= 2;
    }
    assert!(sums.load(thread) == thread as u32 + 1);
    y.store(thread, sums.load(thread));
}
