//! Tests the checker on bulk copies to shared memory: on their sources, and on fences between the proxies. The classes
//! follow from the PTX manual.

use cuda_std::barrier::{self, Barrier};
use cuda_std::{GlobalMut, Shared, bulk, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree, Unfenced};

/// The number of elements of a tile.
const TILE: usize = 64;
/// The number of bytes of a tile.
const BYTES: u32 = 4 * TILE as u32;

/// Returns a launch configuration of one block of two warps.
fn two_warps() -> LaunchConfig {
    LaunchConfig::new(1, TILE as u32)
}

/// Returns barrier `index` of `words`, which every thread may use: each phase has `count` arrivals.
fn barrier_of(words: Shared<u64>, index: usize, count: u32) -> Barrier {
    let full = Barrier::at(words, index);
    if thread::index_in_block() == 0 {
        full.init(count);
        barrier::fence_init();
    }
    thread::sync_threads();
    full
}

cases! {
    "bulk_proxies.rs";
    initialised_without_fence: Unfenced("words"), |device| numbers!(device, two_warps(), initialised_without_fence, TILE, TILE);
    initialised_with_a_proxy_fence: RaceFree, |device| numbers!(device, two_warps(), initialised_with_a_proxy_fence, TILE, TILE);
    cleared_without_proxy_fence: Unfenced("tile"), |device| numbers!(device, two_warps(), cleared_without_proxy_fence, TILE, TILE);
    cleared_with_proxy_fence: RaceFree, |device| numbers!(device, two_warps(), cleared_with_proxy_fence, TILE, TILE);
    proxy_fence_of_the_issuer: RaceFree, |device| numbers!(device, two_warps(), proxy_fence_of_the_issuer, TILE, TILE);
    proxy_fence_before_the_stores: Unfenced("tile"), |device| numbers!(device, two_warps(), proxy_fence_before_the_stores, TILE, TILE);
    source_written_without_proxy_fence: Unfenced("x"), |device| numbers!(device, two_warps(), source_written_without_proxy_fence, TILE, TILE);
    source_written_with_proxy_fence: RaceFree, |device| numbers!(device, two_warps(), source_written_with_proxy_fence, TILE, TILE);
    source_written_while_loading: Race("x"), |device| numbers!(device, two_warps(), source_written_while_loading, TILE, TILE);
    source_written_after_loading: RaceFree, |device| numbers!(device, two_warps(), source_written_after_loading, TILE, TILE);
}

// Faulty: a copy arrives at a barrier whose initialisation no fence makes known to it.
#[kernel]
fn initialised_without_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let words = shared_array![u64; 1];
    let full = Barrier::at(words, 0);
    if i == 0 {
        full.init(1); // proxy
    }
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // proxy
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Sound: a fence between the proxies makes the initialisation known, too.
#[kernel]
fn initialised_with_a_proxy_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = Barrier::at(shared_array![u64; 1], 0);
    if i == 0 {
        full.init(1);
        barrier::fence_proxy_async();
    }
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Faulty: the copy overwrites stores without a proxy fence.
#[kernel]
fn cleared_without_proxy_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    tile.store(i, 0); // proxy
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // proxy
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Sound: each thread makes a fence after its store, before the barrier.
#[kernel]
fn cleared_with_proxy_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    tile.store(i, 0);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Sound: the thread that begins the copy makes the fence after the barrier.
#[kernel]
fn proxy_fence_of_the_issuer(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    tile.store(i, 0);
    thread::sync_threads();
    if i == 0 {
        barrier::fence_proxy_async();
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Faulty: the fences precede the stores.
#[kernel]
fn proxy_fence_before_the_stores(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    barrier::fence_proxy_async();
    tile.store(i, 0); // proxy
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // proxy
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Faulty: the copy reads what threads have written to global memory without a proxy fence.
#[kernel]
fn source_written_without_proxy_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    x.store(i, 1); // proxy
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // proxy
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Sound: a fence follows each store to global memory.
#[kernel]
fn source_written_with_proxy_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    x.store(i, 1);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Faulty: a thread writes what the copy may not have read yet.
#[kernel]
fn source_written_while_loading(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full); // race
    }
    thread::sync_threads();
    x.store(i, 1); // race
    full.wait_parity(false);
    y.store(i, tile.load(i));
}

// Sound: the copy has read its source when the phase ends.
#[kernel]
fn source_written_after_loading(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; TILE], thread::index_in_block() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_written(x, tile, full);
    }
    full.wait_parity(false);
    x.store(i, 1);
    y.store(i, tile.load(i));
}
