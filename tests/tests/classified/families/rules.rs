//! Rules beside the memory model: read-only loads, the sources of shuffles, loops that end, and launches that overlap.

use cuda_std::{Global, GlobalMut, grid as whole_grid, kernel, thread, warp};
use launch::{Device, Error};

use super::Verdict::{Faulty, Sound};
use super::{By, Kind, grid};

families! {
    "rules.rs";
    "read-only loads" {
        read_only_after_a_flag: Faulty(Kind::WrittenReadOnly, "y", By::Every),
            of grid(2, 1), [0; 1], [0; 2], |y| y == [42, 42];
        an_ordinary_load_after_a_flag: Sound, of grid(2, 1), [0; 1], [0; 2], |y| y == [42, 42];
        read_only_beside_updates: Faulty(Kind::WrittenReadOnly, "y", By::Every),
            of grid(1, 64), [0; 1], [0; 2], |y| y == [64, 64];
        one_half_read_only: Sound, of grid(2, 32), [0; 1], DOUBLES, |y| y[64..] == DOUBLES[..64];
        read_only_in_the_next_launch: Sound, by |device| two_launches(device), |y| y == [2; 64];
    }
    "shuffles" {
        neighbours_of_twenty_lanes: Faulty(Kind::UnspecifiedShuffle, "y", By::Every),
            of grid(1, 32), [0; 1], [0; 20], |y| y[19] == 19;
        neighbours_within_twenty_lanes: Sound, of grid(1, 32), [0; 1], [0; 20], |y| y[19] == 19;
        a_butterfly_of_24_lanes: Faulty(Kind::UnspecifiedShuffle, "y", By::Every),
            of grid(1, 24), [0; 1], [0; 24], |y| y == [276; 24];
        butterflies_of_eight_lanes: Sound, of grid(1, 24), [0; 1], [0; 24], |y| y[0] == 28;
        the_value_of_a_lane_that_left: Faulty(Kind::UnspecifiedShuffle, "y", By::Every),
            of grid(1, 32), [0; 1], [0; 32], |y| y[31] == 10;
        the_value_of_the_first_lane_left: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[31] == 11;
    }
    "endless loops" {
        two_steps_past_the_end: Faulty(Kind::EndlessLoop, "", By::Every),
            of grid(1, 4), [0; 1], [0; 4], |y| y == [4; 4];
        two_steps_to_the_end: Sound, of grid(1, 4), [0; 1], [0; 4], |y| y == [4; 4];
        a_probe_with_an_even_step: Faulty(Kind::EndlessLoop, "", By::Every),
            of grid(1, 4), [0; 1], [0; 4], |y| y.iter().all(|&slot| slot == 7);
        a_probe_with_an_odd_step: Sound, of grid(1, 4), [0; 1], [0; 4], |y| y.iter().all(|&slot| slot == 7);
    }
    "overlapping launches" {
        a_store_before_the_wait: Faulty(Kind::BeforeDependencies, "", By::Every),
            of grid(2, 32), [0; 64], [0; 64], |y| y == [1; 64];
        a_store_behind_the_wait: Sound, of grid(2, 32), [0; 64], [0; 64], |y| y == [1; 64];
    }
}

/// The even numbers from 0 to 126, and then zeros.
const DOUBLES: [u32; 128] = {
    let mut numbers = [0; 128];
    let mut i = 0;
    while i < 64 {
        numbers[i] = 2 * i as u32;
        i += 1;
    }
    numbers
};

fn two_launches(device: &Device) -> Result<Vec<u32>, Error> {
    let (mut x, mut y) = (device.zeroed(64)?, device.zeroed(64)?);
    device.launch(grid(2, 32), ones(x.view_mut()))?;
    device.launch(grid(2, 32), read_only_in_the_next_launch(x.view(), y.view_mut()))?;
    y.download()
}

/// Returns a read-only view of the elements of `y`.
fn read_only(y: GlobalMut<'_, u32>) -> Global<'_, u32> {
    // SAFETY: the pointer and the length are those of `y`.
    unsafe { Global::from_raw_parts(y.as_ptr(), y.len(), y.device()) }
}

// Faulty: `ld.global.nc` needs memory that no thread writes during the launch, and the flag does not change that.
#[kernel]
fn read_only_after_a_flag(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.store(0, 42); // fault
        x.store_release(0, 1);
    } else {
        while x.load_acquire(0) == 0 {}
        let found = read_only(y).load_readonly(0); // fault
        y.store(1, found);
    }
}

