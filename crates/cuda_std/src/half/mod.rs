//! 16-bit floats, and pairs of them that a GPU processes at once.
//!
//! `f16` is IEEE's binary16, with 11 bits of precision and a maximum of 65504. `bf16` is the upper half of an `f32`.
//! Sums, products and fused multiply-adds are rounded once, to the nearest number. The simulator returns the same bits
//! as a GPU. The names of types and methods are those of the crate `half`.

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::atomic::{Atomic, AtomicType, Update};
use crate::print::{Kind, PrintArgument};
use crate::{DeviceCopy, backend};

pub(crate) mod rounding;

macro_rules! assigning {
    ($type:ident $($trait:ident $method:ident $operator:tt)*) => {$(
        impl $trait for $type {
            #[inline(always)]
            fn $method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    )*};
}

macro_rules! arithmetic {
    ($type:ident $word:ident $($trait:ident $method:ident $function:ident)*) => {$(
        impl $trait for $type {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(backend::$function(self.0, other.0))
            }
        }
    )*};
}

macro_rules! single {
    ($type:ident $what:literal $format:ident $add:ident $sub:ident $mul:ident $fma:ident $from_f32:ident $from_f64:ident $to_f32:ident
        $one:literal $max:literal $least:literal $epsilon:literal $infinity:literal $from_single:literal $from_double:literal $to_single:literal) => {
        #[doc = $what]
        #[allow(non_camel_case_types, reason = "as Rust names its own floats")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $type(u16);

        // SAFETY: the type has 16 bits, and every bit pattern is valid.
        unsafe impl bytemuck::Zeroable for $type {}
        // SAFETY: the type has 16 bits, and every bit pattern is valid.
        unsafe impl bytemuck::Pod for $type {}
        // SAFETY: the type has 16 bits, and every bit pattern is valid.
        unsafe impl DeviceCopy for $type {}

        impl $type {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// One.
            pub const ONE: Self = Self($one);
            /// The largest finite number.
            pub const MAX: Self = Self($max);
            /// The smallest positive normal number.
            pub const MIN_POSITIVE: Self = Self($least);
            /// The difference between 1 and the next larger number.
            pub const EPSILON: Self = Self($epsilon);
            /// Infinity.
            pub const INFINITY: Self = Self($infinity);
            /// The NaN that GPUs return.
            pub const NAN: Self = Self(0x7FFF);

            /// Returns the number with these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Returns the bits of the number.
            #[inline(always)]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// Returns the number nearest to `value`.
            #[doc(alias = $from_single)]
            #[inline(always)]
            pub fn from_f32(value: f32) -> Self {
                Self(backend::$from_f32(value))
            }

            /// Returns the number nearest to `value`.
            #[doc(alias = $from_double)]
            #[inline(always)]
            pub fn from_f64(value: f64) -> Self {
                Self(backend::$from_f64(value))
            }

            /// Returns the number nearest to `value`. This function can be used in constants.
            pub const fn from_f64_const(value: f64) -> Self {
                Self(rounding::$format.round(value))
            }

            /// Converts to `f32` without rounding.
            #[doc(alias = $to_single)]
            #[inline(always)]
            pub fn to_f32(self) -> f32 {
                backend::$to_f32(self.0)
            }

            /// Converts to `f64` without rounding.
            #[inline(always)]
            pub fn to_f64(self) -> f64 {
                self.to_f32() as f64
            }

            /// Returns `self·a + b`, rounded once.
            #[doc(alias = "__hfma")]
            #[inline(always)]
            pub fn mul_add(self, a: Self, b: Self) -> Self {
                Self(backend::$fma(self.0, a.0, b.0))
            }

            /// Returns the absolute value.
            #[doc(alias = "__habs")]
            #[inline(always)]
            pub const fn abs(self) -> Self {
                Self(self.0 & 0x7FFF)
            }

            /// Returns true if the number is NaN.
            #[doc(alias = "__hisnan")]
            #[inline(always)]
            pub const fn is_nan(self) -> bool {
                self.0 & 0x7FFF > $infinity
            }

            /// Returns true if the number is infinite.
            #[doc(alias = "__hisinf")]
            #[inline(always)]
            pub const fn is_infinite(self) -> bool {
                self.0 & 0x7FFF == $infinity
            }

            /// Returns the minimum. If one of the numbers is NaN, returns the other one.
            #[doc(alias = "__hmin")]
            #[inline(always)]
            pub fn min(self, other: Self) -> Self {
                Self::from_f32(crate::GpuFloat::minimum_number(self.to_f32(), other.to_f32()))
            }

            /// Returns the maximum. If one of the numbers is NaN, returns the other one.
            #[doc(alias = "__hmax")]
            #[inline(always)]
            pub fn max(self, other: Self) -> Self {
                Self::from_f32(crate::GpuFloat::maximum_number(self.to_f32(), other.to_f32()))
            }

            /// Returns the square root, rounded once.
            #[doc(alias = "hsqrt")]
            #[inline(always)]
            pub fn sqrt(self) -> Self {
                Self::from_f32(crate::GpuFloat::sqrt(self.to_f32()))
            }
        }

        arithmetic! { $type u16 Add add $add Sub sub $sub Mul mul $mul }

        impl Div for $type {
            type Output = Self;

            /// Returns the rounded quotient of the `f64` values. `f64` has more than twice the precision, so the result
            /// equals a single rounding.
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                Self::from_f64(self.to_f64() / other.to_f64())
            }
        }

        assigning! { $type AddAssign add_assign + SubAssign sub_assign - MulAssign mul_assign * DivAssign div_assign / }

        impl Neg for $type {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(self.0 ^ 0x8000)
            }
        }

        impl PartialEq for $type {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $type {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl From<$type> for f32 {
            #[inline(always)]
            fn from(value: $type) -> Self {
                value.to_f32()
            }
        }

        impl PrintArgument for $type {
            const KIND: Kind = Kind::Float;
            type Kept = u64;

            #[inline(always)]
            fn keep(self) -> u64 {
                self.to_f64().to_bits()
            }

            #[inline(always)]
            fn word(kept: &u64) -> u64 {
                *kept
            }
        }
    };
}

