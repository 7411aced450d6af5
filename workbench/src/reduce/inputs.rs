//! The random inputs of reductions. Products use special factors, so that a product neither overflows nor vanishes.

use cuda_std::{bf16, f16};

use crate::inputs::RandomVector;
use gridstride::numbers::{Number, OperatorName};

/// The average number of factors other than 1 in a product of floats. The sum of the factors' binary logarithms has a
/// standard deviation of 18. The exponent range of an `f32` is seven times as large.
const MAX_FACTORS: f64 = 1024.0;

/// A number type with random factors for products.
pub trait Factor: Number {
    /// Converts 64 random bits to a factor of a product of `n` factors.
    ///
    /// A float is 2^u with u in −1..1. If `n` exceeds 1024, about 1024 factors are such numbers and the others are 1.
    /// An integer is odd, so that the product modulo 2^w depends on every bit of each factor.
    fn factor(bits: u64, n: usize) -> Self;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Factor for $type {
            fn factor(bits: u64, _n: usize) -> Self {
                Self::from_random(bits) | 1
            }
        }
    )*};
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Factor for $type {
            fn factor(bits: u64, n: usize) -> Self {
                // The bits of `drawn` differ from the bits that become the factor.
                let drawn = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as f64 / f64::from(u32::MAX);
                if drawn * n as f64 > MAX_FACTORS { 1.0 } else { Self::from_random(bits).exp2() }
            }
        }
    )*};
}

integers! { i32 u32 i64 u64 i8 u8 }
floats! { f32 f64 }

macro_rules! halves {
    ($($type:ident)*) => {$(
        impl Factor for $type {
            fn factor(bits: u64, n: usize) -> Self {
                // The range of `f16` is an eighth of that of `f32`, so the logarithms are eighths, too.
                Self::from_f32(f32::factor(bits, n).powf(0.125))
            }
        }
    )*};
}

halves! { f16 bf16 }

/// Returns element `index` of the `n` random elements that `operator` combines.
pub fn element<T: Factor>(operator: OperatorName, inputs: RandomVector<T>, n: usize, index: usize) -> T {
    match operator {
        OperatorName::Product => T::factor(inputs.bits(index), n),
        _ => inputs.element(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_product_of_some_factors_leaves_the_range() {
        for n in [1, 1000, 1024, 1025, 100_000, 1 << 22] {
            let inputs = RandomVector::<f32>::new(3, 0);
            let logarithms = (0..n).map(|index| f64::from(f32::factor(inputs.bits(index), n)).log2());
            // `farthest` is the largest absolute logarithm of the partial products of every `stride`-th factor.
            for stride in [1, 2, 7] {
                let (mut sum, mut farthest) = (0.0, 0.0_f64);
                for logarithm in logarithms.clone().step_by(stride) {
                    sum += logarithm;
                    farthest = farthest.max(f64::abs(sum));
                }
                assert!(farthest < 100.0, "{n}, {stride}: {farthest}");
            }
            let others = (0..n).filter(|&index| f32::factor(inputs.bits(index), n) != 1.0).count();
            assert!(others <= 1200 && (others > 850 || others == n), "{n}: {others}");
        }
    }
}
