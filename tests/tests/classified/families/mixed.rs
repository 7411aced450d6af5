//! Atomic accesses beside plain ones, flags that come too early, fences of other threads, flags of one byte, and named
//! barriers.

use std::sync::atomic::Ordering::AcqRel;

use cuda_std::barrier::{arrive_named, sync_named};
use cuda_std::{GlobalMut, fence, kernel, shared_array, thread, warp};

use super::Verdict::{Faulty, Sound};
use super::{By, Kind, grid, race};

families! {
    "mixed.rs";
    "atomic and plain accesses" {
        a_guess_by_a_plain_load: race("y"), of grid(2, 1), [3, 8], [0; 1], |y| y == [8];
        a_guess_by_a_relaxed_load: Sound, of grid(2, 1), [3, 8], [0; 1], |y| y == [8];
        reset_beside_updates: race("count"), of grid(1, 64), [0; 1], [0; 2], |y| y == [64, 64];
        reset_between_barriers: Sound, of grid(1, 64), [0; 1], [0; 2], |y| y == [64, 64];
        a_total_loaded_plainly: Faulty(Kind::Race, "x", By::Thorough), of grid(3, 1), [0; 2], [0; 1], |y| y == [6];
        a_total_loaded_after_fences: Sound, of grid(3, 1), [0; 2], [0; 1], |y| y == [6];
    }
    "order of flags" {
        a_flag_before_its_value: race("y"), of grid(2, 1), [0; 1], [0; 2], |y| y == [42, 42];
        a_flag_behind_its_value: Sound, of grid(2, 1), [0; 1], [0; 2], |y| y == [42, 42];
        a_count_before_the_entry: race("y"), of grid(2, 1), [0; 1], [0; 2], |y| y == [7, 7];
        a_count_behind_the_entry: Sound, of grid(2, 1), [0; 1], [0; 2], |y| y == [7, 7];
    }
    "fences of other threads" {
        fences_of_all_but_the_setter: Faulty(Kind::Race, "y", By::Strict),
            of grid(2, 64), [0; 1], [0; 65], |y| y[64] == 63;
        a_fence_of_the_setter: Sound, of grid(2, 64), [0; 1], [0; 65], |y| y[64] == 63;
        updates_of_all_but_the_setter: Faulty(Kind::Race, "y", By::Strict),
            of grid(2, 64), [0; 2], [0; 65], |y| y[64] == 63;
        a_fence_of_a_lane_for_its_block: Sound, of grid(1, 64), [0; 1], [0; 2], |y| y == [42, 42];
    }
    "flags of one byte" {
        a_plain_byte: race("flag"), by |device| bytes(device, a_plain_byte), |y| y == [42, 42];
        a_relaxed_byte: race("y"), by |device| bytes(device, a_relaxed_byte), |y| y == [42, 42];
        a_byte_between_fences: Sound,
            by |device| bytes(device, a_byte_between_fences), |y| y == [42, 42];
        bytes_side_by_side: Sound, by |device| bytes(device, bytes_side_by_side), |y| y == [1, 1];
    }
    "named barriers" {
        arrived_before_the_store: race("tile"), of grid(1, 64), [0; 1], [0; 32], |y| y == [1; 32];
        arrived_after_the_store: Sound, of grid(1, 64), [0; 1], [0; 32], |y| y == [1; 32];
        two_barriers_of_one_number: Faulty(Kind::Race, "tile", By::Some),
            of grid(1, 128), [0; 1], [0; 64], |y| y == [1; 64];
        two_barriers_of_two_numbers: Sound, of grid(1, 128), [0; 1], [0; 64], |y| y == [1; 64];
    }
}

/// Launches two blocks of one thread with two flags of one byte and an array of two elements, and returns the array.
fn bytes(
    device: &launch::Device,
    kernel: for<'a> fn(GlobalMut<'a, u8>, GlobalMut<'a, u32>) -> launch::Call<'a>,
) -> Result<Vec<u32>, launch::Error> {
    let (mut flag, mut y) = (device.zeroed(2)?, device.zeroed(2)?);
    device.launch(grid(2, 1), kernel(flag.view_mut(), y.view_mut()))?;
    y.download()
}

// Faulty: the plain load conflicts with the other block's update.
#[kernel]
fn a_guess_by_a_plain_load(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let value = x.load(thread::block_idx_x() as usize);
    // fault
    if y.load(0) < value {
        y.atomic_max(0, value); // fault
    }
}

