//! Race-free kernels of the same kinds as the benchmarks of ScoR. The kernels run long enough to measure the cost of
//! checking. This file contains locks, fences and flags. The file `stealing` contains work stealing.

use cuda_std::{Global, GlobalMut, fence, kernel, shared_array, thread};
use launch::{Device, Error, LaunchConfig};

use crate::cost::Shape;

pub const SHAPES: &[Shape] = &[
    Shape { name: "product_tile_locks", launch: |device| product(device, true) },
    Shape { name: "product_element_locks", launch: |device| product(device, false) },
    Shape { name: "reduction_by_fences", launch: reduction_by_fences_launch },
    Shape { name: "fences_of_all_threads", launch: fences_of_all_threads_launch },
    Shape { name: "rule_110", launch: rule_110_launch },
];

/// The number of rows of each matrix, which is also its number of columns.
const SIZE: usize = 64;
/// The number of rows of a tile, which is also its number of columns.
const TILE: usize = 16;
/// The number of products that a block sums for each element.
const SLICE: usize = 8;

fn product(device: &Device, of_tiles: bool) -> Result<(), Error> {
    let a = device.upload(&[3_u32; SIZE * SIZE])?;
    let (mut c, mut locks) = (device.zeroed(SIZE * SIZE)?, device.zeroed(SIZE * SIZE)?);
    let tiles = (SIZE / TILE) as u32;
    let config = LaunchConfig::new((tiles, tiles, (SIZE / SLICE) as u32), (TILE as u32, TILE as u32));
    let (a, c, locks) = (a.view(), c.view_mut(), locks.view_mut());
    if of_tiles {
        device.launch(config, product_tile_locks(a, c, locks))
    } else {
        device.launch(config, product_element_locks(a, c, locks))
    }
}

/// Squares a matrix. For each element of a tile, a block sums `SLICE` products. The block adds these sums to the result
/// while it holds the tile's lock.
#[kernel]
fn product_tile_locks(a: Global<u32>, c: GlobalMut<u32>, locks: GlobalMut<u32>) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (column, row) = (thread::block_idx_x() as usize * TILE + x, thread::block_idx_y() as usize * TILE + y);
    let lock = (thread::block_idx_y() * thread::grid_dim_x() + thread::block_idx_x()) as usize;
    let mut sum = 0_u32;
    for k in thread::block_idx_z() as usize * SLICE..(thread::block_idx_z() as usize + 1) * SLICE {
        sum = sum.wrapping_add(a.load(row * SIZE + k).wrapping_mul(a.load(k * SIZE + column)));
    }
    if x == 0 && y == 0 {
        while locks.atomic_compare_exchange(lock, 0, 1) != 0 {}
        fence();
    }
    thread::sync_threads();
    c.store(row * SIZE + column, c.load(row * SIZE + column).wrapping_add(sum));
    thread::sync_threads();
    if x == 0 && y == 0 {
        fence();
        locks.atomic_exchange(lock, 0);
    }
}

/// Squares a matrix like `product_tile_locks`, but each thread takes a lock for one element.
#[kernel]
fn product_element_locks(a: Global<u32>, c: GlobalMut<u32>, locks: GlobalMut<u32>) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (column, row) = (thread::block_idx_x() as usize * TILE + x, thread::block_idx_y() as usize * TILE + y);
    let mut sum = 0_u32;
    for k in thread::block_idx_z() as usize * SLICE..(thread::block_idx_z() as usize + 1) * SLICE {
        sum = sum.wrapping_add(a.load(row * SIZE + k).wrapping_mul(a.load(k * SIZE + column)));
    }
    let i = row * SIZE + column;
    while locks.atomic_compare_exchange(i, 0, 1) != 0 {}
    fence();
    c.store(i, c.load(i).wrapping_add(sum));
    fence();
    locks.atomic_exchange(i, 0);
}

const BLOCK: u32 = 128;

