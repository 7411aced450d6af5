//! The element types that can be scanned, by operator.

use cuda_std::{Call, Element, Global, GlobalMut};

use crate::operator::Operator;

/// An element type that can be scanned with the operator `O`: a kernel is built for the pair.
///
/// The six number types can be scanned with `Sum`, `Product`, `Min` and `Max`, floats also with `Minimum` and
/// `Maximum`, and `Affine` with `Compose`. `f16` and `bf16` can be scanned with `Sum`: the sums are in `f32`, and each
/// result is rounded once. For another pair, [`instances!`](crate::instances!) builds the kernels and implements this
/// trait.
#[diagnostic::on_unimplemented(
    message = "no kernel scans elements of type `{Self}` by this operator",
    label = "no such kernel is built",
    note = "Sum, Product, Min and Max take u32, i32, u64, i64, f32 and f64; Minimum and Maximum take f32 and f64",
    note = "Sum also takes f16 and bf16; Compose takes Affine",
    note = "for a type or operator of your own, add `gpu::instances!(Type by Operator: scan);` to the crate of your \
            kernels"
)]
pub trait ScanElement<O: Operator<Self>>: Element {
    /// True if another crate has made the instances: of the rung `look_back` and, if
    /// [`is_pipelined`](super::is_pipelined) is true for the type, of the rung `pipelined`.
    #[doc(hidden)]
    const IS_OWN: bool = false;

    /// Returns a call of the kernel of the rung `look_back` that is built for the pair, or `None` if there is none.
    #[doc(hidden)]
    fn look_back<'call>(
        x: Global<'call, Self>,
        y: GlobalMut<'call, Self>,
        exclusive: u32,
        chunks: u32,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>>;

    /// Returns a call of [`scan_pipelined()`](super::scan_pipelined()), or `None` if it is not built.
    #[doc(hidden)]
    fn pipelined<'call>(
        head: (Global<'call, Self>, GlobalMut<'call, Self>),
        x: Global<'call, Self>,
        y: GlobalMut<'call, Self>,
        exclusive: u32,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>>;
}

#[cfg(feature = "scan")]
pub use built_in::LISTED;

/// The pairs of the library.
#[cfg(feature = "scan")]
mod built_in {
    use cuda_std::{Call, Global, GlobalMut, bf16, f16};

    use crate::collective::vectors::vector_len;
    use crate::operator::{Affine, Compose, Max, Maximum, Min, Minimum, Product, Sum};
    use crate::scan::{scan_look_back, scan_pipelined, scan_widened};

    // The words in a vector select the kernel with an accumulator.
    macro_rules! built_in {
        (f16 Sum) => {
            crate::__scan_element! { f16, Sum, false, scan_widened, 4 }
        };
        (bf16 Sum) => {
            crate::__scan_element! { bf16, Sum, false, scan_widened, 4 }
        };
        (f32 Minimum) => {
            crate::__scan_element! { f32, Minimum, false, scan_widened, 4 }
        };
        (f32 Maximum) => {
            crate::__scan_element! { f32, Maximum, false, scan_widened, 4 }
        };
        (f64 Minimum) => {
            crate::__scan_element! { f64, Minimum, false, scan_widened, 2 }
        };
        (f64 Maximum) => {
            crate::__scan_element! { f64, Maximum, false, scan_widened, 2 }
        };
        ($T:ident $O:ident) => {
            crate::__scan_element! { $T, $O, false }
        };
    }

    crate::operator::built_for_operators! { built_in, f16 Sum, bf16 Sum }
}
