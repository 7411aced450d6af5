//! Moves of matrices between shared memory and the registers of a warp. The lane that passes a row's position makes the
//! access, and the instructions order no other accesses.

use cuda_std::tensor::matrix::{ldmatrix, stmatrix};
use cuda_std::{GlobalMut, Shared, device, kernel, shared_array, thread, warp};

use super::Verdict::{Faulty, Sound};
use super::products::PARTIAL;
use super::{By, Kind, grid, race};

families! {
    "matrices.rs";
    "matrices of a warp" {
        rows_of_other_lanes: race("tile"), of grid(1, 32), [0; 1], [0; 32], |y| y[0] == 0;
        rows_of_synchronised_lanes: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        rows_of_another_warp: race("tile"), of grid(1, 64), [0; 1], [0; 32], |y| y[4] == 10;
        rows_of_another_warp_behind_a_barrier: Sound, of grid(1, 64), [0; 1], [0; 32], |y| y[4] == 10;
        rows_of_20_bytes: Faulty(Kind::Misaligned, "tile", By::Every),
            of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        rows_of_48_bytes: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        a_row_past_the_end: Faulty(Kind::OutOfBounds, "tile", By::Every),
            of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        rows_up_to_the_end: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        a_row_that_no_lane_wrote: Faulty(Kind::Uninitialised, "tile", By::Every),
            of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        rows_that_no_lane_wrote_and_no_lane_loads: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        rows_overwritten_after_the_load: race("tile"), of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        rows_overwritten_behind_a_barrier: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        stored_rows_read_at_once: race("tile"), of grid(1, 32), [0; 1], [0; 32], |y| y[1] == 1;
        stored_rows_read_by_synchronised_lanes: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[1] == 1;
        two_matrices_stored_to_one_place: race("tile"), of grid(1, 32), [0; 1], [0; 32], |y| y[1] == 1;
        two_matrices_stored_apart: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[1] == 1;
        matrices_loaded_in_a_branch: PARTIAL, of grid(1, 32), [0; 1], [0; 32], |y| y[4] == 10;
        matrices_loaded_by_one_warp: Sound, of grid(1, 64), [0; 1], [0; 32], |y| y[4] == 10;
    }
}

/// Writes 10·`row` to 10·`row` + 3 to the elements of a row of 16 bytes.
#[device]
fn fill(tile: Shared<u32>, index: usize, row: usize) {
    for i in 0..4 {
        tile.store(index + i, (10 * row + i) as u32);
    }
}

// Faulty: each lane loads the row that another lane has stored.
#[kernel]
fn rows_of_other_lanes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![[u32; 4]; 32];
    let lane = warp::lane_id() as usize;
    tile.store(31 - lane, [lane as u32; 4]); // fault
    let [first, ..]: [u32; 4] = ldmatrix(tile.cast::<u32>(), 4 * lane); // fault
    y.store(lane, first);
}

// Sound: a warp synchronisation precedes the load.
#[kernel]
fn rows_of_synchronised_lanes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    fill(tile, 4 * (31 - lane), 31 - lane);
    warp::sync_warp(warp::FULL_MASK);
    let [first, ..]: [u32; 4] = ldmatrix(tile, 4 * lane);
    y.store(lane, first);
}

// Faulty: nothing orders the stores of the first warp before the loads of the second one.
#[kernel]
fn rows_of_another_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![[u32; 4]; 32];
    let lane = warp::lane_id() as usize;
    if warp::warp_id() == 0 {
        tile.store(lane, [10 * lane as u32; 4]); // fault
    } else {
        let [first, ..]: [u32; 4] = ldmatrix(tile.cast::<u32>(), 4 * lane); // fault
        y.store(lane, first);
    }
}

// Sound: a block barrier orders them.
#[kernel]
fn rows_of_another_warp_behind_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    if warp::warp_id() == 0 {
        fill(tile, 4 * lane, lane);
    }
    thread::sync_threads();
    if warp::warp_id() == 1 {
        let [first, ..]: [u32; 4] = ldmatrix(tile, 4 * lane);
        y.store(lane, first);
    }
}

// Faulty: a row must be at a multiple of 16 bytes.
#[kernel]
fn rows_of_20_bytes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 160];
    let lane = warp::lane_id() as usize;
    fill(tile, 5 * lane, lane);
    warp::sync_warp(warp::FULL_MASK);
    let [first]: [u32; 1] = ldmatrix(tile, 5 * lane); // fault
    y.store(lane, first);
}

// Sound: 48 bytes are three times 16.
#[kernel]
fn rows_of_48_bytes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 384];
    let lane = warp::lane_id() as usize;
    fill(tile, 12 * lane, lane);
    warp::sync_warp(warp::FULL_MASK);
    let [first, ..]: [u32; 4] = ldmatrix(tile, 12 * lane);
    y.store(lane, first);
}

