//! Tests the checker on scopes. Two fences or two atomics synchronise only if the scope of each includes the thread of
//! the other.

use cuda_std::{GlobalMut, fence, fence_block, fence_system, kernel, thread, warp};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

/// Returns a launch configuration of one block of two warps. Threads 0 and 32 communicate.
fn block() -> LaunchConfig {
    LaunchConfig::new(1, 64)
}

/// Returns a launch configuration of two blocks of one thread. The two threads communicate.
fn blocks() -> LaunchConfig {
    LaunchConfig::new(2, 1)
}

cases! {
    "scopes.rs";
    block_fences_within_a_block: RaceFree, |device| launch!(device, block(), block_fences_within_a_block, 1, 1);
    a_block_fence_by_the_writer: Race("value"), |device| launch!(device, blocks(), a_block_fence_by_the_writer, 1, 1);
    a_block_fence_by_the_reader: Race("value"), |device| launch!(device, blocks(), a_block_fence_by_the_reader, 1, 1);
    system_and_device_fences: RaceFree, |device| launch!(device, blocks(), system_and_device_fences, 1, 1);
    matched_lanes: RaceFree, |device| launch!(device, LaunchConfig::new(1, 32), matched_lanes, 32);
    matched_lanes_across_groups: Race("y"), |device| launch!(device, LaunchConfig::new(1, 32), matched_lanes_across_groups, 32);
}

// Sound: both fences have block scope, which includes both threads.
#[kernel]
fn block_fences_within_a_block(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match thread::thread_idx_x() {
        0 => {
            value.store(0, 42);
            fence_block();
            flag.store_relaxed(0, 1);
        }
        32 => {
            while flag.load_relaxed(0) == 0 {}
            fence_block();
            assert!(value.load(0) == 42);
        }
        _ => {}
    }
}

// Faulty: the writer's fence does not include the reader's block, so the fences are not morally strong.
#[kernel]
fn a_block_fence_by_the_writer(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        value.store(0, 42); // race
        fence_block();
        flag.store_relaxed(0, 1);
    } else {
        while flag.load_relaxed(0) == 0 {}
        fence();
        let found = value.load(0); // race
        assert!(found == 42);
    }
}

// Faulty: the reader's fence does not include the writer's block.
#[kernel]
fn a_block_fence_by_the_reader(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        value.store(0, 42); // race
        fence();
        flag.store_relaxed(0, 1);
    } else {
        while flag.load_relaxed(0) == 0 {}
        fence_block();
        let found = value.load(0); // race
        assert!(found == 42);
    }
}

// Sound: the scopes of both fences, the system and the device, include both blocks.
#[kernel]
fn system_and_device_fences(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        value.store(0, 42);
        fence_system();
        flag.store_relaxed(0, 1);
    } else {
        while flag.load_relaxed(0) == 0 {}
        fence();
        assert!(value.load(0) == 42);
    }
}

// Sound: the lanes that `match_any` found synchronise. Lane ^ 4 is one of them, because it has the same key.
#[kernel]
fn matched_lanes(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    let peers = warp::match_any(warp::FULL_MASK, lane % 4);
    y.store(lane as usize, 1);
    warp::sync_warp(peers);
    assert!(y.load(lane as usize ^ 4) == 1);
}

// Faulty: lane ^ 1 has another key and synchronises with other lanes.
#[kernel]
fn matched_lanes_across_groups(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    let peers = warp::match_any(warp::FULL_MASK, lane % 4);
    y.store(lane as usize, 1); // race
    warp::sync_warp(peers);
    let other = y.load(lane as usize ^ 1); // race
    assert!(other < 2);
}
