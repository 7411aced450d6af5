//! Products of tensor cores, which a whole warp executes together and which order no memory accesses.

use cuda_std::tensor::mma::{A, Accumulator, B, Fragment};
use cuda_std::{GlobalMut, device, kernel, shared_array, thread, warp};

use super::Verdict::{Faulty, Sound};
use super::{By, Kind, grid, race};

/// The verdict of an instruction that not all 32 lanes of a warp reach.
pub(super) const PARTIAL: super::Verdict = Faulty(Kind::PartialWarp, "", By::Every);

families! {
    "products.rs";
    "products of a warp" {
        a_product_in_a_branch: PARTIAL, of grid(1, 32), [0; 1], [0; 32], |y| y == [16; 32];
        a_product_by_all_lanes: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y == [16; 32];
        a_product_after_lanes_have_left: PARTIAL, of grid(1, 32), [0; 1], [0; 32], |y| y == [16; 32];
        a_product_before_lanes_leave: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[..24] == [16; 24];
        a_product_of_24_threads: PARTIAL, of grid(1, 24), [0; 1], [0; 32], |y| y[..24] == [16; 24];
        a_product_of_the_last_warp: PARTIAL, of grid(1, 40), [0; 1], [0; 64], |y| y[..40] == [16; 40];
        a_product_of_the_first_warp: Sound, of grid(1, 40), [0; 1], [0; 64], |y| y[..32] == [16; 32];
        products_of_two_branches: PARTIAL, of grid(1, 32), [0; 1], [0; 32], |y| y == [16; 32];
        a_product_chosen_by_two_branches: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[..2] == [16, 32];
        a_product_beside_a_barrier: PARTIAL, of grid(1, 32), [0; 1], [0; 32], |y| y == [16; 32];
        a_product_behind_a_barrier: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y == [16; 32];
        a_product_beside_a_vote: PARTIAL, of grid(1, 32), [0; 1], [0; 32], |y| y == [16; 32];
        products_in_loops_of_other_lengths: PARTIAL, of grid(1, 32), [0; 1], [0; 32], |y| y[0] == 16;
        products_in_loops_of_one_length: Sound, of grid(1, 64), [0; 1], [0; 64], |y| y[0] == 16 && y[32] == 32;
        a_product_orders_no_stores: race("cells"), of grid(1, 32), [0; 1], [0; 32], |y| y[0] == 17;
        a_synchronised_product: Sound, of grid(1, 32), [0; 1], [0; 32], |y| y[0] == 17;
    }
}

/// Factors whose elements are 1, except for those of B, which are `scale`.
#[device]
fn factors(scale: u8) -> (Fragment<A, i8, 8, 16>, Fragment<B, i8, 16, 8>) {
    (Fragment::from_registers([0x0101_0101]), Fragment::from_registers([0x0101_0101 * u32::from(scale)]))
}

#[device]
fn zero() -> Accumulator<i32, 8, 8> {
    Accumulator::zero()
}

#[device]
fn first(sums: Accumulator<i32, 8, 8>) -> u32 {
    sums.get(0) as u32
}

// Faulty: `mma.sync` is `.aligned`, so all threads of the warp must execute it.
#[kernel]
fn a_product_in_a_branch(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    let mut sums = zero();
    if lane < 16 {
        sums = a.multiply_add(b, sums); // fault
    }
    thread::sync_threads(); // fault
    y.store(lane, first(sums));
}

// Sound: all lanes multiply.
#[kernel]
fn a_product_by_all_lanes(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    y.store(thread::index_1d(), first(a.multiply_add(b, zero())));
}

// Faulty: the behaviour is undefined if a thread of the warp has exited.
#[kernel]
fn a_product_after_lanes_have_left(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    if lane >= 24 {
        return;
    }
    y.store(lane, first(a.multiply_add(b, zero()))); // fault
}

// Sound: the lanes leave after the product.
#[kernel]
fn a_product_before_lanes_leave(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    let sums = a.multiply_add(b, zero());
    if lane >= 24 {
        return;
    }
    y.store(lane, first(sums));
}

// Faulty: the warp has only 24 threads.
#[kernel]
fn a_product_of_24_threads(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    y.store(thread::index_1d(), first(a.multiply_add(b, zero()))); // fault
}

// Faulty: the second warp has only 8 threads.
#[kernel]
fn a_product_of_the_last_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    y.store(thread::index_1d(), first(a.multiply_add(b, zero()))); // fault
}

// Sound: all lanes of a warp agree on the condition, and the first warp is whole.
#[kernel]
fn a_product_of_the_first_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    if warp::warp_id() == 0 {
        y.store(thread::index_1d(), first(a.multiply_add(b, zero())));
    }
}

// Faulty: each lane executes a product, but not all the same one.
#[kernel]
fn products_of_two_branches(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    let sums = if lane.is_multiple_of(2) {
        a.multiply_add(b, zero()) // fault
    } else {
        a.multiply_add(b, Accumulator::zero()) // fault
    };
    y.store(lane, first(sums));
}

// Sound: the branches choose the addend, and one product follows them.
#[kernel]
fn a_product_chosen_by_two_branches(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    let addend = if lane.is_multiple_of(2) { zero() } else { Accumulator::from_registers([16; 2]) };
    y.store(lane, first(a.multiply_add(b, addend)));
}

// Faulty: one lane waits at a barrier, and the others at the product.
#[kernel]
fn a_product_beside_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    if lane == 0 {
        thread::sync_threads(); // fault
    }
    y.store(lane, first(a.multiply_add(b, zero()))); // fault
}

// Sound: all lanes wait at the barrier before the product.
#[kernel]
fn a_product_behind_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    thread::sync_threads();
    y.store(thread::index_1d(), first(a.multiply_add(b, zero())));
}

// Faulty: one lane waits at a vote of all lanes.
#[kernel]
fn a_product_beside_a_vote(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    if lane == 31 {
        warp::ballot(warp::FULL_MASK, true); // fault
    }
    y.store(lane, first(a.multiply_add(b, zero()))); // fault
}

// Faulty: half of the lanes execute one product less, and wait at the barrier.
#[kernel]
fn products_in_loops_of_other_lengths(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    let mut sums = zero();
    for _ in 0..1 + lane / 16 {
        sums = a.multiply_add(b, sums); // fault
    }
    thread::sync_threads(); // fault
    y.store(lane, first(sums));
}

// Sound: the lanes of a warp execute equally many products.
#[kernel]
fn products_in_loops_of_one_length(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (a, b) = factors(1);
    let mut sums = zero();
    for _ in 0..1 + warp::warp_id() {
        sums = a.multiply_add(b, sums);
    }
    y.store(thread::index_1d(), first(sums));
}

// Faulty: the lanes wait for each other, but `mma.sync` orders no accesses of shared memory.
#[kernel]
fn a_product_orders_no_stores(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let cells = shared_array![u32; 32];
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    cells.store(lane, lane as u32); // fault
    let sums = a.multiply_add(b, zero());
    let other = cells.load(lane ^ 1); // fault
    y.store(lane, first(sums) + other);
}

// Sound: a warp synchronisation orders the accesses.
#[kernel]
fn a_synchronised_product(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let cells = shared_array![u32; 32];
    let (a, b) = factors(1);
    let lane = thread::index_in_block() as usize;
    cells.store(lane, lane as u32);
    let sums = a.multiply_add(b, zero());
    warp::sync_warp(warp::FULL_MASK);
    y.store(lane, first(sums) + cells.load(lane ^ 1));
}