// Sound: a relaxed load is atomic, and the update decides whatever it returns.
#[kernel]
fn a_guess_by_a_relaxed_load(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let value = x.load(thread::block_idx_x() as usize);
    if y.load_relaxed(0) < value {
        y.atomic_max(0, value);
    }
}

// Faulty: no barrier orders the reset before the updates of the second round.
#[kernel]
fn reset_beside_updates(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (count, i) = (shared_array![u32; 1], thread::thread_idx_x());
    for round in 0..2 {
        if i == 0 {
            count.store(0, 0); // fault
        }
        if round == 0 {
            thread::sync_threads();
        }
        count.atomic_add(0, 1); // fault
        thread::sync_threads();
        if i == 0 {
            y.store(round, count.load(0));
        }
        thread::sync_threads();
    }
}

// Sound: a barrier before and after the reset.
#[kernel]
fn reset_between_barriers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (count, i) = (shared_array![u32; 1], thread::thread_idx_x());
    for round in 0..2 {
        if i == 0 {
            count.store(0, 0);
        }
        thread::sync_threads();
        count.atomic_add(0, 1);
        thread::sync_threads();
        if i == 0 {
            y.store(round, count.load(0));
        }
        thread::sync_threads();
    }
}

// Faulty: the counts are relaxed, so that the last block's plain load is ordered after an addition only if the block's
// own addition has read it.
#[kernel]
fn a_total_loaded_plainly(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (total, arrived) = (0, 1);
    x.atomic_add(total, thread::block_idx_x() + 1); // fault
    if x.atomic_add(arrived, 1) == 2 {
        let found = x.load(total); // fault
        y.store(0, found);
    }
}

// Sound: each block releases its addition, and the last one acquires them all.
#[kernel]
fn a_total_loaded_after_fences(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (total, arrived) = (0, 1);
    x.atomic_add(total, thread::block_idx_x() + 1);
    if x.atomic(arrived).fetch_add(1, AcqRel) == 2 {
        y.store(0, x.load(total));
    }
}

// Faulty: the value is stored after the flag that announces it.
#[kernel]
fn a_flag_before_its_value(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        x.store_release(0, 1);
        y.store(0, 42); // fault
    } else {
        while x.load_acquire(0) == 0 {}
        let found = y.load(0); // fault
        y.store(1, found);
    }
}

// Sound: the value precedes the flag's release.
#[kernel]
fn a_flag_behind_its_value(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.store(0, 42);
        x.store_release(0, 1);
    } else {
        while x.load_acquire(0) == 0 {}
        y.store(1, y.load(0));
    }
}

// Faulty: the update that draws the place also announces the entry, which is not there yet.
#[kernel]
fn a_count_before_the_entry(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        let place = x.atomic(0).fetch_add(1, AcqRel) as usize;
        y.store(place, 7); // fault
    } else {
        while x.load_acquire(0) == 0 {}
        let found = y.load(0); // fault
        y.store(1, found);
    }
}

// Sound: one count draws the places, and another one, behind the entry, announces it.
#[kernel]
fn a_count_behind_the_entry(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.store(0, 7);
        x.atomic(0).fetch_add(1, AcqRel);
    } else {
        while x.load_acquire(0) == 0 {}
        y.store(1, y.load(0));
    }
}

/// Adds the first 63 elements in the first thread of block 1, after the flag of block 0.
fn add(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::thread_idx_x() == 0 {
        while x.load_acquire(0) == 0 {}
        y.store(64, (1..64).map(|i| y.load(i)).sum());
    }
}

// Faulty: a barrier is no release for other blocks, and the thread that sets the flag executes no fence.
#[kernel]
fn fences_of_all_but_the_setter(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    if thread::block_idx_x() == 0 {
        if i > 0 {
            y.store(i as usize, 1); // fault
            fence();
        }
        thread::sync_threads();
        if i == 0 {
            x.store_relaxed(0, 1);
        }
    } else if i == 0 {
        while x.load_acquire(0) == 0 {}
        // fault
        let sum = (1..64).map(|i| y.load(i)).sum();
        y.store(64, sum);
    }
}

// Sound: the barrier orders the stores before the fence of the thread that sets the flag.
#[kernel]
fn a_fence_of_the_setter(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    if thread::block_idx_x() == 0 {
        if i > 0 {
            y.store(i as usize, 1);
        }
        thread::sync_threads();
        if i == 0 {
            fence();
            x.store_relaxed(0, 1);
        }
    } else {
        add(x, y);
    }
}

