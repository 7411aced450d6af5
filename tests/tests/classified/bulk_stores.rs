//! Tests the checker on bulk copies and reductions from shared memory: on groups, on the wait for their reads and for
//! their ends, and on proxy fences. The classes follow from the PTX manual.

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::{self, Add};
use cuda_std::{GlobalMut, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Misuse, Race, RaceFree, Unfenced};

/// The number of elements of a tile.
const TILE: usize = 64;

/// Returns a launch configuration of one block of two warps.
fn two_warps() -> LaunchConfig {
    LaunchConfig::new(1, TILE as u32)
}

cases! {
    "bulk_stores.rs";
    stored_and_waited: RaceFree, |device| numbers!(device, two_warps(), stored_and_waited, TILE);
    stored_without_proxy_fence: Unfenced("tile"), |device| numbers!(device, two_warps(), stored_without_proxy_fence, TILE);
    stored_without_barrier: Race("tile"), |device| numbers!(device, two_warps(), stored_without_barrier, TILE);
    overwritten_before_it_was_read: Race("tile"), |device| numbers!(device, two_warps(), overwritten_before_it_was_read, TILE);
    overwritten_after_it_was_read: RaceFree, |device| numbers!(device, two_warps(), overwritten_after_it_was_read, TILE);
    overwritten_without_a_barrier: Race("tile"), |device| numbers!(device, two_warps(), overwritten_without_a_barrier, TILE);
    overwritten_by_the_same_thread: RaceFree, |device| numbers!(device, two_warps(), overwritten_by_the_same_thread, TILE);
    waited_without_commit: Race("tile"), |device| numbers!(device, two_warps(), waited_without_commit, TILE);
    waited_by_another_thread: Race("tile"), |device| numbers!(device, two_warps(), waited_by_another_thread, TILE);
    read_back_after_its_source_was_read: Race("y"), |device| numbers!(device, two_warps(), read_back_after_its_source_was_read, TILE);
    read_back_after_its_end: RaceFree, |device| numbers!(device, two_warps(), read_back_after_its_end, TILE);
    the_first_of_two_groups: RaceFree, |device| numbers!(device, two_warps(), the_first_of_two_groups, 2 * TILE);
    the_second_of_two_groups: Race("tile"), |device| numbers!(device, two_warps(), the_second_of_two_groups, 2 * TILE);
    stored_twice_to_one_place: Race("y"), |device| numbers!(device, two_warps(), stored_twice_to_one_place, TILE);
    stored_one_after_the_other: RaceFree, |device| numbers!(device, two_warps(), stored_one_after_the_other, TILE);
    added_by_several_blocks: RaceFree, |device| numbers!(device, LaunchConfig::new(3, 64), added_by_several_blocks, TILE);
    added_and_read: Race("y"), |device| numbers!(device, two_warps(), added_and_read, TILE);
    stored_and_loaded: Race("y"), |device| numbers!(device, two_warps(), stored_and_loaded, TILE);
    stored_and_loaded_after_the_end: RaceFree, |device| numbers!(device, two_warps(), stored_and_loaded_after_the_end, TILE);
    store_not_waited_at_the_end: Misuse, |device| numbers!(device, two_warps(), store_not_waited_at_the_end, TILE);
    misaligned_target: Misuse, |device| numbers!(device, two_warps(), misaligned_target, TILE + 1);
}

// Sound: a fence and a barrier precede the copy, and its thread waits for it.
#[kernel]
fn stored_and_waited(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y);
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: the copy reads stores without a proxy fence.
#[kernel]
fn stored_without_proxy_fence(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32); // proxy
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // proxy
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: nothing orders the stores of other threads before the copy.
#[kernel]
fn stored_without_barrier(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, 0);
    barrier::fence_proxy_async();
    thread::sync_threads();
    tile.store(i, i as u32); // race
    barrier::fence_proxy_async();
    if i == 0 {
        bulk::store(tile, y); // race
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: the copy may still read the tile.
#[kernel]
fn overwritten_before_it_was_read(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // race
        bulk::commit();
    }
    thread::sync_threads();
    tile.store(i, 1); // race
    if i == 0 {
        bulk::wait::<0>();
    }
}

// Sound: the thread waits until the copy has read the tile, and a barrier follows.
#[kernel]
fn overwritten_after_it_was_read(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y);
        bulk::commit();
        bulk::wait_read::<0>();
    }
    thread::sync_threads();
    tile.store(i, 1);
}

// Faulty: no barrier orders the other threads after the wait.
#[kernel]
fn overwritten_without_a_barrier(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // race
        bulk::commit();
        bulk::wait_read::<0>();
    }
    if i > 0 {
        tile.store(i, 1); // race
    }
}

