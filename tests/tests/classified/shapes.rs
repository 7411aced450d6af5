//! Kernels of the kinds that ScoR's benchmarks are of, written anew: locks, fences, flags and stolen work. They are large
//! enough to tell what checking costs; all are race-free.

use cuda_std::{Global, GlobalMut, fence, kernel, shared_array, thread};
use launch::{Device, Error, LaunchConfig};

use crate::cost::Shape;

pub const SHAPES: &[Shape] = &[
    Shape { name: "product_tile_locks", launch: product_tile_locks_launch },
    Shape { name: "product_element_locks", launch: product_element_locks_launch },
    Shape { name: "reduction_by_fences", launch: reduction_by_fences_launch },
    Shape { name: "fences_of_all_threads", launch: fences_of_all_threads_launch },
    Shape { name: "rule_110", launch: rule_110_launch },
    Shape { name: "convolution_stealing", launch: convolution_stealing_launch },
    Shape { name: "graph_connectivity", launch: graph_connectivity_launch },
    Shape { name: "graph_colouring", launch: graph_colouring_launch },
    Shape { name: "unbalanced_tree", launch: unbalanced_tree_launch },
];

/// Rows, columns and the dimension that is summed over.
const SIZE: usize = 128;
/// Rows and columns of a tile.
const TILE: usize = 16;
/// The part of a sum that a block computes.
const SLICE: usize = 16;

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

fn product_tile_locks_launch(device: &Device) -> Result<(), Error> {
    product(device, true)
}

fn product_element_locks_launch(device: &Device) -> Result<(), Error> {
    product(device, false)
}

/// The square of a matrix: each block adds a slice's products to a tile that a lock guards.
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

/// The same with a lock for each element, which each thread takes.
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
    const BLOCKS: usize = 2048;
    let x = device.upload(&[1_u32; BLOCKS * BLOCK as usize])?;
    let (mut parts, mut ticket, mut y) = (device.alloc(BLOCKS)?, device.zeroed(1)?, device.alloc(1)?);
    let config = LaunchConfig::new(BLOCKS as u32, BLOCK);
    let call = reduction_by_fences(x.view(), parts.view_mut(), ticket.view_mut(), y.view_mut());
    device.launch(config, call)
}

/// The last block to come adds up what all have left.
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
    const BLOCKS: usize = 512;
    let (mut y, mut ticket) = (device.zeroed(8 * BLOCKS * BLOCK as usize)?, device.zeroed(8)?);
    device.launch(LaunchConfig::new(BLOCKS as u32, BLOCK), fences_of_all_threads(y.view_mut(), ticket.view_mut()))
}

/// All threads write and make a fence before one counts the block: in each round the last block goes on with all that.
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

/// Generations of rule 110.
const GENERATIONS: usize = 48;

fn rule_110_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 32;
    let mut cells = device.zeroed::<u32>((GENERATIONS + 1) * BLOCKS * BLOCK as usize)?;
    let mut done = device.zeroed::<u32>(BLOCKS)?;
    device.launch(LaunchConfig::new(BLOCKS as u32, BLOCK), rule_110(cells.view_mut(), done.view_mut()))
}

/// Each block waits for its neighbours' last generation.
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

/// Pieces of work that each block has to begin with, in the kernels that steal.
const PIECES: u32 = 16;

fn convolution_stealing_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 64;
    const N: usize = BLOCKS * PIECES as usize * BLOCK as usize;
    let (x, mut y, mut next) = (device.upload(&[1_u32; N])?, device.alloc::<u32>(N)?, device.zeroed::<u32>(BLOCKS)?);
    let config = LaunchConfig::new(BLOCKS as u32, BLOCK);
    device.launch(config, convolution_stealing(x.view(), y.view_mut(), next.view_mut()))
}

/// Each block draws pieces of its own part, and then those of the others.
#[kernel]
fn convolution_stealing(x: Global<u32>, y: GlobalMut<u32>, next: GlobalMut<u32>) {
    let drawn = shared_array![u32; 1];
    let (me, blocks) = (thread::thread_idx_x() as usize, thread::grid_dim_x() as usize);
    for turn in 0..blocks {
        let victim = (thread::block_idx_x() as usize + turn) % blocks;
        loop {
            if me == 0 {
                drawn.store(0, next.atomic_add(victim, 1));
            }
            thread::sync_threads();
            let piece = drawn.load(0);
            thread::sync_threads();
            if piece >= PIECES {
                break;
            }
            let i = (victim * PIECES as usize + piece as usize) * BLOCK as usize + me;
            let mut sum = 0;
            for offset in 0..9 {
                sum += x.load((i + x.len() + offset - 4) % x.len());
            }
            y.store(i, sum);
        }
    }
}

