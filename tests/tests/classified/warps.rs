//! Tests the checker on warp synchronisations, shuffles and votes, and on their masks.

use cuda_std::{GlobalMut, kernel, shared_array, thread, warp};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

const LANES: usize = 32;

cases! {
    "warps.rs";
    warp_sync_then_neighbour: RaceFree, |device| launch!(device, LaunchConfig::new(2, 32), warp_sync_then_neighbour, 64);
    warp_neighbour_without_sync: Race("tile"), |device| launch!(device, LaunchConfig::new(2, 32), warp_neighbour_without_sync, 64);
    warp_sync_before_overwriting: RaceFree, |device| launch!(device, LaunchConfig::new(1, 32), warp_sync_before_overwriting, 32);
    warp_overwrites_too_early: Race("y"), |device| launch!(device, LaunchConfig::new(1, 32), warp_overwrites_too_early, 32);
    shuffle_as_synchronisation: RaceFree, strictly Race("y"), |device| launch!(device, LaunchConfig::new(1, 64), shuffle_as_synchronisation, 64);
    vote_as_synchronisation: RaceFree, strictly Race("y"), |device| launch!(device, LaunchConfig::new(1, 64), vote_as_synchronisation, 64);
    shuffle_of_values_alone: RaceFree, |device| launch!(device, LaunchConfig::new(3, 32), shuffle_of_values_alone, 96);
    shuffle_of_other_lanes: Race("y"), |device| launch!(device, LaunchConfig::new(1, 32), shuffle_of_other_lanes, 32);
    halves_of_a_warp_apart: RaceFree, |device| launch!(device, LaunchConfig::new(1, 32), halves_of_a_warp_apart, 32);
    halves_of_a_warp_across: Race("y"), |device| launch!(device, LaunchConfig::new(1, 32), halves_of_a_warp_across, 32);
    warp_sync_of_a_partial_warp: RaceFree, |device| launch!(device, LaunchConfig::new(1, 45), warp_sync_of_a_partial_warp, 45);
    warp_sync_across_warps: Race("y"), |device| launch!(device, LaunchConfig::new(1, 64), warp_sync_across_warps, 64);
    lanes_that_have_ended: Race("y"), |device| launch!(device, LaunchConfig::new(1, 32), lanes_that_have_ended, 32);
    tree_with_warp_syncs: RaceFree, |device| launch!(device, LaunchConfig::new(1, 32), tree_with_warp_syncs, 32);
    tree_without_the_last_warp_sync: Race("y"), |device| launch!(device, LaunchConfig::new(1, 32), tree_without_the_last_warp_sync, 32);
    warp_sync_in_both_arms: RaceFree, |device| launch!(device, LaunchConfig::new(1, 32), warp_sync_in_both_arms, 32);
    warp_sync_in_one_arm_of_two: Race("tile"), |device| launch!(device, LaunchConfig::new(1, 32), warp_sync_in_one_arm_of_two, 32);
    warp_sync_by_a_chain: RaceFree, |device| launch!(device, LaunchConfig::new(1, 32), warp_sync_by_a_chain, 32);
}

#[kernel]
fn warp_sync_then_neighbour(y: GlobalMut<u32>) {
    let tile = shared_array![u32; LANES];
    let lane = thread::thread_idx_x() as usize;
    tile.store(lane, 1);
    warp::sync_warp(warp::FULL_MASK);
    y.store(thread::index_1d(), tile.load((lane + 1) % LANES));
}

#[kernel]
fn warp_neighbour_without_sync(y: GlobalMut<u32>) {
    let tile = shared_array![u32; LANES];
    let lane = thread::thread_idx_x() as usize;
    tile.store(lane, 0);
    warp::sync_warp(warp::FULL_MASK);
    tile.store(lane, 1); // race
    let neighbour = tile.load((lane + 1) % LANES); // race
    y.store(thread::index_1d(), neighbour);
}

#[kernel]
fn warp_sync_before_overwriting(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    let neighbour = y.load((lane + 1) % LANES);
    warp::sync_warp(warp::FULL_MASK);
    y.store(lane, neighbour + 1);
}

#[kernel]
fn warp_overwrites_too_early(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    let neighbour = y.load((lane + 1) % LANES); // race
    y.store(lane, neighbour.wrapping_add(1)); // race
}

/// A kernel with a race under strict checks. Lanes write elements, shuffle, and then read the elements of other lanes.
#[kernel]
fn shuffle_as_synchronisation(y: GlobalMut<u32>) {
    let (thread, lane) = (thread::thread_idx_x() as usize, warp::lane_id() as usize);
    y.store(thread, 1); // race
    let first = warp::shuffle_idx(warp::FULL_MASK, thread as u32, 0) as usize;
    let other = y.load(first + (lane + 7) % LANES); // race
    assert!(other == 1);
}

#[kernel]
fn vote_as_synchronisation(y: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    y.store(thread, 1); // race
    let all = warp::ballot(warp::FULL_MASK, true);
    let other = y.load(thread ^ 5); // race
    assert!(all == warp::FULL_MASK && other == 1);
}

