//! Tests the checker on bulk copies to shared memory: on the bytes that barriers count, and on the wait for a copy. The
//! classes follow from the PTX manual.

use cuda_std::barrier::{self, Barrier};
use cuda_std::{GlobalMut, Shared, bulk, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Misuse, Race, RaceFree, Stuck};

/// The number of elements of a tile.
const TILE: usize = 64;
/// The number of bytes of a tile.
const BYTES: u32 = 4 * TILE as u32;

/// Returns a launch configuration of one block of two warps.
fn two_warps() -> LaunchConfig {
    LaunchConfig::new(1, TILE as u32)
}

/// Returns barrier `index` of `words`, which every thread may use: each phase has `count` arrivals.
fn barrier_of(words: Shared<u64>, index: usize, count: u32) -> Barrier {
    let full = Barrier::at(words, index);
    if thread::index_in_block() == 0 {
        full.init(count);
        barrier::fence_init();
    }
    thread::sync_threads();
    full
}

cases! {
    "bulk_loads.rs";
    loaded_and_waited: RaceFree, |device| numbers!(device, two_warps(), loaded_and_waited, TILE, TILE);
    loaded_and_not_waited: Race("tile"), |device| numbers!(device, two_warps(), loaded_and_not_waited, TILE, TILE);
    waited_by_one_thread: Race("tile"), |device| numbers!(device, two_warps(), waited_by_one_thread, TILE, TILE);
    waited_by_one_thread_before_a_barrier: RaceFree, |device| numbers!(device, two_warps(), waited_by_one_thread_before_a_barrier, TILE, TILE);
    waited_for_the_other_parity: Race("tile"), |device| numbers!(device, two_warps(), waited_for_the_other_parity, TILE, TILE);
    two_halves: RaceFree, |device| numbers!(device, two_warps(), two_halves, TILE, TILE);
    one_half_expected: Race("tile"), |device| numbers!(device, two_warps(), one_half_expected, TILE, TILE);
    two_tiles_expected: Stuck, |device| numbers!(device, two_warps(), two_tiles_expected, TILE, TILE);
    expected_in_two_parts: RaceFree, |device| numbers!(device, two_warps(), expected_in_two_parts, TILE, TILE);
    not_expected: Race("tile"), |device| numbers!(device, two_warps(), not_expected, TILE, TILE);
    one_arrival_of_two: Stuck, |device| numbers!(device, two_warps(), one_arrival_of_two, TILE, TILE);
    two_producers: RaceFree, |device| numbers!(device, two_warps(), two_producers, TILE, TILE);
    stored_while_loading: Race("tile"), |device| numbers!(device, two_warps(), stored_while_loading, TILE, TILE);
    stored_after_loading: RaceFree, |device| numbers!(device, two_warps(), stored_after_loading, TILE, TILE);
    loaded_again_after_a_barrier: RaceFree, |device| numbers!(device, two_warps(), loaded_again_after_a_barrier, 2 * TILE, 2 * TILE);
    loaded_again_too_early: Race("tile"), |device| numbers!(device, two_warps(), loaded_again_too_early, 2 * TILE, 2 * TILE);
    loaded_again_after_arrivals: RaceFree, |device| numbers!(device, two_warps(), loaded_again_after_arrivals, 2 * TILE, 2 * TILE);
    loaded_again_after_the_arrivals_of_one_warp: Race("tile"), |device| numbers!(device, two_warps(), loaded_again_after_the_arrivals_of_one_warp, 2 * TILE, 2 * TILE);
    two_copies_to_one_place: Race("tile"), |device| numbers!(device, two_warps(), two_copies_to_one_place, TILE, TILE);
    not_waited_at_the_end: Misuse, |device| numbers!(device, two_warps(), not_waited_at_the_end, TILE, TILE);
    misaligned_tile: Misuse, |device| numbers!(device, two_warps(), misaligned_tile, TILE, TILE);
    misaligned_size: Misuse, |device| numbers!(device, two_warps(), misaligned_size, TILE, TILE);
}

// Sound: every thread waits for the phase.
#[kernel]
fn loaded_and_waited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false);
    y.store(i, tile.load(TILE - 1 - i));
}

// Faulty: the copy may still be in progress.
#[kernel]
fn loaded_and_not_waited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // race
        y.store(i, tile.load(i)); // race
    }
    full.wait_parity(false);
}

// Faulty: only the thread that begins the copy waits for it.
#[kernel]
fn waited_by_one_thread(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // race
        full.wait_parity(false);
    }
    y.store(i, if i == 0 { 0 } else { tile.load(i) }); // race
}

// Sound: the barrier orders all threads after the wait.
#[kernel]
fn waited_by_one_thread_before_a_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
        full.wait_parity(false);
    }
    thread::sync_threads();
    y.store(i, tile.load(TILE - 1 - i));
}

// Faulty: the wait for parity true returns at once, as if a phase before the first had ended.
#[kernel]
fn waited_for_the_other_parity(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    full.wait_parity(true);
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // race
    }
    thread::sync_threads();
    y.store(i, tile.load(i)); // race
}

