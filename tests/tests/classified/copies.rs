//! Tests the checker on asynchronous copies. The thread that copies sees the values after its wait. Other threads see
//! the values only after an additional barrier.

use cuda_std::{AsyncCopies, GlobalMut, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree, Unwritten};

/// Returns a launch configuration of one block of two warps.
fn two_warps() -> LaunchConfig {
    LaunchConfig::new(1, 64)
}

cases! {
    "copies.rs";
    copied_and_waited: RaceFree, |device| launch!(device, two_warps(), copied_and_waited, 256, 256);
    copied_and_not_waited: Unwritten("tile"), |device| launch!(device, two_warps(), copied_and_not_waited, 256, 256);
    zeroed_copied_and_not_waited: Unwritten("tile"), |device| launch!(device, two_warps(), zeroed_copied_and_not_waited, 256, 256);
    zeroed_copied_and_waited: RaceFree, |device| launch!(device, two_warps(), zeroed_copied_and_waited, 256, 256);
    copied_for_others: RaceFree, |device| launch!(device, two_warps(), copied_for_others, 256, 256);
    copied_for_others_without_barrier: Race("tile"), |device| launch!(device, two_warps(), copied_for_others_without_barrier, 256, 256);
    overwritten_under_way: Race("tile"), |device| launch!(device, two_warps(), overwritten_under_way, 256, 256);
    overwritten_behind_a_barrier: Race("tile"), |device| launch!(device, two_warps(), overwritten_behind_a_barrier, 256, 256);
    overwritten_by_itself: Race("tile"), |device| launch!(device, two_warps(), overwritten_by_itself, 256, 256);
    copied_twice: Race("tile"), |device| launch!(device, two_warps(), copied_twice, 256, 256);
    copied_one_after_the_other: RaceFree, |device| launch!(device, two_warps(), copied_one_after_the_other, 256, 256);
    read_and_copied_over: Race("tile"), |device| launch!(device, two_warps(), read_and_copied_over, 256, 256);
    read_before_the_copy: RaceFree, |device| launch!(device, two_warps(), read_before_the_copy, 256, 256);
    overwritten_before: RaceFree, |device| launch!(device, two_warps(), overwritten_before, 256, 256);
    two_stages: RaceFree, |device| launch!(device, two_warps(), two_stages, 256, 256);
    the_second_stage_too_early: Unwritten("tile"), |device| launch!(device, two_warps(), the_second_stage_too_early, 256, 256);
    the_source_written_under_way: Race("x"), |device| launch!(device, two_warps(), the_source_written_under_way, 256, 256);
}

// Sound: a thread sees the values of its own copies after its wait.
#[kernel]
fn copied_and_waited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i);
    copies.commit();
    copies.wait::<0>();
    y.store_vec(i, tile.load(i));
}

// Faulty: without a wait, the copy may still be in flight.
#[kernel]
fn copied_and_not_waited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i); // unwritten
    copies.commit();
    let found = tile.load(i); // unwritten
    copies.wait::<0>();
    y.store_vec(i, found);
}

// Faulty: without a wait, the copy may still be overwriting the stored value.
#[kernel]
fn zeroed_copied_and_not_waited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    tile.store(i, [0; 4]);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i); // unwritten
    copies.commit();
    y.store_vec(i, tile.load(i)); // unwritten
}

// Sound: the tile is zeroed, and then copies fill a part of it.
#[kernel]
fn zeroed_copied_and_waited(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    tile.store(i, [0; 4]);
    let mut copies = AsyncCopies::new();
    if i < 40 {
        copies.copy_written(x, i, tile, i);
    }
    copies.commit();
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(i, tile.load(63 - i));
}

// Sound: a barrier follows the wait.
#[kernel]
fn copied_for_others(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i);
    copies.commit();
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(i, tile.load(63 - i));
}