/// A race-free kernel. Its lanes exchange only registers.
#[kernel]
fn shuffle_of_values_alone(y: GlobalMut<u32>) {
    let mut value = warp::lane_id();
    let mut delta = 16;
    while delta > 0 {
        value += warp::shuffle_xor(warp::FULL_MASK, value, delta);
        delta /= 2;
    }
    y.store(thread::index_1d(), value);
}

/// A kernel with a race. The lower half of the warp shuffles, and the upper half reads the elements of the lower half.
#[kernel]
fn shuffle_of_other_lanes(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    if lane < 16 {
        y.store(lane, 1); // race
        warp::shuffle_idx(0x0000_FFFF, 1_u32, 0);
    } else {
        warp::shuffle_idx(0xFFFF_0000, 1_u32, 16);
        let other = y.load(lane - 16); // race
        y.store(lane, other);
    }
}

#[kernel]
fn halves_of_a_warp_apart(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    y.store(lane, 1);
    warp::sync_warp(if lane < 16 { 0x0000_FFFF } else { 0xFFFF_0000 });
    assert!(y.load(lane ^ 15) == 1);
}

#[kernel]
fn halves_of_a_warp_across(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    y.store(lane, 1); // race
    warp::sync_warp(if lane < 16 { 0x0000_FFFF } else { 0xFFFF_0000 });
    let other = y.load(lane ^ 16); // race
    assert!(other < 2);
}

#[kernel]
fn warp_sync_of_a_partial_warp(y: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    let threads = thread::block_size() as usize;
    y.store(thread, 1);
    warp::sync_warp(warp::mask_in_block(thread::block_size()));
    let first = thread / LANES * LANES;
    let lanes = LANES.min(threads - first);
    assert!(y.load(first + (thread - first + 1) % lanes) == 1);
}

#[kernel]
fn warp_sync_across_warps(y: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    y.store(thread, 1); // race
    warp::sync_warp(warp::FULL_MASK);
    let other = y.load(thread ^ 32); // race
    assert!(other < 2);
}

/// A kernel with a race. The warp synchronisation does not wait for lanes that have ended, so it does not order their
/// accesses.
#[kernel]
fn lanes_that_have_ended(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    if lane >= 16 {
        y.store(lane, 1); // race
        return;
    }
    warp::sync_warp(0x0000_FFFF);
    let other = y.load(lane + 16); // race
    assert!(other < 2);
}

#[kernel]
fn tree_with_warp_syncs(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    y.store(lane, 1);
    warp::sync_warp(warp::FULL_MASK);
    let mut stride = 16;
    while stride > 0 {
        if lane < stride {
            y.store(lane, y.load(lane) + y.load(lane + stride));
        }
        warp::sync_warp(warp::FULL_MASK);
        stride /= 2;
    }
    assert!(y.load(0) == 32);
}

#[kernel]
fn tree_without_the_last_warp_sync(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    y.store(lane, 1);
    warp::sync_warp(warp::FULL_MASK);
    let mut stride = 16;
    while stride > 1 {
        if lane < stride {
            y.store(lane, y.load(lane) + y.load(lane + stride));
        }
        warp::sync_warp(warp::FULL_MASK);
        stride /= 2;
    }
    if lane == 0 {
        y.store(0, 32); // race
    }
    let all = y.load(0); // race
    assert!(all > 1);
}

/// A race-free kernel. Lane 0 synchronises with lane 1, lane 1 with lane 2, and so on. This also orders lanes that do
/// not synchronise directly.
#[kernel]
fn warp_sync_by_a_chain(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane == 0 {
        y.store(0, 1);
    }
    for step in 0..7 {
        if lane == step || lane == step + 1 {
            warp::sync_warp(0b11 << step);
        }
    }
    if lane == 7 {
        assert!(y.load(0) == 1);
    }
}

// Sound: since sm_70, lanes synchronise if their masks are equal, even if they call from different places.
#[kernel]
fn warp_sync_in_both_arms(y: GlobalMut<u32>) {
    let tile = shared_array![u32; LANES];
    let lane = thread::thread_idx_x() as usize;
    if lane < 16 {
        tile.store(lane, 1);
        warp::sync_warp(warp::FULL_MASK);
        y.store(lane, tile.load(lane + 16));
    } else {
        tile.store(lane, 2);
        warp::sync_warp(warp::FULL_MASK);
        y.store(lane, tile.load(lane - 16));
    }
}

// Faulty: each half of the warp waits only for itself.
#[kernel]
fn warp_sync_in_one_arm_of_two(y: GlobalMut<u32>) {
    let tile = shared_array![u32; LANES];
    let lane = thread::thread_idx_x() as usize;
    tile.store(lane, 1); // race
    if lane < 16 {
        warp::sync_warp(0xFFFF);
    } else {
        warp::sync_warp(0xFFFF_0000);
    }
    y.store(lane, tile.load((lane + 16) % LANES)); // race
}