// Sound: the phase expects the bytes of both copies.
#[kernel]
fn two_halves(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x.part(0, TILE / 2), tile.part(0, TILE / 2), full);
        bulk::load_written(x.part(TILE / 2, TILE / 2), tile.part(TILE / 2, TILE / 2), full);
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Faulty: the phase ends with the bytes of the first copy.
#[kernel]
fn one_half_expected(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES / 2);
        bulk::load_written(x.part(0, TILE / 2), tile.part(0, TILE / 2), full);
        bulk::load_written(x.part(TILE / 2, TILE / 2), tile.part(TILE / 2, TILE / 2), full); // race
    }
    full.wait_parity(false);
    y.store(i, if i < TILE / 2 { tile.load(i) } else { tile.load(i) }); // race
}

// Faulty: the phase waits for more bytes than the copy has.
#[kernel]
fn two_tiles_expected(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(2 * BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false); // stuck
    y.store(i, tile.load(i));
}

// Sound: the thread announces the bytes in two parts before it arrives.
#[kernel]
fn expected_in_two_parts(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        full.expect(BYTES / 2);
        bulk::load_written(x, tile, full);
        let _ = full.arrive_and_expect(BYTES / 2);
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Faulty: the phase ends with the arrival, because it expects no bytes.
#[kernel]
fn not_expected(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive();
        bulk::load_written(x, tile, full); // race
    }
    thread::sync_threads();
    full.wait_parity(false);
    y.store(i, tile.load(i)); // race
}

// Faulty: the barrier expects two arrivals, and one thread arrives.
#[kernel]
fn one_arrival_of_two(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 2);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false); // stuck
    y.store(i, tile.load(i));
}

// Sound: two threads announce and load a half each.
#[kernel]
fn two_producers(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 2);
    if i % 32 == 0 {
        let _ = full.arrive_and_expect(BYTES / 2);
        bulk::load_written(x.part(i, TILE / 2), tile.part(i, TILE / 2), full);
    }
    full.wait_parity(false);
    y.store(i, tile.load(TILE - 1 - i));
}

// Faulty: a thread stores to the tile while the copy writes it.
#[kernel]
fn stored_while_loading(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // race
    }
    thread::sync_threads();
    tile.store(i, 1); // race
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Sound: each thread stores after the wait.
#[kernel]
fn stored_after_loading(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false);
    tile.store(i, tile.load(i) + 1);
    y.store(i, tile.load(i));
}

// Sound: a barrier orders the loads of all threads before the next copy.
#[kernel]
fn loaded_again_after_a_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    for round in 0..2 {
        if i == 0 {
            let _ = full.arrive_and_expect(BYTES);
            bulk::load_written(x.part(round * TILE, TILE), tile, full);
        }
        full.wait_parity(round == 1);
        y.store(round * TILE + i, tile.load(TILE - 1 - i));
        thread::sync_threads();
    }
}

// Faulty: other threads may still read the tile when the next copy begins.
#[kernel]
fn loaded_again_too_early(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let words = shared_array![u64; 2];
    let full = [barrier_of(words, 0, 1), barrier_of(words, 1, 1)];
    for round in 0..2 {
        if i == 0 {
            let _ = full[round].arrive_and_expect(BYTES);
            bulk::load_written(x.part(round * TILE, TILE), tile, full[round]); // race
        }
        full[round].wait_parity(false);
        y.store(round * TILE + i, tile.load(TILE - 1 - i)); // race
    }
}

// Sound: the thread that loads waits until all threads have read the tile.
#[kernel]
fn loaded_again_after_arrivals(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let words = shared_array![u64; 2];
    let [full, empty] = [barrier_of(words, 0, 1), barrier_of(words, 1, TILE as u32)];
    for round in 0..2 {
        if i == 0 {
            empty.wait_parity(round == 0);
            let _ = full.arrive_and_expect(BYTES);
            bulk::load_written(x.part(round * TILE, TILE), tile, full);
        }
        full.wait_parity(round == 1);
        y.store(round * TILE + i, tile.load(TILE - 1 - i));
        let _ = empty.arrive();
    }
}

// Faulty: the thread that loads waits for the arrivals of its own warp only.
#[kernel]
fn loaded_again_after_the_arrivals_of_one_warp(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let words = shared_array![u64; 3];
    let full = [barrier_of(words, 0, 1), barrier_of(words, 1, 1)];
    let empty = barrier_of(words, 2, 32);
    for round in 0..2 {
        if i == 0 {
            empty.wait_parity(round == 0);
            let _ = full[round].arrive_and_expect(BYTES);
            bulk::load_written(x.part(round * TILE, TILE), tile, full[round]); // race
        }
        full[round].wait_parity(false);
        y.store(round * TILE + i, tile.load(TILE - 1 - i)); // race
        if i < 32 {
            let _ = empty.arrive();
        }
    }
}

// Faulty: nothing orders two copies to one tile.
#[kernel]
fn two_copies_to_one_place(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(2 * BYTES);
        bulk::load_written(x, tile, full); // race
        bulk::load_written(x, tile, full); // race
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Faulty: the block may end before the copy.
#[kernel]
fn not_waited_at_the_end(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // misuse
    }
    y.store(i, 1);
}

// Faulty: the tile begins at a multiple of 4 bytes only.
#[kernel]
fn misaligned_tile(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE + 1], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile.part(1, TILE), full); // misuse
    }
    full.wait_parity(false);
    y.store(i, tile.load(i + 1));
}

// Faulty: a copy has a multiple of 16 bytes.
#[kernel]
fn misaligned_size(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(24);
        bulk::load_written(x.part(0, 6), tile.part(0, 6), full); // misuse
    }
    full.wait_parity(false);
    y.store(i, if i < 6 { tile.load(i) } else { 0 });
}
