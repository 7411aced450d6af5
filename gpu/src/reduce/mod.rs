//! Reduction: combines *n* elements into one by an associative operator, for example into their sum or minimum.
//!
//! | rung | idea | operator | limited by |
//! |---|---|---|---|
//! | [`reduce_neighboured()`] | a tree over neighbours in shared memory | any | divergence: few lanes per warp are active |
//! | [`reduce_interleaved()`] | a tree over halves: the active threads are the first ones | commutative | half of the threads only load |
//! | [`reduce_unrolled()`] | a thread first combines 2, 4 or 8 elements (`N`) in registers | commutative | barriers |
//! | [`reduce_unrolled_last_warp()`] | one warp combines the last 64 elements, without block barriers | commutative | the loop |
//! | [`reduce_completely_unrolled()`] | no loop: the code spells out each step of the tree | commutative | the latency of shared memory |
//! | [`reduce_shuffle()`] | lanes exchange registers: one shared slot per warp, one barrier | any | memory, and a second launch |
//! | [`reduce_grid_stride()`] | 16-byte loads, several in flight; the grid's last block combines the partial results: one launch | commutative | memory |
//! | [`reduce_unaligned()`] | the same for large views that begin at any address | commutative | memory |
//! | [`reduce_one_tile()`] | the same for small inputs: one tile of a fixed size per block, and no loop | commutative | the launch, and the latency of memory |
//! | [`reduce_with_accumulator()`] | the same by values of another type: sums of 16-bit floats in `f32`, positions | commutative | memory |
//!
//! Floor (the least possible time): the device reads every element once, at its read bandwidth.
//!
//! An operator that is not commutative needs its operands in order. The kernels with "any" in the table preserve this
//! order. The other kernels reorder elements, and do not compile for such an operator.
//!
//! The last four kernels form one rung. The host selects one of them by the types, the length and the address of the
//! view. Only
//! `reduce_unaligned` has the operators that propagate NaN, and takes the place of the first two.
//!
//! # One launch of the first six rungs
//!
//! The first six kernels differ in how a block combines a *tile*, the elements that its threads process at once. Each
//! kernel has the parameters `(segment, x, y)`. Block *b* combines elements `segment·b..segment·(b + 1)` of `x`, tile
//! by tile, into `y[b]`. The grid may have any number of blocks up to the length of `y`. The number of threads per
//! block must be a power of two. If a segment is one tile, the loop over tiles runs once. The host repeats the launch
//! with `y` as the input until one element remains.
//!
//! Every combination starts with [`Operator::IDENTITY`]. The result for an empty input is therefore the identity. If
//! all elements are NaN, see the documentation of the operator.
//!
//! Sources: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming", chapter 3; M. Harris, "Optimizing
//! Parallel Reduction in CUDA", NVIDIA, 2007; J. Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA, 2014; the
//! CUDA sample `threadFenceReduction`; CUB's `DeviceReduce`.
//!
//! # Design
//!
//! In the last four kernels, the last block of the grid waits for the partial results of the other blocks. Each
//! partial result is stored together with a flag ([`flagged_words`](crate::collective::flagged_words)). A fence and a
//! ticket would each add a round trip to memory, which is a noticeable part of a small reduction's time
//! (`docs/notes/reduce.md`).
//!
//! With cold caches, the device also loads the instructions from memory. Code that most blocks do not execute is
//! therefore in a function that is not inlined. The list `CALLS` in `xtask/src/kernels/ptx_text.rs` names the kernels
//! that may contain a call.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod tiles;
pub mod tuning;

pub use one_tile::tile_elements;
pub use tuning::{BLOCKS_ON_LOAD, LOADS, ONE_TILE_BLOCK, ROWS};

use cuda_std::{Element, Global, GlobalMut, thread};

use crate::operator::Operator;

cuda_std::__private::kernel! { device {} host {
    mod element;

    #[cfg(feature = "reduce")]
    #[doc(hidden)]
    pub use element::{ACCUMULATED, LISTED};
    pub use element::{ReduceElement, ReduceInput};
} }

/// The largest number of threads per block, which is also the largest number of elements in shared memory.
const MAX_THREADS: usize = 1024;

