//! Shuffle: the lanes of a warp exchange values in registers. Shared memory contains only one value per warp.
//!
//! Five shuffles replace five steps through shared memory, and only one barrier is needed. The kernel keeps the order
//! of the elements, so the operator may be any associative one. A warp processes [`ROWS`] rows of a tile. A row
//! consists of consecutive elements, one per lane. If the operator is commutative, each lane first combines its
//! elements of all rows, and the warp then combines the lanes' results by shuffles. Otherwise the warp combines each
//! row separately by shuffles.
//!
//! The kernel is limited by memory, and by the further launches that combine the blocks' results.
//!
//! Source: "Faster Parallel Reductions on Kepler", NVIDIA, with the masks that shuffles need since Volta.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::ROWS;
use super::tiles::{Tile, combine_segment};
use crate::collective::block::{MAX_WARPS, block_reduce};
use crate::collective::warp::RowReduce;
use crate::operator::{Affine, Compose, Operator, Sum};

/// Combines segment *b* of `x` into `y[b]` in block *b*, by warp shuffles. The operator may be any associative one.
///
/// A segment has `segment` elements. A tile is [`ROWS`] elements per thread. The number of threads per block must be a
/// power of two; see the [module](crate::reduce).
#[kernel(
    max_threads = 1024, items_per_thread = ROWS, exported = "reduce",
    instances(T = [f32, i32], O = [Sum]),
    instances(T = [Affine], O = [Compose])
)]
pub fn reduce_shuffle<T: Element, O: Operator<T>>(segment: u32, x: Global<T>, y: GlobalMut<T>) {
    let slots = shared_array![T; MAX_WARPS];
    let all = combine_segment::<T, O>(segment, x, ROWS, |tile| block_reduce::<T, O>(slots, combine_rows::<T, O>(tile)));
    if thread::thread_idx_x() == 0 {
        y.store(thread::block_idx_x() as usize, all);
    }
}

/// Returns one value per lane. The values of all lanes, combined in lane order, are the result for the warp's rows.
#[inline(always)]
pub fn combine_rows<T: Element, O: Operator<T>>(tile: Tile<T>) -> T {
    let (thread, lanes) = (thread::thread_idx_x(), thread::block_dim_x().min(warp::SIZE));
    let lane = thread % warp::SIZE;
    let first = (thread - lane) as usize * ROWS + lane as usize;
    if O::COMMUTATIVE {
        return tile.combine::<O, ROWS>(first, lanes as usize);
    }
    let mut rows = RowReduce::<T, O>::new(lanes);
    for row in 0..ROWS {
        rows.append(tile.element::<O>(first + row * lanes as usize));
    }
    // `block_reduce` combines the values of all lanes. Lane 0 therefore returns the warp's result, and the other lanes
    // return the identity.
    if lane == 0 { rows.aggregate() } else { O::IDENTITY }
}
