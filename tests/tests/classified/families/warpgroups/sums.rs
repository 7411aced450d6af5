//! The registers of sums that products of a warpgroup change: fences, groups and waits.

use cuda_std::tensor::Factor;
use cuda_std::tensor::mma::{A, Fragment};
use cuda_std::tensor::wgmma::{Accumulator, ROWS};
use cuda_std::{GlobalMut, bf16, dynamic_shared, kernel, thread};

use super::super::Verdict::Sound;
use super::{MISUSE, SUMS, block, filled, issue, multiply, tiles, write, zero};

families! {
    "sums.rs";
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
        a_matrix_in_registers: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_matrix_in_registers_without_a_fence: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_whose_sums_nobody_reads: Sound, of block(128), [0; 1], [0; SUMS], |y| y == [0; SUMS];
    }
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

// Sound: a fence precedes the product, and a wait follows it.
#[kernel]
fn a_matrix_in_registers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let ones = [Fragment::<A, bf16, 16, 16>::from_registers([0x3F80_3F80; 4])];
    write(zero().multiply_add_fragments(true, ones, right.rows::<8>(0)), y, 0);
}

// Faulty: the fence also orders the registers of A.
#[kernel]
fn a_matrix_in_registers_without_a_fence(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let stage = dynamic_shared::<bf16>();
    let (left, right) = tiles(stage, 0);
    filled(left, right);
    let mut sums = Accumulator::<f32, 8>::zeroed().begin(); // fault
    // SAFETY: the simulator checks the order of the instructions.
    unsafe {
        sums = sums.issue_registers::<bf16, bf16, false>(true, [0x3F80_3F80; 4], right.rows::<8>(0).descriptor(0)); // fault
        sums.commit();
    }
    write(sums.finish(), y, 0);
}
