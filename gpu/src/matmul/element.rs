//! The element types of a product, and the types of its sums.

use cuda_std::tensor::matrix::ldmatrix_unchecked;
use cuda_std::tensor::mma::{A, Accumulator, B, Fragment};
use cuda_std::tensor::tf32;
use cuda_std::{Element, GpuFloat, Shared, bf16, e4m3, e5m2, f16, fast};

/// An element type of *A* and *B*.
pub trait Operand: Element {
    /// The type of the sums.
    type Sum: Sum;

    /// Converts to the type of the sums, without rounding.
    fn widen(self) -> Self::Sum;

    /// A lane's registers of a fragment of *A* with 16 rows, or of two adjacent fragments of *B* with 8 columns each. A
    /// fragment has 32 bytes along *k*.
    type Registers: Copy;

    /// The registers of fragments of zeros.
    const ZERO_REGISTERS: Self::Registers;

    /// Loads the calling lane's registers from element `offset` of `tile` on. The rows (or columns, for *B*) of the
    /// tile begin `pitch` elements apart.
    ///
    /// # Safety
    /// `tile` must have the fragment.
    unsafe fn load(tile: Shared<Self>, offset: usize, pitch: usize) -> Self::Registers;

    /// Returns `left`·`right` + `sums` by `mma.sync`, or `sums` for a type without such a product. The product takes
    /// one fragment along *k*, or two of `f64`. `half` is the number of the fragment of *B* in `right`.
    fn multiply(
        left: [Self::Registers; 2],
        right: [Self::Registers; 2],
        half: usize,
        sums: [Self::Sum; 4],
    ) -> [Self::Sum; 4];
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

/// Defines the products of a type whose fragments `ldmatrix` loads. The product has `$k` elements along *k*.
macro_rules! product {
    ($type:ident $sum:ident $k:literal |$register:ident| $rounded:expr) => {
        type Registers = [u32; 4];

        const ZERO_REGISTERS: [u32; 4] = [0; 4];

        #[inline(always)]
        unsafe fn load(tile: Shared<Self>, offset: usize, _: usize) -> [u32; 4] {
            // SAFETY: by this function's contract, the tile has the lane's row of the fragment.
            let [a, b, c, d] = unsafe { ldmatrix_unchecked(tile, offset) };
            let rounded = |$register: u32| $rounded;
            [rounded(a), rounded(b), rounded(c), rounded(d)]
        }

        #[inline(always)]
        fn multiply([left, _]: [[u32; 4]; 2], [right, _]: [[u32; 4]; 2], half: usize, sums: [$sum; 4]) -> [$sum; 4] {
            Fragment::<A, $type, 16, $k>::from_registers(left)
                .multiply_add(
                    Fragment::<B, $type, $k, 8>::from_registers([right[2 * half], right[2 * half + 1]]),
                    Accumulator::<$sum, 16, 8>::from_registers(sums),
                )
                .registers()
        }
    };
}

macro_rules! operands {
    ($($type:ident $sum:ident |$value:ident| $widened:expr, $k:literal;)*) => {$(
        impl Operand for $type {
            type Sum = $sum;

            #[inline(always)]
            fn widen(self) -> $sum {
                let $value = self;
                $widened
            }

            product! { $type $sum $k |register| register }
        }
    )*};
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

    type Registers = ();

    const ZERO_REGISTERS: () = ();

    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[inline(always)]
    unsafe fn load(_: Shared<f32>, _: usize, _: usize) {}

    #[inline(always)]
    fn multiply(_: [(); 2], _: [(); 2], _: usize, sums: [f32; 4]) -> [f32; 4] {
        sums
    }
}

impl Operand for tf32 {
    type Sum = f32;

    #[inline(always)]
    fn widen(self) -> f32 {
        Self::from_f32(self.to_f32()).to_f32()
    }

    product! { tf32 f32 8 |register| Self::from_f32(f32::from_bits(register)).to_f32().to_bits() }
}

impl Operand for f64 {
    type Sum = f64;

    /// The elements of the upper 8 rows and of the lower ones, or those of both fragments of *B*.
    type Registers = [f64; 2];

    const ZERO_REGISTERS: [f64; 2] = [0.0; 2];

    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    unsafe fn load(tile: Shared<f64>, offset: usize, pitch: usize) -> [f64; 2] {
        // SAFETY: by this function's contract, the tile has both elements.
        unsafe { [tile.load_unchecked(offset), tile.load_unchecked(offset + 8 * pitch)] }
    }

    #[inline(always)]
    fn multiply([[a, b], [c, d]]: [[f64; 2]; 2], right: [[f64; 2]; 2], half: usize, sums: [f64; 4]) -> [f64; 4] {
        let [x, y] = [right[0][half], right[1][half]];
        #[cfg(target_feature = "sm_90")]
        return Fragment::<A, f64, 16, 8>::from_registers([a, b, c, d])
            .multiply_add(
                Fragment::<B, f64, 8, 8>::from_registers([x, y]),
                Accumulator::<f64, 16, 8>::from_registers(sums),
            )
            .registers();
        #[cfg(not(target_feature = "sm_90"))]
        {
            let product = |left, right, sums| {
                Fragment::<A, f64, 8, 4>::from_registers([left])
                    .multiply_add(
                        Fragment::<B, f64, 4, 8>::from_registers([right]),
                        Accumulator::<f64, 8, 8>::from_registers(sums),
                    )
                    .registers()
            };
            let [upper, lower] = [[sums[0], sums[1]], [sums[2], sums[3]]];
            let ([e, f], [g, h]) = (product(c, y, product(a, x, upper)), product(d, y, product(b, x, lower)));
            [e, f, g, h]
        }
    }
}

macro_rules! floats {
    ($($type:ident |$value:ident| $gelu:expr;)*) => {$(
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
                let $value = self;
                $gelu
            }
        }
    )*};
}

/// √(2/π) of D. Hendrycks, K. Gimpel, "Gaussian Error Linear Units", 2016.
const GELU_SCALE: f64 = core::f64::consts::FRAC_2_SQRT_PI * core::f64::consts::FRAC_1_SQRT_2;
/// The coefficient of *x*³ of the same source.
const GELU_CUBE: f64 = 0.044715;

// x·(1 + tanh(u)) / 2 = x / (1 + e⁻²ᵘ), which needs no branch.
floats! {
    f32 |x| {
        const LINEAR: f64 = -2.0 * GELU_SCALE * core::f64::consts::LOG2_E;
        let exponent = x * GpuFloat::mul_add((LINEAR * GELU_CUBE) as f32, x * x, LINEAR as f32);
        x * fast::recip_flushed(fast::exp2_flushed(exponent) + 1.0)
    };
    f64 |x| x / (GpuFloat::exp(-2.0 * GELU_SCALE * x * (GELU_CUBE * x * x + 1.0)) + 1.0);
}

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