/// Vertices, and the neighbours that each is given.
const VERTICES: usize = 4096;
const DEGREE: usize = 4;

fn neighbour(vertex: usize, edge: usize) -> u32 {
    ((vertex.wrapping_mul(2_654_435_761) >> 7).wrapping_add(edge.wrapping_mul(40_503)) % VERTICES) as u32
}

fn graph(device: &Device) -> Result<launch::Buffer<u32>, Error> {
    let edges: Vec<u32> = (0..VERTICES * DEGREE).map(|i| neighbour(i / DEGREE, i % DEGREE)).collect();
    device.upload(&edges)
}

fn graph_connectivity_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 32;
    let (edges, mut parents) = (graph(device)?, device.upload(&Vec::from_iter(0..VERTICES as u32))?);
    let (mut locks, mut next) = (device.zeroed(BLOCKS)?, device.zeroed(BLOCKS)?);
    let call = graph_connectivity(edges.view(), parents.view_mut(), locks.view_mut(), next.view_mut());
    device.launch(LaunchConfig::new(BLOCKS as u32, 64), call)
}

/// Takes the next piece of `victim`'s work, under its lock: by the first thread, for all.
#[cuda_std::device]
fn take(locks: GlobalMut<u32>, next: GlobalMut<u32>, victim: usize) -> u32 {
    let taken = shared_array![u32; 1];
    if thread::thread_idx_x() == 0 {
        while locks.atomic_compare_exchange(victim, 0, 1) != 0 {}
        fence();
        let piece = next.load(victim);
        next.store(victim, piece + 1);
        fence();
        locks.atomic_exchange(victim, 0);
        taken.store(0, piece);
    }
    thread::sync_threads();
    let piece = taken.load(0);
    thread::sync_threads();
    piece
}

/// Joins the trees of neighbours; pieces of vertices are taken under locks.
#[kernel]
fn graph_connectivity(edges: Global<u32>, parents: GlobalMut<u32>, locks: GlobalMut<u32>, next: GlobalMut<u32>) {
    let (me, blocks) = (thread::thread_idx_x() as usize, thread::grid_dim_x() as usize);
    let root = |mut vertex: u32| {
        loop {
            let parent = parents.load_relaxed(vertex as usize);
            if parent == vertex {
                return vertex;
            }
            vertex = parent;
        }
    };
    for turn in 0..blocks {
        let victim = (thread::block_idx_x() as usize + turn) % blocks;
        loop {
            let piece = take(locks, next, victim) as usize;
            let vertex = piece * 64 + me;
            if vertex >= VERTICES / blocks {
                break;
            }
            let vertex = victim * (VERTICES / blocks) + vertex;
            for edge in 0..DEGREE {
                let mut pair = (vertex as u32, edges.load(vertex * DEGREE + edge));
                loop {
                    pair = (root(pair.0), root(pair.1));
                    let (low, high) = (pair.0.min(pair.1), pair.0.max(pair.1));
                    if low == high || parents.atomic_compare_exchange(high as usize, high, low) == high {
                        break;
                    }
                }
            }
        }
    }
}

fn graph_colouring_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 32;
    let (edges, mut colours) = (graph(device)?, device.zeroed(VERTICES)?);
    let (mut locks, mut next, mut guards) = (device.zeroed(BLOCKS)?, device.zeroed(BLOCKS)?, device.zeroed(VERTICES)?);
    let call =
        graph_colouring(edges.view(), colours.view_mut(), guards.view_mut(), locks.view_mut(), next.view_mut());
    device.launch(LaunchConfig::new(BLOCKS as u32, 64), call)
}

