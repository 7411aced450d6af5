//! Reduction: *n* elements combined into one by an associative operator, such as their sum or their minimum.
//!
//! | rung | idea | operator | limited by |
//! |---|---|---|---|
//! | [`reduce_neighboured()`] | a tree over neighbours in shared memory | any | divergence: in every warp a few lanes work |
//! | [`reduce_interleaved()`] | a tree over halves: the working threads are the first ones | commutative | half of the threads only load |
//! | [`reduce_unrolled()`] | a thread first combines `N` = 2, 4 or 8 elements of its own | commutative | barriers |
//! | [`reduce_unrolled_last_warp()`] | the last 64 elements by one warp, without block barriers | commutative | the loop |
//! | [`reduce_completely_unrolled()`] | no loop: each step of the tree is spelled out | commutative | shared memory's latency |
//! | [`reduce_shuffle()`] | lanes exchange registers: one shared slot per warp, one barrier | any | memory, and a second launch |
//! | [`reduce_grid_stride()`] | 16-byte loads, several in flight; the last block to finish combines all: one launch | commutative | memory |
//! | [`reduce_unaligned()`] | the same for large views that begin anywhere | commutative | memory |
//! | [`reduce_one_tile()`] | the same for small inputs: a tile of a fixed size per block, and no loop | commutative | the launch, and the latency of memory |
//!
//! Floor: every element is read once, at the speed at which the device reads.
//!
//! An operator that is not commutative needs its operands in order. The rungs that say "any" keep it by construction;
//! the others interleave, and do not compile for such an operator.
//!
//! The last three kernels are one rung: which of them is launched depends on the length and the address.
//!
//! # One launch of the first six
//!
//! They differ in how a block combines a *tile*, which is as many elements as its threads take at once. Each has the
//! parameters `(segment, x, y)`: block *b* combines the *b*-th segment of `segment` elements of `x`, as far as there are any,
//! tile by tile into `y[b]`. There may be any number of blocks up to the length of `y`, each of a power of two of threads.
//! Where a segment is one tile, the block goes through its loop once. Further launches combine the `y`, until one element is
//! left.
//!
//! Every result starts from [`Operator::IDENTITY`]. So the result of no elements is the
//! identity, and the minimum of NaNs alone is what the operator promises.
//!
//! Sources: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming", chapter 3; M. Harris, "Optimizing
//! Parallel Reduction in CUDA", NVIDIA, 2007; J. Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA, 2014; the CUDA
//! sample `threadFenceReduction`; CUB's `DeviceReduce`.
//!
//! # Design
//!
//! The last block waits for the partial results of the others as flagged words. A fence and a ticket would each cost a
//! round trip to memory, which is a noticeable part of a small reduction's time (`docs/notes/reduce.md`).
//!
//! Code that most blocks do not run is in a function that is not inlined: with cold caches instructions come from
//! memory as well. The list `CALLS` in `xtask/tests/ptx_text.rs` names the kernels that may call a function.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod tiles;
pub mod tuning;

pub use one_tile::tile_elements;
pub use tuning::{BLOCKS_ON_LOAD, LOADS, ONE_TILE_BLOCK, ROWS};

use cuda_std::{Element, Global, GlobalMut, thread};

use crate::operator::Operator;

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

cuda_std::ladder! {
    /// The sum, product, minimum or maximum of *n* elements, or any associative operator's.
    pub enum ReduceRung: reduce {
        /// A call of a rung whose blocks each leave a partial result: block *b* combines the elements
        /// `segment·b..segment·(b + 1)` of `x` into `y[b]`.
        pub fn step<'call, T: Element, O: Operator<T>>(segment: u32, x: Global<'call, T>, y: GlobalMut<'call, T>) {
            /// A tree over neighbours in shared memory; keeps the order of the elements.
            neighboured,
            /// A tree over halves: the threads that work are the first ones.
            interleaved,
            /// Each thread combines two elements as it loads them.
            unrolled_2 = unrolled::reduce_unrolled<2>,
            /// Each thread combines four elements as it loads them.
            unrolled_4 = unrolled::reduce_unrolled<4>,
            /// Each thread combines eight elements as it loads them.
            unrolled_8 = unrolled::reduce_unrolled<8>,
            /// The last 64 elements of a block's tree by one warp, without block barriers.
            unrolled_last_warp,
            /// Each step of the tree is spelled out.
            completely_unrolled,
            /// Lanes exchange registers; keeps the order of the elements.
            shuffle,
        }
        /// A grid of fixed size reads 16 bytes at a time, and its last block combines the partial results: one launch.
        grid_stride = reduce_grid_stride + one_tile::reduce_one_tile + unaligned::reduce_unaligned,
    }
}
