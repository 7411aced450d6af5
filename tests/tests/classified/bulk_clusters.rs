//! Tests the checker on bulk copies between the blocks of a cluster: on multicasts, on copies to another block, and on
//! the barriers of other blocks. The classes follow from the PTX manual.

use cuda_std::barrier::{self, Barrier};
use cuda_std::{Global, GlobalMut, Shared, bulk, cluster, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree, Remote, Stuck, Unfenced};

/// The number of elements of a tile.
const TILE: usize = 32;
/// The number of bytes of a tile.
const BYTES: u32 = 4 * TILE as u32;

/// The mask of the ranks of both blocks.
const BOTH: u16 = 0b11;

/// Returns a launch configuration of a cluster of two blocks of one warp.
fn two_blocks() -> LaunchConfig {
    LaunchConfig::new(2, TILE as u32)
}

/// Returns barrier `index` of `words`, which every thread of the cluster may use: each phase has `count` arrivals.
fn barrier_of(words: Shared<u64>, index: usize, count: u32) -> Barrier {
    let full = Barrier::at(words, index);
    if thread::index_in_block() == 0 {
        full.init(count);
        barrier::fence_init();
    }
    cluster::wait(cluster::arrive_relaxed());
    full
}

/// Launches a kernel that reads a buffer of the first length and writes one of the second. Returns the second buffer.
macro_rules! multicast {
    ($device:ident, $kernel:ident, $from:expr, $to:expr) => {{
        let numbers: Vec<u32> = (1..=$from as u32).collect();
        let (x, mut y) = ($device.upload(&numbers)?, $device.zeroed::<u32>($to)?);
        $device.launch(two_blocks(), $kernel(x.view(), y.view_mut()))?;
        y.download()
    }};
}

cases! {
    "bulk_clusters.rs";
    multicast_to_both: RaceFree, |device| multicast!(device, multicast_to_both, TILE, 2 * TILE);
    multicast_that_one_block_expects: Race("tile"), |device| multicast!(device, multicast_that_one_block_expects, TILE, 2 * TILE);
    multicast_to_one_block_only: Stuck, |device| multicast!(device, multicast_to_one_block_only, TILE, 2 * TILE);
    multicast_again_after_arrivals: RaceFree, |device| multicast!(device, multicast_again_after_arrivals, 2 * TILE, 4 * TILE);
    multicast_again_while_the_other_block_reads: Race("tile"), |device| multicast!(device, multicast_again_while_the_other_block_reads, 2 * TILE, 4 * TILE);
    barrier_of_a_block_without_fence: Unfenced("words"), |device| multicast!(device, barrier_of_a_block_without_fence, TILE, 2 * TILE);
    arrival_at_a_barrier_without_fence: Race("words"), |device| numbers!(device, two_blocks(), arrival_at_a_barrier_without_fence, 1, TILE);
    arrival_at_a_barrier_with_fence: RaceFree, |device| numbers!(device, two_blocks(), arrival_at_a_barrier_with_fence, 1, TILE);
    multicast_without_a_barrier_of_the_cluster: Remote("tile"), |device| multicast!(device, multicast_without_a_barrier_of_the_cluster, TILE, 2 * TILE);
    sent_to_the_other_block: RaceFree, |device| numbers!(device, two_blocks(), sent_to_the_other_block, TILE, 2 * TILE);
    sent_without_proxy_fence: Unfenced("tile"), |device| numbers!(device, two_blocks(), sent_without_proxy_fence, TILE, 2 * TILE);
    overwritten_after_sending: Race("tile"), |device| numbers!(device, two_blocks(), overwritten_after_sending, TILE, 2 * TILE);
    overwritten_after_the_other_block_has_received: RaceFree, |device| numbers!(device, two_blocks(), overwritten_after_the_other_block_has_received, TILE, 2 * TILE);
}

// Sound: each block announces the bytes at its own barrier and waits there.
#[kernel(cluster = 2)]
fn multicast_to_both(x: Global<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        if rank == 0 {
            bulk::load_multicast(x, tile, full, BOTH);
        }
    }
    full.wait_parity(false);
    y.store(rank * TILE + i, tile.load(TILE - 1 - i));
    cluster::sync();
}

// Faulty: block 1 arrives without announcing the bytes.
#[kernel(cluster = 2)]
fn multicast_that_one_block_expects(x: Global<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 && rank == 1 {
        let _ = full.arrive();
    }
    cluster::sync();
    if i == 0 && rank == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::load_multicast(x, tile, full, BOTH); // race
    }
    cluster::sync();
    full.wait_parity(false);
    y.store(rank * TILE + i, if rank == 0 { 0 } else { tile.load(i) }); // race
    cluster::sync();
}

// Faulty: block 1 waits for bytes that the mask does not send to it.
#[kernel(cluster = 2)]
fn multicast_to_one_block_only(x: Global<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        if rank == 0 {
            bulk::load_multicast(x, tile, full, 0b01);
        }
    }
    full.wait_parity(false); // stuck
    y.store(rank * TILE + i, tile.load(i));
    cluster::sync();
}