/// Each vertex takes a colour that its neighbours have not: under its own guard, which releases and acquires.
#[kernel]
fn graph_colouring(
    edges: Global<u32>,
    colours: GlobalMut<u32>,
    guards: GlobalMut<u32>,
    locks: GlobalMut<u32>,
    next: GlobalMut<u32>,
) {
    let (me, blocks) = (thread::thread_idx_x() as usize, thread::grid_dim_x() as usize);
    for turn in 0..blocks {
        let victim = (thread::block_idx_x() as usize + turn) % blocks;
        loop {
            let piece = take(locks, next, victim) as usize;
            let vertex = piece * 64 + me;
            if vertex >= VERTICES / blocks {
                break;
            }
            let vertex = victim * (VERTICES / blocks) + vertex;
            let mut used = 1_u32;
            for edge in 0..DEGREE {
                let other = edges.load(vertex * DEGREE + edge) as usize;
                while guards.atomic_compare_exchange(other, 0, 1) != 0 {}
                fence();
                used |= 1 << colours.load(other);
                fence();
                guards.atomic_exchange(other, 0);
            }
            while guards.atomic_compare_exchange(vertex, 0, 1) != 0 {}
            fence();
            colours.store(vertex, used.trailing_ones());
            fence();
            guards.atomic_exchange(vertex, 0);
        }
    }
}

/// What one block's stack holds.
const STACK: usize = 4096;

fn unbalanced_tree_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 16;
    let (mut stacks, mut tops) = (device.alloc::<u32>(BLOCKS * STACK)?, device.zeroed::<u32>(BLOCKS)?);
    let (mut locks, mut open) = (device.zeroed::<u32>(BLOCKS)?, device.upload(&[1_u32])?);
    let call = unbalanced_tree(stacks.view_mut(), tops.view_mut(), locks.view_mut(), open.view_mut());
    device.launch(LaunchConfig::new(BLOCKS as u32, 64), call)
}

/// Each block goes through nodes of its own stack, or of another's, by all threads: a node has as many children as its
/// number says. The stacks are guarded by locks, and `open` counts the nodes that are not done.
#[kernel]
fn unbalanced_tree(stacks: GlobalMut<u32>, tops: GlobalMut<u32>, locks: GlobalMut<u32>, open: GlobalMut<u32>) {
    let node = shared_array![u32; 1];
    let children = shared_array![u32; 1];
    let (me, block) = (thread::thread_idx_x(), thread::block_idx_x() as usize);
    let blocks = thread::grid_dim_x() as usize;
    if me == 0 && block == 0 {
        lock(locks, 0);
        stacks.store(0, 0x2A);
        tops.store_relaxed(0, 1);
        unlock(locks, 0);
    }
    loop {
        if me == 0 {
            let mut found = 0;
            while found == 0 && open.load_relaxed(0) != 0 {
                for turn in 0..blocks {
                    let victim = (block + turn) % blocks;
                    if tops.load_relaxed(victim) == 0 {
                        continue;
                    }
                    lock(locks, victim);
                    let top = tops.load_relaxed(victim);
                    if top > 0 {
                        found = stacks.load(victim * STACK + top as usize - 1);
                        tops.store_relaxed(victim, top - 1);
                    }
                    unlock(locks, victim);
                    if found != 0 {
                        break;
                    }
                }
            }
            node.store(0, found);
            children.store(0, 0);
        }
        thread::sync_threads();
        let parent = node.load(0);
        if parent == 0 {
            break;
        }
        let depth = parent >> 24;
        let hash = parent.wrapping_mul(0x9E37_79B9).rotate_left(me) ^ me.wrapping_mul(0x85EB_CA6B);
        if depth < 7 && (hash >> 8) % 16 == 0 {
            children.atomic_add(0, 1);
            open.atomic_add(0, 1);
            lock(locks, block);
            let top = tops.load_relaxed(block);
            stacks.store(block * STACK + top as usize, (depth + 1) << 24 | hash & 0xFF_FFFF | 1);
            tops.store_relaxed(block, top + 1);
            unlock(locks, block);
        }
        thread::sync_threads();
        if me == 0 {
            open.atomic_sub(0, 1);
        }
    }
}

#[cuda_std::device]
fn lock(locks: GlobalMut<u32>, index: usize) {
    while locks.atomic_compare_exchange(index, 0, 1) != 0 {}
    fence();
}

#[cuda_std::device]
fn unlock(locks: GlobalMut<u32>, index: usize) {
    fence();
    locks.atomic_exchange(index, 0);
}
