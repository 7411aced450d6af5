//! The element types that can be reduced, by operator.

use cuda_std::{Call, Element, Global, GlobalMut};

use crate::operator::Operator;

/// An element type that can be reduced with the operator `O`: a kernel is built for the pair.
///
/// The six number types can be reduced with `Sum`, `Product`, `Min` and `Max`, floats also with `Minimum` and
/// `Maximum`, and `Affine` with `Compose`. For another pair, [`instances!`](crate::instances!) builds the kernels and
/// implements this trait.
#[diagnostic::on_unimplemented(
    message = "no kernel reduces elements of type `{Self}` by this operator",
    label = "no such kernel is built",
    note = "Sum, Product, Min and Max take u32, i32, u64, i64, f32 and f64; Minimum and Maximum take f32 and f64",
    note = "Compose takes Affine",
    note = "for a type or operator of your own, add `gpu::instances!(Type by Operator: reduce);` to the crate of your \
            kernels"
)]
pub trait ReduceElement<O: Operator<Self>>: Element {
    /// True if another crate has made the instances. They belong to one rung: `grid_stride` if the operator is
    /// commutative, otherwise `shuffle`.
    #[doc(hidden)]
    const IS_OWN: bool = false;

    /// Returns a call of [`reduce_shuffle()`](super::reduce_shuffle()), or `None` if it is not built.
    #[doc(hidden)]
    fn shuffle<'call>(segment: u32, x: Global<'call, Self>, y: GlobalMut<'call, Self>) -> Option<Call<'call>>;

    /// Returns a call of [`reduce_grid_stride()`](super::reduce_grid_stride()), or `None` if it is not built.
    #[doc(hidden)]
    fn grid_stride<'call>(
        x: Global<'call, Self>,
        partials: GlobalMut<'call, u64>,
        y: GlobalMut<'call, Self>,
    ) -> Option<Call<'call>>;

    /// Returns a call of [`reduce_one_tile()`](super::reduce_one_tile()), or `None` if it is not built.
    #[doc(hidden)]
    fn one_tile<'call>(
        x: Global<'call, Self>,
        partials: GlobalMut<'call, u64>,
        y: GlobalMut<'call, Self>,
    ) -> Option<Call<'call>>;

    /// Returns a call of [`reduce_unaligned()`](super::reduce_unaligned()), or `None` if it is not built.
    #[doc(hidden)]
    fn unaligned<'call>(
        x: Global<'call, Self>,
        partials: GlobalMut<'call, u64>,
        y: GlobalMut<'call, Self>,
    ) -> Option<Call<'call>>;
}

#[cfg(feature = "reduce")]
pub use built_in::LISTED;

/// The pairs of the library.
#[cfg(feature = "reduce")]
mod built_in {
    use cuda_std::{Call, Global, GlobalMut};

    use crate::collective::vectors::vector_len;
    use crate::operator::{Affine, Compose, Max, Maximum, Min, Minimum, Product, Sum};
    use crate::reduce::{reduce_grid_stride, reduce_one_tile, reduce_shuffle, reduce_unaligned};

    macro_rules! built_in {
        ($T:ident $O:ident) => {
            crate::__reduce_element! { $T, $O, false }
        };
    }

    crate::operator::built_for_operators! { built_in }
}
