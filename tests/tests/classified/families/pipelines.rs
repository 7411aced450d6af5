//! Tiles of shared memory that are filled again and again: by loads, by asynchronous copies, and by other warps at
//! barriers in shared memory; and parts of dynamic shared memory. Each launch has one block.

use cuda_std::barrier::Barrier;
use cuda_std::{AsyncCopies, GlobalMut, dynamic_shared, kernel, shared_array, thread, warp};

use super::Verdict::{Faulty, Sound};
use super::{By, Kind, grid, race};

families! {
    "pipelines.rs";
    "reuse by asynchronous copies" {
        a_stage_refilled_while_read: race("tile"), of grid(1, 64), NUMBERS, [0; 256], |y| y == reversed();
        a_stage_refilled_after_a_barrier: Sound, of grid(1, 64), NUMBERS, [0; 256], |y| y == reversed();
        the_last_stage_not_waited_for: Faulty(Kind::Uninitialised, "tile", By::Every),
            of grid(1, 64), NUMBERS, [0; 256], |y| y == own();
        the_last_stage_waited_for: Sound, of grid(1, 64), NUMBERS, [0; 256], |y| y == own();
        copies_that_arrive_unwaited: race("tile"), of grid(1, 64), NUMBERS, [0; 64], |y| y[0] == 252;
        copies_that_arrive: Sound, of grid(1, 64), NUMBERS, [0; 64], |y| y[0] == 252;
    }
    "overlapping parts" {
        a_part_behind_bytes: race("keys"), of grid(1, 64).shared_bytes(768), [0; 1], [0; 64], |y| y == [3; 64];
        a_part_behind_elements: Sound, of grid(1, 64).shared_bytes(768), [0; 1], [0; 64], |y| y == [3; 64];
        a_row_too_short: race("rows"),
            of grid(1, (16, 4)).shared_bytes(256), [0; 1], [0; 64], |y| y.iter().sum::<u32>() == 2016;
        a_row_long_enough: Sound,
            of grid(1, (16, 4)).shared_bytes(256), [0; 1], [0; 64], |y| y.iter().sum::<u32>() == 2016;
    }
    "barriers in shared memory" {
        an_arrival_for_a_warp: race("tile"), of grid(1, 64), [0; 1], [0; 32], |y| y == [1; 32];
        an_arrival_behind_a_warp: Sound, of grid(1, 64), [0; 1], [0; 32], |y| y == [1; 32];
        one_parity_for_all_rounds: race("tile"), of grid(1, 64), [0; 1], [0; 64], |y| y == [7; 64];
        a_parity_for_each_round: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y == [7; 64];
        a_count_of_all_threads: Faulty(Kind::NoProgress, "", By::Every),
            of grid(1, 64), [0; 1], [0; 32], |y| y == [1; 32];
        a_count_without_those_who_leave: Sound, of grid(1, 64), [0; 1], [0; 32], |y| y == [1; 32];
    }
    "tiles loaded again" {
        a_tile_loaded_too_early: race("tile"), of grid(1, 64), NUMBERS, [0; 64], |y| y[0] == 32640;
        a_tile_loaded_after_a_barrier: Sound, of grid(1, 64), NUMBERS, [0; 64], |y| y[0] == 32640;
        tiles_loaded_in_turn: Sound, of grid(1, 64), NUMBERS, [0; 64], |y| y[0] == 32640;
        a_window_moved_in_place: race("window"), of grid(1, 64), [0; 1], [0; 64], |y| y[0] == 2;
        a_window_moved_by_registers: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y[0] == 2;
    }
}

/// The numbers from 0 to 255.
const NUMBERS: [u32; 256] = {
    let mut numbers = [0; 256];
    let mut i = 0;
    while i < 256 {
        numbers[i] = i as u32;
        i += 1;
    }
    numbers
};

/// Returns the first numbers of the vectors of `NUMBERS`, reversed in each stage of 64 threads.
fn reversed() -> Vec<u32> {
    let stage = |first: u32| (0..64).map(move |i| first + 63 - i);
    (0..4).flat_map(|i| stage(64 * i)).collect()
}

/// Returns `NUMBERS` as each thread stores its vectors.
fn own() -> Vec<u32> {
    NUMBERS.to_vec()
}

// Faulty: without a barrier behind the loads, the next copy may fill the tile while other threads still read it.
#[kernel]
fn a_stage_refilled_while_read(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 16], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    for stage in 0..4 {
        if i < 16 {
            copies.copy_written(x, 16 * stage + i, tile, i); // fault
        }
        copies.commit();
        copies.wait::<0>();
        thread::sync_threads();
        let found = tile.load((63 - i) / 4)[(63 - i) % 4]; // fault
        y.store(64 * stage + i, found);
    }
}

