//! Mistakes of the kind that libraries have had and mended: reductions that use their memory twice, the steps of a
//! softmax, the best of several blocks, and histograms.

use cuda_std::{GlobalMut, Shared, kernel, shared_array, thread, warp};

use super::Verdict::{Faulty, Sound, Wrong};
use super::{By, Kind, grid, race};

families! {
    "reductions.rs";
    "block reductions" {
        memory_used_twice: race("partial"), of grid(1, 64), [0; 1], [0; 64], |y| y == [2016 + 64; 64];
        memory_used_again_after_a_barrier: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y == [2016 + 64; 64];
        the_last_warp_unsynchronised: race("partial"), of grid(1, 32), [0; 1], [0; 1], |y| y == [496];
        the_last_warp_synchronised: Sound, of grid(1, 32), [0; 1], [0; 1], |y| y == [496];
        partial_sums_of_an_odd_warp: Faulty(Kind::Uninitialised, "partial", By::Every),
            of grid(1, 96), [0; 1], [0; 1], |y| y == [96];
        partial_sums_of_three_warps: Sound, of grid(1, 96), [0; 1], [0; 1], |y| y == [96];
    }
    "softmax" {
        the_sum_over_the_maximum: race("cell"), of grid(1, 64), [0; 1], [0; 64], |y| y == [63 + 64; 64];
        the_sum_after_the_maximum: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y == [63 + 64; 64];
        a_mean_not_waited_for: race("mean"), of grid(1, 64), [0; 1], [0; 64], |y| y[63] == 32;
        a_mean_waited_for: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y[63] == 32;
    }
    "top k" {
        the_best_by_value_and_place: Wrong(By::Some), of grid(4, 1), [5, 9, 2, 7], [0; 2], |y| y == [9, 1];
        the_best_by_one_word: Sound, of grid(4, 1), [5, 9, 2, 7], [0; 1], |y| y == [901];
        candidates_by_a_plain_count: race("count"),
            of grid(1, 64), [0; 1], [0; 64], |y| y.iter().sum::<u32>() == 2016 - 496;
        candidates_by_an_atomic_count: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y.iter().sum::<u32>() == 2016 - 496;
        candidates_counted_early: race("count"), of grid(1, 64), [0; 1], [0; 64], |y| y == [32; 64];
        candidates_counted_behind_a_barrier: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y == [32; 64];
    }
    "histograms" {
        bins_cleared_by_others: race("bins"), of grid(2, 64), [0; 1], [0; 16], |y| y == [8; 16];
        bins_cleared_before_a_barrier: Sound, of grid(2, 64), [0; 1], [0; 16], |y| y == [8; 16];
        bins_merged_by_plain_additions: race("y"), of grid(2, 16), [0; 1], [0; 16], |y| y == [2; 16];
        bins_merged_by_updates: Sound, of grid(2, 16), [0; 1], [0; 16], |y| y == [2; 16];
    }
}

/// Stores the value of each warp's sum, and returns the sum of both warps after a barrier. The block has two warps.
fn block_sum(partial: Shared<u32>, value: u32) -> u32 {
    let sum = warp::reduce_add(warp::FULL_MASK, value);
    if warp::lane_id() == 0 {
        partial.store(thread::thread_idx_x() as usize / 32, sum);
    }
    thread::sync_threads();
    partial.load(0) + partial.load(1)
}

// Faulty: the second reduction stores to the memory of the first one while other threads may still load from it.
#[kernel]
fn memory_used_twice(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (partial, i) = (shared_array![u32; 2], thread::thread_idx_x());
    let mut sums = 0;
    for value in [i, 1] {
        let sum = warp::reduce_add(warp::FULL_MASK, value);
        if i % 32 == 0 {
            partial.store(i as usize / 32, sum); // fault
        }
        thread::sync_threads();
        sums += partial.load(0) + partial.load(1); // fault
    }
    y.store(i as usize, sums);
}

