//! The element types of a product, and the types of its sums.

use cuda_std::tensor::mma::{A, Accumulator, B, Fragment};
use cuda_std::tensor::tf32;
use cuda_std::{Element, GpuFloat, bf16, e4m3, e5m2, f16};

/// An element type of *A* and *B*.
pub trait Operand: Element {
    /// The type of the sums.
    type Sum: Sum;

    /// The number of rows of *A* in a product of [`multiply`](Self::multiply).
    const ROWS: usize = 16;

    /// Converts to the type of the sums, without rounding.
    fn widen(self) -> Self::Sum;

    /// Returns `left`·`right` + `sums` by `mma.sync`. The arguments are the calling lane's registers of matrices with
    /// [`ROWS`](Self::ROWS) rows and 8 columns. `left` and `right` have 32 bytes along *k*. Returns `sums` for a type
    /// without such a product.
    fn multiply(left: [u32; 4], right: [u32; 2], sums: [Self::Sum; 4]) -> [Self::Sum; 4];

    /// Rounds the elements of a register that was loaded from memory, if memory has a wider type.
    #[inline(always)]
    fn rounded(register: u32) -> u32 {
        register
    }
}

/// A type of sums: `f32`, `f64`, or `i32` with wrapping arithmetic.
pub trait Sum: Element {
    /// Zero.
    const ZERO: Self;

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

/// Returns `$left`·`$right` + `$sums` by the product of fragments with `$k` elements along *k*.
macro_rules! product {
    ($type:ident $sum:ident $k:literal $left:ident $right:ident $sums:ident) => {
        Fragment::<A, $type, 16, $k>::from_registers($left)
            .multiply_add(
                Fragment::<B, $type, $k, 8>::from_registers($right),
                Accumulator::<$sum, 16, 8>::from_registers($sums),
            )
            .registers()
    };
}

macro_rules! operands {
    ($($type:ident $sum:ident |$value:ident| $widened:expr, $k:literal;)*) => {$(
        impl Operand for $type {
            type Sum = $sum;

            operands! { @widen $sum |$value| $widened }

            #[inline(always)]
            fn multiply(left: [u32; 4], right: [u32; 2], sums: [$sum; 4]) -> [$sum; 4] {
                product!($type $sum $k left right sums)
            }
        }
    )*};
    (@widen $sum:ident |$value:ident| $widened:expr) => {
        #[inline(always)]
        fn widen(self) -> $sum {
            let $value = self;
            $widened
        }
    };
}

operands! {
    f16 f32 |value| value.to_f32(), 16;
    bf16 f32 |value| value.to_f32(), 16;
    e4m3 f32 |value| value.to_f32(), 32;
    e5m2 f32 |value| value.to_f32(), 32;
    i8 i32 |value| i32::from(value), 32;
}

impl Operand for f32 {
    type Sum = f32;

    operands! { @widen f32 |value| value }

    #[inline(always)]
    fn multiply(_: [u32; 4], _: [u32; 2], sums: [f32; 4]) -> [f32; 4] {
        sums
    }
}

impl Operand for tf32 {
    type Sum = f32;

    operands! { @widen f32 |value| Self::from_f32(value.to_f32()).to_f32() }

    #[inline(always)]
    fn multiply(left: [u32; 4], right: [u32; 2], sums: [f32; 4]) -> [f32; 4] {
        product!(tf32 f32 8 left right sums)
    }

    #[inline(always)]
    fn rounded(register: u32) -> u32 {
        Self::from_f32(f32::from_bits(register)).to_f32().to_bits()
    }
}

impl Operand for f64 {
    type Sum = f64;

    const ROWS: usize = 8;

    operands! { @widen f64 |value| value }

    #[inline(always)]
    fn multiply([low, high, ..]: [u32; 4], right: [u32; 2], [a, b, ..]: [f64; 4]) -> [f64; 4] {
        let number = |[low, high]: [u32; 2]| [f64::from_bits(u64::from(high) << 32 | u64::from(low))];
        let [a, b] = Fragment::<A, f64, 8, 4>::from_registers(number([low, high]))
            .multiply_add(
                Fragment::<B, f64, 4, 8>::from_registers(number(right)),
                Accumulator::<f64, 8, 8>::from_registers([a, b]),
            )
            .registers();
        [a, b, 0.0, 0.0]
    }
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Sum for $type {
            const ZERO: Self = 0.0;

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

            #[allow(clippy::excessive_precision, reason = "`f64` has this precision")]
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