/// Ends a kernel that reduces in one launch: the grid's last block combines the `value`s of all blocks and writes the
/// result to `y[0]`. `T` and `O` are the kernel's parameters. This is a macro, because the returns of an inlined
/// function change the order of the kernel's code.
#[doc(hidden)]
#[macro_export]
macro_rules! __combine_blocks {
    ($value:ident, $slots:ident, $partials:ident, $y:ident) => {
        let is_first = thread::thread_idx_x() == 0;
        let (block, last) = (thread::block_idx_x(), thread::grid_dim_x() - 1);
        if last == 0 {
            if is_first {
                $y.store(0, $value);
            }
            return;
        }
        if block < last {
            if is_first {
                flagged_words::publish($partials, block as usize * words::<T>(), COMBINED, $value);
            }
            return;
        }

        let mut all = O::IDENTITY;
        let mut other = thread::thread_idx_x();
        while other < last {
            let first = other as usize * words::<T>();
            let (_, partial) = flagged_words::wait_for($partials, first);
            all = O::combine(all, partial);
            flagged_words::clear::<T>($partials, first);
            other += thread::block_dim_x();
        }
        if is_first {
            all = O::combine(all, $value);
        }
        let all = block_reduce::<T, O>($slots, all);
        if is_first {
            $y.store(0, all);
        }
    };
}

#[doc(hidden)]
pub use crate::__combine_blocks as combine_blocks;

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::{Element, Global, GlobalMut, shared_array, thread, warp};

    pub use super::grid_stride::{COMBINED, combine_strided};
    pub use super::one_tile::{WARPS, combine_tile, tile_elements};
    pub use super::shuffle::combine_rows;
    pub use super::tiles::combine_segment;
    pub use super::{LOADS, ONE_TILE_BLOCK, ROWS, assert_block, combine_blocks};
    pub use crate::collective::LANES;
    pub use crate::collective::block::{MAX_WARPS, block_reduce, block_reduce_full};
    pub use crate::collective::flagged_words::{self, words};
    pub use crate::collective::vectors::before_first_vector;
    pub use crate::operator::Operator;
}

/// Traps unless the block is one-dimensional and its number of threads is a power of two, as every rung requires.
#[inline(always)]
#[track_caller]
pub fn assert_block() {
    // The check has few instructions because blocks of the first rungs run for a short time.
    let block = thread::block_dim_x();
    assert!(block & (block - 1) == 0 && thread::block_dim_y() * thread::block_dim_z() == 1);
}

exported_modules! { "reduce": grid_stride one_tile shuffle unaligned }

#[cfg(feature = "reduce")]
cuda_std::ladder! {
    /// The sum, product, minimum or maximum of *n* elements, or their combination by any associative operator.
    pub enum ReduceRung: reduce {
        /// Returns the kernel call of a rung whose blocks write one partial result each. Block *b* combines the
        /// elements `segment·b..segment·(b + 1)` of `x` into `y[b]`.
        pub fn step<'call, T: Element, O: Operator<T>>(segment: u32, x: Global<'call, T>, y: GlobalMut<'call, T>) {
            /// A tree over neighbours in shared memory; keeps the order of the elements.
            neighboured,
            /// A tree over halves: the active threads are the first ones.
            interleaved,
            /// Each thread combines two elements as it loads them.
            unrolled_2 = unrolled::reduce_unrolled<2>,
            /// Each thread combines four elements as it loads them.
            unrolled_4 = unrolled::reduce_unrolled<4>,
            /// Each thread combines eight elements as it loads them.
            unrolled_8 = unrolled::reduce_unrolled<8>,
            /// One warp combines the last 64 elements of a block's tree, without block barriers.
            unrolled_last_warp,
            /// The tree has no loop: the code contains each step separately.
            completely_unrolled,
            /// Lanes exchange registers; keeps the order of the elements.
            shuffle,
        }
        /// A grid of fixed size loads 16 bytes at a time, and its last block combines the partial results: one launch.
        grid_stride = reduce_grid_stride + one_tile::reduce_one_tile + unaligned::reduce_unaligned
            + with_accumulator::reduce_with_accumulator,
    }
}
