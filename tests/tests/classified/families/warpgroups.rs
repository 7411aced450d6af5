//! Products of a warpgroup: what orders their reads of shared memory, their registers and their ends. The verdicts
//! follow from the PTX manual ("Asynchronous Warpgroup Level Matrix Instructions").

use cuda_std::tensor::wgmma::{Accumulator, InFlight, ROWS};
use cuda_std::tensor::{Factor, SharedTile, Swizzle32};
use cuda_std::{GlobalMut, Shared, barrier, bf16, device, dynamic_shared, kernel, thread};
use launch::LaunchConfig;

use super::Verdict::{Faulty, Sound};
use super::{By, Kind, race};

/// A matrix of 64 × 16 elements.
type Left = SharedTile<bf16, 64, 16, Swizzle32>;
/// A matrix of 8 × 16 elements.
type Right = SharedTile<bf16, 8, 16, Swizzle32>;

/// The number of elements of both matrices.
const STAGE: usize = Left::LEN + Right::LEN;
/// The number of sums.
const SUMS: usize = 512;

/// The array in which the matrices are.
const SHARED: &str = "dynamic shared memory";

/// The verdict of a write that a product reads without a proxy fence.
const UNFENCED: super::Verdict = Faulty(Kind::WithoutProxyFence, SHARED, By::Every);
/// The verdict of a wrong use of the instructions of a warpgroup.
const MISUSE: super::Verdict = Faulty(Kind::Warpgroup, "", By::Every);

/// Returns the launch of one block with shared memory for two stages.
fn block(threads: u32) -> LaunchConfig {
    LaunchConfig::new(1, threads).shared_bytes(2 * 2 * STAGE as u32)
}

families! {
    "warpgroups.rs";
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
    "registers of a warpgroup" {
        single_instructions: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        read_before_the_wait: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        waited_without_a_group: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_group_before_the_product: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        two_groups_waited_for: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [32; SUMS];
        the_last_of_two_groups_not_waited_for: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [32; SUMS];
        the_first_of_two_sums: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [32; SUMS];
        the_second_of_two_sums: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [32; SUMS];
        without_a_fence: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_fence_before_the_sums_are_written: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        one_fence_for_two_products: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [32; SUMS];
        sums_written_anew_without_a_fence: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [32; SUMS];
        sums_written_anew_before_a_fence: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [32; SUMS];
        sums_that_are_replaced: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_without_a_wait: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [0; SUMS];
        a_product_without_a_wait_of_one_warp: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [0; SUMS];
        a_product_whose_sums_nobody_reads: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [0; SUMS];
    }
    "warps of a warpgroup" {
        a_product_of_one_warp: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_of_one_warp_beside_a_barrier: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_of_one_warpgroup: Sound, of block(256), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_of_64_threads: MISUSE, of block(64), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_of_half_of_each_warp: Faulty(Kind::PartialWarp, "", By::Every), of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        products_of_two_branches: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_matrix_for_each_warp: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_matrix_for_each_warpgroup: Sound, of block(256), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        as_many_products_as_warps: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        as_many_products_as_warpgroups: Sound, of block(256), [0; 1], [0; 2 * SUMS], |y| y[0] == 16 && y[SUMS] == 32;
        a_tile_that_is_not_aligned: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_tile_outside_of_shared_memory: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
    }
}

/// Returns the matrices of the stage that begins at element `first`.
#[device]
fn tiles(stage: Shared<bf16>, first: usize) -> (Left, Right) {
    (Left::at(stage, first), Right::at(stage, Left::end_of(first)))
}

/// Fills both matrices with ones, by 128 threads.
#[device]
#[track_caller]
fn fill(left: Left, right: Right) {
    let i = thread::index_in_block() as usize % 128;
    let mut column = 0;
    while column < 8 {
        left.store(i / 2, i % 2 * 8 + column, bf16::ONE);
        column += 1;
    }
    right.store(i / 16, i % 16, bf16::ONE);
}

/// Fills both matrices, and makes the stores known to products.
#[device]
fn filled(left: Left, right: Right) {
    fill(left, right);
    barrier::fence_proxy_async();
    thread::sync_threads();
}

#[device]
fn zero() -> InFlight<f32, 8> {
    Accumulator::zeroed().begin()
}

#[device]
#[track_caller]
fn multiply(sums: InFlight<f32, 8>, left: Left, right: Right) -> InFlight<f32, 8> {
    sums.multiply_add(left.rows::<ROWS>(0), right.rows::<8>(0))
}

/// Begins a product by the single instruction.
#[device]
#[track_caller]
fn issue(sums: InFlight<f32, 8>, left: Left, right: Right) -> InFlight<f32, 8> {
    let (a, b) = (left.rows::<ROWS>(0).descriptor(0), right.rows::<8>(0).descriptor(0));
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { sums.issue::<bf16, bf16, false, false>(true, a, b) }
}

