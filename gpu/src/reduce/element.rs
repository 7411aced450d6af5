//! The element types that can be reduced, by operator.

use cuda_std::{Call, DeviceCopy, Element, Global, GlobalMut, Rung, Zeroable};

use crate::operator::Operator;

/// An element type that the operator or reduction `O` reduces to a value of type [`Output`](Self::Output): a kernel is
/// built for the pair.
///
/// For an operator on the element type, the output is an element: see [`ReduceElement`]. The other reductions are
/// [`Widened`](crate::accumulate::Widened), [`ArgMin`](crate::accumulate::ArgMin) and
/// [`ArgMax`](crate::accumulate::ArgMax).
#[diagnostic::on_unimplemented(
    message = "no kernel reduces elements of type `{Self}` by `{O}`",
    label = "no such kernel is built",
    note = "Sum, Product, Min, Max, ArgMin and ArgMax take u8, i8, u32, i32, u64, i64, f16, bf16, f32 and f64; Compose \
            takes Affine",
    note = "Widened<Sum, A> sums f16 and bf16 as f32, i8 as i32 or i64, u8 as u32 or u64, i32 as i64, u32 as u64, and \
            f32 as f64",
    note = "for a type or operator of your own, add `gpu::instances!(Type by Operator: reduce);` to the crate of your \
            kernels"
)]
pub trait ReduceInput<O: 'static>: Element {
    /// The type of the result.
    type Output: DeviceCopy + Zeroable;

    /// The type of the results of blocks.
    #[doc(hidden)]
    type Partial: Element;

    /// True if another crate has made the instances. They belong to one rung: `grid_stride` if the operator is
    /// commutative, otherwise `shuffle`.
    #[doc(hidden)]
    const IS_OWN: bool = false;

    /// True if the operands may be exchanged.
    #[doc(hidden)]
    const IS_COMMUTATIVE: bool = true;

    /// Returns a call of the kernel of `rung`, one of the rungs that need several launches, or `None` if it is not
    /// built. This launch is not the last one.
    #[doc(hidden)]
    fn step<'call>(
        _rung: &Rung,
        _segment: u32,
        _x: Global<'call, Self>,
        _y: GlobalMut<'call, Self>,
    ) -> Option<Call<'call>> {
        None
    }

    /// Does the same as [`step`](Self::step) for the last launch.
    #[doc(hidden)]
    fn last_step<'call>(
        _rung: &Rung,
        _segment: u32,
        _x: Global<'call, Self>,
        _y: GlobalMut<'call, Self::Output>,
    ) -> Option<Call<'call>> {
        None
    }

    /// Returns a call of the kernel for large inputs, or `None` if it is not built.
    #[doc(hidden)]
    fn grid_stride<'call>(
        x: Global<'call, Self>,
        partials: GlobalMut<'call, u64>,
        y: GlobalMut<'call, Self::Output>,
    ) -> Option<Call<'call>>;

    /// Returns a call of the kernel for small inputs, or `None` if it is not built.
    #[doc(hidden)]
    fn one_tile<'call>(
        x: Global<'call, Self>,
        partials: GlobalMut<'call, u64>,
        y: GlobalMut<'call, Self::Output>,
    ) -> Option<Call<'call>>;

    /// Returns a call of the kernel for views that begin at any address, or `None` if it is not built.
    #[doc(hidden)]
    fn unaligned<'call>(
        x: Global<'call, Self>,
        partials: GlobalMut<'call, u64>,
        y: GlobalMut<'call, Self::Output>,
    ) -> Option<Call<'call>>;
}