// Faulty: the tile ends within the last row.
#[kernel]
fn a_row_past_the_end(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    fill(tile, 4 * lane, lane);
    warp::sync_warp(warp::FULL_MASK);
    let [first, ..]: [u32; 4] = ldmatrix(tile, 4 * lane + 4); // fault
    y.store(lane, first);
}

// Sound: the tile ends with the last row.
#[kernel]
fn rows_up_to_the_end(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    fill(tile, 4 * lane, lane);
    warp::sync_warp(warp::FULL_MASK);
    let matrices: [u32; 4] = ldmatrix(tile, 4 * lane);
    y.store(lane, matrices[0]);
}

// Faulty: the matrix has eight rows, and only seven are written.
#[kernel]
fn a_row_that_no_lane_wrote(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    if lane < 7 {
        fill(tile, 4 * lane, lane);
    }
    warp::sync_warp(warp::FULL_MASK);
    let [first]: [u32; 1] = ldmatrix(tile, 4 * (lane % 8)); // fault
    y.store(lane, first);
}

// Sound: one matrix has the rows of the first eight lanes, and the positions of the other lanes have no effect.
#[kernel]
fn rows_that_no_lane_wrote_and_no_lane_loads(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    if lane < 8 {
        fill(tile, 4 * lane, lane);
    }
    warp::sync_warp(warp::FULL_MASK);
    let [first]: [u32; 1] = ldmatrix(tile, 4 * lane);
    y.store(lane, first);
}

// Faulty: each lane overwrites a row that another lane has loaded.
#[kernel]
fn rows_overwritten_after_the_load(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![[u32; 4]; 32];
    let lane = warp::lane_id() as usize;
    tile.store(lane, [10 * lane as u32; 4]);
    warp::sync_warp(warp::FULL_MASK);
    let [first, ..]: [u32; 4] = ldmatrix(tile.cast::<u32>(), 4 * lane); // fault
    tile.store(31 - lane, [0; 4]); // fault
    y.store(lane, first);
}

// Sound: a warp synchronisation separates the load and the store.
#[kernel]
fn rows_overwritten_behind_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![[u32; 4]; 32];
    let lane = warp::lane_id() as usize;
    tile.store(lane, [10 * lane as u32; 4]);
    warp::sync_warp(warp::FULL_MASK);
    let [first, ..]: [u32; 4] = ldmatrix(tile.cast::<u32>(), 4 * lane);
    warp::sync_warp(warp::FULL_MASK);
    tile.store(31 - lane, [0; 4]);
    y.store(lane, first);
}

// Faulty: each lane reads a row that another lane has stored.
#[kernel]
fn stored_rows_read_at_once(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    stmatrix(tile, 4 * lane, [lane as u32; 4]); // fault
    let value = tile.load(4 * (lane ^ 8) + lane % 4); // fault
    y.store(lane, value);
}

// Sound: a warp synchronisation separates the store and the load.
#[kernel]
fn stored_rows_read_by_synchronised_lanes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    stmatrix(tile, 4 * lane, [lane as u32; 4]);
    warp::sync_warp(warp::FULL_MASK);
    y.store(lane, tile.load(lane));
}

// Faulty: the rows of both matrices are at the same addresses.
#[kernel]
fn two_matrices_stored_to_one_place(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    stmatrix(tile, 4 * (lane % 8), [lane as u32; 2]); // fault
    warp::sync_warp(warp::FULL_MASK);
    y.store(lane, tile.load(lane));
}

// Sound: the rows are apart.
#[kernel]
fn two_matrices_stored_apart(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    stmatrix(tile, 4 * (lane % 16), [lane as u32; 2]);
    warp::sync_warp(warp::FULL_MASK);
    y.store(lane, tile.load(lane));
}

// Faulty: only the lanes that pass rows execute `ldmatrix`.
#[kernel]
fn matrices_loaded_in_a_branch(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    fill(tile, 4 * lane, lane);
    warp::sync_warp(warp::FULL_MASK);
    let mut first = 0;
    if lane < 8 {
        [first] = ldmatrix::<1, _>(tile, 4 * lane); // fault
    }
    thread::sync_threads(); // fault
    y.store(lane, first);
}

// Sound: all lanes of a warp agree on the condition.
#[kernel]
fn matrices_loaded_by_one_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 128];
    let lane = warp::lane_id() as usize;
    if warp::warp_id() == 1 {
        fill(tile, 4 * lane, lane);
    }
    thread::sync_threads();
    if warp::warp_id() == 0 {
        let [first, ..]: [u32; 4] = ldmatrix(tile, 4 * lane);
        y.store(lane, first);
    }
}
