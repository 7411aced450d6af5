//! Tests the checker on stores and reductions with tensor maps. The classes follow from the PTX manual, and those of
//! coordinates from an H200, which ends a kernel with such a box by an illegal instruction.

use cuda_std::bulk::{self, Add, TensorMap, TensorMapMut};
use cuda_std::{GlobalMut, barrier, kernel, shared_array, thread};
use launch::{LaunchConfig, Swizzle};

use crate::What::{Misuse, Race, RaceFree, Unfenced};
use crate::bulk_boxes::TILE;

/// Returns a launch configuration of one block of two warps.
fn two_warps() -> LaunchConfig {
    LaunchConfig::new(1, TILE as u32)
}

cases! {
    "bulk_box_stores.rs";
    box_stored: RaceFree, |device| boxes!(device, two_warps(), box_stored, Swizzle::None);
    box_stored_without_proxy_fence: Unfenced("tiles"), |device| boxes!(device, two_warps(), box_stored_without_proxy_fence, Swizzle::None);
    box_stored_beyond_the_end: RaceFree, |device| boxes!(device, two_warps(), box_stored_beyond_the_end, Swizzle::None);
    box_stored_before_the_first_row: Misuse, |device| boxes!(device, two_warps(), box_stored_before_the_first_row, Swizzle::None);
    box_added_before_the_first_column: Misuse, |device| boxes!(device, two_warps(), box_added_before_the_first_column, Swizzle::None);
    box_stored_between_chunks: Misuse, |device| boxes!(device, two_warps(), box_stored_between_chunks, Swizzle::None);
    stored_box_overwritten: Race("tiles"), |device| boxes!(device, two_warps(), stored_box_overwritten, Swizzle::None);
    stored_box_overwritten_after_it_was_read: RaceFree, |device| boxes!(device, two_warps(), stored_box_overwritten_after_it_was_read, Swizzle::None);
    boxes_added_by_two_blocks: RaceFree, |device| boxes!(device, LaunchConfig::new(2, 64), boxes_added_by_two_blocks, Swizzle::None);
    boxes_stored_by_two_blocks: Race("y"), |device| boxes!(device, LaunchConfig::new(2, 64), boxes_stored_by_two_blocks, Swizzle::None);
    boxes_side_by_side: RaceFree, |device| boxes!(device, LaunchConfig::new(2, 64), boxes_side_by_side, Swizzle::None);
}

// Sound: a fence and a barrier precede the copy, and its thread waits for it.
#[kernel]
fn box_stored(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [8, 4]);
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: the copy reads stores without a proxy fence.
#[kernel]
fn box_stored_without_proxy_fence(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32); // proxy
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [8, 4]); // proxy
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Sound: elements outside of the matrix are not written.
#[kernel]
fn box_stored_beyond_the_end(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [28, 12]);
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: only loads take negative coordinates.
#[kernel]
fn box_stored_before_the_first_row(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [0, -1]); // misuse
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: only loads take negative coordinates.
#[kernel]
fn box_added_before_the_first_column(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.reduce(Add, tile, [-8, 0]); // misuse
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: the box begins 8 bytes after a multiple of 16.
#[kernel]
fn box_stored_between_chunks(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [2, 0]); // misuse
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: the copy may still read the tile.
#[kernel]
fn stored_box_overwritten(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [0, 0]); // race
        bulk::commit();
    }
    thread::sync_threads();
    tile.store(i, 0.0); // race
    thread::sync_threads();
    if i == 0 {
        bulk::wait::<0>();
    }
}

// Sound: the copy has read the tile.
#[kernel]
fn stored_box_overwritten_after_it_was_read(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [0, 0]);
        bulk::commit();
        bulk::wait_read::<0>();
    }
    thread::sync_threads();
    tile.store(i, 0.0);
}

// Sound: reductions are atomic.
#[kernel]
fn boxes_added_by_two_blocks(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.reduce(Add, tile, [8, 0]);
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Faulty: both blocks store to the same box.
#[kernel]
fn boxes_stored_by_two_blocks(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [8, 0]); // race
        bulk::commit();
        bulk::wait::<0>();
    }
}

// Sound: the boxes of the two blocks do not overlap.
#[kernel]
fn boxes_side_by_side(_x: TensorMap<f32, 2>, y: TensorMapMut<f32, 2>, _z: GlobalMut<f32>) {
    let i = thread::index_in_block() as usize;
    let tiles = shared_array![f32; 2 * TILE + 60];
    let tile = tiles.aligned(256).part(0, TILE);
    tile.store(i, i as f32);
    barrier::fence_proxy_async();
    thread::sync_threads();
    if i == 0 {
        y.store(tile, [8 * thread::block_idx_x() as i32, 0]);
        bulk::commit();
        bulk::wait::<0>();
    }
}
