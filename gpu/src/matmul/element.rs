//! The element types of a product, and the types of its sums.

use cuda_std::tensor::tf32;
use cuda_std::{Element, GpuFloat, bf16, e4m3, e5m2, f16};

/// An element type of *A* and *B*.
pub trait Operand: Element {
    /// The type of the sums.
    type Sum: Sum;

    /// Converts to the type of the sums, without rounding.
    fn widen(self) -> Self::Sum;
}

/// A type of sums: `f32`, `f64`, or `i32` with wrapping arithmetic.
pub trait Sum: Element {
    /// Zero.
    const ZERO: Self;

    /// One.
    const ONE: Self;

    /// Returns `self`·`b` + `c`. A float is rounded once.
    fn multiply_add(self, b: Self, c: Self) -> Self;

    /// Returns the sum of both.
    fn add(self, other: Self) -> Self;

    /// Returns the larger one of `self` and zero. NaN remains NaN.
    fn relu(self) -> Self;

    /// Returns the Gaussian error linear unit of `self` in its approximation by tanh. Only floats have it; an integer
    /// is returned unchanged.
    fn gelu(self) -> Self;
}

/// An element type of *C*, computed from sums of type `S`.
pub trait Output<S>: Element {
    /// Converts a sum, rounded to the nearest element.
    fn from_sum(sum: S) -> Self;

    /// Converts an element to the type of the sums, without rounding.
    fn to_sum(self) -> S;
}

macro_rules! operands {
    ($($type:ident $sum:ident |$value:ident| $widened:expr;)*) => {$(
        impl Operand for $type {
            type Sum = $sum;

            #[inline(always)]
            fn widen(self) -> $sum {
                let $value = self;
                $widened
            }
        }
    )*};
}

operands! {
    f32 f32 |value| value;
    tf32 f32 |value| value.to_f32();
    f64 f64 |value| value;
    f16 f32 |value| value.to_f32();
    bf16 f32 |value| value.to_f32();
    e4m3 f32 |value| value.to_f32();
    e5m2 f32 |value| value.to_f32();
    i8 i32 |value| i32::from(value);
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Sum for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn multiply_add(self, b: Self, c: Self) -> Self {
                GpuFloat::mul_add(self, b, c)
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn relu(self) -> Self {
                if self < 0.0 { 0.0 } else { self }
            }

            #[inline(always)]
            fn gelu(self) -> Self {
                // √(2/π) and the coefficient of D. Hendrycks, K. Gimpel, "Gaussian Error Linear Units", 2016.
                let inner = 0.797_884_560_802_865_4 * (0.044715 * self * self * self + self);
                // 1 + tanh(x) = 2 − 2 / (e²ˣ + 1), which neither overflows nor needs a branch.
                self - self / (GpuFloat::exp(2.0 * inner) + 1.0)
            }
        }
    )*};
}

floats! { f32 f64 }

impl Sum for i32 {
    const ZERO: Self = 0;
    const ONE: Self = 1;

    #[inline(always)]
    fn multiply_add(self, b: Self, c: Self) -> Self {
        self.wrapping_mul(b).wrapping_add(c)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn relu(self) -> Self {
        self.max(0)
    }

    #[inline(always)]
    fn gelu(self) -> Self {
        self
    }
}

macro_rules! outputs {
    ($($type:ident $sum:ident |$from:ident| $output:expr, |$to:ident| $value:expr;)*) => {$(
        impl Output<$sum> for $type {
            #[inline(always)]
            fn from_sum($from: $sum) -> Self {
                $output
            }

            #[inline(always)]
            fn to_sum(self) -> $sum {
                let $to = self;
                $value
            }
        }
    )*};
}

outputs! {
    f32 f32 |sum| sum, |value| value;
    f64 f64 |sum| sum, |value| value;
    f16 f32 |sum| f16::from_f32(sum), |value| value.to_f32();
    bf16 f32 |sum| bf16::from_f32(sum), |value| value.to_f32();
    i32 i32 |sum| sum, |value| value;
}
