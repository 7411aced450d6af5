//! Tests the checker on barriers and shared memory within a block.

use cuda_std::{Global, GlobalMut, dynamic_shared, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree, Unwritten};

const THREADS: usize = 64;

/// Returns a launch configuration of one block of `THREADS` threads.
fn block() -> LaunchConfig {
    LaunchConfig::new(1, THREADS as u32)
}

cases! {
    "blocks.rs";
    barrier_between: RaceFree, |device| launch!(device, block(), barrier_between, THREADS);
    no_barrier_between: Race("tile"), |device| launch!(device, block(), no_barrier_between, THREADS);
    barrier_missing_after_filling: Race("tile"), |device| launch!(device, block(), barrier_missing_after_filling, THREADS);
    reverse_in_place: RaceFree, |device| launch!(device, block(), reverse_in_place, THREADS);
    reverse_in_place_without_barrier: Race("y"), |device| launch!(device, block(), reverse_in_place_without_barrier, THREADS);
    counting_barrier_orders: RaceFree, |device| launch!(device, block(), counting_barrier_orders, THREADS);
    dynamic_shared_memory: RaceFree, |device| launch!(device, block().shared_bytes(256), dynamic_shared_memory, THREADS);
    dynamic_parts_that_overlap: Race("a"), |device| launch!(device, block().shared_bytes(512), dynamic_parts_that_overlap, THREADS);
    one_writes_all_read: RaceFree, |device| launch!(device, block(), one_writes_all_read, THREADS);
    all_write_the_same_value: Race("flag"), |device| launch!(device, block(), all_write_the_same_value, THREADS);
    read_only_sharing: RaceFree, |device| {
        let (x, mut y) = (device.upload(&[7_u32; 4])?, device.alloc(THREADS)?);
        device.launch(LaunchConfig::new(4, 16), read_only_sharing(x.view(), y.view_mut()))
    };
    halo_of_its_own_threads: RaceFree, |device| launch!(device, block(), halo_of_its_own_threads, THREADS);
    halo_off_by_one: Race("tile"), |device| launch!(device, block(), halo_off_by_one, THREADS);
    unwritten_shared_memory: Unwritten("tile"), |device| launch!(device, block(), unwritten_shared_memory, THREADS);
    an_unwritten_quarter: Unwritten("tile"), |device| launch!(device, block(), an_unwritten_quarter, THREADS);
    unwritten_global_memory: Unwritten("x"), |device| {
        let (x, mut y) = (device.alloc::<u32>(THREADS)?, device.alloc(THREADS)?);
        device.launch(block(), unwritten_global_memory(x.view(), y.view_mut()))
    };
    the_end_that_the_host_left_out: Unwritten("x"), |device| {
        let (mut x, mut y) = (device.alloc::<u32>(THREADS)?, device.alloc(THREADS)?);
        // The first launch writes all elements except the last.
        device.launch(LaunchConfig::new(1, THREADS as u32 - 1), write_own(x.view_mut()))?;
        device.launch(block(), the_end_that_the_host_left_out(x.view(), y.view_mut()))
    };
    three_dimensions: RaceFree, |device| launch!(device, LaunchConfig::new(1, (4, 4, 4)), three_dimensions, THREADS);
    two_threads_of_one_column: Race("tile"), |device| launch!(device, LaunchConfig::new(1, (4, 4, 4)), two_threads_of_one_column, THREADS);
    from_warp_to_warp: RaceFree, |device| launch!(device, LaunchConfig::new(2, 64), from_warp_to_warp, 2);
    from_warp_to_warp_relaxed: Race("value"), |device| launch!(device, LaunchConfig::new(2, 64), from_warp_to_warp_relaxed, 2);
}

/// A kernel that sets every element of `x`.
#[kernel]
fn write_own(x: GlobalMut<u32>) {
    x.store(thread::index_1d(), 1);
}

#[kernel]
fn barrier_between(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    tile.store(thread, 1);
    thread::sync_threads();
    y.store(thread, tile.load(THREADS - 1 - thread));
}

#[kernel]
fn no_barrier_between(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    tile.store(thread, 0);
    thread::sync_threads();
    tile.store(thread, 1); // race
    let other = tile.load(THREADS - 1 - thread); // race
    y.store(thread, other);
}

/// A kernel with a race. Its threads fill a shared tile and read the tile without a barrier in between. In some orders,
/// the read also finds uninitialised memory.
#[kernel]
fn barrier_missing_after_filling(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    tile.store(thread, 1); // race
    let other = tile.load(THREADS - 1 - thread); // race
    y.store(thread, other);
}

#[kernel]
fn reverse_in_place(y: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    let across = y.load(THREADS - 1 - thread);
    thread::sync_threads();
    y.store(thread, across);
}

#[kernel]
fn reverse_in_place_without_barrier(y: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    let across = y.load(THREADS - 1 - thread); // race
    y.store(thread, across); // race
}

#[kernel]
fn counting_barrier_orders(y: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    y.store(thread, 1);
    let odd = thread::sync_threads_count(thread % 2 == 1);
    assert!(odd as usize == THREADS / 2 && y.load((thread + 40) % THREADS) == 1);
}

