//! What orders the reads of shared memory by products of a warpgroup.

use cuda_std::{GlobalMut, barrier, bf16, dynamic_shared, kernel, thread};

use super::super::Verdict::{Faulty, Sound};
use super::super::race;
use super::{By, Kind, SHARED, STAGE, SUMS, UNFENCED, block, fill, filled, multiply, tiles, write, zero};

families! {
    "operands.rs";
    "operands of a warpgroup" {
        multiplied: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        filled_without_proxy_fence: UNFENCED, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        proxy_fence_before_the_stores: UNFENCED, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        proxy_fence_behind_the_barrier: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        proxy_fence_of_one_warp: UNFENCED, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        filled_without_barrier: race(SHARED), of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        overwritten_before_the_wait: race(SHARED), of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        overwritten_after_the_wait: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        read_beside_the_product: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        two_stages: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [64; SUMS];
        a_stage_overwritten_one_group_too_early: race(SHARED), of block(128), [0; 1], [0; SUMS], |y| y == [64; SUMS];
        released_after_the_wait: Sound, of block(256), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        released_before_the_wait: race(SHARED), of block(256), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        an_uninitialised_matrix: Faulty(Kind::Uninitialised, SHARED, By::Every), of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
    }
}

// Sound: a proxy fence and a barrier follow the stores.
#[kernel]
fn multiplied(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    fill(left, right);
    barrier::fence_proxy_async();
    thread::sync_threads();
    write(multiply(zero(), left, right).finish(), y, 0);
}

// Faulty: products read through the asynchronous proxy.
#[kernel]
fn filled_without_proxy_fence(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    fill(left, right); // fault
    thread::sync_threads();
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}

// Faulty: the fence has no effect on later stores.
#[kernel]
fn proxy_fence_before_the_stores(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    barrier::fence_proxy_async();
    fill(left, right); // fault
    thread::sync_threads();
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}

// Sound: every thread that issues the product makes the fence.
#[kernel]
fn proxy_fence_behind_the_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    fill(left, right);
    thread::sync_threads();
    barrier::fence_proxy_async();
    write(multiply(zero(), left, right).finish(), y, 0);
}

// Faulty: three of the four warps issue the product without a fence.
#[kernel]
fn proxy_fence_of_one_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    fill(left, right); // fault
    thread::sync_threads();
    if thread::index_in_block() < 32 {
        barrier::fence_proxy_async();
    }
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}

// Faulty: nothing orders the stores of the other warps.
#[kernel]
fn filled_without_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    fill(left, right); // fault
    barrier::fence_proxy_async();
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}

// Faulty: the product may still read the matrix.
#[kernel]
fn overwritten_before_the_wait(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = multiply(zero(), left, right); // fault
    left.store(thread::index_in_block() as usize / 2, 0, bf16::ZERO); // fault
    write(sums.finish(), y, 0);
}

// Sound: the product has ended.
#[kernel]
fn overwritten_after_the_wait(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = multiply(zero(), left, right).finish();
    thread::sync_threads();
    right.store(thread::index_in_block() as usize / 16, thread::index_in_block() as usize % 16, bf16::ZERO);
    write(sums, y, 0);
}

// Sound: two reads do not conflict.
#[kernel]
fn read_beside_the_product(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = multiply(zero(), left, right);
    let one = left.load(thread::index_in_block() as usize / 2, 3).to_f32();
    sums.finish().for_each(|row, column, sum| y.store(8 * row + column, (sum * one) as u32));
}

// Sound: a stage is overwritten after the wait for its group, and a barrier.
#[kernel]
fn two_stages(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let mut sums = zero();
    for step in 0..4 {
        let (left, right) = tiles(stage, step % 2 * STAGE);
        fill(left, right);
        barrier::fence_proxy_async();
        thread::sync_threads();
        sums = multiply(sums, left, right).wait::<1>();
        thread::sync_threads();
    }
    write(sums.finish(), y, 0);
}

// Faulty: two groups are in progress when the stage of the first one is overwritten.
#[kernel]
fn a_stage_overwritten_one_group_too_early(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let mut sums = zero();
    for step in 0..4 {
        let (left, right) = tiles(stage, step % 2 * STAGE);
        fill(left, right); // fault
        barrier::fence_proxy_async();
        thread::sync_threads();
        sums = multiply(sums, left, right).wait::<2>(); // fault
        thread::sync_threads();
    }
    write(sums.finish(), y, 0);
}

// Sound: a thread arrives after the product has ended, and the other warpgroup waits for it.
#[kernel]
fn released_after_the_wait(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    let thread = thread::index_in_block();
    if thread < 128 {
        fill(left, right);
        barrier::fence_proxy_async();
        barrier::sync_named(1, 128);
        let sums = multiply(zero(), left, right).finish();
        barrier::arrive_named(2, 256);
        write(sums, y, 0);
    } else {
        barrier::sync_named(2, 256);
        left.store(thread as usize % 128 / 2, thread as usize % 2, bf16::ZERO);
    }
}

// Faulty: the threads arrive before the wait.
#[kernel]
fn released_before_the_wait(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    let thread = thread::index_in_block();
    if thread < 128 {
        fill(left, right);
        barrier::fence_proxy_async();
        barrier::sync_named(1, 128);
        let sums = multiply(zero(), left, right); // fault
        barrier::arrive_named(2, 256);
        write(sums.finish(), y, 0);
    } else {
        barrier::sync_named(2, 256);
        left.store(thread as usize % 128 / 2, thread as usize % 2, bf16::ZERO); // fault
    }
}

// Faulty: no thread has written the second stage.
#[kernel]
fn an_uninitialised_matrix(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let (_, right) = tiles(stage, STAGE);
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}