/// Writes the sums to `y` from row `first` on.
#[device]
fn write(sums: Accumulator<f32, 8>, y: GlobalMut<u32>, first: usize) {
    sums.for_each(|row, column, sum| y.store(8 * (first + row) + column, sum as u32));
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

// Sound: fence, product, group and wait.
#[kernel]
fn single_instructions(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = zero();
    // SAFETY: the simulator checks the order of the instructions.
    unsafe {
        sums.fence();
        sums = issue(sums, left, right);
        sums.commit();
        write(sums.wait::<0>().assume_finished(), y, 0);
    }
}

// Faulty: the registers are read while the product may still write them.
#[kernel]
fn read_before_the_wait(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = zero();
    // SAFETY: the simulator checks the order of the instructions.
    unsafe {
        sums.fence();
        sums = issue(sums, left, right); // fault
        sums.commit();
        write(sums.assume_finished(), y, 0); // fault
    }
}

// Faulty: the wait covers only products in groups.
#[kernel]
fn waited_without_a_group(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = zero();
    // SAFETY: the simulator checks the order of the instructions.
    unsafe {
        sums.fence();
        sums = issue(sums, left, right); // fault
        write(sums.wait::<0>().assume_finished(), y, 0); // fault
    }
}

// Faulty: the group has no product.
#[kernel]
fn a_group_before_the_product(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = zero();
    // SAFETY: the simulator checks the order of the instructions.
    unsafe {
        sums.fence();
        sums.commit();
        sums = issue(sums, left, right); // fault
        write(sums.wait::<0>().assume_finished(), y, 0); // fault
    }
}

// Sound: the wait covers both groups.
#[kernel]
fn two_groups_waited_for(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = multiply(multiply(zero(), left, right), left, right);
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { write(sums.wait::<0>().assume_finished(), y, 0) }
}

// Faulty: the wait leaves the last group in progress.
#[kernel]
fn the_last_of_two_groups_not_waited_for(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = multiply(zero(), left, right);
    let sums = multiply(sums, left, right).wait::<1>(); // fault
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { write(sums.assume_finished(), y, 0) } // fault
}

// Sound: the wait leaves only the group of the other sums in progress.
#[kernel]
fn the_first_of_two_sums(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let first = multiply(zero(), left, right);
    let second = multiply(multiply(zero(), left, right), left, right);
    // SAFETY: the simulator checks the order of the instructions.
    let first = unsafe { first.wait::<2>().assume_finished() };
    first.for_each(|_, _, sum| assert!(sum == 16.0));
    write(second.finish(), y, 0);
}

// Faulty: the wait covers only the group of the first sums.
#[kernel]
fn the_second_of_two_sums(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let first = multiply(zero(), left, right);
    let second = multiply(zero(), left, right); // fault
    let first = first.wait::<1>();
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { write(second.assume_finished(), y, 0) } // fault
    write(first.finish(), y, 0);
}

// Faulty: nothing orders the writes to the registers before the product.
#[kernel]
fn without_a_fence(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = Accumulator::<f32, 8>::zeroed().begin(); // fault
    sums = issue(sums, left, right); // fault
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { sums.commit() }
    write(sums.finish(), y, 0);
}

// Faulty: the fence orders only earlier writes.
#[kernel]
fn a_fence_before_the_sums_are_written(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { zero().fence() }
    let mut sums = Accumulator::<f32, 8>::zeroed().begin(); // fault
    sums = issue(sums, left, right); // fault
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { sums.commit() }
    write(sums.finish(), y, 0);
}

// Sound: the accumulators of products of one shape need no fence in between.
#[kernel]
fn one_fence_for_two_products(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = zero();
    // SAFETY: the simulator checks the order of the instructions.
    unsafe {
        sums.fence();
        sums = issue(issue(sums, left, right), left, right);
        sums.commit();
    }
    write(sums.finish(), y, 0);
}

// Faulty: the registers are written between the products.
#[kernel]
fn sums_written_anew_without_a_fence(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = multiply(zero(), left, right).finish().begin(); // fault
    sums = issue(sums, left, right); // fault
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { sums.commit() }
    write(sums.finish(), y, 0);
}

// Sound: the second product begins with a fence, too.
#[kernel]
fn sums_written_anew_before_a_fence(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = multiply(zero(), left, right).finish().begin();
    write(multiply(sums, left, right).finish(), y, 0);
}

// Sound: the second product does not add to the sums of the first one.
#[kernel]
fn sums_that_are_replaced(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = multiply(zero(), left, right);
    let sums = sums.multiply_add_or_replace(false, left.rows::<ROWS>(0), right.rows::<8>(0));
    write(sums.finish(), y, 0);
}

// Faulty: the block may end while the product reads its shared memory.
#[kernel]
fn a_product_without_a_wait(_x: GlobalMut<u32>, _y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let _ = multiply(zero(), left, right); // fault
}

// Faulty: the last warp does not wait.
#[kernel]
fn a_product_without_a_wait_of_one_warp(_x: GlobalMut<u32>, _y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = multiply(zero(), left, right); // fault
    if thread::index_in_block() < 96 {
        let _ = sums.wait::<0>();
    }
}

// Sound: the product has ended.
#[kernel]
fn a_product_whose_sums_nobody_reads(_x: GlobalMut<u32>, _y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let _ = multiply(zero(), left, right).wait::<0>();
}

// Faulty: all warps of the warpgroup must execute the product.
#[kernel]
fn a_product_of_one_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let thread = thread::index_in_block();
    if thread < 32 {
        write(multiply(zero(), left, right).finish(), y, 0); // fault
    } else {
        y.store(thread as usize, 16); // fault
    }
}

