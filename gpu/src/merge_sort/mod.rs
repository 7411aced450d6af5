//! Merge sort: puts *n* elements in the order of a comparison. Equal elements keep their order. It also merges two
//! sorted vectors.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`merge_sort_ranks()`] | each element finds its place in the merged run by a binary search in the other run | log₂ n launches, each with as many dependent loads |
//! | [`merge_sort_block()`], [`merge_sort_merge_path()`] | a block sorts a tile; then each block merges one tile of two runs | memory: a pass for each doubling of the sorted runs |
//!
//! A comparison ([`Compare`]) is a type whose value is an argument of the kernels, so it may contain numbers. The
//! kernels of this crate sort `u32` by [`Less`]. [`instances!`](crate::instances!) makes kernels for elements of 1 to
//! 64 bytes and comparisons of another crate. Radix sort (`gpu::sort`) is several times faster for numbers.
//!
//! Two sorted neighbours, *runs*, are merged to one run of twice the length. The comparison is only called with
//! elements of the input. If it is not a strict weak order, such as `<` of floats with NaN, the kernels access the same
//! memory, but the output has any elements of the input.
//!
//! Floor (the least possible time): the device reads and writes all elements once to sort the tiles, and once per
//! merge, at its copy bandwidth.
//!
//! Sources: N. Satish, M. Harris, M. Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009;
//! O. Green, R. McColl, D. A. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012; CUB's `DeviceMergeSort`.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod compare;
mod path;
pub mod tuning;

pub use compare::{Compare, Less};

cuda_std::__private::kernel! { device {} host {
    mod element;

    pub use element::MergeSortElement;
} }

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::{Element, Global, GlobalMut, shared_array, thread, warp};

    pub use super::compare::Compare;
    pub use super::path::{load_tile, merge_items, sort_items, split, store_tile};
    pub use super::tuning::{THREADS, items};
}

exported_modules! { "merge_sort": block merge_path }

#[cfg(feature = "merge_sort")]
cuda_std::ladder! {
    /// Puts *n* elements in the order of a comparison; equal elements keep their order.
    pub enum MergeSortRung: merge_sort {
        /// One launch per doubling: each element finds its place by a binary search.
        ranks,
        /// A block sorts a tile in shared memory; then each block merges a tile of two sorted runs.
        merge_path = merge_sort_merge_path + block::merge_sort_block,
    }
}
