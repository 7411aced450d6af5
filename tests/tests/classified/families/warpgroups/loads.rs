//! Products of a warpgroup on matrices that bulk copies write.

use cuda_std::barrier::{self, Barrier};
use cuda_std::{GlobalMut, Shared, bf16, bulk, device, dynamic_shared, kernel, shared_array, thread};

use super::super::Verdict::Sound;
use super::super::race;
use super::{SHARED, STAGE, SUMS, block, multiply, tiles, write, zero};

/// Two ones.
const ONES: u32 = 0x3F80_3F80;
/// The number of words of a stage.
const WORDS: usize = STAGE / 2;

families! {
    "loads.rs";
    "copies to the operands of a warpgroup" {
        loaded_and_waited: Sound, of block(128), [ONES; WORDS], [0; SUMS], |y| y == [16; SUMS];
        loaded_and_not_waited: race(SHARED), of block(128), [ONES; WORDS], [0; SUMS], |y| y == [16; SUMS];
        loaded_and_waited_by_one_warp: race(SHARED), of block(128), [ONES; WORDS], [0; SUMS], |y| y == [16; SUMS];
        loaded_again_before_the_wait: race(SHARED), of block(128), [ONES; WORDS], [0; SUMS], |y| y == [16; SUMS];
        loaded_again_after_the_wait: Sound, of block(128), [ONES; WORDS], [0; SUMS], |y| y == [16; SUMS];
        released_by_one_thread: Sound, of block(160), [ONES; WORDS], [0; SUMS], |y| y == [32; SUMS];
        released_too_early: race(SHARED), of block(160), [ONES; WORDS], [0; SUMS], |y| y == [32; SUMS];
    }
}

/// Returns two barriers, each of whose phases has one arrival.
#[device]
fn barriers(words: Shared<u64>) -> [Barrier; 2] {
    let both = [Barrier::at(words, 0), Barrier::at(words, 1)];
    if thread::index_in_block() == 0 {
        both[0].init(1);
        both[1].init(1);
        barrier::fence_init();
    }
    thread::sync_threads();
    both
}

/// Begins to copy `x` to the stage.
#[device]
#[track_caller]
fn load(x: GlobalMut<u32>, stage: Shared<u32>, full: Barrier) {
    let _ = full.arrive_and_expect(2 * STAGE as u32);
    bulk::load_written(x, stage.part(0, WORDS), full);
}

// Sound: every thread waits for the copy, which needs no proxy fence.
#[kernel]
fn loaded_and_waited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (stage, [full, _]) = (dynamic_shared::<bf16>(), barriers(shared_array![u64; 2]));
    let (left, right) = tiles(stage, 0);
    if thread::index_in_block() == 0 {
        load(x, dynamic_shared::<u32>(), full);
    }
    full.await_parity(false);
    write(multiply(zero(), left, right).finish(), y, 0);
}

// Faulty: no thread waits for the copy.
#[kernel]
fn loaded_and_not_waited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (stage, [full, _]) = (dynamic_shared::<bf16>(), barriers(shared_array![u64; 2]));
    let (left, right) = tiles(stage, 0);
    if thread::index_in_block() == 0 {
        load(x, dynamic_shared::<u32>(), full); // fault
    }
    thread::sync_threads();
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}

// Faulty: three warps issue the product without a wait.
#[kernel]
fn loaded_and_waited_by_one_warp(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (stage, [full, _]) = (dynamic_shared::<bf16>(), barriers(shared_array![u64; 2]));
    let (left, right) = tiles(stage, 0);
    if thread::index_in_block() == 0 {
        load(x, dynamic_shared::<u32>(), full); // fault
    }
    thread::sync_threads();
    if thread::index_in_block() < 32 {
        full.await_parity(false);
    }
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}

// Faulty: the copy overwrites what the product may still read.
#[kernel]
fn loaded_again_before_the_wait(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (stage, [full, _]) = (dynamic_shared::<bf16>(), barriers(shared_array![u64; 2]));
    let (left, right) = tiles(stage, 0);
    if thread::index_in_block() == 0 {
        load(x, dynamic_shared::<u32>(), full);
    }
    full.await_parity(false);
    let sums = multiply(zero(), left, right); // fault
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        load(x, dynamic_shared::<u32>(), full); // fault
    }
    full.await_parity(true);
    write(sums.finish(), y, 0);
}

// Sound: the thread that begins the copy has waited for the product.
#[kernel]
fn loaded_again_after_the_wait(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (stage, [full, _]) = (dynamic_shared::<bf16>(), barriers(shared_array![u64; 2]));
    let (left, right) = tiles(stage, 0);
    if thread::index_in_block() == 0 {
        load(x, dynamic_shared::<u32>(), full);
    }
    full.await_parity(false);
    let sums = multiply(zero(), left, right).finish();
    thread::sync_threads();
    if thread::index_in_block() == 0 {
        load(x, dynamic_shared::<u32>(), full);
    }
    full.await_parity(true);
    write(sums, y, 0);
}

// Sound: the product has ended as a whole when one thread has waited for it.
#[kernel]
fn released_by_one_thread(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (stage, [full, empty]) = (dynamic_shared::<bf16>(), barriers(shared_array![u64; 2]));
    let (left, right) = tiles(stage, 0);
    let thread = thread::index_in_block();
    if thread < 128 {
        full.await_parity(false);
        let sums = multiply(zero(), left, right).wait::<0>();
        if thread == 0 {
            let _ = empty.arrive();
        }
        full.await_parity(true);
        write(multiply(sums, left, right).finish(), y, 0);
    } else if thread == 128 {
        load(x, dynamic_shared::<u32>(), full);
        empty.await_parity(false);
        load(x, dynamic_shared::<u32>(), full);
    }
}

// Faulty: the thread arrives before its wait.
#[kernel]
fn released_too_early(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (stage, [full, empty]) = (dynamic_shared::<bf16>(), barriers(shared_array![u64; 2]));
    let (left, right) = tiles(stage, 0);
    let thread = thread::index_in_block();
    if thread < 128 {
        full.await_parity(false);
        let sums = multiply(zero(), left, right); // fault
        if thread == 0 {
            let _ = empty.arrive();
        }
        let sums = sums.wait::<0>();
        full.await_parity(true);
        write(multiply(sums, left, right).finish(), y, 0);
    } else if thread == 128 {
        load(x, dynamic_shared::<u32>(), full);
        empty.await_parity(false);
        load(x, dynamic_shared::<u32>(), full); // fault
    }
}