// Faulty: the updates release to those who read their word, and the flag is another word.
#[kernel]
fn updates_of_all_but_the_setter(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    if thread::block_idx_x() == 0 {
        if i > 0 {
            y.store(i as usize, 1); // fault
            x.atomic(1).fetch_add(1, AcqRel);
        }
        thread::sync_threads();
        if i == 0 {
            x.store_relaxed(0, 1);
        }
    } else if i == 0 {
        while x.load_acquire(0) == 0 {}
        // fault
        let sum = (1..64).map(|i| y.load(i)).sum();
        y.store(64, sum);
    }
}

// Sound: the reader is a thread of the same block. It acquires, and the warp's synchronisation is a release within the
// block.
#[kernel]
fn a_fence_of_a_lane_for_its_block(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    if i < 32 {
        if i == 9 {
            y.store(0, 42);
        }
        warp::sync_warp(warp::FULL_MASK);
        if i == 0 {
            x.store_release(0, 1);
        }
    } else if i == 32 {
        while x.load_acquire(0) == 0 {}
        y.store(1, y.load(0));
    }
}

// Faulty: neither access of the byte is atomic.
#[kernel]
fn a_plain_byte(flag: GlobalMut<u8>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.store(0, 42);
        fence();
        flag.store(0, 1); // fault
    } else {
        // fault
        while flag.load(0) == 0 {}
        fence();
        y.store(1, y.load(0));
    }
}

// Faulty: relaxed accesses of the byte order nothing.
#[kernel]
fn a_relaxed_byte(flag: GlobalMut<u8>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.store(0, 42); // fault
        flag.store_relaxed(0, 1);
    } else {
        while flag.load_relaxed(0) == 0 {}
        let found = y.load(0); // fault
        y.store(1, found);
    }
}

// Sound: the fences beside the relaxed accesses release and acquire.
#[kernel]
fn a_byte_between_fences(flag: GlobalMut<u8>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        y.store(0, 42);
        fence();
        flag.store_relaxed(0, 1);
    } else {
        while flag.load_relaxed(0) == 0 {}
        fence();
        y.store(1, y.load(0));
    }
}

// Sound: plain stores to neighbouring bytes do not conflict.
#[kernel]
fn bytes_side_by_side(flag: GlobalMut<u8>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    flag.store(block, 1);
    y.store(block, u32::from(flag.load(block)));
}

// Faulty: an arrival orders only the accesses before it.
#[kernel]
fn arrived_before_the_store(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    if i < 32 {
        tile.store(i, 0);
    }
    thread::sync_threads();
    if i < 32 {
        arrive_named(1, 64);
        tile.store(i, 1); // fault
    } else {
        sync_named(1, 64);
        let found = tile.load(63 - i); // fault
        y.store(i - 32, found);
    }
}

// Sound: the store precedes the arrival, and the reader waits for it.
#[kernel]
fn arrived_after_the_store(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    if i < 32 {
        tile.store(i, 1);
        arrive_named(1, 64);
    } else {
        sync_named(1, 64);
        y.store(i - 32, tile.load(63 - i));
    }
}

// Faulty: the two producing warps may complete one phase of the barrier, so that no consumer waits for them.
#[kernel]
fn two_barriers_of_one_number(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    let (pair, lane) = (i / 64, i % 32);
    if i < 64 {
        tile.store(i, 0);
    }
    thread::sync_threads();
    if i % 64 < 32 {
        tile.store(32 * pair + lane, 1); // fault
        arrive_named(1, 64);
    } else {
        sync_named(1, 64);
        let found = tile.load(32 * pair + 31 - lane); // fault
        y.store(32 * pair + lane, found);
    }
}

// Sound: each pair of warps has a barrier of its own.
#[kernel]
fn two_barriers_of_two_numbers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    let (pair, lane) = (i / 64, i % 32);
    if i < 64 {
        tile.store(i, 0);
    }
    thread::sync_threads();
    if i % 64 < 32 {
        tile.store(32 * pair + lane, 1);
        arrive_named(1 + pair as u32, 64);
    } else {
        sync_named(1 + pair as u32, 64);
        let found = tile.load(32 * pair + 31 - lane);
        y.store(32 * pair + lane, found);
    }
}
