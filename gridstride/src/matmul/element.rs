//! The element types of the library's products.

use cuda_std::tensor::tf32;
use cuda_std::{Call, Global, GlobalMut, bf16, e4m3, e5m2, f16};
use gpu::matmul::{Operand, Output, Strides, matmul_pack};
use launch::TensorElement;

use super::warpgroups::WarpgroupOperand;

/// The arguments of the kernel that packs an operand: its size, and its layouts before and after.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packing {
    pub rows: u32,
    pub k: u32,
    pub count: u32,
    pub from: Strides,
    pub to: Strides,
}

/// An element type of *A* and *B*: `f32`, `f64`, `f16`, `bf16`, `e4m3`, `e5m2` or `i8`.
#[diagnostic::on_unimplemented(
    message = "the library does not multiply matrices of `{Self}`",
    note = "use f32, f64, f16, bf16, e4m3, e5m2 or i8"
)]
pub trait MatmulElement: WarpgroupOperand {
    /// The type of the result by default: that of the elements, or of the sums for types of 8 bits.
    type Result: Output<Self::Sum> + TensorElement;

    /// Another type by which tensor cores multiply such elements: `tf32` for `f32`, `f16` for 8-bit floats, and `Self`
    /// for the other types.
    #[doc(hidden)]
    type Other: WarpgroupOperand<Sum = Self::Sum>;

    /// One.
    #[doc(hidden)]
    const ONE: Self::Sum;

    /// True if `Other` has all values of the type.
    #[doc(hidden)]
    const IS_EXACT: bool;

    /// Returns a view of the elements as `Other`, or `None` if they must be converted.
    #[doc(hidden)]
    fn as_other<'a>(x: Global<'a, Self>) -> Option<Global<'a, Self::Other>>;

    /// Returns the call that copies a matrix to rows with adjacent elements along *k*, or `None` if it is not built.
    #[doc(hidden)]
    fn pack<'a>(packing: Packing, x: Global<'a, Self>, y: GlobalMut<'a, Self>) -> Option<Call<'a>>;

    /// Does the same as `pack`, and converts the elements to `Other`.
    #[doc(hidden)]
    fn pack_other<'a>(packing: Packing, x: Global<'a, Self>, y: GlobalMut<'a, Self::Other>) -> Option<Call<'a>>;
}

macro_rules! elements {
    ($(
        $type:ident $bits:ident $result:ident $other:ident $is_exact:literal $as_other:expr, $from:ident $to:ident;
    )*) => {$(
        impl MatmulElement for $type {
            type Result = $result;
            type Other = $other;
            const ONE: Self::Sum = 1 as <Self as Operand>::Sum;
            const IS_EXACT: bool = $is_exact;

            fn as_other<'a>(x: Global<'a, Self>) -> Option<Global<'a, $other>> {
                let as_other: fn(Global<'a, Self>) -> Option<Global<'a, $other>> = $as_other;
                as_other(x)
            }

            fn pack<'a>(packing: Packing, x: Global<'a, Self>, y: GlobalMut<'a, Self>) -> Option<Call<'a>> {
                let Packing { rows, k, count, from, to } = packing;
                matmul_pack::if_built::<$bits, $bits>(rows, k, count, from, x.cast(), to, y.cast())
            }

            fn pack_other<'a>(packing: Packing, x: Global<'a, Self>, y: GlobalMut<'a, $other>) -> Option<Call<'a>> {
                let Packing { rows, k, count, from, to } = packing;
                matmul_pack::if_built::<$from, $to>(rows, k, count, from, x.cast(), to, y.cast())
            }
        }
    )*};
}

elements! {
    f32 u32 f32 tf32 false |x| Some(x.cast()), u32 u32;
    f64 u64 f64 f64 true Some, u64 u64;
    f16 u16 f16 f16 true Some, u16 u16;
    bf16 u16 bf16 bf16 true Some, u16 u16;
    i8 u8 i32 i8 true Some, u8 u8;
    e4m3 u8 f32 f16 true |_| None, e4m3 f16;
    e5m2 u8 f32 f16 true |_| None, e5m2 f16;
}
