//! Kernels as in collections of benchmarks: stencils, alignments, sorts, factorisations, clusterings, and barriers of a
//! grid that a program makes itself.

use std::sync::atomic::Ordering::{AcqRel, Relaxed};

use cuda_std::{GlobalMut, kernel, shared_array, thread};

use super::Verdict::{Faulty, Sound};
use super::{By, Kind, grid, race};

families! {
    "simulations.rs";
    "stencils" {
        a_halo_without_a_barrier: race("tile"), of grid(1, 64), [1; 66], [0; 64], |y| y == [3; 64];
        a_halo_behind_a_barrier: Sound, of grid(1, 64), [1; 66], [0; 64], |y| y == [3; 64];
        smoothed_in_place: race("y"), of grid(2, 32), [0; 1], [2; 64], |y| y == [2; 64];
        smoothed_by_colours: Sound, of grid(1, 64), [0; 1], [2; 64], |y| y == [2; 64];
    }
    "wavefronts" {
        diagonals_without_barriers: race("table"), of grid(1, 8), [0; 1], [0; 1], |y| y == [3432];
        diagonals_with_barriers: Sound, of grid(1, 8), [0; 1], [0; 1], |y| y == [3432];
    }
    "sorts" {
        bitonic_without_barriers: race("keys"), of grid(1, 64), [0; 1], [0; 64], |y| y.is_sorted();
        bitonic_with_barriers: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y.is_sorted() && y[63] == 63;
        odd_and_even_in_one_round: race("keys"), of grid(1, 32), [0; 1], [0; 33], |y| y.is_sorted();
        odd_and_even_in_turn: Sound, of grid(1, 32), [0; 1], [0; 64], |y| y.is_sorted() && y[63] == 63;
    }
    "factorisations" {
        a_pivot_divided_while_used: race("y"), of grid(1, 4), [0; 1], [4, 8, 12, 16], |y| y == [1, 2, 3, 4];
        a_pivot_divided_after_its_use: Sound, of grid(1, 4), [0; 1], [4, 8, 12, 16], |y| y == [1, 2, 3, 4];
    }
    "clusterings" {
        centres_by_plain_additions: race("sums"), of grid(1, 64), [0; 1], [0; 4], |y| y == [480, 496, 512, 528];
        centres_by_updates: Sound, of grid(1, 64), [0; 1], [0; 4], |y| y == [480, 496, 512, 528];
        a_change_stored_by_all: race("y"), of grid(2, 32), [0; 1], [0; 1], |y| y == [1];
        a_change_stored_by_one: Sound, of grid(2, 32), [0; 1], [0; 1], |y| y == [1];
    }
    "barriers of a program's own" {
        counted_without_a_release: race("y"), of grid(3, 1).cooperative(), [0; 1], [0; 6], |y| y[3..] == [1; 3];
        counted_with_release_and_acquire: Sound, of grid(3, 1).cooperative(), [0; 1], [0; 6], |y| y[3..] == [1; 3];
        one_block_too_few: Faulty(Kind::NoProgress, "", By::Every),
            of grid(3, 1).cooperative(), [0; 1], [0; 6], |y| y[3..] == [1; 3];
    }
}

// Faulty: the last elements of the halo are stored by other threads, and no barrier precedes the loads.
#[kernel]
fn a_halo_without_a_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 66], thread::thread_idx_x() as usize);
    tile.store(i, 0);
    if i < 2 {
        tile.store(64 + i, 0);
    }
    thread::sync_threads();
    for k in (i..66).step_by(64) {
        tile.store(k, x.load(k)); // fault
    }
    let sum = tile.load(i) + tile.load(i + 1) + tile.load(i + 2); // fault
    y.store(i, sum);
}

// Sound: a barrier follows the stores of the tile and of its halo.
#[kernel]
fn a_halo_behind_a_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 66], thread::thread_idx_x() as usize);
    for k in (i..66).step_by(64) {
        tile.store(k, x.load(k));
    }
    thread::sync_threads();
    y.store(i, tile.load(i) + tile.load(i + 1) + tile.load(i + 2));
}

// Faulty: each thread loads neighbours that other threads store.
#[kernel]
fn smoothed_in_place(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let mean = (y.load((i + 63) % 64) + y.load((i + 1) % 64)) / 2; // fault
    y.store(i, mean); // fault
}

// Sound: a round stores either odd or even elements and loads only the other ones.
#[kernel]
fn smoothed_by_colours(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    for colour in 0..2 {
        if i % 2 == colour {
            y.store(i, (y.load((i + 63) % 64) + y.load((i + 1) % 64)) / 2);
        }
        thread::sync_threads();
    }
}

// Faulty: a cell needs its two neighbours of the previous diagonal, which other threads compute.
#[kernel]
fn diagonals_without_barriers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (table, row) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    (0..8).for_each(|column| table.store(8 * row + column, 1));
    thread::sync_threads();
    for diagonal in 2..15 {
        if row > 0 && diagonal > row && diagonal < row + 8 {
            let cell = 8 * row + diagonal - row;
            let sum = table.load(cell - 8) + table.load(cell - 1); // fault
            table.store(cell, sum); // fault
        }
    }
    thread::sync_threads();
    if row == 7 {
        y.store(0, table.load(63));
    }
}

// Sound: a barrier separates the diagonals.
#[kernel]
fn diagonals_with_barriers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (table, row) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    (0..8).for_each(|column| table.store(8 * row + column, 1));
    for diagonal in 2..15 {
        thread::sync_threads();
        if row > 0 && diagonal > row && diagonal < row + 8 {
            let cell = 8 * row + diagonal - row;
            table.store(cell, table.load(cell - 8) + table.load(cell - 1));
        }
    }
    if row == 7 {
        y.store(0, table.load(63));
    }
}