single! {
    f16 "A 16-bit float of IEEE 754 (binary16): 11 bits of precision, at most 65504."
    F16 f16_add f16_sub f16_mul f16_fma f16_from_f32 f16_from_f64 f16_to_f32
    0x3C00 0x7BFF 0x0400 0x1400 0x7C00 "__float2half" "__double2half" "__half2float"
}
single! {
    bf16 "A float with the upper 16 bits of an `f32`: 8 bits of precision, at most 3.39·10³⁸."
    BF16 bf16_add bf16_sub bf16_mul bf16_fma bf16_from_f32 bf16_from_f64 bf16_to_f32
    0x3F80 0x7F7F 0x0080 0x3C00 0x7F80 "__float2bfloat16" "__double2bfloat16" "__bfloat162float"
}

macro_rules! pair {
    ($pair:ident $type:ident $what:literal $add:ident $sub:ident $mul:ident $fma:ident $from_f32:ident $tag:ident) => {
        #[doc = $what]
        #[allow(non_camel_case_types, reason = "as Rust names its own floats")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $pair(u32);

        // SAFETY: the type consists of two numbers, and every bit pattern is valid.
        unsafe impl bytemuck::Zeroable for $pair {}
        // SAFETY: the type consists of two numbers, and every bit pattern is valid.
        unsafe impl bytemuck::Pod for $pair {}
        // SAFETY: the type consists of two numbers, and every bit pattern is valid.
        unsafe impl DeviceCopy for $pair {}

        impl $pair {
            /// Returns a pair with `low` in its lower 16 bits and `high` in its upper 16 bits.
            #[doc(alias = "__halves2half2")]
            #[inline(always)]
            pub const fn new(low: $type, high: $type) -> Self {
                Self(low.to_bits() as u32 | (high.to_bits() as u32) << 16)
            }

            /// Returns a pair of two equal numbers.
            #[doc(alias = "__half2half2")]
            #[inline(always)]
            pub const fn splat(both: $type) -> Self {
                Self::new(both, both)
            }

            /// Returns the pair with these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u32) -> Self {
                Self(bits)
            }

            /// Returns the bits of the pair.
            #[inline(always)]
            pub const fn to_bits(self) -> u32 {
                self.0
            }

            /// Returns the number in the lower bits.
            #[doc(alias = "__low2half")]
            #[inline(always)]
            pub const fn low(self) -> $type {
                $type::from_bits(self.0 as u16)
            }

            /// Returns the number in the upper bits.
            #[doc(alias = "__high2half")]
            #[inline(always)]
            pub const fn high(self) -> $type {
                $type::from_bits((self.0 >> 16) as u16)
            }

            /// Returns the pair of the numbers nearest to `low` and `high`.
            #[doc(alias = "__floats2half2_rn")]
            #[inline(always)]
            pub fn from_f32(low: f32, high: f32) -> Self {
                Self(backend::$from_f32(low, high))
            }

            /// Converts both numbers to `f32` without rounding.
            #[doc(alias = "__half22float2")]
            #[inline(always)]
            pub fn to_f32(self) -> [f32; 2] {
                [self.low().to_f32(), self.high().to_f32()]
            }

            /// Returns `self·a + b` for each number of the pairs, rounded once.
            #[doc(alias = "__hfma2")]
            #[inline(always)]
            pub fn mul_add(self, a: Self, b: Self) -> Self {
                Self(backend::$fma(self.0, a.0, b.0))
            }
        }

        arithmetic! { $pair u32 Add add $add Sub sub $sub Mul mul $mul }
        assigning! { $pair AddAssign add_assign + SubAssign sub_assign - MulAssign mul_assign * }

        impl Neg for $pair {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(self.0 ^ 0x8000_8000)
            }
        }

        impl PartialEq for $pair {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl fmt::Debug for $pair {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        /// The operations update each number of the pair atomically, but not the pair as a whole.
        impl Atomic for $pair {
            const TYPE: AtomicType = AtomicType::$tag;

            #[inline(always)]
            fn updated(self, update: Update, value: Self) -> Self {
                if update == Update::Add { self + value } else { value }
            }

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }
        }
    };
}

pair! {
    f16x2 f16 "A pair of [`f16`](struct@f16) that a GPU processes at once."
    f16x2_add f16x2_sub f16x2_mul f16x2_fma f16x2_from_f32 F16x2
}
pair! {
    bf16x2 bf16 "A pair of [`bf16`] that a GPU processes at once."
    bf16x2_add bf16x2_sub bf16x2_mul bf16x2_fma bf16x2_from_f32 Bf16x2
}