#[kernel]
fn dynamic_shared_memory(y: GlobalMut<u32>) {
    let tile = dynamic_shared::<u32>();
    let thread = thread::thread_idx_x() as usize;
    tile.store(thread, 1);
    thread::sync_threads();
    y.store(thread, tile.load((thread + 33) % THREADS));
}

/// A kernel with a race. The second part of dynamic shared memory starts one element before the end of the first part.
#[kernel]
fn dynamic_parts_that_overlap(y: GlobalMut<u32>) {
    let all = dynamic_shared::<u32>();
    let (a, b) = (all.part(0, THREADS), all.part(THREADS - 1, THREADS));
    let thread = thread::thread_idx_x() as usize;
    a.store(thread, 1); // race
    b.store(thread, 2); // race
    thread::sync_threads();
    y.store(thread, a.load(THREADS - 1 - thread));
}

#[kernel]
fn one_writes_all_read(y: GlobalMut<u32>) {
    let value = shared_array![u32; 1];
    let thread = thread::thread_idx_x() as usize;
    if thread == 40 {
        value.store(0, 5);
    }
    thread::sync_threads();
    y.store(thread, value.load(0));
}

/// A kernel with a race that looks harmless, because all threads write the same value.
#[kernel]
fn all_write_the_same_value(y: GlobalMut<u32>) {
    let flag = shared_array![u32; 1];
    flag.store(0, 1); // race
    thread::sync_threads();
    y.store(thread::thread_idx_x() as usize, flag.load(0));
}

#[kernel]
fn read_only_sharing(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, x.load(0) + x.load(i % 4));
}

#[kernel]
fn halo_of_its_own_threads(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS + 2];
    let thread = thread::thread_idx_x() as usize;
    tile.store(thread + 1, 1);
    if thread < 2 {
        tile.store(thread * (THREADS + 1), 1);
    }
    thread::sync_threads();
    y.store(thread, tile.load(thread) + tile.load(thread + 1) + tile.load(thread + 2));
}

/// A kernel with a race. The left halo is stored in the element of the first thread.
#[kernel]
fn halo_off_by_one(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS + 2];
    let thread = thread::thread_idx_x() as usize;
    tile.store(thread + 1, 1); // race
    if thread == THREADS - 1 {
        tile.store(1, 2); // race
    }
    thread::sync_threads();
    y.store(thread, tile.load(thread + 1));
}

#[kernel]
fn unwritten_shared_memory(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    let value = tile.load(thread); // unwritten
    y.store(thread, value);
}

/// A kernel that reads uninitialised memory, because it fills only three quarters of the tile.
#[kernel]
fn an_unwritten_quarter(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let thread = thread::thread_idx_x() as usize;
    if !thread.is_multiple_of(4) {
        tile.store(thread, 1);
    }
    thread::sync_threads();
    let value = tile.load(THREADS - 1 - thread); // unwritten
    y.store(thread, value);
}

#[kernel]
fn unwritten_global_memory(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let value = x.load(i); // unwritten
    y.store(i, value);
}

#[kernel]
fn the_end_that_the_host_left_out(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let value = x.load(i); // unwritten
    y.store(i, value);
}

#[kernel]
fn three_dimensions(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let (tx, ty, tz) = (thread::thread_idx_x(), thread::thread_idx_y(), thread::thread_idx_z());
    tile.store((16 * tz + 4 * ty + tx) as usize, 1);
    thread::sync_threads();
    y.store(thread::index_in_block() as usize, tile.load((16 * tx + 4 * tz + ty) as usize));
}

/// A kernel with a race. The index ignores z, so that two threads share an element.
#[kernel]
fn two_threads_of_one_column(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 16];
    let place = (4 * thread::thread_idx_y() + thread::thread_idx_x()) as usize;
    tile.store(place, thread::thread_idx_z()); // race
    thread::sync_threads();
    y.store(thread::index_in_block() as usize, tile.load(place));
}

/// A race-free kernel. One warp passes a value to another warp by a flag in shared memory.
#[kernel]
fn from_warp_to_warp(y: GlobalMut<u32>) {
    let (value, flag) = (shared_array![u32; 1], shared_array![u32; 1]);
    let thread = thread::thread_idx_x();
    if thread == 0 {
        flag.store(0, 0);
    }
    thread::sync_threads();
    if thread == 0 {
        value.store(0, 42);
        flag.store_release(0, 1);
    }
    if thread == 32 {
        while flag.load_acquire(0) == 0 {}
        y.store(thread::block_idx_x() as usize, value.load(0));
    }
}

#[kernel]
fn from_warp_to_warp_relaxed(y: GlobalMut<u32>) {
    let (value, flag) = (shared_array![u32; 1], shared_array![u32; 1]);
    let thread = thread::thread_idx_x();
    if thread == 0 {
        flag.store(0, 0);
    }
    thread::sync_threads();
    if thread == 0 {
        value.store(0, 42); // race
        flag.store_relaxed(0, 1);
    }
    if thread == 32 {
        while flag.load_relaxed(0) == 0 {}
        let found = value.load(0); // race
        y.store(thread::block_idx_x() as usize, found);
    }
}