// Sound: an ordinary load obeys the order of release and acquire.
#[kernel]
fn an_ordinary_load_after_a_flag(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.store(0, 42);
        x.store_release(0, 1);
    } else {
        while x.load_acquire(0) == 0 {}
        y.store(1, read_only(y).load(0));
    }
}

// Faulty: the barrier orders the updates, but the read-only load may return a value from before them.
#[kernel]
fn read_only_beside_updates(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    y.atomic_add(0, 1); // fault
    thread::sync_threads();
    if thread::thread_idx_x() == 0 {
        let found = read_only(y).load_readonly(0); // fault
        y.store(1, found);
    }
}

// Sound: no thread writes the half that is read.
#[kernel]
fn one_half_read_only(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(64 + i, read_only(y).load_readonly(i));
}

#[kernel]
fn ones(x: GlobalMut<u32>) {
    x.store(thread::index_1d(), 1);
}

// Sound: the elements were written by an earlier launch.
#[kernel]
fn read_only_in_the_next_launch(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, x.load_readonly(i) + x.load_readonly(63 - i));
}

// Faulty: lane 19 takes the value of lane 20, which is not in the mask.
#[kernel]
fn neighbours_of_twenty_lanes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane < 20 {
        let next = warp::shuffle_down(0xF_FFFF, lane, 1); // fault
        y.store(lane as usize, next);
    }
}

// Sound: the last lane does not use what it gets.
#[kernel]
fn neighbours_within_twenty_lanes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane < 20 {
        let next = warp::shuffle_down(0xF_FFFF, lane, 1);
        y.store(lane as usize, if lane < 19 { next } else { lane });
    }
}

// Faulty: lanes 16 to 23 exchange values with lanes that the block does not have.
#[kernel]
fn a_butterfly_of_24_lanes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    let mut sum = lane;
    for distance in [1, 2, 4, 8, 16] {
        sum = sum.wrapping_add(warp::shuffle_xor(0xFF_FFFF, sum, distance)); // fault
    }
    y.store(lane as usize, sum);
}

// Sound: each group of eight lanes is complete.
#[kernel]
fn butterflies_of_eight_lanes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    let mut sum = lane;
    for distance in [1, 2, 4] {
        sum += warp::shuffle_xor(0xFF_FFFF, sum, distance);
    }
    y.store(lane as usize, sum);
}

// Faulty: lane 0 has returned before the others take its value.
#[kernel]
fn the_value_of_a_lane_that_left(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane == 0 {
        return;
    }
    let first = warp::shuffle_idx(0xFFFF_FFFF, lane + 10, 0); // fault
    y.store(lane as usize, first);
}

// Sound: the source is the first lane that takes part.
#[kernel]
fn the_value_of_the_first_lane_left(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    let mask = warp::ballot(warp::FULL_MASK, lane > 0);
    if lane == 0 {
        return;
    }
    let first = warp::shuffle_idx(mask, lane + 10, mask.trailing_zeros());
    y.store(lane as usize, first);
}

// Faulty: steps of two from an odd number pass the end and wrap around.
#[kernel]
fn two_steps_past_the_end(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (mut left, mut steps) = (7_u32, 0);
    // fault
    while left != 0 {
        left = left.wrapping_sub(2);
        steps += 1;
    }
    y.store(thread::index_1d(), steps);
}

// Sound: the comparison ends the loop at or past the end.
#[kernel]
fn two_steps_to_the_end(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (mut left, mut steps) = (7_i32, 0);
    while left > 0 {
        left -= 2;
        steps += 1;
    }
    y.store(thread::index_1d(), steps);
}

// Faulty: an even step over eight slots never reaches the free slot 7 from an even slot.
#[kernel]
fn a_probe_with_an_even_step(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let mut slot = 2 * thread::thread_idx_x();
    // fault
    while slot % 8 != 7 {
        slot += 2;
    }
    y.store(thread::index_1d(), slot % 8);
}

// Sound: an odd step reaches every slot.
#[kernel]
fn a_probe_with_an_odd_step(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let mut slot = 2 * thread::thread_idx_x();
    while slot % 8 != 7 {
        slot += 3;
    }
    y.store(thread::index_1d(), slot % 8);
}

// Faulty: the previous launch may still access `y` when the threads store to it.
#[kernel]
fn a_store_before_the_wait(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, 1); // fault
    whole_grid::wait_for_dependencies();
    x.store(i, y.load(i));
}

// Sound: only registers are used before the wait.
#[kernel]
fn a_store_behind_the_wait(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let value = i as u32 / 64 + 1;
    whole_grid::wait_for_dependencies();
    y.store(i, value);
    x.store(i, y.load(i));
}