fn reduction_by_fences_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 256;
    let x = device.upload(&[1_u32; BLOCKS * BLOCK as usize])?;
    let (mut parts, mut ticket, mut y) = (device.alloc(BLOCKS)?, device.zeroed(1)?, device.alloc(1)?);
    let config = LaunchConfig::new(BLOCKS as u32, BLOCK);
    let call = reduction_by_fences(x.view(), parts.view_mut(), ticket.view_mut(), y.view_mut());
    device.launch(config, call)
}

/// Reduces a vector. Each block stores a partial sum. The last block that finishes adds the partial sums.
#[kernel]
fn reduction_by_fences(x: Global<u32>, parts: GlobalMut<u32>, ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (sums, is_last) = (shared_array![u32; 128], shared_array![u32; 1]);
    let me = thread::thread_idx_x() as usize;
    let blocks = thread::grid_dim_x() as usize;
    sums.store(me, x.load(thread::index_1d()));
    let mut stride = BLOCK as usize / 2;
    while stride > 0 {
        thread::sync_threads();
        if me < stride {
            sums.store(me, sums.load(me) + sums.load(me + stride));
        }
        stride /= 2;
    }
    if me == 0 {
        parts.store(thread::block_idx_x() as usize, sums.load(0));
        fence();
        let is_mine = ticket.atomic_add(0, 1) == blocks as u32 - 1;
        fence();
        is_last.store(0, u32::from(is_mine));
    }
    thread::sync_threads();
    if is_last.load(0) == 1 {
        let mut sum = 0;
        for block in (me..blocks).step_by(BLOCK as usize) {
            sum += parts.load(block);
        }
        y.atomic_exchange(0, sum);
    }
}

fn fences_of_all_threads_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 64;
    let (mut y, mut ticket) = (device.zeroed(8 * BLOCKS * BLOCK as usize)?, device.zeroed(8)?);
    device.launch(LaunchConfig::new(BLOCKS as u32, BLOCK), fences_of_all_threads(y.view_mut(), ticket.view_mut()))
}

/// Writes values in rounds. In each round, all threads write and execute a fence. Then one thread counts the block. The
/// block that is counted last reads the values of all blocks.
#[kernel]
fn fences_of_all_threads(y: GlobalMut<u32>, ticket: GlobalMut<u32>) {
    let is_last = shared_array![u32; 1];
    let n = y.len() / 8;
    for round in 0..8 {
        y.store(round * n + thread::index_1d(), 1);
        fence();
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            let is_mine = ticket.atomic_add(round, 1) == thread::grid_dim_x() - 1;
            fence();
            is_last.store(0, u32::from(is_mine));
        }
        thread::sync_threads();
        if is_last.load(0) == 1 {
            assert!(y.load(round * n + n - 1 - thread::index_1d()) == 1);
        }
    }
}

/// The number of generations of rule 110 that the kernel computes.
const GENERATIONS: usize = 24;

fn rule_110_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 16;
    let mut cells = device.zeroed::<u32>((GENERATIONS + 1) * BLOCKS * BLOCK as usize)?;
    let mut done = device.zeroed::<u32>(BLOCKS)?;
    device.launch(LaunchConfig::new(BLOCKS as u32, BLOCK), rule_110(cells.view_mut(), done.view_mut()))
}

/// Computes generations of rule 110. Before each generation, a block waits until its neighbours have finished the
/// previous one.
#[kernel]
fn rule_110(cells: GlobalMut<u32>, done: GlobalMut<u32>) {
    let (me, block, blocks) = (thread::thread_idx_x(), thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let (i, n) = (thread::index_1d(), blocks * BLOCK as usize);
    for generation in 0..GENERATIONS {
        if me < 2 {
            let neighbour = if me == 0 { (block + blocks - 1) % blocks } else { (block + 1) % blocks };
            while (done.load_relaxed(neighbour) as usize) < generation {}
            fence();
        }
        thread::sync_threads();
        let now = generation * n;
        let at = |i: usize| cells.load(now + i % n);
        let around = at(i + n - 1) << 2 | at(i) << 1 | at(i + 1);
        cells.store(now + n + i, 110 >> around & 1);
        thread::sync_threads();
        if me == 0 {
            fence();
            done.store_relaxed(block, generation as u32 + 1);
        }
    }
}
