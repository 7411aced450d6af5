//! Tests the checker on loads with tensor maps. The classes follow from the PTX manual, and those of coordinates from
//! an H200, which ends a kernel with such a box by an illegal instruction.

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::{TensorMap, TensorMapMut};
use cuda_std::tensor::{SharedTile, Swizzle32};
use cuda_std::{GlobalMut, Shared, cluster, kernel, shared_array, thread};
use launch::{LaunchConfig, Swizzle};

use crate::What::{Misuse, Race, RaceFree, Stuck};

/// The number of columns and rows of the matrices.
pub const SHAPE: [usize; 2] = [32, 16];
/// The number of columns and rows of a box.
pub const BOX: [usize; 2] = [8, 8];
/// The number of elements of a box.
pub const TILE: usize = 64;
/// The number of bytes of a box.
const BYTES: u32 = 4 * TILE as u32;

/// Returns a launch configuration of one block of two warps.
fn two_warps() -> LaunchConfig {
    LaunchConfig::new(1, TILE as u32)
}

/// Launches `$kernel` with maps of two matrices, and a vector with the elements of two boxes. Returns the bits of the
/// second matrix and of the vector.
macro_rules! boxes {
    ($device:ident, $config:expr, $kernel:path, $swizzle:expr) => {{
        use crate::bulk_boxes::{BOX, SHAPE, TILE};
        let numbers: Vec<f32> = (1..=SHAPE[0] * SHAPE[1]).map(|i| i as f32).collect();
        let x = $device.upload(&numbers)?;
        let (mut y, mut z) = ($device.upload(&[0.5_f32; SHAPE[0] * SHAPE[1]])?, $device.upload(&[0.5_f32; 2 * TILE])?);
        let from = $device.tensor_map(x.view(), SHAPE).tile(BOX).swizzle($swizzle).build()?;
        let to = $device.tensor_map(y.view_mut(), SHAPE).tile(BOX).swizzle($swizzle).build()?;
        $device.launch($config, $kernel(from, to, z.view_mut()))?;
        let (y, z) = (y.download()?, z.download()?);
        Ok([y, z].concat().into_iter().map(f32::to_bits).collect::<Vec<u32>>())
    }};
}

/// Returns barrier `index` of `words`, whose phases have one arrival.
fn barrier_of(words: Shared<u64>, index: usize) -> Barrier {
    let full = Barrier::at(words, index);
    if thread::index_in_block() == 0 {
        full.init(1);
        barrier::fence_init();
    }
    thread::sync_threads();
    full
}

cases! {
    "bulk_boxes.rs";
    box_loaded: RaceFree, |device| boxes!(device, two_warps(), box_loaded, Swizzle::None);
    box_before_the_first_element: RaceFree, |device| boxes!(device, two_warps(), box_before_the_first_element, Swizzle::None);
    box_behind_the_last_element: RaceFree, |device| boxes!(device, two_warps(), box_behind_the_last_element, Swizzle::None);
    box_between_chunks: Misuse, |device| boxes!(device, two_warps(), box_between_chunks, Swizzle::None);
    box_prefetched_between_chunks: Misuse, |device| boxes!(device, two_warps(), box_prefetched_between_chunks, Swizzle::None);
    box_in_a_misaligned_tile: Misuse, |device| boxes!(device, two_warps(), box_in_a_misaligned_tile, Swizzle::None);
    swizzled_box_in_a_misaligned_tile: Misuse, |device| boxes!(device, two_warps(), swizzled_box_in_a_misaligned_tile, Swizzle::Bytes32);
    swizzled_box: RaceFree, |device| boxes!(device, two_warps(), swizzled_box, Swizzle::Bytes32);
    box_in_a_short_tile: Misuse, |device| boxes!(device, two_warps(), box_in_a_short_tile, Swizzle::None);
    two_boxes_expected: Stuck, |device| boxes!(device, two_warps(), two_boxes_expected, Swizzle::None);
    box_not_waited_for: Race("tiles"), |device| boxes!(device, two_warps(), box_not_waited_for, Swizzle::None);
    rows_not_waited_for: Race("tiles"), |device| boxes!(device, two_warps(), rows_not_waited_for, Swizzle::Bytes32);
    box_loaded_again_too_early: Race("tiles"), |device| boxes!(device, two_warps(), box_loaded_again_too_early, Swizzle::None);
    box_loaded_again_after_a_barrier: RaceFree, |device| boxes!(device, two_warps(), box_loaded_again_after_a_barrier, Swizzle::None);
    boxes_sent_to_two_blocks: RaceFree, |device| boxes!(device, LaunchConfig::new(2, 64), boxes_sent_to_two_blocks, Swizzle::None);
    boxes_sent_while_a_peer_reads: Race("tiles"), |device| boxes!(device, LaunchConfig::new(2, 64), boxes_sent_while_a_peer_reads, Swizzle::None);
}

