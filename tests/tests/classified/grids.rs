//! Tests the checker on elements that several blocks access, on the order between launches, and on accesses that a
//! block barrier does not order.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

const N: usize = 200;

/// Returns a grid whose threads need several iterations to process `N` elements.
fn grid() -> LaunchConfig {
    LaunchConfig::new(3, 32)
}

cases! {
    "grids.rs";
    an_element_a_thread: RaceFree, |device| launch!(device, grid(), an_element_a_thread, N);
    two_blocks_for_an_element: Race("y"), |device| launch!(device, grid(), two_blocks_for_an_element, N);
    neighbours_in_another_array: RaceFree, |device| {
        let (x, mut y) = (device.upload(&[1_u32; N])?, device.alloc(N)?);
        device.launch(grid(), neighbours_in_another_array(x.view(), y.view_mut()))
    };
    neighbours_in_place: Race("y"), |device| launch!(device, grid(), neighbours_in_place, N);
    another_launch_reads: RaceFree, |device| {
        let mut y = device.alloc(N)?;
        device.launch(grid(), an_element_a_thread(y.view_mut()))?;
        let mut z = device.alloc(N)?;
        device.launch(LaunchConfig::new(50, 4), another_launch_reads(y.view(), z.view_mut()))
    };
    the_same_launch_reads: Race("y"), |device| launch!(device, LaunchConfig::new(2, 32), the_same_launch_reads, 64);
    a_barrier_for_its_own_block: RaceFree, |device| launch!(device, LaunchConfig::new(4, 64), a_barrier_for_its_own_block, 256);
    a_barrier_for_other_blocks: Race("y"), |device| launch!(device, LaunchConfig::new(4, 64), a_barrier_for_other_blocks, 256);
    a_count_without_atomics: Race("count"), |device| launch!(device, LaunchConfig::new(2, 1), a_count_without_atomics, 1);
    parts_side_by_side: RaceFree, |device| launch!(device, LaunchConfig::new(4, 32), parts_side_by_side, N);
    parts_that_overlap_by_one: Race("y"), |device| launch!(device, LaunchConfig::new(4, 32), parts_that_overlap_by_one, N);
    two_views_of_one_buffer_apart: RaceFree, |device| {
        let mut buffer = device.zeroed::<u32>(N)?;
        let view = buffer.view_mut();
        device.launch(LaunchConfig::new(2, 50), two_views(view.part(0, N / 2), view.part(N / 2, N / 2)))
    };
    fences_without_a_flag: Race("x"), |device| launch!(device, LaunchConfig::new(2, 1), fences_without_a_flag, 1, 2);
}

#[kernel]
fn an_element_a_thread(y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, i as u32);
    }
}

/// A kernel with a race. The stride of its loop is the width of the block instead of the width of the grid.
#[kernel]
fn two_blocks_for_an_element(y: GlobalMut<u32>) {
    let mut i = thread::index_1d();
    while i < y.len() {
        y.store(i, i as u32); // race
        i += thread::block_dim_x() as usize;
    }
}

#[kernel]
fn neighbours_in_another_array(x: Global<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        let after = if i + 1 < x.len() { x.load(i + 1) } else { 0 };
        y.store(i, x.load(i) + after);
    }
}

/// A kernel with a race. One block reads an element that another block writes. A block barrier orders only the threads
/// of a block.
#[kernel]
fn neighbours_in_place(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let after = y.load(i + 1); // race
    thread::sync_threads();
    y.store(i, after + 1); // race
}

#[kernel]
fn another_launch_reads(y: Global<u32>, z: GlobalMut<u32>) {
    let i = thread::index_1d();
    z.store(i, y.load(y.len() - 1 - i));
}

#[kernel]
fn the_same_launch_reads(y: GlobalMut<u32>) {
    let (block, thread) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
    if block == 0 {
        y.store(thread, 1); // race
    } else {
        let value = y.load(thread); // race
        y.store(32 + thread, value);
    }
}

#[kernel]
fn a_barrier_for_its_own_block(y: GlobalMut<u32>) {
    let first = thread::block_idx_x() as usize * 64;
    y.store(thread::index_1d(), 1);
    thread::sync_threads();
    assert!(y.load(first + (thread::thread_idx_x() as usize + 9) % 64) == 1);
}

#[kernel]
fn a_barrier_for_other_blocks(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, 1); // race
    thread::sync_threads();
    let other = y.load((i + 64) % 256); // race
    assert!(other < 2);
}

#[kernel]
fn a_count_without_atomics(count: GlobalMut<u32>) {
    let before = count.load(0); // race
    count.store(0, before + 1); // race
}

#[kernel]
fn parts_side_by_side(y: GlobalMut<u32>) {
    let (block, thread) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
    let part = y.part(50 * block, 50);
    let mut i = thread;
    while i < part.len() {
        part.store(i, 1);
        i += 32;
    }
}

#[kernel]
fn parts_that_overlap_by_one(y: GlobalMut<u32>) {
    let (block, thread) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
    let part = y.part(49 * block, 50);
    let mut i = thread;
    while i < part.len() {
        part.store(i, 1); // race
        i += 32;
    }
}

/// A kernel that stores to two views. The launch passes two parts of one buffer. These parts do not overlap.
#[kernel]
fn two_views(a: GlobalMut<u32>, b: GlobalMut<u32>) {
    let i = thread::index_1d();
    a.store(i, 1);
    b.store(i, 2);
}

/// A kernel with a race. A fence orders the accesses of the thread that executes it, but does not wait for other
/// threads.
#[kernel]
fn fences_without_a_flag(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    if block == 0 {
        x.store(0, 1); // race
        cuda_std::fence();
    } else {
        cuda_std::fence();
        let value = x.load(0); // race
        y.store(block, value);
    }
}