/// An element type that can be reduced with the operator `O` to an element: a kernel is built for the pair.
///
/// The number types of 8, 32 and 64 bits, `f16` and `bf16` can be reduced with sum, product, minimum and maximum, and
/// `Affine` with `Compose`. For another pair, [`instances!`](crate::instances!) builds the kernels and implements this
/// trait.
#[diagnostic::on_unimplemented(
    message = "no kernel reduces elements of type `{Self}` by this operator",
    label = "no such kernel is built",
    note = "Sum, Product, Min and Max take u8, i8, u32, i32, u64, i64, f16, bf16, f32 and f64; Compose takes Affine",
    note = "for a type or operator of your own, add `gpu::instances!(Type by Operator: reduce);` to the crate of your \
            kernels"
)]
pub trait ReduceElement<O: Operator<Self>>: ReduceInput<O, Output = Self> {}

#[cfg(feature = "reduce")]
pub use built_in::{ACCUMULATED, LISTED};

/// The pairs of the library.
#[cfg(feature = "reduce")]
mod built_in {
    use cuda_std::{Call, Global, GlobalMut, Ladder, bf16, f16};

    use super::{ReduceElement, ReduceInput};
    use crate::accumulate::{Accumulate, ArgMax, ArgMin, Widened};
    use crate::collective::vectors::vector_len;
    use crate::operator::{Affine, Compose, Max, Maximum, Min, Minimum, Product, Sum};
    use crate::reduce::with_accumulator::accumulated_vector_len;
    use crate::reduce::{ReduceRung, reduce_grid_stride, reduce_one_tile, reduce_unaligned, reduce_with_accumulator};

    macro_rules! built_in {
        ($T:ident $O:ident) => {
            crate::__reduce_element! { $T, $O, {
                rung, segment, x, y => ReduceRung::of(rung).ok()?.step::<$T, $O>(segment, x, y)
            } }
        };
    }

    crate::operator::built_for_operators! { built_in }

    /// Implements [`ReduceInput`] by `reduce_with_accumulator`, which takes inputs of any length and address.
    macro_rules! accumulated {
        (@ $T:ident $O:ty: $($method:ident)+) => {
            impl ReduceInput<$O> for $T {
                type Output = <$O as Accumulate<$T>>::Output;
                type Partial = <$O as Accumulate<$T>>::Value;

                $(
                    #[inline]
                    fn $method<'call>(
                        x: Global<'call, Self>,
                        partials: GlobalMut<'call, u64>,
                        y: GlobalMut<'call, Self::Output>,
                    ) -> Option<Call<'call>> {
                        reduce_with_accumulator::if_built::<$T, $O, { accumulated_vector_len(size_of::<$T>()) }>(
                            x, partials, y,
                        )
                    }
                )+
            }
        };
        ($($T:ident: $($operator:ident)* / $($accumulator:ident)* / $($position:ident)*;)*) => {
            $(
                $(
                    accumulated! { @ $T $operator: grid_stride one_tile unaligned }
                    impl ReduceElement<$operator> for $T {}
                )*
                $(accumulated! { @ $T Widened<Sum, $accumulator>: grid_stride one_tile unaligned })*
                $(accumulated! { @ $T $position: grid_stride one_tile unaligned })*
            )*

            /// The element types and reductions that `reduce_with_accumulator` is built for, for tests. An accumulator
            /// is named by its type.
            #[doc(hidden)]
            pub const ACCUMULATED: &[(&str, &str)] = &[$(
                $((stringify!($T), stringify!($operator)),)*
                $((stringify!($T), concat!("Sum", stringify!($accumulator))),)*
                $((stringify!($T), stringify!($position)),)*
            )*];
        };
    }

    accumulated! {
        f16: Sum Product Min Max / f32 / ArgMin ArgMax;
        bf16: Sum Product Min Max / f32 / ArgMin ArgMax;
        i8: Sum Product Min Max / i32 i64 / ArgMin ArgMax;
        u8: Sum Product Min Max / u32 u64 / ArgMin ArgMax;
        f32: / f64 / ArgMin ArgMax;
        i32: / i64 / ArgMin ArgMax;
        u32: / u64 / ArgMin ArgMax;
        f64: / / ArgMin ArgMax;
        i64: / / ArgMin ArgMax;
        u64: / / ArgMin ArgMax;
    }
}