// Faulty: in the next step a pair has another thread's elements, and no barrier separates the steps.
#[kernel]
fn bitonic_without_barriers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (keys, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    keys.store(i, 63 - i as u32);
    thread::sync_threads();
    for size in [2, 4, 8, 16, 32, 64] {
        let mut distance = size / 2;
        while distance > 0 {
            let other = i ^ distance;
            if i < other {
                let pair = (keys.load(i), keys.load(other)); // fault
                let (low, high) = if i & size == 0 { (i, other) } else { (other, i) };
                [(low, pair.0.min(pair.1)), (high, pair.0.max(pair.1))].map(|(at, key)| keys.store(at, key)); // fault
            }
            distance /= 2;
        }
    }
    thread::sync_threads();
    y.store(i, keys.load(i));
}

// Sound: a barrier separates the steps.
#[kernel]
fn bitonic_with_barriers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (keys, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    keys.store(i, 63 - i as u32);
    for size in [2, 4, 8, 16, 32, 64] {
        let mut distance = size / 2;
        while distance > 0 {
            thread::sync_threads();
            let other = i ^ distance;
            if i < other {
                let pair = (keys.load(i), keys.load(other));
                let (low, high) = if i & size == 0 { (i, other) } else { (other, i) };
                keys.store(low, pair.0.min(pair.1));
                keys.store(high, pair.0.max(pair.1));
            }
            distance /= 2;
        }
    }
    thread::sync_threads();
    y.store(i, keys.load(i));
}

// Faulty: neighbouring pairs share an element.
#[kernel]
fn odd_and_even_in_one_round(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (keys, i) = (shared_array![u32; 33], thread::thread_idx_x() as usize);
    keys.store(i, 33 - i as u32);
    if i == 0 {
        keys.store(32, 0);
    }
    thread::sync_threads();
    let pair = (keys.load(i), keys.load(i + 1)); // fault
    [(i, pair.0.min(pair.1)), (i + 1, pair.0.max(pair.1))].map(|(at, key)| keys.store(at, key)); // fault
    thread::sync_threads();
    y.store(i, keys.load(i));
}

// Sound: the pairs of a round are disjoint, and a barrier separates the rounds.
#[kernel]
fn odd_and_even_in_turn(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (keys, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    keys.store(2 * i, 63 - 2 * i as u32);
    keys.store(2 * i + 1, 62 - 2 * i as u32);
    for round in 0..64 {
        thread::sync_threads();
        let first = 2 * i + round % 2;
        if first < 63 {
            let pair = (keys.load(first), keys.load(first + 1));
            keys.store(first, pair.0.min(pair.1));
            keys.store(first + 1, pair.0.max(pair.1));
        }
    }
    thread::sync_threads();
    y.store(2 * i, keys.load(2 * i));
    y.store(2 * i + 1, keys.load(2 * i + 1));
}

// Faulty: the pivot's own thread replaces it while other threads may still divide by it.
#[kernel]
fn a_pivot_divided_while_used(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    let quotient = y.load(i) / y.load(0); // fault
    y.store(i, quotient); // fault
}

// Sound: all threads load the pivot before the barrier, and then store.
#[kernel]
fn a_pivot_divided_after_its_use(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    let pivot = y.load(0);
    thread::sync_threads();
    y.store(i, y.load(i) / pivot);
}

// Faulty: the points of a cluster add to one sum by loads and stores.
#[kernel]
fn centres_by_plain_additions(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (sums, i) = (shared_array![u32; 4], thread::thread_idx_x() as usize);
    if i < 4 {
        sums.store(i, 0);
    }
    thread::sync_threads();
    let before = sums.load(i % 4); // fault
    sums.store(i % 4, before + i as u32); // fault
    thread::sync_threads();
    if i < 4 {
        y.store(i, sums.load(i));
    }
}

// Sound: each addition is one update.
#[kernel]
fn centres_by_updates(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (sums, i) = (shared_array![u32; 4], thread::thread_idx_x() as usize);
    if i < 4 {
        sums.store(i, 0);
    }
    thread::sync_threads();
    sums.atomic_add(i % 4, i as u32);
    thread::sync_threads();
    if i < 4 {
        y.store(i, sums.load(i));
    }
}

// Faulty: plain stores of the same value by several threads are a race, too.
#[kernel]
fn a_change_stored_by_all(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::thread_idx_x() % 3 == 1 {
        y.store(0, 1); // fault
    }
}

// Sound: one thread of the block stores for it, and the two blocks store by atomics.
#[kernel]
fn a_change_stored_by_one(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let has_changed = thread::sync_threads_or(thread::thread_idx_x() % 3 == 1);
    if has_changed && thread::thread_idx_x() == 0 {
        y.store_relaxed(0, 1);
    }
}

// Faulty: relaxed counts order nothing of what the blocks have stored.
#[kernel]
fn counted_without_a_release(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    y.store(block, 1); // fault
    x.atomic_add(0, 1);
    while x.load_relaxed(0) < 3 {}
    let other = y.load((block + 1) % 3); // fault
    y.store(3 + block, other);
}

// Sound: each count releases, and the wait acquires all of them, because each update reads the one before.
#[kernel]
fn counted_with_release_and_acquire(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    y.store(block, 1);
    x.atomic(0).fetch_add(1, AcqRel);
    while x.load_acquire(0) < 3 {}
    y.store(3 + block, y.load((block + 1) % 3));
}

// Faulty: the last block returns before it counts itself, and the others wait for it.
#[kernel]
fn one_block_too_few(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    if block == 2 {
        return;
    }
    y.store(block, 1);
    x.atomic(0).fetch_add(1, Relaxed);
    while x.load_acquire(0) < 3 {} // fault
    y.store(3 + block, y.load((block + 1) % 3));
}