// Sound: a barrier orders the loads of the first reduction before the stores of the second one.
#[kernel]
fn memory_used_again_after_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (partial, i) = (shared_array![u32; 2], thread::thread_idx_x());
    let first = block_sum(partial, i);
    thread::sync_threads();
    let second = block_sum(partial, 1);
    y.store(i as usize, first + second);
}

// Faulty: lanes do not run in lockstep, so that each step needs the synchronisation of the warp.
#[kernel]
fn the_last_warp_unsynchronised(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (partial, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    partial.store(i, i as u32);
    warp::sync_warp(warp::FULL_MASK);
    for distance in [16, 8, 4, 2, 1] {
        if i < distance {
            let other = partial.load(i + distance); // fault
            partial.store(i, partial.load(i) + other); // fault
        }
    }
    if i == 0 {
        y.store(0, partial.load(0));
    }
}

// Sound: the warp synchronises between the steps.
#[kernel]
fn the_last_warp_synchronised(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (partial, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    partial.store(i, i as u32);
    for distance in [16, 8, 4, 2, 1] {
        warp::sync_warp(warp::FULL_MASK);
        if i < distance {
            partial.store(i, partial.load(i) + partial.load(i + distance));
        }
    }
    if i == 0 {
        y.store(0, partial.load(0));
    }
}

// Faulty: the tree assumes four warps, and the fourth sum of three warps is never stored.
#[kernel]
fn partial_sums_of_an_odd_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (partial, i) = (shared_array![u32; 4], thread::thread_idx_x() as usize);
    let sum = warp::reduce_add(warp::FULL_MASK, 1_u32);
    if i % 32 == 0 {
        partial.store(i / 32, sum);
    }
    thread::sync_threads();
    if i == 0 {
        let sum = partial.load(0) + partial.load(1) + partial.load(2) + partial.load(3); // fault
        y.store(0, sum);
    }
}

// Sound: only the sums of existing warps are loaded.
#[kernel]
fn partial_sums_of_three_warps(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (partial, i) = (shared_array![u32; 4], thread::thread_idx_x() as usize);
    let sum = warp::reduce_add(warp::FULL_MASK, 1_u32);
    if i % 32 == 0 {
        partial.store(i / 32, sum);
    }
    thread::sync_threads();
    if i == 0 {
        y.store(0, (0..thread::block_size() as usize / 32).map(|warp| partial.load(warp)).sum());
    }
}

// Faulty: the first thread stores the sum where other threads have yet to load the maximum.
#[kernel]
fn the_sum_over_the_maximum(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (cell, i) = (shared_array![u32; 1], thread::thread_idx_x());
    if i == 0 {
        cell.store(0, 63);
    }
    thread::sync_threads();
    let most = cell.load(0); // fault
    if i == 0 {
        cell.store(0, 64); // fault
    }
    thread::sync_threads();
    y.store(i as usize, most + cell.load(0));
}

// Sound: a barrier follows the loads of the maximum.
#[kernel]
fn the_sum_after_the_maximum(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (cell, i) = (shared_array![u32; 1], thread::thread_idx_x());
    if i == 0 {
        cell.store(0, 63);
    }
    thread::sync_threads();
    let most = cell.load(0);
    thread::sync_threads();
    if i == 0 {
        cell.store(0, 64);
    }
    thread::sync_threads();
    y.store(i as usize, most + cell.load(0));
}

// Faulty: the first thread stores the mean, and the others load it without a barrier.
#[kernel]
fn a_mean_not_waited_for(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (mean, i) = (shared_array![u32; 1], thread::thread_idx_x());
    if i == 1 {
        mean.store(0, 0);
    }
    let sum = thread::sync_threads_count(i % 2 == 1);
    if i == 0 {
        mean.store(0, sum - 1); // fault
    }
    let difference = i.wrapping_sub(mean.load(0)); // fault
    y.store(i as usize, difference);
}

// Sound: a barrier behind the store.
#[kernel]
fn a_mean_waited_for(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (mean, i) = (shared_array![u32; 1], thread::thread_idx_x());
    let sum = thread::sync_threads_count(i % 2 == 1);
    if i == 0 {
        mean.store(0, sum - 1);
    }
    thread::sync_threads();
    y.store(i as usize, i.wrapping_sub(mean.load(0)));
}

// Faulty: another block may store a larger value between this block's update and its store of the place.
#[kernel]
fn the_best_by_value_and_place(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let place = thread::block_idx_x();
    let value = x.load(place as usize);
    if y.atomic_max(0, value) < value {
        y.store_relaxed(1, place);
    }
}

// Sound: value and place are in one word.
#[kernel]
fn the_best_by_one_word(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let place = thread::block_idx_x();
    y.atomic_max(0, 100 * x.load(place as usize) + place);
}

// Faulty: threads load and store the count of candidates without an atomic update.
#[kernel]
fn candidates_by_a_plain_count(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (count, i) = (shared_array![u32; 1], thread::thread_idx_x());
    if i == 0 {
        count.store(0, 0);
    }
    thread::sync_threads();
    if i >= 32 {
        let place = count.load(0); // fault
        count.store(0, place + 1); // fault
        y.store(i as usize, i);
    }
}

// Sound: each candidate gets its place by an update.
#[kernel]
fn candidates_by_an_atomic_count(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (count, i) = (shared_array![u32; 1], thread::thread_idx_x());
    if i == 0 {
        count.store(0, 0);
    }
    thread::sync_threads();
    if i >= 32 {
        y.store(count.atomic_add(0, 1) as usize, i);
    }
}

// Faulty: no barrier orders the updates before the load of the count.
#[kernel]
fn candidates_counted_early(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (count, i) = (shared_array![u32; 1], thread::thread_idx_x());
    if i == 0 {
        count.store(0, 0);
    }
    thread::sync_threads();
    if i % 2 == 0 {
        count.atomic_add(0, 1); // fault
    }
    let found = count.load(0); // fault
    y.store(i as usize, found);
}

// Sound: a barrier between the updates and the load.
#[kernel]
fn candidates_counted_behind_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (count, i) = (shared_array![u32; 1], thread::thread_idx_x());
    if i == 0 {
        count.store(0, 0);
    }
    thread::sync_threads();
    if i % 2 == 0 {
        count.atomic_add(0, 1);
    }
    thread::sync_threads();
    y.store(i as usize, count.load(0));
}

