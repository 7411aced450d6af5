//! Tests the checker on accesses to bytes and half-words of one word, and on vector accesses next to scalar accesses.
//! Accesses conflict only if they overlap by at least one byte.

use cuda_std::{GlobalMut, kernel, shared_array, thread, warp};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

/// Returns a launch configuration of one block of one warp.
fn warp() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

cases! {
    "subwords.rs";
    halves_of_one_word: RaceFree, |device| launch!(device, warp(), halves_of_one_word, 32);
    a_half_two_lanes: Race("words"), |device| launch!(device, warp(), a_half_two_lanes, 32);
    a_half_over_its_word: Race("words"), |device| launch!(device, warp(), a_half_over_its_word, 32);
    a_half_beside_the_word: RaceFree, |device| launch!(device, warp(), a_half_beside_the_word, 32);
    the_last_byte_of_a_word: Race("words"), |device| launch!(device, warp(), the_last_byte_of_a_word, 32);
    the_byte_after_a_word: RaceFree, |device| launch!(device, warp(), the_byte_after_a_word, 32);
    sixteen_bytes_and_the_last: Race("y"), |device| launch!(device, warp(), sixteen_bytes_and_the_last, 8);
    sixteen_bytes_and_the_next: RaceFree, |device| launch!(device, warp(), sixteen_bytes_and_the_next, 8);
    a_vector_load_over_a_store: Race("y"), |device| launch!(device, warp(), a_vector_load_over_a_store, 8);
    a_vector_load_after_a_warp_sync: RaceFree, |device| launch!(device, warp(), a_vector_load_after_a_warp_sync, 8);
    a_vector_load_after_others_sync: Race("y"), |device| launch!(device, warp(), a_vector_load_after_others_sync, 8);
    a_phase_that_reuses_its_tile: RaceFree, |device| launch!(device, LaunchConfig::new(1, 64), a_phase_that_reuses_its_tile, 64);
    a_phase_that_reuses_too_early: Race("tile"), |device| launch!(device, LaunchConfig::new(1, 64), a_phase_that_reuses_too_early, 64);
    two_tiles_in_turn: RaceFree, |device| launch!(device, LaunchConfig::new(1, 64), two_tiles_in_turn, 64);
    vectors_that_only_read: RaceFree, |device| launch!(device, warp(), vectors_that_only_read, 8);
    a_mask_without_the_reader: Race("y"), |device| launch!(device, warp(), a_mask_without_the_reader, 8);
}

// Sound: the lanes store disjoint bytes, so no two stores conflict.
#[kernel]
fn halves_of_one_word(y: GlobalMut<u32>) {
    let words = shared_array![u32; 16];
    let lane = thread::thread_idx_x() as usize;
    words.cast::<u16>().store(lane, 1);
    thread::sync_threads();
    y.store(lane, words.load(lane / 2));
}

// Faulty: two lanes store to the same half-word without order.
#[kernel]
fn a_half_two_lanes(_y: GlobalMut<u32>) {
    let words = shared_array![u32; 16];
    words.cast::<u16>().store(thread::thread_idx_x() as usize / 2, 1); // race
}

// Faulty: the half-word overlaps word 3, and the two lanes are not ordered.
#[kernel]
fn a_half_over_its_word(_y: GlobalMut<u32>) {
    let words = shared_array![u32; 16];
    match thread::thread_idx_x() {
        0 => words.store(3, 1),               // race
        1 => words.cast::<u16>().store(7, 1), // race
        _ => {}
    }
}

// Sound: half-word 8 is the first one of word 4, and word 3 ends before it.
#[kernel]
fn a_half_beside_the_word(_y: GlobalMut<u32>) {
    let words = shared_array![u32; 16];
    match thread::thread_idx_x() {
        0 => words.store(3, 1),
        1 => words.cast::<u16>().store(8, 1),
        _ => {}
    }
}

// Faulty: byte 15 is the last byte of word 3. An overlap of one byte is a conflict.
#[kernel]
fn the_last_byte_of_a_word(_y: GlobalMut<u32>) {
    let words = shared_array![u32; 16];
    match thread::thread_idx_x() {
        0 => words.store(3, 1),               // race
        1 => words.cast::<u8>().store(15, 1), // race
        _ => {}
    }
}