// Faulty: three warps wait at the barrier instead.
#[kernel]
fn a_product_of_one_warp_beside_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    if thread::index_in_block() >= 96 {
        write(multiply(zero(), left, right).finish(), y, 0); // fault
    }
    thread::sync_threads(); // fault
}

// Sound: the second warpgroup executes the product.
#[kernel]
fn a_product_of_one_warpgroup(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    if thread::index_in_block() < 128 {
        fill(left, right);
        barrier::fence_proxy_async();
    }
    thread::sync_threads();
    if thread::index_in_block() >= 128 {
        write(multiply(zero(), left, right).finish(), y, 0);
    }
}

// Faulty: a warpgroup has four warps.
#[kernel]
fn a_product_of_64_threads(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}

// Faulty: all lanes of a warp must execute the instructions.
#[kernel]
fn a_product_of_half_of_each_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    if thread::index_in_block() % 32 < 16 {
        write(multiply(zero(), left, right).finish(), y, 0); // fault
    }
    thread::sync_threads(); // fault
}

// Faulty: the warps execute different instructions.
#[kernel]
fn products_of_two_branches(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let sums = if thread::index_in_block() < 64 {
        multiply(zero(), left, right) // fault
    } else {
        multiply(zero(), left, right) // fault
    };
    write(sums.finish(), y, 0);
}

// Faulty: the descriptors must be the same in all warps.
#[kernel]
fn a_matrix_for_each_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    let (other, _) = tiles(stage, STAGE);
    fill(other, right);
    filled(left, right);
    let left = if thread::index_in_block() < 64 { left } else { other };
    // fault
    let sums = multiply(zero(), left, right);
    write(sums.finish(), y, 0);
}

// Sound: the descriptors are the same in all warps of a warpgroup.
#[kernel]
fn a_matrix_for_each_warpgroup(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let group = thread::index_in_block() / 128;
    let (left, right) = tiles(stage, group as usize * STAGE);
    filled(left, right);
    let sums = multiply(zero(), left, right).finish();
    if group == 1 {
        write(sums, y, 0);
    }
}

// Faulty: the warps execute different numbers of products.
#[kernel]
fn as_many_products_as_warps(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = zero();
    for _ in 0..1 + thread::index_in_block() / 64 {
        sums = multiply(sums, left, right); // fault
    }
    write(sums.finish(), y, 0);
    thread::sync_threads(); // fault
}

// Sound: the warps of a warpgroup execute equally many products.
#[kernel]
fn as_many_products_as_warpgroups(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let group = thread::index_in_block() as usize / 128;
    let (left, right) = tiles(stage, group * STAGE);
    filled(left, right);
    let mut sums = zero();
    for _ in 0..=group {
        sums = multiply(sums, left, right);
    }
    write(sums.finish(), y, group * ROWS);
}

// Faulty: the tile does not begin where the pattern of its swizzle begins.
#[kernel]
fn a_tile_that_is_not_aligned(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = (Left::at(stage, 32), Right::at(stage, 32 + Left::LEN));
    filled(left, right);
    write(multiply(zero(), left, right).finish(), y, 0); // fault
}

// Faulty: the descriptor's address is behind the block's shared memory.
#[kernel]
fn a_tile_outside_of_shared_memory(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = zero();
    let (a, b) = (left.rows::<ROWS>(0).descriptor(0), right.rows::<8>(0).descriptor(0));
    // SAFETY: the simulator checks the descriptors.
    unsafe {
        sums.fence();
        sums = sums.issue::<bf16, bf16, false, false>(true, a + (1 << 13), b); // fault
        sums.commit();
    }
    write(sums.finish(), y, 0);
}
