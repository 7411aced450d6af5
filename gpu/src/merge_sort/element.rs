//! The element types that can be sorted by a comparison.

use cuda_std::{Call, Element, Global, GlobalMut};

/// An element type that merge sort sorts by `C`: kernels are built for the pair.
///
/// These are `u32` by [`Less`](super::Less), and pairs of a type and a comparison
/// ([`Compare`](super::Compare)) for which [`instances!`](crate::instances!) builds the kernels and implements this
/// trait.
#[diagnostic::on_unimplemented(
    message = "no kernel sorts elements of type `{Self}` by `{C}`",
    label = "no such kernel is built",
    note = "add `gpu::instances!(Type by Comparison: merge_sort);` to the crate of your kernels; numbers are sorted by \
            `sort`"
)]
pub trait MergeSortElement<C>: Element {
    /// True if another crate has made the instance, of the rung `merge_path`.
    #[doc(hidden)]
    const IS_OWN: bool = false;

    /// Returns a call of [`merge_sort_ranks()`](super::merge_sort_ranks()), or `None` if it is not built.
    #[doc(hidden)]
    fn ranks<'call>(
        _x: Global<'call, Self>,
        _width: usize,
        _compare: C,
        _y: GlobalMut<'call, Self>,
    ) -> Option<Call<'call>> {
        None
    }

    /// Returns a call of [`merge_sort_block()`](super::merge_sort_block()), or `None` if it is not built.
    #[doc(hidden)]
    fn block<'call>(x: Global<'call, Self>, compare: C, y: GlobalMut<'call, Self>) -> Option<Call<'call>>;

    /// Returns a call of [`merge_sort_merge_path()`](super::merge_sort_merge_path()), or `None` if it is not built.
    #[doc(hidden)]
    fn merge_path<'call>(
        x: Global<'call, Self>,
        other: Global<'call, Self>,
        run_tiles: usize,
        compare: C,
        y: GlobalMut<'call, Self>,
    ) -> Option<Call<'call>>;
}

#[cfg(feature = "merge_sort")]
mod built_in {
    use super::*;
    use crate::merge_sort::{Less, merge_sort_block, merge_sort_merge_path, merge_sort_ranks};

    crate::__merge_sort_element! { u32, Less, {
        fn ranks<'call>(
            x: Global<'call, Self>,
            width: usize,
            compare: Less,
            y: GlobalMut<'call, Self>,
        ) -> Option<Call<'call>> {
            merge_sort_ranks::if_built::<u32, Less>(x, width, compare, y)
        }
    } }
}
