//! Tests the checker on the grid's barrier, and on memory that kernels access without an argument: constant memory and
//! static variables in global memory.

use cuda_std::{GlobalMut, address_space, grid, kernel, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

const N: usize = 128;

/// Returns a cooperative launch configuration. All of its blocks run at the same time.
fn together() -> LaunchConfig {
    LaunchConfig::new(4, 32).cooperative()
}

/// The index of the first element that each block stores. The table is indexed by the block's number.
#[address_space(constant)]
static OTHERS: [u32; 4] = [96, 64, 32, 0];
/// A table like `OTHERS`, except that blocks 2 and 3 store the same elements.
#[address_space(constant)]
static SOME: [u32; 4] = [0, 32, 64, 64];

#[address_space(global)]
static mut TOTAL: u32 = 0;

cases! {
    "cooperative.rs";
    rounds_apart: RaceFree, |device| launch!(device, together(), rounds_apart, N, N);
    rounds_apart_by_block: Race("a"), |device| launch!(device, together(), rounds_apart_by_block, N, N);
    reads_over_before_writes: RaceFree, |device| launch!(device, together(), reads_over_before_writes, N);
    reads_before_writes: Race("a"), |device| launch!(device, together(), reads_before_writes, N);
    a_sum_of_all_blocks: RaceFree, |device| launch!(device, together(), a_sum_of_all_blocks, 1, 4);
    a_sum_taken_early: Race("sum"), |device| launch!(device, together(), a_sum_taken_early, 1, 4);
    a_place_from_a_table: RaceFree, |device| launch!(device, LaunchConfig::new(4, 32), a_place_from_a_table, N);
    a_place_twice_in_a_table: Race("y"), |device| launch!(device, LaunchConfig::new(4, 32), a_place_twice_in_a_table, N);
    a_static_counted: RaceFree, |device| device.launch(LaunchConfig::new(4, 32), a_static_counted());
    a_static_stored: Race("TOTAL"), |device| device.launch(LaunchConfig::new(4, 1), a_static_stored());
}

// Sound: each round reads values that were written before the preceding barrier of the grid.
#[kernel]
fn rounds_apart(a: GlobalMut<u32>, b: GlobalMut<u32>) {
    let i = thread::index_1d();
    a.store(i, 1);
    grid::sync();
    b.store(i, a.load((i + 32) % N));
    grid::sync();
    a.store(i, b.load((i + 64) % N));
}

// Faulty: the kernel uses a block barrier, but the element belongs to another block.
#[kernel]
fn rounds_apart_by_block(a: GlobalMut<u32>, b: GlobalMut<u32>) {
    let i = thread::index_1d();
    a.store(i, 1); // race
    thread::sync_threads();
    b.store(i, a.load((i + 32) % N)); // race
}

// Sound: every thread has read its value before any thread writes.
#[kernel]
fn reads_over_before_writes(a: GlobalMut<u32>) {
    let i = thread::index_1d();
    let found = a.load((i + 32) % N);
    grid::sync();
    a.store(i, found + 1);
}

// Faulty: the barrier comes after the writes.
#[kernel]
fn reads_before_writes(a: GlobalMut<u32>) {
    let i = thread::index_1d();
    let found = a.load((i + 32) % N); // race
    a.store(i, found + 1); // race
    grid::sync();
}

// Sound: the accesses before the barrier are relaxed atomics, and the plain reads come after it.
#[kernel]
fn a_sum_of_all_blocks(sum: GlobalMut<u32>, y: GlobalMut<u32>) {
    sum.atomic_add(0, 1);
    grid::sync();
    if thread::thread_idx_x() == 0 {
        y.store(thread::block_idx_x() as usize, sum.load(0));
    }
}

// Faulty: other blocks may still add to the sum when it is read.
#[kernel]
fn a_sum_taken_early(sum: GlobalMut<u32>, y: GlobalMut<u32>) {
    sum.atomic_add(0, 1); // race
    thread::sync_threads();
    if thread::thread_idx_x() == 0 {
        y.store(thread::block_idx_x() as usize, sum.load(0)); // race
    }
    grid::sync();
}

// Sound: each block stores a different row.
#[kernel]
fn a_place_from_a_table(y: GlobalMut<u32>) {
    let row = OTHERS.load(thread::block_idx_x() as usize) as usize;
    y.store(row + thread::thread_idx_x() as usize, 1);
}

// Faulty: two blocks store the same row.
#[kernel]
fn a_place_twice_in_a_table(y: GlobalMut<u32>) {
    let row = SOME.load(thread::block_idx_x() as usize) as usize;
    y.store(row + thread::thread_idx_x() as usize, 1); // race
}

// Sound: the update is atomic.
#[kernel]
fn a_static_counted() {
    TOTAL.view().atomic_add(0, 1);
}

// Faulty: one thread of each block stores to the static without order.
#[kernel]
fn a_static_stored() {
    TOTAL.view().store(0, thread::block_idx_x()); // race
}

#[kernel]
fn beyond_a_static() {
    TOTAL.view().store(1, 0);
}

/// Tests that the report of an index out of bounds names the static variable. The kernel has no array arguments.
#[test]
fn a_static_is_named_where_an_index_is_beyond_it() {
    let error = tests::simulated(0).launch(LaunchConfig::new(1, 1), beyond_a_static()).unwrap_err().to_string();
    assert!(error.contains("index 1 is out of bounds of `TOTAL`"), "{error}");
}
