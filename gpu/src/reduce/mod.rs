//! Reduction: *n* elements combined into one by an associative operator, such as their sum or their minimum.
//!
//! | rung | idea | operator | limited by |
//! |---|---|---|---|
//! | [`reduce_neighboured()`] | a tree over neighbours in shared memory | any | divergence: in every warp a few lanes work |
//! | [`reduce_interleaved()`] | a tree over halves: the working threads are the first ones | commutative | half of the threads only load |
//! | [`reduce_unrolled()`] | a thread first combines `N` = 2, 4 or 8 elements of its own | commutative | barriers |
//! | [`reduce_unrolled_last_warp()`] | the last 64 elements by one warp, without block barriers | commutative | the loop |
//! | [`reduce_completely_unrolled()`] | no loop: each step of the tree is spelled out | commutative | shared memory's latency |
//! | [`reduce_shuffle()`] | lanes exchange registers: one shared slot a warp, one barrier | any | memory, and a second launch |
//! | [`reduce_grid_stride()`] | 16-byte loads, several in flight; the last block to finish combines all: one launch | commutative | memory |
//! | [`reduce_one_tile()`] | the same for small inputs: a tile of a fixed size a block, and no loop | commutative | the launch, and the ways to memory |
//!
//! Floor: every element is read once, at the speed at which the device reads.
//!
//! An operator that is not commutative needs its operands in order. The rungs that say "any" keep it by construction;
//! the others interleave, and do not compile for such an operator.
//!
//! The last two are one rung: which of them is launched depends on the length.
//!
//! # One launch of the first six
//!
//! They differ in how a block combines a *tile*, which is as many elements as its threads take at once. Each has the
//! parameters `(part, x, y)`: block *b* combines the elements `part·b..part·(b + 1)` of `x`, as far as there are any, tile
//! by tile into `y[b]`. Any number of blocks up to the length of `y`, of a power of two of threads, will do; with `part`
//! one tile, a block makes one step of this loop. Further launches combine the `y`, until one element is left.
//!
//! Every result starts from [`Operator::IDENTITY`](crate::operator::Operator::IDENTITY): what there is nothing of has that
//! value, and the minimum of NaNs alone is what the operator promises.
//!
//! Sources: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming", chapter 3; M. Harris, "Optimizing
//! Parallel Reduction in CUDA", NVIDIA, 2007; J. Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA, 2014; the CUDA
//! sample `threadFenceReduction`; CUB's `DeviceReduce`.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod completely_unrolled;
mod grid_stride;
mod interleaved;
mod neighboured;
mod one_tile;
mod shuffle;
mod tiles;
mod unrolled;
mod unrolled_last_warp;
mod within_block;

pub use completely_unrolled::reduce_completely_unrolled;
pub use grid_stride::{LOADS, reduce_grid_stride};
pub use interleaved::reduce_interleaved;
pub use neighboured::reduce_neighboured;
pub use one_tile::{ONE_TILE_BLOCK, reduce_one_tile, tile_elements};
pub use shuffle::{ROWS, reduce_shuffle};
pub use unrolled::reduce_unrolled;
pub use unrolled_last_warp::{BLOCKS_ON_LOAD, reduce_unrolled_last_warp};

use cuda_std::thread;

/// The most threads a block may have, and so the elements of a tile in shared memory.
const MOST_THREADS: usize = 1024;

/// Traps unless the block is one that every rung combines as a whole: of one dimension and a power of two of threads.
#[inline(always)]
#[track_caller]
fn assert_block() {
    // Few instructions: blocks of the first rungs live short lives.
    let block = thread::block_dim_x();
    assert!(block & (block - 1) == 0 && thread::block_dim_y() * thread::block_dim_z() == 1);
}

cuda_std::kernels! {
    /// The sum, product, minimum or maximum of *n* elements, or any associative operator's.
    reduce_neighboured,
    reduce_interleaved,
    reduce_unrolled,
    reduce_unrolled_last_warp,
    reduce_completely_unrolled,
    reduce_shuffle,
    reduce_grid_stride,
    reduce_one_tile,
}