// Faulty: a thread may count in a bin before its thread clears it.
#[kernel]
fn bins_cleared_by_others(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (bins, i) = (shared_array![u32; 16], thread::thread_idx_x() as usize);
    if i < 16 {
        bins.store(i, 0); // fault
    }
    bins.atomic_add((i + 5) % 16, 1); // fault
    thread::sync_threads();
    if i < 16 {
        y.atomic_add(i, bins.load(i));
    }
}

// Sound: all bins are cleared before the barrier.
#[kernel]
fn bins_cleared_before_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (bins, i) = (shared_array![u32; 16], thread::thread_idx_x() as usize);
    if i < 16 {
        bins.store(i, 0);
    }
    thread::sync_threads();
    bins.atomic_add((i + 5) % 16, 1);
    thread::sync_threads();
    if i < 16 {
        y.atomic_add(i, bins.load(i));
    }
}

// Faulty: two blocks add their bins to the same elements by loads and stores.
#[kernel]
fn bins_merged_by_plain_additions(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let bin = thread::thread_idx_x() as usize;
    let before = y.load(bin); // fault
    y.store(bin, before + 1); // fault
}

// Sound: the blocks add their bins by updates.
#[kernel]
fn bins_merged_by_updates(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    y.atomic_add(thread::thread_idx_x() as usize, 1);
}