// Sound: every thread waits for the phase.
#[kernel]
fn box_loaded(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([8, 4], tile, full);
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Sound: elements outside of the matrix are 0, and their bytes count.
#[kernel]
fn box_before_the_first_element(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([-8, -2], tile, full);
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Sound: elements outside of the matrix are 0, and their bytes count.
#[kernel]
fn box_behind_the_last_element(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([28, 40], tile, full);
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Faulty: the box begins 12 bytes after a multiple of 16.
#[kernel]
fn box_between_chunks(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([3, 0], tile, full); // misuse
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Faulty: the prefetched box begins 4 bytes before a multiple of 16.
#[kernel]
fn box_prefetched_between_chunks(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        x.prefetch([-1, 0]); // misuse
        let _ = full.arrive_and_expect(BYTES);
        x.load([0, 0], tile, full);
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Faulty: the tile begins at 16 bytes, not 128.
#[kernel]
fn box_in_a_misaligned_tile(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([0, 0], tiles.aligned(256).part(4, TILE), full); // misuse
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Faulty: with a swizzle of 32 bytes, the tile begins at a multiple of 256.
#[kernel]
fn swizzled_box_in_a_misaligned_tile(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([0, 0], tiles.aligned(256).part(32, TILE), full); // misuse
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Sound: with a swizzle of 32 bytes, the tile begins at a multiple of 256.
#[kernel]
fn swizzled_box(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([0, 0], tile, full);
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Faulty: the tile has half of the elements of the box.
#[kernel]
fn box_in_a_short_tile(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([0, 0], tile.part(0, TILE / 2), full); // misuse
    }
    full.wait_parity(false);
    z.store(i, tile.load(TILE - 1 - i));
}

// Faulty: the phase waits for the bytes of a second box.
#[kernel]
fn two_boxes_expected(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(2 * BYTES);
        x.load([0, 0], tile, full);
    }
    full.wait_parity(false); // stuck
    z.store(i, tile.load(TILE - 1 - i));
}

// Faulty: the copy may still be in progress.
#[kernel]
fn box_not_waited_for(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([0, 0], tile, full); // race
        z.store(i, tile.load(i)); // race
    }
    full.wait_parity(false);
}

// Faulty: the same, for rows of a tile. The report has the line of `load_rows`.
#[kernel]
fn rows_not_waited_for(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = SharedTile::<f32, 8, 8, Swizzle32>::at(tiles.aligned(256), 0);
    let full = barrier_of(shared_array![u64; 1], 0);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load_rows([0, 0], tile.rows::<8>(0), full); // race
        z.store(i, tile.load(0, i)); // race
    }
    full.wait_parity(false);
}

// Faulty: other threads may still read the first box.
#[kernel]
fn box_loaded_again_too_early(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let words = shared_array![u64; 2];
    let full = barrier_of(words, 0);
    let next = barrier_of(words, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([0, 0], tile, full);
    }
    full.wait_parity(false);
    z.store(i, tile.load(i)); // race
    if i == 0 {
        let _ = next.arrive_and_expect(BYTES);
        x.load([8, 8], tile, next); // race
    }
    next.wait_parity(false);
}

// Sound: all threads have read the first box.
#[kernel]
fn box_loaded_again_after_a_barrier(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let words = shared_array![u64; 2];
    let full = barrier_of(words, 0);
    let next = barrier_of(words, 1);
    if i == 0 {
        let _ = full.arrive_and_expect(BYTES);
        x.load([0, 0], tile, full);
    }
    full.wait_parity(false);
    z.store(i, tile.load(i));
    thread::sync_threads();
    if i == 0 {
        let _ = next.arrive_and_expect(BYTES);
        x.load([8, 8], tile, next);
    }
    next.wait_parity(false);
}

// Sound: both blocks have read the first box.
#[kernel(cluster = 2)]
fn boxes_sent_to_two_blocks(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let words = shared_array![u64; 2];
    let full = barrier_of(words, 0);
    let rank = cluster::block_rank() as usize;
    let both = [full, barrier_of(words, 1)];
    if i == 0 {
        let _ = both.map(|full| full.arrive_and_expect(BYTES));
    }
    cluster::sync();
    for round in 0..2 {
        if i == 0 && rank == 0 {
            x.load_multicast([8 * round as i32, 0], tile, both[round], 0b11);
        }
        both[round].wait_parity(false);
        z.store(rank * TILE + i, tile.load(i));
        cluster::sync();
    }
}

// Faulty: block 1 may still read the first box, because block 0 waits for its own threads alone.
#[kernel(cluster = 2)]
fn boxes_sent_while_a_peer_reads(x: TensorMap<f32, 2>, _y: TensorMapMut<f32, 2>, z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    let words = shared_array![u64; 2];
    let full = barrier_of(words, 0);
    let rank = cluster::block_rank() as usize;
    let both = [full, barrier_of(words, 1)];
    if i == 0 {
        let _ = both.map(|full| full.arrive_and_expect(BYTES));
    }
    cluster::sync();
    for round in 0..2 {
        if i == 0 && rank == 0 {
            x.load_multicast([8 * round as i32, 0], tile, both[round], 0b11); // race
        }
        both[round].wait_parity(false);
        z.store(rank * TILE + i, tile.load(i)); // race
        thread::sync_threads();
    }
    cluster::sync();
}
