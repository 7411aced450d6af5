//! Shuffle: the lanes of a warp exchange registers, and shared memory holds one value per warp.
//!
//! Five shuffles replace five steps through shared memory, and one barrier remains. The kernel keeps the order of the
//! elements, so the operator may be any associative one. A warp processes [`ROWS`] rows of consecutive elements, one
//! element per lane. If the operator is commutative, each lane first combines its elements of all rows, and the warp
//! shuffles once. Otherwise the warp combines each row separately.
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

/// Combines each segment *b* of `x` into `y[b]`, by warp shuffles; any associative operator.
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

/// Returns one value per lane. Combined in lane order, these values are the combination of the warp's rows of the tile.
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
    // `block_reduce` combines the values of all lanes, so lane 0 supplies the result and the other lanes the identity.
    if lane == 0 { rows.aggregate() } else { O::IDENTITY }
}
