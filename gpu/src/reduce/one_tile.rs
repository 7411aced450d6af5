//! One tile per block: the fastest reduction for small inputs, for which all blocks run at the same time.
//!
//! In contrast to [`reduce_grid_stride()`](super::reduce_grid_stride()), the number of threads per block and the number
//! of loads per thread are constants. With cold caches, the device also loads the instructions from memory. The code is
//! therefore short, and the instructions that most blocks execute are contiguous:
//!
//! - No loop precedes the loads, and the block's tree has no loop.
//! - The code contains only one tree. The threads of the last block combine the published results with their own
//!   elements, and then execute the same tree as all other blocks.
//! - One thread combines the values of the warps, which it reads in wide loads.
//! - A separate function processes a partial tile.
//!
//! The last block also prefetches the words of the other blocks while it loads its tile, so that its polls do not wait
//! for memory. The prefetch instructions follow the loads of the tile, because before them they would delay the loads
//! of every block.
//!
//! The kernel is limited by the launch and by the latency of memory, which it waits for twice: for the tile, and for
//! the partial results in the last block. `docs/notes/reduce.md` has the time of each part.
//!
//! Forward progress: only the last block waits for other blocks, and those blocks do not wait for any block.
//!
//! Sources: those of [`reduce_grid_stride()`](super::reduce_grid_stride()).

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::grid_stride::{COMBINED, combine_vectors};
use super::{LOADS, ONE_TILE_BLOCK};
use crate::collective::block::block_reduce_full;
use crate::collective::flagged_words::{self, words};
use crate::collective::vectors::{is_aligned, vector_len};
use crate::operator::{Max, Min, Operator, Product, Sum};

/// The number of warps in a block.
pub const WARPS: usize = (ONE_TILE_BLOCK / warp::SIZE) as usize;

/// Returns the number of elements in a tile. A block loads the tile in vectors of `v` elements.
pub const fn tile_elements(v: usize) -> usize {
    ONE_TILE_BLOCK as usize * LOADS * v
}

/// Combines all elements of `x` into `y[0]` in one launch, in 16-byte loads. The operator must be commutative.
///
/// `V` must be the number of elements in a vector ([`vector_len`]). Launch a one-dimensional grid of blocks of
/// [`ONE_TILE_BLOCK`] threads. The grid must have at least one block, and one block for every [`tile_elements`]
/// elements. `partials` must have [`words`] elements per block except the last. They must be 0 before the launch, and
/// they are 0 again after it.
#[kernel(
    max_threads = 256,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    wide(loads),
    exported = "reduce"
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
        // Only the last block checks the size of the launch, so the other blocks finish sooner. Even in a wrong launch,
        // no block reads beyond the view, because each block compares its tile with the view's length.
        assert!(thread::block_dim_x() == ONE_TILE_BLOCK && (last as usize + 1) * tile_elements(V) >= x.len());
        // Combines the result with the identity, with which every reduction starts. The combinations above do not
        // contain it.
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

/// Returns the combination of the calling thread's elements of the block's tile. The tile has `LOADS` rows, and the
/// thread has one vector of `V` elements in each row.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn combine_tile<T: Element, O: Operator<T>, const V: usize>(x: Global<T>, partials: GlobalMut<u64>) -> T {
    const { assert!(O::COMMUTATIVE, "this rung needs a commutative operator: use `neighboured` or `shuffle`") };
    const { assert!(V == vector_len(size_of::<T>()), "`V` must be the number of elements in a vector") };
    let first = thread::block_idx_x() as usize * tile_elements(V);
    if !is_aligned::<T, V>(x.as_ptr() as usize) || x.len() < first + tile_elements(V) {
        return combine_partial_tile::<T, O, V>(x, partials);
    }
    let vector = first / V + thread::thread_idx_x() as usize;
    let mut rows = [[O::IDENTITY; V]; LOADS];
    for row in 0..LOADS {
        // SAFETY: the launch bound limits a block to ONE_TILE_BLOCK threads, so the vector lies in the tile. The whole
        // tile lies in the view, which is aligned for vectors.
        rows[row] = unsafe { x.load_vec_unchecked(vector + row * ONE_TILE_BLOCK as usize) };
    }
    prefetch_partials::<T>(partials);
    combine_rows::<T, O, V>(rows)
}

/// In the last block, prefetches into the L2 cache the words in which the other blocks publish their results. In other
/// blocks, does nothing.
#[inline(always)]
fn prefetch_partials<T: Element>(partials: GlobalMut<u64>) {
    if thread::block_idx_x() == thread::grid_dim_x() - 1 {
        flagged_words::prefetch::<T>(partials, thread::thread_idx_x() as usize * words::<T>());
    }
}

/// Does the same as [`combine_tile`] for a partial tile, and for a view that is not aligned for vectors.
/// It processes the elements after the last whole vector, and all elements of an unaligned view, one by one.
///
/// The function is not inlined, so that its instructions are not between the instructions that most blocks execute.
#[inline(never)]
fn combine_partial_tile<T: Element, O: Operator<T>, const V: usize>(x: Global<T>, partials: GlobalMut<u64>) -> T {
    prefetch_partials::<T>(partials);
    let thread = thread::thread_idx_x();
    let first = thread::block_idx_x() as usize * tile_elements(V);
    // The number of elements in this tile, which fits into 32 bits.
    let elements = x.len().saturating_sub(first).min(tile_elements(V)) as u32;
    let vectors = if is_aligned::<T, V>(x.as_ptr() as usize) { elements / V as u32 } else { 0 };
    let mut rows = [[O::IDENTITY; V]; LOADS];
    for row in 0..LOADS {
        let vector = row as u32 * ONE_TILE_BLOCK + thread;
        if vector < vectors {
            // SAFETY: the index is that of a whole vector of the view, and the view is aligned for vectors.
            rows[row] = unsafe { x.load_vec_unchecked(first / V + vector as usize) };
        }
    }
    let mut rest = O::IDENTITY;
    let mut element = vectors * V as u32 + thread;
    while element < elements {
        // SAFETY: the view has `elements` elements from `first` on, and `element` is below that number.
        rest = O::combine(rest, unsafe { x.load_readonly_unchecked(first + element as usize) });
        element += ONE_TILE_BLOCK;
    }
    O::combine(rest, combine_rows::<T, O, V>(rows))
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
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
