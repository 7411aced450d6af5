//! Which warps execute a product, and on which matrices.

use cuda_std::tensor::Factor;
use cuda_std::tensor::wgmma::ROWS;
use cuda_std::{GlobalMut, barrier, bf16, dynamic_shared, kernel, thread};

use super::super::Verdict::{Faulty, Sound};
use super::{By, Kind, Left, MISUSE, Right, STAGE, SUMS, block, fill, filled, multiply, tiles, write, zero};

families! {
    "warps.rs";
    "warps of a warpgroup" {
        a_product_of_one_warp: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_of_one_warp_beside_a_barrier: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_of_one_warpgroup: Sound, of block(256), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_of_64_threads: MISUSE, of block(64), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_product_of_half_of_each_warp: Faulty(Kind::PartialWarp, "", By::Every), of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        products_of_two_branches_of_a_warpgroup: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_matrix_for_each_warp: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_matrix_for_each_warpgroup: Sound, of block(256), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        as_many_products_as_warps: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        as_many_products_as_warpgroups: Sound, of block(256), [0; 1], [0; 2 * SUMS], |y| y[0] == 16 && y[SUMS] == 32;
        a_tile_that_is_not_aligned: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
        a_tile_outside_of_shared_memory: MISUSE, of block(128), [0; 1], [0; SUMS], |y| y == [16; SUMS];
    }
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
#[allow(clippy::if_same_then_else, reason = "each branch is another instruction")]
fn products_of_two_branches_of_a_warpgroup(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
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