// Faulty: a wait covers only the copies of the waiting thread.
#[kernel]
fn copied_for_others_without_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i); // race
    copies.commit();
    copies.wait::<0>();
    let found = tile.load(63 - i); // race
    y.store_vec(i, found);
}

// Faulty: the copy may complete before or after the store.
#[kernel]
fn overwritten_under_way(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    if i < 32 {
        copies.copy_written(x, i, tile, i); // race
        copies.commit();
    } else {
        tile.store(i - 32, [7; 4]); // race
    }
    thread::sync_threads();
    copies.wait::<0>();
    y.store_vec(i, [7; 4]);
}

// Faulty: the barrier orders the store after the start of the copy, but not after the copy's end.
#[kernel]
fn overwritten_behind_a_barrier(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i); // race
    copies.commit();
    thread::sync_threads();
    tile.store(63 - i, [7; 4]); // race
    thread::sync_threads();
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(i, tile.load(i));
}

// Faulty: program order does not order the thread's own store after the copy.
#[kernel]
fn overwritten_by_itself(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i); // race
    copies.commit();
    tile.store(i, [7; 4]); // race
    copies.wait::<0>();
    y.store_vec(i, tile.load(i));
}

// Faulty: the first of the two copies may complete last.
#[kernel]
fn copied_twice(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy_written(x, i, tile, i); // race
    thread::sync_threads();
    copies.copy_written(x, i, tile, 63 - i); // race
    copies.commit();
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(i, tile.load(i));
}

// Sound: between the two copies are a wait and a barrier.
#[kernel]
fn copied_one_after_the_other(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    for round in 0..2 {
        copies.copy_written(x, i, tile, if round == 0 { i } else { 63 - i });
        copies.commit();
        copies.wait::<0>();
        thread::sync_threads();
    }
    y.store_vec(i, tile.load(i));
}

// Faulty: a wait does not order other threads' earlier reads before the copy.
#[kernel]
fn read_and_copied_over(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    tile.store(i, [7; 4]);
    thread::sync_threads();
    let found = tile.load(63 - i); // race
    copies.copy_written(x, i, tile, i); // race
    copies.commit();
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(i, found);
}

// Sound: a barrier between the reads and the copy orders them.
#[kernel]
fn read_before_the_copy(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    tile.store(i, [7; 4]);
    thread::sync_threads();
    let found = tile.load(63 - i);
    thread::sync_threads();
    copies.copy_written(x, i, tile, i);
    copies.commit();
    copies.wait::<0>();
    y.store_vec(i, found);
}

// Sound: a barrier orders the store before the copy.
#[kernel]
fn overwritten_before(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    tile.store(i, [7; 4]);
    thread::sync_threads();
    if i < 32 {
        copies.copy_written(x, i, tile, 63 - i);
        copies.commit();
    }
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(i, tile.load(i ^ 32));
}

// Sound: the wait leaves one group in flight, and all earlier groups have completed.
#[kernel]
fn two_stages(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 128], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    for stage in 0..2 {
        copies.copy_written(x, i, tile, stage * 64 + i);
        copies.commit();
    }
    copies.wait::<1>();
    y.store_vec(i, tile.load(i));
    copies.wait::<0>();
    y.store_vec(i, tile.load(64 + i));
}

// Faulty: the second group may still be in flight when it is read.
#[kernel]
fn the_second_stage_too_early(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 128], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    for stage in 0..2 {
        copies.copy_written(x, i, tile, stage * 64 + i); // unwritten
        copies.commit();
    }
    copies.wait::<1>();
    let found = tile.load(64 + i); // unwritten
    copies.wait::<0>();
    y.store_vec(i, found);
}

// Faulty: another warp writes the copy's source while the copy is in flight.
#[kernel]
fn the_source_written_under_way(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    if i < 32 {
        copies.copy_written(x, i, tile, i); // race
        copies.commit();
    } else {
        x.store(i, 7); // race
    }
    copies.wait::<0>();
    y.store(i, 1);
}
