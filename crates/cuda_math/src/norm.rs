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

/// In `f64`, where each square is exact, and none over- or underflows. Infinite where a number is, whatever the others
/// are.
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

/// The sum of squares of numbers divided by a power of two, and its exponent.
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
    // Within reach of powers of two that are normal numbers.
    let exponent = ((largest.to_bits() >> 52) as i32 - 1023).clamp(-1000, 1000);
    let factor = f64::from_bits(((1023 - exponent) as u64) << 52);
    let (mut sum, mut rest) = (0.0, 0.0);
    for &value in values {
        // What each rounding leaves is summed beside.
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

/// `√(x₀² + x₁² + …)`, CUDA's `norm`: right where squares would overflow or underflow. Infinite where an element is,
/// whatever the others are; 0 of no elements.
///
/// ```
/// assert_eq!(cuda_math::norm(&[3e30_f32, 4e30]), 5e30);
/// ```
#[inline(always)]
#[must_use]
pub fn norm<T: GpuFloat>(values: &[T]) -> T {
    T::norm_of(values)
}

/// `1 / √(x₀² + x₁² + …)`, CUDA's `rnorm`. 0 where an element is infinite; ∞ of no elements.
#[inline(always)]
#[must_use]
pub fn rnorm<T: GpuFloat>(values: &[T]) -> T {
    T::rnorm_of(values)
}
