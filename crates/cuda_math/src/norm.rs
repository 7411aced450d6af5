//! The length of a vector of any dimension.

use super::GpuFloat;
use super::f64::arithmetic::{mul, mul_add};
use super::sealed::Sealed;

impl Sealed for f32 {
    #[inline(always)]
    fn norm_of(values: &[f32]) -> f32 {
        GpuFloat::sqrt(sum_of_squares(values)) as f32
    }

    #[inline(always)]
    fn rnorm_of(values: &[f32]) -> f32 {
        GpuFloat::rsqrt(sum_of_squares(values)) as f32
    }
}

/// Returns the sum of squares in `f64`. In `f64` each square is exact, and no square overflows or underflows. Returns ∞
/// if any value is infinite.
#[inline(always)]
fn sum_of_squares(values: &[f32]) -> f64 {
    let (mut sum, mut largest) = (0.0, 0);
    for &value in values {
        let value = value.abs();
        if !value.is_nan() {
            largest = value.to_bits().max(largest);
        }
        sum = mul_add(f64::from(value), f64::from(value), sum);
    }
    if largest == f32::INFINITY.to_bits() { f64::INFINITY } else { sum }
}

impl Sealed for f64 {
    #[inline(always)]
    fn norm_of(values: &[f64]) -> f64 {
        let (sum, exponent) = scaled_sum_of_squares(values);
        GpuFloat::ldexp(GpuFloat::sqrt(sum), exponent)
    }

    #[inline(always)]
    fn rnorm_of(values: &[f64]) -> f64 {
        let (sum, exponent) = scaled_sum_of_squares(values);
        GpuFloat::ldexp(GpuFloat::rsqrt(sum), -exponent)
    }
}

/// Divides the values by a power of two and returns the sum of their squares, and the exponent of that power.
#[inline(always)]
fn scaled_sum_of_squares(values: &[f64]) -> (f64, i32) {
    let (mut largest, mut is_nan) = (0.0_f64, false);
    for &value in values {
        is_nan |= value.is_nan();
        let value = value.abs();
        if value > largest {
            largest = value;
        }
    }
    if largest == f64::INFINITY || is_nan {
        return (if largest == f64::INFINITY { largest } else { f64::NAN }, 0);
    }
    // The exponent is limited, so that the powers are normal numbers.
    let exponent = ((largest.to_bits() >> 52) as i32 - 1023).clamp(-1000, 1000);
    let factor = f64::from_bits(((1023 - exponent) as u64) << 52);
    let (mut sum, mut rest) = (0.0, 0.0);
    for &value in values {
        // The error of each rounding is added to a second sum.
        let scaled = mul(value, factor);
        let square = mul(scaled, scaled);
        let left = mul_add(scaled, scaled, -square);
        let next = sum + square;
        let part = next - sum;
        rest += left + ((sum - (next - part)) + (square - part));
        sum = next;
    }
    (sum + rest, exponent)
}

/// Returns `√(x₀² + x₁² + …)`, CUDA's `norm`, without overflow or underflow of the squares. Returns ∞ if an element is
/// infinite, and 0 for an empty slice.
///
/// ```
/// assert_eq!(cuda_math::norm(&[3e30_f32, 4e30]), 5e30);
/// ```
#[inline(always)]
#[must_use]
pub fn norm<T: GpuFloat>(values: &[T]) -> T {
    T::norm_of(values)
}

/// Returns `1 / √(x₀² + x₁² + …)`, CUDA's `rnorm`. Returns 0 if an element is infinite, and ∞ for an empty slice.
#[inline(always)]
#[must_use]
pub fn rnorm<T: GpuFloat>(values: &[T]) -> T {
    T::rnorm_of(values)
}
