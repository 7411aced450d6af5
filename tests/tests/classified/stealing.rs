//! Kernels whose blocks steal work from each other.

use cuda_std::{Global, GlobalMut, fence, kernel, shared_array, thread};
use launch::{Buffer, Device, Error, LaunchConfig};

use crate::cost::Shape;

pub const SHAPES: &[Shape] = &[
    Shape { name: "convolution_stealing", launch: convolution_stealing_launch },
    Shape { name: "graph_connectivity", launch: graph_connectivity_launch },
    Shape { name: "graph_colouring", launch: graph_colouring_launch },
    Shape { name: "unbalanced_tree", launch: unbalanced_tree_launch },
];

const BLOCK: u32 = 128;
/// The number of work items that each block owns when a kernel starts.
const PIECES: u32 = 16;

fn convolution_stealing_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 16;
    const N: usize = BLOCKS * PIECES as usize * BLOCK as usize;
    let (x, mut y, mut next) = (device.upload(&[1_u32; N])?, device.alloc::<u32>(N)?, device.zeroed::<u32>(BLOCKS)?);
    let config = LaunchConfig::new(BLOCKS as u32, BLOCK);
    device.launch(config, convolution_stealing(x.view(), y.view_mut(), next.view_mut()))
}

/// Computes a convolution. Each block first processes items of its own part, and then items of the other blocks' parts.
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

/// The number of vertices of the graph.
const VERTICES: usize = 4096;
/// The number of neighbours of each vertex.
const DEGREE: usize = 4;

fn neighbour(vertex: usize, edge: usize) -> u32 {
    ((vertex.wrapping_mul(2_654_435_761) >> 7).wrapping_add(edge.wrapping_mul(40_503)) % VERTICES) as u32
}

fn graph(device: &Device) -> Result<Buffer<u32>, Error> {
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

/// Returns the next work item of block `victim` to all threads of the calling block. The first thread takes the item
/// under the victim's lock.
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

/// Finds the connected components of a graph by joining the trees of neighbours. Locks ensure that no two blocks take
/// the same vertex.
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
    let call = graph_colouring(edges.view(), colours.view_mut(), guards.view_mut(), locks.view_mut(), next.view_mut());
    device.launch(LaunchConfig::new(BLOCKS as u32, 64), call)
}

/// Colours a graph. Each vertex gets a colour that its neighbours do not have. A thread holds a vertex's lock while it
/// reads or stores the vertex's colour. Fences make the lock acquire and release.
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

/// The maximum number of nodes on a block's stack.
const STACK: usize = 4096;

fn unbalanced_tree_launch(device: &Device) -> Result<(), Error> {
    const BLOCKS: usize = 16;
    let (mut stacks, mut tops) = (device.alloc::<u32>(BLOCKS * STACK)?, device.zeroed::<u32>(BLOCKS)?);
    let (mut locks, mut open) = (device.zeroed::<u32>(BLOCKS)?, device.upload(&[1_u32])?);
    let call = unbalanced_tree(stacks.view_mut(), tops.view_mut(), locks.view_mut(), open.view_mut());
    device.launch(LaunchConfig::new(BLOCKS as u32, 64), call)
}

/// Traverses an unbalanced tree. All threads of a block process one node from the stack of their block or of another
/// block. The number of a node determines how many children it has. Locks guard the stacks, and `open` counts the
/// remaining nodes.
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