// Sound: a barrier at the end of each stage.
#[kernel]
fn a_stage_refilled_after_a_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 16], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    for stage in 0..4 {
        if i < 16 {
            copies.copy_written(x, 16 * stage + i, tile, i);
        }
        copies.commit();
        copies.wait::<0>();
        thread::sync_threads();
        y.store(64 * stage + i, tile.load((63 - i) / 4)[(63 - i) % 4]);
        thread::sync_threads();
    }
}

// Faulty: in the last stage no younger group exists, so that `wait::<1>` does not wait for the group that is read.
#[kernel]
fn the_last_stage_not_waited_for(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    if i < 32 {
        let mut copies = AsyncCopies::new();
        copies.copy_written(x, i, tile, i);
        copies.commit();
        for stage in 0..2 {
            if stage == 0 {
                copies.copy_written(x, 32 + i, tile, 32 + i); // fault
                copies.commit();
            }
            copies.wait::<1>();
            let found = tile.load(32 * stage + i); // fault
            y.store_vec(32 * stage + i, found);
        }
        copies.wait::<0>();
    }
}

// Sound: an empty group in the last stage keeps the number of younger groups at one.
#[kernel]
fn the_last_stage_waited_for(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    if i < 32 {
        let mut copies = AsyncCopies::new();
        copies.copy_written(x, i, tile, i);
        copies.commit();
        for stage in 0..2 {
            if stage == 0 {
                copies.copy_written(x, 32 + i, tile, 32 + i);
            }
            copies.commit();
            copies.wait::<1>();
            y.store_vec(32 * stage + i, tile.load(32 * stage + i));
        }
    }
}

/// Returns an initialised barrier in shared memory for `count` arrivals per phase.
#[cuda_std::device]
fn barrier(count: u32) -> Barrier {
    let barrier = Barrier::at(shared_array![u64; 1], 0);
    if thread::index_in_block() == 0 {
        barrier.init(count);
    }
    thread::sync_threads();
    barrier
}

// Faulty: the reader does not wait for the phase that the copies complete.
#[kernel]
fn copies_that_arrive_unwaited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    tile.store(i, [0; 4]);
    let full = barrier(64);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i); // fault
    copies.arrive(full);
    let found = tile.load(63 - i); // fault
    y.store(i, found[0]);
    full.wait_parity(false);
}

// Sound: the barrier's phase ends when all copies are complete, and the wait acquires them.
#[kernel]
fn copies_that_arrive(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let full = barrier(64);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i);
    copies.arrive(full);
    full.wait_parity(false);
    y.store(i, tile.load(63 - i)[0]);
}

// Faulty: 16 elements of 8 bytes precede the second part, but the first one has 256 bytes.
#[kernel]
fn a_part_behind_bytes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    let keys = dynamic_shared::<u32>().part(0, 64);
    let values = dynamic_shared::<u64>().part(16, 64);
    keys.store(i, 1); // fault
    values.store(i, 2); // fault
    thread::sync_threads();
    y.store(i, keys.load(i) + values.load(i) as u32);
}

// Sound: 32 elements of 8 bytes precede the second part.
#[kernel]
fn a_part_behind_elements(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    let keys = dynamic_shared::<u32>().part(0, 64);
    let values = dynamic_shared::<u64>().part(32, 64);
    keys.store(i, 1);
    values.store(i, 2);
    thread::sync_threads();
    y.store(i, keys.load(i) + values.load(i) as u32);
}

// Faulty: rows of 15 elements overlap if a row has 16 threads.
#[kernel]
fn a_row_too_short(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (column, row) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let rows = dynamic_shared::<u32>().named("rows");
    rows.store(15 * row + column, (16 * row + column) as u32); // fault
    thread::sync_threads();
    y.store(16 * row + column, rows.load(15 * row + column));
}

// Sound: each row has an element per thread.
#[kernel]
fn a_row_long_enough(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (column, row) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let rows = dynamic_shared::<u32>().named("rows");
    rows.store(16 * row + column, (16 * row + column) as u32);
    thread::sync_threads();
    y.store(16 * row + column, rows.load(16 * row + column));
}

