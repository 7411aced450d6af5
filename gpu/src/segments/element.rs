//! The types of elements whose segments can be reduced and scanned.

use cuda_std::{Call, DeviceCopy, Element, Global, GlobalMut, Zeroable};

use super::bounds::Layout;

/// The arguments of a reduction or scan of segments.
pub struct Segments<'call, T, R> {
    /// The elements.
    pub x: Global<'call, T>,
    /// The words of the offsets, or an empty view.
    pub offsets: Global<'call, u32>,
    /// The kind and number of segments.
    pub layout: Layout,
    /// The results of [`segments_search()`](super::segments_search()), or an empty view.
    pub firsts: Global<'call, u64>,
    /// [`INCLUSIVE`](super::INCLUSIVE), [`EXCLUSIVE`](super::EXCLUSIVE) or [`REDUCE`](super::REDUCE).
    pub work: u32,
    /// The results.
    pub y: GlobalMut<'call, R>,
}

/// A type of elements whose segments can be reduced with the operator or reduction `O`: kernels are built for the pair.
///
/// `u32`, `i32`, `u64`, `i64`, `f32` and `f64` have the operators `Sum`, `Min` and `Max`, with which segments can also
/// be scanned, and the reductions `ArgMin` and `ArgMax`. For another pair, [`instances!`](crate::instances!) builds the
/// kernels and implements this trait.
#[diagnostic::on_unimplemented(
    message = "no kernel reduces or scans segments of elements of type `{Self}` by `{O}`",
    label = "no such kernel is built",
    note = "Sum, Min, Max, ArgMin and ArgMax take u32, i32, u64, i64, f32 and f64",
    note = "for a type or operator of your own, add `gpu::instances!(Type by Operator: segments);` to the crate of \
            your kernels"
)]
pub trait SegmentElement<O: 'static>: Element {
    /// The type of the results of a reduction.
    type Output: DeviceCopy + Zeroable;

    /// The type of the values that tiles publish.
    #[doc(hidden)]
    type Value: Element;

    /// The largest number of vectors that a thread loads.
    #[doc(hidden)]
    const CHUNKS: usize;

    /// Returns a call of [`segments_look_back()`](super::segments_look_back()), or `None` if it is not built.
    #[doc(hidden)]
    fn look_back<'call>(
        segments: Segments<'call, Self, Self::Output>,
        chunks: u32,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>>;
}

#[cfg(feature = "segments")]
mod built_in {
    use cuda_std::{Call, Element, GlobalMut};

    use super::{SegmentElement, Segments};
    use crate::accumulate::{ArgMax, ArgMin, Indexed};
    use crate::operator::{Max, Min, Sum};
    use crate::segments::segments_look_back;
    use crate::segments::work::{First, Least, Order, Segmented};
    use crate::sort_key::{Encoding, KeyBits};

    crate::__segment_element! { u32 as u32, Sum, 7, Order::NONE, segments_look_back }
    crate::__segment_element! { i32 as u32, Sum, 7, Order::NONE, segments_look_back }
    crate::__segment_element! { f32 as f32, Sum, 7, Order::NONE, segments_look_back }
    crate::__segment_element! { u64 as u64, Sum, 7, Order::NONE, segments_look_back }
    crate::__segment_element! { i64 as u64, Sum, 7, Order::NONE, segments_look_back }
    crate::__segment_element! { f64 as f64, Sum, 7, Order::NONE, segments_look_back }

    /// Implements [`SegmentElement`] by the kernels for numbers that are encoded as `$word`. `$last` are the bits of
    /// the number that is last in ascending order, and `$first` those of the first.
    macro_rules! ordered {
        ($($T:ident $word:ident $V:literal $encoding:expr, $first:expr, $last:expr;)*) => {$(
            ordered! { @ $T $word $V $encoding, $last; Min ArgMin }
            ordered! { @ $T $word $V $encoding.descending(), $first; Max ArgMax }
        )*};
        (@ $T:ident $word:ident $V:literal $encoding:expr, $last:expr; $extremum:ident $position:ident) => {
            crate::__segment_element! {
                $T as $word, $extremum, 7, order::<$word>($encoding, $last), segments_look_back, Least
            }

            impl SegmentElement<$position> for $T {
                type Output = Indexed<$T>;
                type Value = <First as Segmented<$word>>::Value;
                const CHUNKS: usize = 3;

                fn look_back<'call>(
                    segments: Segments<'call, Self, Indexed<$T>>,
                    chunks: u32,
                    states: GlobalMut<'call, u64>,
                ) -> Option<Call<'call>> {
                    let Segments { x, offsets, layout, firsts, work, y } = segments;
                    let y = as_words::<$T, $word>(y);
                    let order = order::<$word>($encoding, $last);
                    segments_look_back::if_built::<$word, First, $V, 3>(
                        x.cast(), offsets, layout, order, work, chunks, firsts, y, states,
                    )
                }
            }
        };
    }

    /// Returns the view with words in place of the numbers of the same size.
    fn as_words<T: Element, W: Element>(y: GlobalMut<'_, Indexed<T>>) -> GlobalMut<'_, Indexed<W>> {
        const { assert!(size_of::<T>() == size_of::<W>() && align_of::<T>() == align_of::<W>()) };
        // SAFETY: the fields have the same sizes and alignments, and any bits are a `W`.
        unsafe { GlobalMut::from_raw_parts(y.as_ptr().cast(), y.len(), y.device()) }
    }

    /// Returns the order of numbers with this encoding. `last` are the bits of the number that is last in the order.
    fn order<K: KeyBits + Into<u64>>(encoding: Encoding, last: K) -> Order {
        let encoding = encoding.nan_last();
        Order::new(encoding, last.encode(K::masks(encoding)).into())
    }

    ordered! {
        u32 u32 4 Encoding::UNSIGNED, 0, u32::MAX;
        i32 u32 4 Encoding::SIGNED, i32::MIN as u32, i32::MAX as u32;
        f32 u32 4 Encoding::float(23), f32::NEG_INFINITY.to_bits(), f32::INFINITY.to_bits();
        u64 u64 2 Encoding::UNSIGNED, 0, u64::MAX;
        i64 u64 2 Encoding::SIGNED, i64::MIN as u64, i64::MAX as u64;
        f64 u64 2 Encoding::float(52), f64::NEG_INFINITY.to_bits(), f64::INFINITY.to_bits();
    }
}
