//! One tile a block: the last rung's kernel for inputs that one wave of blocks takes.
//!
//! What it changes against [`reduce_grid_stride()`](super::reduce_grid_stride()): how many threads a block has, and how
//! much a thread loads, is known to the compiler. With cold caches the instructions come from memory, too, so there are few
//! of them, and those that most blocks need stand together:
//!
//! - No loop stands before the loads, and none in the block's tree.
//! - The tree is there once: the last block's threads combine what the others have published with what they have loaded,
//!   and then go through the same tree as any block.
//! - The values of the warps are combined by one thread, which reads them in wide loads, and not lane by lane.
//! - A tile that is not whole is left to a function of its own.
//!
//! And the last block asks for the others' words before it loads its tile, so that its polls do not wait for memory.
//!
//! Limited by the launch and by the ways to memory, there, to the last block and back.
//!
//! Sum of `f32` on an H200, all caches cold, in µs, where an empty kernel takes 2.75:
//!
//! | | 2¹⁶ | 2²⁰ |
//! |---|---|---|
//! | a kernel that only loads | 3.62 | 4.58 |
//! | [`reduce_grid_stride()`](super::reduce_grid_stride()) | 5.3 | 6.3 |
//! | this | 4.9 | 5.9 |
//! | CUB's `DeviceReduce` | 6.8 | 7.8 |
//!
//! So half of CUB's time is less than it takes to load the elements. In a series of calls, where the next one's launch is
//! under way while one runs, this takes 4.5 µs a call at both sizes, CUB's two launches 10.3 and 8.9.
//!
//! Forward progress: only the last block waits, and what it waits for is published by blocks that wait for nobody.
//!
//! Source: as [`reduce_grid_stride()`](super::reduce_grid_stride()).

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::grid_stride::{COMBINED, LOADS, combine_vectors};
use super::within_block::combine_warps;
use crate::operator::{Max, Min, Operator, Product, Sum};
use crate::published::{self, words};

/// Threads of a block.
pub const ONE_TILE_BLOCK: u32 = 256;

const WARPS: usize = (ONE_TILE_BLOCK / warp::SIZE) as usize;

/// Elements of a tile that is read `v` at a time: one block's.
pub const fn tile_elements(v: usize) -> usize {
    ONE_TILE_BLOCK as usize * LOADS * v
}

/// `y[0]` = all elements of `x` combined, read `V` (16 bytes) at a time, in one launch; commutative operators.
///
/// A one-dimensional grid of blocks of [`ONE_TILE_BLOCK`] threads, at least one for each [`tile_elements`], and at least
/// one. `partials` has [`words`] for each block but the last; they are 0 before, and are 0 again after.
#[kernel(
    max_threads = 256,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2])
)]
pub fn reduce_one_tile<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    partials: GlobalMut<u64>,
    y: GlobalMut<T>,
) {
    let slots = shared_array![[T; V]; WARPS];
    let (block, last) = (thread::block_idx_x(), thread::grid_dim_x() - 1);
    let thread = thread::thread_idx_x();
    if block == last {
        // They come while the tile does.
        published::prefetch::<T>(partials, thread as usize * words::<T>());
    }
    let mut value = combine_tile::<T, O, V>(x);
    if block == last {
        // Here for the whole grid: what the other blocks do without is sooner done, and nothing is read beyond the view.
        assert!(thread::block_dim_x() == ONE_TILE_BLOCK && (last as usize + 1) * tile_elements(V) >= x.len());
        // Whatever has been combined with nothing before is it now.
        value = O::combine(O::IDENTITY, value);
        let mut other = thread;
        while other < last {
            let first = other as usize * words::<T>();
            let (_, partial) = published::wait_for(partials, first);
            value = O::combine(value, partial);
            published::clear::<T>(partials, first);
            other += ONE_TILE_BLOCK;
        }
    }
    let value = combine_warps::<T, O, V, WARPS>(slots, value);
    if thread == 0 {
        if block < last {
            published::publish(partials, block as usize * words::<T>(), COMBINED, value);
        } else {
            y.store(0, value);
        }
    }
}

/// The thread's share of the block's tile combined: `LOADS` rows of a vector of `V` elements a thread.
#[inline(always)]
fn combine_tile<T: Element, O: Operator<T>, const V: usize>(x: Global<T>) -> T {
    const { assert!(O::COMMUTATIVE, "this rung does not keep the order of the elements") };
    const { assert!(V * size_of::<T>() == 16, "a vector has 16 bytes") };
    let first = thread::block_idx_x() as usize * tile_elements(V);
    if !(x.as_ptr() as usize).is_multiple_of(16) || x.len() < first + tile_elements(V) {
        return combine_partial_tile::<T, O, V>(x);
    }
    let vector = first / V + thread::thread_idx_x() as usize;
    let mut rows = [[O::IDENTITY; V]; LOADS];
    for row in 0..LOADS {
        // SAFETY: a launch has at most ONE_TILE_BLOCK threads a block, so the vector is one of the tile's, which the view,
        // that starts at a multiple of 16 bytes, has all.
        rows[row] = unsafe { x.load_vec_unchecked(vector + row * ONE_TILE_BLOCK as usize) };
    }
    combine_rows::<T, O, V>(rows)
}

/// As [`combine_tile`] for a tile that is not whole, and for a view that does not start at a multiple of 16 bytes: what
/// fills no vector, and all of such a view, is taken element by element.
///
/// A function of its own, so that its code is not in the way of the others'.
#[inline(never)]
fn combine_partial_tile<T: Element, O: Operator<T>, const V: usize>(x: Global<T>) -> T {
    let thread = thread::thread_idx_x();
    let first = thread::block_idx_x() as usize * tile_elements(V);
    // The elements that there are of the tile: at most as many as it has, so that 32 bits hold them.
    let elements = x.len().saturating_sub(first).min(tile_elements(V)) as u32;
    let vectors = if (x.as_ptr() as usize).is_multiple_of(16) { elements / V as u32 } else { 0 };
    let mut rows = [[O::IDENTITY; V]; LOADS];
    for row in 0..LOADS {
        let vector = row as u32 * ONE_TILE_BLOCK + thread;
        if vector < vectors {
            // SAFETY: the vector is one of those that the view, which starts at a multiple of 16 bytes, has.
            rows[row] = unsafe { x.load_vec_unchecked(first / V + vector as usize) };
        }
    }
    let mut rest = O::IDENTITY;
    let mut element = vectors * V as u32 + thread;
    while element < elements {
        // SAFETY: `elements` from `first` on are the view's.
        rest = O::combine(rest, unsafe { x.load_readonly_unchecked(first + element as usize) });
        element += ONE_TILE_BLOCK;
    }
    O::combine(rest, combine_rows::<T, O, V>(rows))
}

#[inline(always)]
fn combine_rows<T: Element, O: Operator<T>, const V: usize>(rows: [[T; V]; LOADS]) -> T {
    let mut all = rows[0];
    for row in 1..LOADS {
        all = combine_vectors::<T, O, V>(all, rows[row]);
    }
    let mut value = all[0];
    for v in 1..V {
        value = O::combine(value, all[v]);
    }
    value
}