// Sound: both blocks tell the loading one that they have read the tile.
#[kernel(cluster = 2)]
fn multicast_again_after_arrivals(x: Global<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let words = shared_array![u64; 2];
    let [full, empty] = [barrier_of(words, 0, 1), barrier_of(words, 1, 2 * TILE as u32)];
    for round in 0..2 {
        if i == 0 {
            let _ = full.arrive_and_expect(BYTES);
            if rank == 0 {
                empty.wait_parity(round == 0);
                bulk::load_multicast(x.part(round * TILE, TILE), tile, full, BOTH);
            }
        }
        full.wait_parity(round == 1);
        y.store((2 * round + rank) * TILE + i, tile.load(TILE - 1 - i));
        empty.arrive_at(0);
    }
    cluster::sync();
}

// Faulty: the loading block waits for its own threads only.
#[kernel(cluster = 2)]
fn multicast_again_while_the_other_block_reads(x: Global<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let words = shared_array![u64; 3];
    let full = [barrier_of(words, 0, 1), barrier_of(words, 1, 1)];
    let empty = barrier_of(words, 2, TILE as u32);
    for round in 0..2 {
        if i == 0 {
            let _ = full[round].arrive_and_expect(BYTES);
            if rank == 0 {
                empty.wait_parity(round == 0);
                bulk::load_multicast(x.part(round * TILE, TILE), tile, full[round], BOTH); // race
            }
        }
        full[round].wait_parity(false);
        y.store((2 * round + rank) * TILE + i, tile.load(TILE - 1 - i)); // race
        let _ = empty.arrive();
    }
    cluster::sync();
}

// Faulty: the copy arrives at barriers whose initialisation no fence makes known to it.
#[kernel(cluster = 2)]
fn barrier_of_a_block_without_fence(x: Global<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let words = shared_array![u64; 1];
    let full = Barrier::at(words, 0);
    if i == 0 {
        full.init(1); // proxy
    }
    cluster::sync();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        if rank == 0 {
            bulk::load_multicast(x, tile, full, BOTH); // proxy
        }
    }
    full.wait_parity(false);
    y.store(rank * TILE + i, tile.load(i));
    cluster::sync();
}

// Faulty: a relaxed arrival orders the initialisation only after a fence of it.
#[kernel(cluster = 2)]
fn arrival_at_a_barrier_without_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (words, i, rank) = (shared_array![u64; 1], thread::index_in_block() as usize, cluster::block_rank());
    let full = Barrier::at(words, 0);
    if i == 0 {
        full.init(TILE as u32); // race
    }
    thread::sync_threads();
    cluster::wait(cluster::arrive_relaxed());
    if rank == 1 {
        full.arrive_at(0); // race
    } else {
        full.wait_parity(false);
        y.store(i, x.load(0));
    }
    cluster::sync();
}

// Sound: the fence and the barrier of the cluster make the initialisation known.
#[kernel(cluster = 2)]
fn arrival_at_a_barrier_with_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (words, i, rank) = (shared_array![u64; 1], thread::index_in_block() as usize, cluster::block_rank());
    let full = barrier_of(words, 0, TILE as u32);
    if rank == 1 {
        full.arrive_at(0);
    } else {
        full.wait_parity(false);
        y.store(i, x.load(0));
    }
    cluster::sync();
}

// Faulty: the other block may not have begun.
#[kernel(cluster = 2)]
fn multicast_without_a_barrier_of_the_cluster(x: Global<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let full = Barrier::at(shared_array![u64; 1], 0);
    if i == 0 {
        full.init(1);
        barrier::fence_init();
        let _ = full.arrive_and_expect(BYTES);
        if rank == 0 {
            bulk::load_multicast(x, tile, full, BOTH); // remote
        }
    }
    thread::sync_threads();
    full.wait_parity(false);
    y.store(rank * TILE + i, tile.load(i));
    cluster::sync();
}

// Sound: a fence and a barrier precede the copy, and the other block waits at its barrier.
#[kernel(cluster = 2)]
fn sent_to_the_other_block(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let received = shared_array![u32; TILE];
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    tile.store(i, x.load(i));
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::send(tile, received, full, 1 - rank as u32);
    }
    full.wait_parity(false);
    y.store(rank * TILE + i, received.load(i));
    cluster::sync();
}

// Faulty: the copy reads stores without a proxy fence.
#[kernel(cluster = 2)]
fn sent_without_proxy_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let received = shared_array![u32; TILE];
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    tile.store(i, x.load(i)); // proxy
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::send(tile, received, full, 1 - rank as u32); // proxy
    }
    full.wait_parity(false);
    y.store(rank * TILE + i, received.load(i));
    cluster::sync();
}

// Faulty: the end of the other block's copy says nothing about the own one.
#[kernel(cluster = 2)]
fn overwritten_after_sending(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let received = shared_array![u32; TILE];
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    tile.store(i, x.load(i));
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::send(tile, received, full, 1 - rank as u32); // race
    }
    full.wait_parity(false);
    y.store(rank * TILE + i, received.load(i));
    tile.store(i, 1); // race
    cluster::sync();
}

// Sound: a barrier of the cluster follows the wait of the other block.
#[kernel(cluster = 2)]
fn overwritten_after_the_other_block_has_received(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (tile, i, rank) = (shared_array![u32; TILE], thread::index_in_block() as usize, cluster::block_rank() as usize);
    let received = shared_array![u32; TILE];
    let full = barrier_of(shared_array![u64; 1], 0, 1);
    tile.store(i, x.load(i));
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        bulk::send(tile, received, full, 1 - rank as u32);
    }
    full.wait_parity(false);
    y.store(rank * TILE + i, received.load(i));
    cluster::sync();
    tile.store(i, 1);
    cluster::sync();
}