// Faulty: one lane arrives for its warp, but nothing orders the stores of the other lanes before that arrival.
#[kernel]
fn an_arrival_for_a_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    if i < 32 {
        tile.store(i, 0);
    }
    let full = barrier(1);
    if i < 32 {
        tile.store(i, 1); // fault
        if i == 0 {
            let _ = full.arrive();
        }
    } else {
        full.wait_parity(false);
        let found = tile.load(63 - i); // fault
        y.store(i - 32, found);
    }
}

// Sound: the warp synchronises before its lane arrives.
#[kernel]
fn an_arrival_behind_a_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    let full = barrier(1);
    if i < 32 {
        tile.store(i, 1);
        warp::sync_warp(warp::FULL_MASK);
        if i == 0 {
            let _ = full.arrive();
        }
    } else {
        full.wait_parity(false);
        y.store(i - 32, tile.load(63 - i));
    }
}

// Faulty: in the second round the first phase has already ended, so that no thread waits for the second one.
#[kernel]
fn one_parity_for_all_rounds(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 128], thread::thread_idx_x() as usize);
    tile.store(i, 0);
    tile.store(64 + i, 0);
    let full = barrier(64);
    for round in 0..2 {
        tile.store(64 * round + i, 7); // fault
        let _ = full.arrive();
        full.wait_parity(false);
        let found = tile.load(64 * round + 63 - i); // fault
        y.store(i, found);
    }
}

// Sound: the parity of the awaited phase alternates.
#[kernel]
fn a_parity_for_each_round(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 128], thread::thread_idx_x() as usize);
    let full = barrier(64);
    for round in 0..2 {
        tile.store(64 * round + i, 7);
        let _ = full.arrive();
        full.wait_parity(round == 1);
        y.store(i, tile.load(64 * round + 63 - i));
    }
}

// Faulty: half of the threads return before they arrive, but the barrier counts all of them.
#[kernel]
fn a_count_of_all_threads(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    let full = barrier(64);
    if i >= 32 {
        return;
    }
    tile.store(i, 1);
    full.arrive_and_wait(); // fault
    y.store(i, tile.load(31 - i));
}

// Sound: a thread that leaves drops out of the count.
#[kernel]
fn a_count_without_those_who_leave(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    let full = barrier(64);
    if i >= 32 {
        let _ = full.arrive_and_drop();
        return;
    }
    tile.store(i, 1);
    full.arrive_and_wait();
    y.store(i, tile.load(31 - i));
}

// Faulty: a thread that is done with a tile stores the next one while others still read.
#[kernel]
fn a_tile_loaded_too_early(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    let mut sum = 0;
    for step in 0..4 {
        tile.store(i, x.load(64 * step + i)); // fault
        thread::sync_threads();
        // fault
        sum += (0..64).map(|k| tile.load(k)).sum::<u32>();
    }
    y.store(i, sum);
}

// Sound: a second barrier orders the loads before the stores of the next step.
#[kernel]
fn a_tile_loaded_after_a_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    let mut sum = 0;
    for step in 0..4 {
        tile.store(i, x.load(64 * step + i));
        thread::sync_threads();
        sum += (0..64).map(|k| tile.load(k)).sum::<u32>();
        thread::sync_threads();
    }
    y.store(i, sum);
}

// Sound: with two tiles in turn, the barrier of the next step orders the loads before the tile's next stores.
#[kernel]
fn tiles_loaded_in_turn(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tiles, i) = (shared_array![u32; 128], thread::thread_idx_x() as usize);
    let mut sum = 0;
    for step in 0..4 {
        let tile = tiles.part(64 * (step % 2), 64);
        tile.store(i, x.load(64 * step + i));
        thread::sync_threads();
        sum += (0..64).map(|k| tile.load(k)).sum::<u32>();
    }
    y.store(i, sum);
}

// Faulty: a thread may overwrite an element that its neighbour has yet to move.
#[kernel]
fn a_window_moved_in_place(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (window, i) = (shared_array![u32; 66], thread::thread_idx_x() as usize);
    window.store(i, i as u32);
    if i < 2 {
        window.store(64 + i, 64 + i as u32);
    }
    thread::sync_threads();
    window.store(i, window.load(i + 2)); // fault
    thread::sync_threads();
    y.store(i, window.load(i));
}

// Sound: all threads load before any of them stores.
#[kernel]
fn a_window_moved_by_registers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (window, i) = (shared_array![u32; 66], thread::thread_idx_x() as usize);
    window.store(i, i as u32);
    if i < 2 {
        window.store(64 + i, 64 + i as u32);
    }
    thread::sync_threads();
    let moved = window.load(i + 2);
    thread::sync_threads();
    window.store(i, moved);
    thread::sync_threads();
    y.store(i, window.load(i));
}