// Sound: byte 16 belongs to word 4.
#[kernel]
fn the_byte_after_a_word(_y: GlobalMut<u32>) {
    let words = shared_array![u32; 16];
    match thread::thread_idx_x() {
        0 => words.store(3, 1),
        1 => words.cast::<u8>().store(16, 1),
        _ => {}
    }
}

// Faulty: a vector access counts as one scalar access per element, so two stores to element 3 are not ordered.
#[kernel]
fn sixteen_bytes_and_the_last(y: GlobalMut<u32>) {
    match thread::thread_idx_x() {
        0 => y.store_vec(0, [1; 4]), // race
        1 => y.store(3, 2),          // race
        _ => {}
    }
}

// Sound: the last element of the vector is element 3.
#[kernel]
fn sixteen_bytes_and_the_next(y: GlobalMut<u32>) {
    match thread::thread_idx_x() {
        0 => y.store_vec(0, [1; 4]),
        1 => y.store(4, 2),
        _ => {}
    }
}

// Faulty: a store and a vector load that contains the stored element are not ordered.
#[kernel]
fn a_vector_load_over_a_store(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane == 0 {
        y.store(6, 1); // race
    } else if lane == 1 {
        let four = y.load_vec::<4>(1); // race
        assert!(four[2] < 2);
    }
}

// Sound: `bar.warp.sync` is morally strong between all its lanes, so the store comes before the load.
#[kernel]
fn a_vector_load_after_a_warp_sync(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane == 0 {
        y.store(6, 1);
    }
    warp::sync_warp(warp::FULL_MASK);
    if lane == 1 {
        assert!(y.load_vec::<4>(1)[2] == 1);
    }
}

// Faulty: the lane that reads and the lane that writes take part in different synchronisations.
#[kernel]
fn a_vector_load_after_others_sync(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane == 0 {
        y.store(6, 1); // race
    }
    warp::sync_warp(if lane < 16 { 0x0000_FFFF } else { 0xFFFF_0000 });
    if lane == 16 {
        let four = y.load_vec::<4>(1); // race
        assert!(four[2] < 2);
    }
}

// Sound: a barrier separates each phase's loads from the next phase's stores.
#[kernel]
fn a_phase_that_reuses_its_tile(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 64];
    let thread = thread::thread_idx_x() as usize;
    for phase in 0..3 {
        tile.store(thread, phase);
        thread::sync_threads();
        y.store(thread, tile.load(63 - thread));
        thread::sync_threads();
    }
}

// Faulty: a load of one phase is not ordered before the store of another thread in the next phase.
#[kernel]
fn a_phase_that_reuses_too_early(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 64];
    let thread = thread::thread_idx_x() as usize;
    for phase in 0..3 {
        tile.store(thread, phase); // race
        thread::sync_threads();
        let other = tile.load(63 - thread); // race
        y.store(thread, other);
    }
}

// Sound: a tile is written again only after the barrier of the next phase, which comes after the tile's loads.
#[kernel]
fn two_tiles_in_turn(y: GlobalMut<u32>) {
    let tiles = shared_array![u32; 128];
    let thread = thread::thread_idx_x() as usize;
    for phase in 0..4 {
        let first = phase % 2 * 64;
        tiles.store(first + thread, 1);
        thread::sync_threads();
        y.store(thread, tiles.load(first + 63 - thread));
    }
}

// Sound: two loads never conflict.
#[kernel]
fn vectors_that_only_read(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x() as usize;
    assert!(y.load_vec::<4>(lane % 2)[0] == y.load(lane % 8));
}

// Faulty: lanes 0 and 1 synchronise, but lane 2, which reads, does not take part.
#[kernel]
fn a_mask_without_the_reader(y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane == 0 {
        y.store(0, 1); // race
    }
    if lane < 2 {
        warp::sync_warp(0b11);
    } else if lane == 2 {
        let found = y.load(0); // race
        assert!(found < 2);
    }
}