// Sound: the thread that begins the copy waits and overwrites the tile itself.
#[kernel]
fn overwritten_by_the_same_thread(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y);
        bulk::commit();
        bulk::wait_read::<0>();
        tile.store(5, 1);
    }
}

// Faulty: the wait does not cover a copy that is in no group yet.
#[kernel]
fn waited_without_commit(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // race
        bulk::wait_read::<0>();
        tile.store(5, 1); // race
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: a thread waits for its own groups only.
#[kernel]
fn waited_by_another_thread(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // race
        bulk::commit();
    }
    thread::sync_threads();
    if i == 1 {
        bulk::wait_read::<0>();
        tile.store(5, 1); // race
    }
    if i == 0 {
        bulk::wait::<0>();
    }
}

// Faulty: the elements need not be in global memory yet.
#[kernel]
fn read_back_after_its_source_was_read(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // race
        bulk::commit();
        bulk::wait_read::<0>();
    }
    thread::sync_threads();
    let found = y.load(i); // race
    tile.store(i, found);
}

// Sound: the thread waits for the end of the copy, and a barrier follows.
#[kernel]
fn read_back_after_its_end(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y);
        bulk::commit();
        bulk::wait::<0>();
    }
    thread::sync_threads();
    let found = y.load(TILE - 1 - i);
    tile.store(i, found);
}

// Sound: the first group has been read when at most one is pending.
#[kernel]
fn the_first_of_two_groups(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 2 * TILE], thread::index_in_block() as usize);
    tile.store(i, 1);
    tile.store(TILE + i, 2);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        for half in 0..2 {
            bulk::store(tile.part(half * TILE, TILE), y.part(half * TILE, TILE));
            bulk::commit();
        }
        bulk::wait_read::<1>();
        tile.store(5, 3);
        bulk::wait_read::<0>();
    }
}

// Faulty: the second group may still be read.
#[kernel]
fn the_second_of_two_groups(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 2 * TILE], thread::index_in_block() as usize);
    tile.store(i, 1);
    tile.store(TILE + i, 2);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        for half in 0..2 {
            bulk::store(tile.part(half * TILE, TILE), y.part(half * TILE, TILE)); // race
            bulk::commit();
        }
        bulk::wait_read::<1>();
        tile.store(TILE + 5, 3); // race
        bulk::wait_read::<0>();
    }
}

// Faulty: nothing orders the two copies.
#[kernel]
fn stored_twice_to_one_place(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // race
        bulk::store(tile, y); // race
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Sound: the second copy begins after the end of the first.
#[kernel]
fn stored_one_after_the_other(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        for _ in 0..2 {
            bulk::store(tile, y);
            bulk::commit();
            bulk::wait::<0>();
        }
    }
}

// Sound: reductions are atomic.
#[kernel]
fn added_by_several_blocks(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::reduce(Add, tile, y);
        bulk::reduce(Add, tile, y);
        bulk::commit();
        bulk::wait_read::<0>();
    }
}

// Faulty: a thread reads what the reduction may not have added yet.
#[kernel]
fn added_and_read(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::reduce(Add, tile, y); // race
        bulk::commit();
        bulk::wait_read::<0>();
        let sum = y.load(3); // race
        tile.store(0, sum);
    }
}

// Faulty: the second copy may read before the first has written.
#[kernel]
fn stored_and_loaded(y: GlobalMut<u32>) {
    let words = shared_array![u64; 1];
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = Barrier::at(words, 0);
    if i == 0 {
        full.init(1);
        barrier::fence_init();
    }
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // race
        bulk::commit();
        bulk::wait_read::<0>();
        let _ = full.arrive_and_expect(4 * TILE as u32);
        bulk::load_written(y, tile, full); // race
        full.wait_parity(false);
    }
}

// Sound: the thread waits for the end of the first copy.
#[kernel]
fn stored_and_loaded_after_the_end(y: GlobalMut<u32>) {
    let words = shared_array![u64; 1];
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = Barrier::at(words, 0);
    if i == 0 {
        full.init(1);
        barrier::fence_init();
    }
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y);
        bulk::commit();
        bulk::wait::<0>();
        let _ = full.arrive_and_expect(4 * TILE as u32);
        bulk::load_written(y, tile, full);
        full.wait_parity(false);
    }
}

// Faulty: the block may end while the copy reads its memory.
#[kernel]
fn store_not_waited_at_the_end(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y); // misuse
        bulk::commit();
    }
}

// Faulty: the copy begins at a multiple of 4 bytes only.
#[kernel]
fn misaligned_target(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    tile.store(i, i as u32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        bulk::store(tile, y.part(1, TILE)); // misuse
        bulk::commit();
        bulk::wait::<0>();
    }
}
