//! Tests the checker on call paths to a barrier line. A call path consists of the calls and the loop iterations by
//! which the lanes of a warp reach the barrier.

use cuda_std::{GlobalMut, kernel, thread};
use launch::LaunchConfig;

use crate::What::{Apart, RaceFree};

const THREADS: usize = 64;

/// Returns a launch configuration of one block of two warps.
fn block() -> LaunchConfig {
    LaunchConfig::new(1, THREADS as u32)
}

cases! {
    "barriers.rs";
    a_barrier_called_by_all: RaceFree, |device| launch!(device, block(), a_barrier_called_by_all, THREADS);
    a_barrier_called_from_both_arms: Apart, |device| launch!(device, block(), a_barrier_called_from_both_arms, THREADS);
    a_barrier_called_by_each_warp: RaceFree, |device| launch!(device, block(), a_barrier_called_by_each_warp, THREADS);
    a_branch_that_all_take: RaceFree, |device| launch!(device, block(), a_branch_that_all_take, THREADS);
    a_barrier_called_in_a_match: Apart, |device| launch!(device, block(), a_barrier_called_in_a_match, THREADS);
    a_barrier_behind_a_condition: Apart, |device| launch!(device, block(), a_barrier_behind_a_condition, THREADS);
    a_lane_skips_another_iteration: Apart, |device| launch!(device, block(), a_lane_skips_another_iteration, THREADS);
    all_skip_the_same_iteration: RaceFree, |device| launch!(device, block(), all_skip_the_same_iteration, THREADS);
    a_warp_skips_another_iteration: RaceFree, |device| launch!(device, block(), a_warp_skips_another_iteration, THREADS);
    a_lane_waits_for_a_round: Apart, |device| launch!(device, block(), a_lane_waits_for_a_round, THREADS);
    loops_of_their_own_before_it: RaceFree, |device| launch!(device, block(), loops_of_their_own_before_it, THREADS);
    barriers_in_nested_loops: RaceFree, |device| launch!(device, block(), barriers_in_nested_loops, THREADS);
    a_lane_ahead_in_the_outer_loop: Apart, |device| launch!(device, block(), a_lane_ahead_in_the_outer_loop, THREADS);
}

/// Executes a barrier, in a function that kernels call.
fn meet() {
    thread::sync_threads();
}

/// Executes a barrier. Returns `value + 1`.
fn step(value: u32) -> u32 {
    thread::sync_threads();
    value + 1
}

#[kernel]
fn a_barrier_called_by_all(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    meet();
    y.store(i as usize, step(i));
}

#[kernel]
fn a_barrier_called_from_both_arms(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    if i == 0 {
        y.store(0, 7);
        meet(); // apart
    } else {
        meet(); // apart
    }
}

/// A kernel whose warps call one barrier function from different places. PTX permits this, because barriers count
/// warps. CUDA's documentation requires that all threads reach the same barrier, so a strict check warns.
#[kernel]
fn a_barrier_called_by_each_warp(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    if i < 32 {
        y.store(i, 7);
        meet();
    } else {
        meet();
    }
}

#[kernel]
fn a_branch_that_all_take(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    if thread::block_idx_x() == 0 {
        y.store(i as usize, step(i));
    } else {
        y.store(i as usize, step(i + 1));
    }
}

#[kernel]
fn a_barrier_called_in_a_match(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let value = match i % 2 {
        0 => step(1), // apart
        _ => step(2), // apart
    };
    y.store(i as usize, value);
}

/// A faulty kernel. The first thread calls `step` in the second condition, and the other threads call it in the first
/// condition.
#[kernel]
fn a_barrier_behind_a_condition(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let is_first = i == 0;
    // apart
    if is_first || step(i) > 90 {
        y.store(i as usize, 1);
    }
    // apart
    if is_first && step(i) > 90 {
        y.store(i as usize, 2);
    }
}

/// A faulty kernel. All lanes execute the same number of barriers, but in different iterations.
#[kernel]
fn a_lane_skips_another_iteration(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    // apart
    for round in 0..4 {
        if round == u32::from(i == 0) {
            continue;
        }
        thread::sync_threads();
    }
    y.store(i as usize, i);
}

#[kernel]
fn all_skip_the_same_iteration(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    for round in 0..4 {
        if round == thread::block_dim_x() % 3 {
            continue;
        }
        thread::sync_threads();
    }
    y.store(i as usize, i);
}

#[kernel]
fn a_warp_skips_another_iteration(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    for round in 0..4 {
        if round == u32::from(i < 32) {
            continue;
        }
        thread::sync_threads();
    }
    y.store(i as usize, i);
}

#[kernel]
fn a_lane_waits_for_a_round(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let mut rounds = 0;
    // apart
    loop {
        rounds += 1;
        if i % 32 == 3 && rounds == 1 {
            continue;
        }
        meet();
        break;
    }
    y.store(i as usize, rounds);
}

/// A race-free kernel. Each lane runs a different number of iterations. Then all lanes reach the barrier.
#[kernel]
fn loops_of_their_own_before_it(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let mut sum = 0;
    for round in 0..2 {
        let mut left = i + round;
        while left > 0 {
            sum += left;
            left -= 1;
        }
        meet();
    }
    y.store(i as usize, sum);
}

#[kernel]
fn barriers_in_nested_loops(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    for _ in 0..3 {
        let mut width = thread::block_dim_x();
        while width > 1 {
            width /= 2;
            if i < width {
                y.store(i as usize, y.load(i as usize) + 1);
            }
            thread::sync_threads();
        }
    }
}

/// A faulty kernel. One lane leaves the inner loop one iteration early, and executes the missing barrier in the next
/// round.
#[kernel]
fn a_lane_ahead_in_the_outer_loop(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    for round in 0..2 {
        let inner = if i == 0 { 1 + round } else { 2 - round };
        // apart
        for _ in 0..inner {
            thread::sync_threads();
        }
    }
    y.store(i as usize, i);
}
