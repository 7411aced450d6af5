//! Associative operators for reduce and scan.

use core::marker::PhantomData;
use core::ops::{Add, Mul};

use cuda_std::{DeviceCopy, Element, GpuFloat, bf16, f16};

/// An associative operation on `T` with an identity: a monoid.
///
/// The operation must satisfy `combine(a, combine(b, c)) = combine(combine(a, b), c)` and `combine(IDENTITY, a) =
/// combine(a, IDENTITY) = a`. The sum and the product of floats satisfy this up to rounding. If
/// [`COMMUTATIVE`](Self::COMMUTATIVE) is false, the operation may depend on the order of its operands. Callers then
/// pass the earlier element as `a`.
pub trait Operator<T>: Copy + Send + Sync + 'static {
    /// The identity, whose combination with any value is that value.
    const IDENTITY: T;

    /// True if `combine(a, b) = combine(b, a)` for all `a` and `b`.
    const COMMUTATIVE: bool;

    /// True if GPUs have a single instruction that combines three operands.
    const IS_TERNARY: bool = false;

    /// True if [`combine`](Self::combine) takes so few instructions that LLVM unrolls loops which call it, as for the
    /// library's own pairs. If it is false, the kernels unroll such loops themselves.
    #[doc(hidden)]
    const IS_SHORT: bool = false;

    /// Returns `a` combined with `b`, in this order.
    fn combine(a: T, b: T) -> T;
}

/// The operator `O` with exchanged operands: `Reversed::combine(a, b)` returns `O::combine(b, a)`.
#[derive(Clone, Copy)]
pub struct Reversed<O>(PhantomData<O>);

impl<T, O: Operator<T>> Operator<T> for Reversed<O> {
    const IDENTITY: T = O::IDENTITY;
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    const IS_SHORT: bool = O::IS_SHORT;
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        O::combine(b, a)
    }
}

/// The sum `a + b`. Integers wrap. A sum of floats starts from +0, so the sum of no elements is +0. In reduce and in
/// the single-pass scans, the sum of elements that are all −0 is +0; a textbook rung of scan may return −0. A NaN makes
/// the sum NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sum;

/// The product `a · b`. Integers wrap. The product of no elements is 1. A NaN makes the product NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product;

/// The lesser of two values, which skips NaN: IEEE 754-2019's minimumNumber. For a NaN and a number, the result is the
/// number, as for `f32::min`. The minimum of no elements, or of NaNs only, is +∞, or the greatest integer. −0 is less
/// than +0. [`Minimum`] propagates NaN instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Min;

/// The greater of two values, which skips NaN: IEEE 754-2019's maximumNumber. For a NaN and a number, the result is the
/// number, as for `f32::max`. The maximum of no elements, or of NaNs only, is −∞, or the least integer. +0 is greater
/// than −0. [`Maximum`] propagates NaN instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Max;

/// The lesser of two floats, which propagates NaN: IEEE 754-2019's minimum. If an element is NaN, the result is a NaN
/// that is always the same one: `7FFFFFFF` for `f32`, and `7FF80000_00000000` for `f64`. The minimum of no elements is
/// +∞. −0 is less than +0. [`Min`] skips NaN instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Minimum;

/// The greater of two floats, which propagates NaN: IEEE 754-2019's maximum. If an element is NaN, the result is the
/// NaN that [`Minimum`] returns. The maximum of no elements is −∞. +0 is greater than −0. [`Max`] skips NaN instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Maximum;

/// Implements operators for a type. Each entry gives the operator, its identity and its function. The optional word
/// `IS_TERNARY` sets [`Operator::IS_TERNARY`] to true.
macro_rules! operators {
    ($type:ident: $($operator:ident, $identity:expr, $combine:expr $(, $flag:ident)?;)*) => {$(
        impl Operator<$type> for $operator {
            const IDENTITY: $type = $identity;
            const COMMUTATIVE: bool = true;
            const IS_SHORT: bool = true;
            $(const $flag: bool = true;)?
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                $combine(a, b)
            }
        }
    )*};
}

macro_rules! integers {
    ($($type:ident)*) => {$(operators! { $type:
        Sum, 0, $type::wrapping_add, IS_TERNARY;
        Product, 1, $type::wrapping_mul;
        Min, $type::MAX, Ord::min;
        Max, $type::MIN, Ord::max;
    })*};
}

