//! One tile per block: the last rung's kernel for inputs that one wave of blocks covers.
//!
//! What it changes against [`reduce_grid_stride()`](super::reduce_grid_stride()): the compiler knows how many threads a block
//! has and how much a thread loads. With cold caches the instructions come from memory too. So the code is short, and
//! what most blocks run stands together:
//!
//! - No loop stands before the loads, and none in the block's tree.
//! - The code has one tree: the last block's threads combine what the others have published with what they have loaded,
//!   and then go through the same tree as any block.
//! - The values of the warps are combined by one thread, which reads them in wide loads, and not lane by lane.
//! - A tile that is not whole is left to a function of its own.
//!
//! And the last block prefetches the others' words while it loads its tile, so that its polls do not wait for memory. The
//! instructions for that stand behind the loads, which each block would wait for longer otherwise.
//!
//! Limited by the launch and by the latency of memory: of the loads, and then of the partial results on their way to the last
//! block. What each of these takes is in `docs/notes/reduce.md`.
//!
//! Forward progress: only the last block waits, and what it waits for is published by blocks that wait for nobody.
//!
//! Source: as [`reduce_grid_stride()`](super::reduce_grid_stride()).

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::grid_stride::{COMBINED, combine_vectors};
use super::{LOADS, ONE_TILE_BLOCK};
use crate::collective::block::block_reduce_full;
use crate::collective::flagged_words::{self, words};
use crate::operator::{Max, Min, Operator, Product, Sum};

const WARPS: usize = (ONE_TILE_BLOCK / warp::SIZE) as usize;

/// Elements of a tile, which a block reads `v` at a time.
pub const fn tile_elements(v: usize) -> usize {
    ONE_TILE_BLOCK as usize * LOADS * v
}

/// `y[0]` = all elements of `x` combined, read `V` (16 bytes) at a time, in one launch; commutative operators.
///
/// A one-dimensional grid of blocks of [`ONE_TILE_BLOCK`] threads, at least one for each [`tile_elements`], and at least
/// one. `partials` has [`words`] for each block but the last; they are 0 before the launch, and are 0 again after it.
#[kernel(
    max_threads = 256,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    wide(loads)
)]
pub fn reduce_one_tile<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    partials: GlobalMut<u64>,
    y: GlobalMut<T>,
) {
    let slots = shared_array![[T; V]; WARPS];
    let (block, last) = (thread::block_idx_x(), thread::grid_dim_x() - 1);
    let thread = thread::thread_idx_x();
    let mut value = combine_tile::<T, O, V>(x, partials);
    if block == last {
        // The last block checks the launch for the whole grid, and the others are done sooner. They read nothing beyond the view
        // in any launch, since each compares its tile with the view's length.
        assert!(thread::block_dim_x() == ONE_TILE_BLOCK && (last as usize + 1) * tile_elements(V) >= x.len());
        // Every result starts from the identity; so far the elements have been combined with one another alone.
        value = O::combine(O::IDENTITY, value);
        let mut other = thread;
        while other < last {
            let first = other as usize * words::<T>();
            let (_, partial) = flagged_words::wait_for(partials, first);
            value = O::combine(value, partial);
            flagged_words::clear::<T>(partials, first);
            other += ONE_TILE_BLOCK;
        }
    }
    let value = block_reduce_full::<T, O, V, WARPS>(slots, value);
    if thread == 0 {
        if block < last {
            flagged_words::publish(partials, block as usize * words::<T>(), COMBINED, value);
        } else {
            y.store(0, value);
        }
    }
}

/// The thread's share of the block's tile combined: `LOADS` rows, in each of which it has a vector of `V` elements.
#[inline(always)]
fn combine_tile<T: Element, O: Operator<T>, const V: usize>(x: Global<T>, partials: GlobalMut<u64>) -> T {
    const { assert!(O::COMMUTATIVE, "this rung does not keep the order of the elements") };
    const { assert!(V * size_of::<T>() == 16, "a vector has 16 bytes") };
    let first = thread::block_idx_x() as usize * tile_elements(V);
    if !(x.as_ptr() as usize).is_multiple_of(16) || x.len() < first + tile_elements(V) {
        return combine_partial_tile::<T, O, V>(x, partials);
    }
    let vector = first / V + thread::thread_idx_x() as usize;
    let mut rows = [[O::IDENTITY; V]; LOADS];
    for row in 0..LOADS {
        // SAFETY: the launch bound allows no more than ONE_TILE_BLOCK threads per block, so the vector is one of the tile. All of
        // the tile is in the view, which starts at a multiple of 16 bytes.
        rows[row] = unsafe { x.load_vec_unchecked(vector + row * ONE_TILE_BLOCK as usize) };
    }
    prefetch_partials::<T>(partials);
    combine_rows::<T, O, V>(rows)
}

/// In the last block, has the words of the others brought to the L2 cache.
#[inline(always)]
fn prefetch_partials<T: Element>(partials: GlobalMut<u64>) {
    if thread::block_idx_x() == thread::grid_dim_x() - 1 {
        flagged_words::prefetch::<T>(partials, thread::thread_idx_x() as usize * words::<T>());
    }
}

/// As [`combine_tile`] for a tile that is not whole, and for a view that does not start at a multiple of 16 bytes. The
/// elements behind the last whole vector, and all elements of such a view, are taken one by one.
///
/// Not inlined, so that its instructions do not stand between those that most blocks need.
#[inline(never)]
fn combine_partial_tile<T: Element, O: Operator<T>, const V: usize>(x: Global<T>, partials: GlobalMut<u64>) -> T {
    prefetch_partials::<T>(partials);
    let thread = thread::thread_idx_x();
    let first = thread::block_idx_x() as usize * tile_elements(V);
    // How many elements of the tile there are: 32 bits hold that.
    let elements = x.len().saturating_sub(first).min(tile_elements(V)) as u32;
    let vectors = if (x.as_ptr() as usize).is_multiple_of(16) { elements / V as u32 } else { 0 };
    let mut rows = [[O::IDENTITY; V]; LOADS];
    for row in 0..LOADS {
        let vector = row as u32 * ONE_TILE_BLOCK + thread;
        if vector < vectors {
            // SAFETY: one of the view's whole vectors; the view starts at a multiple of 16 bytes.
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