macro_rules! floats {
    // −0 would be the exact identity, but callers expect +0 as the sum of no elements.
    ($($type:ident)*) => {$(operators! { $type:
        Sum, 0.0, Add::add;
        Product, 1.0, Mul::mul;
        Min, $type::INFINITY, GpuFloat::minimum_number;
        Max, $type::NEG_INFINITY, GpuFloat::maximum_number;
        Minimum, $type::INFINITY, GpuFloat::minimum;
        Maximum, $type::NEG_INFINITY, GpuFloat::maximum;
    })*};
}

integers! { u32 i32 u64 i64 }
floats! { f32 f64 }

/// The map `x ↦ factor·x + offset` on integers modulo 2³². [`Compose`] composes such maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, DeviceCopy)]
#[repr(C)]
pub struct Affine {
    /// The factor of `x`.
    pub factor: u32,
    /// The offset, which is added to the product.
    pub offset: u32,
}

impl Affine {
    /// Returns the value of the map at `x`.
    #[inline(always)]
    pub fn apply(self, x: u32) -> u32 {
        self.factor.wrapping_mul(x).wrapping_add(self.offset)
    }
}

const _: fn() = || {
    fn is_element<T: Element>() {}
    is_element::<Affine>();
};

// SAFETY: the fields are two `u32`, and all-zero bits are a valid `u32`.
unsafe impl cuda_std::Zeroable for Affine {}
// SAFETY: the fields are two `u32` without padding, and any bits are a valid `u32`.
unsafe impl cuda_std::Pod for Affine {}

/// The composition of two maps, which applies `a` first and then `b`. It is associative and not commutative. A scan
/// with it solves the linear recurrence `x[i + 1] = factor[i]·x[i] + offset[i]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compose;

impl Operator<Affine> for Compose {
    const IDENTITY: Affine = Affine { factor: 1, offset: 0 };
    const COMMUTATIVE: bool = false;
    const IS_SHORT: bool = true;
    #[inline(always)]
    fn combine(a: Affine, b: Affine) -> Affine {
        Affine { factor: b.factor.wrapping_mul(a.factor), offset: b.apply(a.offset) }
    }
}

/// Calls the macro `$with` with each element type and operator that reductions and scans are built for, and with the
/// pairs after it.
#[cfg(any(feature = "reduce", feature = "scan"))]
macro_rules! built_for_operators {
    ($with:ident $(, $type:ident $operator:ident)*) => {
        crate::operator::built_for_operators! { $with
            f32 Sum, f64 Sum, i32 Sum, u32 Sum, i64 Sum, u64 Sum,
            f32 Product, f64 Product, i32 Product, u32 Product, i64 Product, u64 Product,
            f32 Min, f64 Min, i32 Min, u32 Min, i64 Min, u64 Min,
            f32 Max, f64 Max, i32 Max, u32 Max, i64 Max, u64 Max,
            f32 Minimum, f64 Minimum, f32 Maximum, f64 Maximum,
            Affine Compose $(, $type $operator)*
        }
    };
    ($with:ident $($type:ident $operator:ident),*) => {
        $($with! { $type $operator })*

        /// The element types and operators that are built, for tests.
        #[doc(hidden)]
        pub const LISTED: &[(&str, &str)] = &[$((stringify!($type), stringify!($operator))),*];
    };
}

#[cfg(any(feature = "reduce", feature = "scan"))]
#[allow(unused_imports, reason = "for the host")]
pub(crate) use built_for_operators;

integers! { i8 u8 }

/// Operators on 16-bit floats. A sum or product is rounded at each combination; reductions and scans combine in `f32`
/// instead ([`Accumulate`](crate::accumulate::Accumulate)).
macro_rules! halves {
    ($($type:ident)*) => {$(operators! { $type:
        Sum, $type::ZERO, Add::add;
        Product, $type::ONE, Mul::mul;
        Min, $type::INFINITY, $type::min;
        Max, $type::from_bits($type::INFINITY.to_bits() | 0x8000), $type::max;
    })*};
}

halves! { f16 bf16 }
