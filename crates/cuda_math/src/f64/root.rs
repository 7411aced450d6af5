//! Roots, and lengths of vectors.
//!
//! # Design
//!
//! The reciprocal, `rsqrt` and the root of the arc sine start from a GPU's estimate. Their last step rounds correctly
//! for any estimate, so they return the same bits on every device. The cube roots start from an approximation in `f32`.
//! It uses only operations whose results IEEE 754 determines.

use super::arithmetic::{from_words, high, low, magnitude_high, mul, mul_add, with_sign};
use crate::backend::{rsqrt_estimate_f64 as rsqrt_estimate, sqrt_f64 as sqrt};
use crate::f32::arithmetic as single;

/// Returns two candidates for the correctly rounded `1 / √x`. One or both are correct. `x` must be positive and normal,
/// and the relative error of `estimate` at most 2^−18. The two numbers are neighbours for one argument in about 2^15,
/// and equal for all others.
///
/// The function performs one step of fourth order, with a factor known to 2^−51. The correctly rounded result does not
/// depend on the estimate's bits, which differ between devices.
#[inline(always)]
fn rsqrt_between(x: f64, estimate: f64) -> (f64, f64) {
    // The number 2^−48, which is 8 times the error of the factor.
    const ERROR: f64 = 1.0 / 281_474_976_710_656.0;
    // The estimate is cut to 21 bits, so that its square is exact.
    let estimate = from_words(high(estimate), 0);
    let error = mul_add(-x, mul(estimate, estimate), 1.0);
    let factor = mul_add(mul_add(0.3125, error, 0.375), error, 0.5 - ERROR);
    let step = mul(estimate, error);
    (mul_add(step, factor, estimate), mul_add(step, factor + 2.0 * ERROR, estimate))
}

/// Returns `1 / √x` of a positive normal number, correctly rounded. Integer arithmetic selects one of the two results
/// of [`rsqrt_between`].
#[inline(always)]
fn rsqrt_from(x: f64, estimate: f64) -> f64 {
    let (one, other) = rsqrt_between(x, estimate);
    // Both numbers have the same sign, so they have the same order as their bits.
    let below = one.to_bits().min(other.to_bits());
    if one == other {
        return one;
    }
    // m is the number halfway between the results, and X and M are the mantissas of x and m as integers. If m were
    // 1/√x, X·M² would be a power of two above 2^128. The actual X·M² differs from it by less than 2^127, so its low
    // 128 bits as a signed number show if m exceeds 1/√x.
    let mantissa = |bits: u64| bits & 0x000f_ffff_ffff_ffff | 0x0010_0000_0000_0000;
    let halfway = u128::from(2 * mantissa(below) + 1);
    let excess = u128::from(mantissa(x.to_bits())).wrapping_mul(halfway.wrapping_mul(halfway)) as i128;
    f64::from_bits(if excess > 0 { below } else { below + 1 })
}

/// Returns true if a magnitude with this upper word is a normal number.
#[inline(always)]
fn is_normal(magnitude_high: i32) -> bool {
    (magnitude_high.wrapping_sub(0x0010_0000) as u32) < 0x7fe0_0000
}

#[inline(always)]
pub fn rsqrt(x: f64) -> f64 {
    let (one, other) = rsqrt_between(x, rsqrt_estimate(x));
    if is_normal(high(x)) & (low(one) == low(other)) { one } else { rsqrt_of_others(x) }
}

/// Returns `1 / √x` of a number that is not positive and normal, or for which [`rsqrt_between`] returns two different
/// numbers.
#[cold]
#[inline(never)]
fn rsqrt_of_others(x: f64) -> f64 {
    if x == 0.0 {
        with_sign(f64::INFINITY, x)
    } else if x < 0.0 {
        f64::NAN
    } else if x == f64::INFINITY {
        0.0
    } else if x.is_nan() {
        x
    } else {
        let (factor, inverse_root) =
            if is_normal(high(x)) { (1.0, 1.0) } else { (18_014_398_509_481_984.0, 134_217_728.0) };
        let x = mul(x, factor);
        mul(rsqrt_from(x, rsqrt_estimate(x)), inverse_root)
    }
}

/// Returns `1 / ∛x` for a normal number, with a relative error of at most 2^−21. The square of the result is exact in
/// `f64`. The computation starts in `f32` and not from a hardware estimate, because the simulator does not know the
/// bits of such an estimate.
#[inline(always)]
fn rcbrt_nearly(x: f64) -> f64 {
    // |x| = m · 8^(n − 341), with m from 1 to 8.
    let top = magnitude_high(x);
    let third = ((top as u32 as u64 * 0x5555_5556) >> 32) as i32;
    let n = third & 0x7ff0_0000;
    let near = f32::from_bits(((top - 3 * n) as u32).wrapping_mul(8).wrapping_add(0x3f80_0004));
    let seed = f32::from_bits(0x3f77_5000 - (third - n) as u32 * 8);
    let error = single::fma(single::mul(-near, seed), single::mul(seed, seed), 1.0);
    let series = single::horner!(error; 0.333_329_14, 0.222_215_38, 0.174_470_78, 0.145_797_33);
    let root = f64::from(single::fma(single::mul(seed, error), series, seed));
    from_words((high(root) + 0x1550_0000 - n) | (high(x) & i32::MIN), low(root))
}

/// Returns the cube root of a normal number.
#[inline(always)]
fn cbrt_of_normal(x: f64) -> f64 {
    // Let y be the inverse, and e = 1 − x·y³. Then the root is x·y²·(1 − e)^−⅔.
    let inverse = rcbrt_nearly(x);
    let root = mul(x, mul(inverse, inverse));
    let error = mul_add(-root, inverse, 1.0);
    mul_add(mul(root, error), mul_add(error, 0.555_555_582_046_508_8, 2.0 / 3.0), root)
}

#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    if is_normal(magnitude_high(x)) { cbrt_of_normal(x) } else { cbrt_of_others(x) }
}

/// Returns the cube root of a number that is not normal.
#[cold]
#[inline(never)]
fn cbrt_of_others(x: f64) -> f64 {
    if x == 0.0 || magnitude_high(x) >= 0x7ff0_0000 {
        x + x
    } else {
        mul(cbrt_of_normal(mul(x, 18_014_398_509_481_984.0)), 1.0 / 262_144.0)
    }
}

/// Returns `1 / ∛x` of a normal number.
#[inline(always)]
fn rcbrt_of_normal(x: f64) -> f64 {
    let root = rcbrt_nearly(x);
    let error = mul_add(-mul(x, mul(root, root)), root, 1.0);
    mul_add(mul(root, error), mul_add(error, 0.222_222_208_976_745_6, 1.0 / 3.0), root)
}

#[inline(always)]
pub fn rcbrt(x: f64) -> f64 {
    if is_normal(magnitude_high(x)) { rcbrt_of_normal(x) } else { rcbrt_of_others(x) }
}

/// Returns `1 / ∛x` of a number that is not normal.
#[cold]
#[inline(never)]
fn rcbrt_of_others(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x == 0.0 {
        with_sign(f64::INFINITY, x)
    } else if x.is_infinite() {
        with_sign(0.0, x)
    } else {
        mul(rcbrt_of_normal(mul(x, 18_014_398_509_481_984.0)), 262_144.0)
    }
}

/// Returns the upper word of the greatest magnitude in `values`.
#[inline(always)]
fn top_of<const N: usize>(values: [f64; N]) -> i32 {
    let mut top = 0;
    let mut i = 0;
    while i < N {
        top = top.max(magnitude_high(values[i]));
        i += 1;
    }
    top
}

/// Multiplies each number by `factor` and returns the sum of the products' squares.
#[inline(always)]
fn sum_of_squares<const N: usize>(values: [f64; N], factor: f64) -> f64 {
    let mut scaled = [0.0; 4];
    let mut i = 0;
    while i < N {
        scaled[i] = mul(values[i], factor);
        i += 1;
    }
    // The squares are added in pairs, because three successive additions have a larger error.
    let [x, y, z, w] = scaled;
    let sum = mul_add(x, x, mul(y, y));
    if N <= 2 { sum } else { sum + mul_add(z, z, mul(w, w)) }
}

/// Returns the upper word of a power of two near the greatest magnitude, whose upper word is `top`. The power and its
/// inverse are normal.
#[inline(always)]
fn power_near(top: i32) -> i32 {
    (top & 0x7ff0_0000).clamp(LEAST_POWER, GREATEST_POWER)
}

const LEAST_POWER: i32 = 0x0370_0000;
const GREATEST_POWER: i32 = 0x7fd0_0000;

#[inline(always)]
fn length<const N: usize>(values: [f64; N]) -> f64 {
    let top = top_of(values);
    if top < 0x7ff0_0000 {
        let power = power_near(top);
        mul(sqrt(sum_of_squares(values, from_words(0x7fe0_0000 - power, 0))), from_words(power, 0))
    } else if values.iter().any(|value| value.is_infinite()) {
        // The length is infinite if one number is infinite, even if others are NaN.
        f64::INFINITY
    } else {
        f64::NAN
    }
}

#[inline(always)]
fn inverse_length<const N: usize>(values: [f64; N]) -> f64 {
    let top = top_of(values);
    let inverse = from_words(0x7fe0_0000 - (top & 0x7ff0_0000), 0);
    let sum = sum_of_squares(values, inverse);
    let (one, other) = rsqrt_between(sum, rsqrt_estimate(sum));
    let is_in_range = (top.wrapping_sub(LEAST_POWER) as u32) < (GREATEST_POWER - LEAST_POWER) as u32;
    if is_in_range & (low(one) == low(other)) { mul(one, inverse) } else { inverse_length_of_others(values, top) }
}

/// Returns the reciprocal of a vector's length in the rare cases: the greatest magnitude is out of range, or
/// [`rsqrt_between`] returns two different numbers. `top` is the upper word of the greatest magnitude.
#[cold]
#[inline(always)]
fn inverse_length_of_others<const N: usize>(values: [f64; N], top: i32) -> f64 {
    if top < 0x7ff0_0000 {
        let inverse = from_words(0x7fe0_0000 - power_near(top), 0);
        mul(rsqrt(sum_of_squares(values, inverse)), inverse)
    } else if values.iter().any(|value| value.is_infinite()) {
        0.0
    } else {
        f64::NAN
    }
}

#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    length([x, y])
}

#[inline(always)]
pub fn rhypot(x: f64, y: f64) -> f64 {
    inverse_length([x, y])
}

#[inline(always)]
pub fn norm3d(x: f64, y: f64, z: f64) -> f64 {
    length([x, y, z])
}

#[inline(always)]
pub fn rnorm3d(x: f64, y: f64, z: f64) -> f64 {
    inverse_length([x, y, z])
}

#[inline(always)]
pub fn norm4d(x: f64, y: f64, z: f64, w: f64) -> f64 {
    length([x, y, z, w])
}

#[inline(always)]
pub fn rnorm4d(x: f64, y: f64, z: f64, w: f64) -> f64 {
    inverse_length([x, y, z, w])
}

#[cfg(test)]
mod tests {
    use super::{mul, rsqrt_between, rsqrt_from};

    #[test]
    fn inverse_root_is_correctly_rounded_from_any_estimate() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut undecided = 0;
        for _ in 0..200_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let x = f64::from_bits(0x3ff0_0000_0000_0000 + state % 0x0020_0000_0000_0000);
            let root = 1.0 / x.sqrt();
            let results = [-3.8e-6, -1e-6, -1e-9, 0.0, 1e-9, 1e-6, 3.8e-6].map(|off| {
                let estimate = mul(root, 1.0 + off);
                let (one, other) = rsqrt_between(x, estimate);
                undecided += u32::from(one != other);
                rsqrt_from(x, estimate)
            });
            let result = results[0];
            assert_eq!(results, [result; 7], "1 / √{x:e} depends on the estimate");
            // `exceeds` returns true if x·m² exceeds 1, where m is halfway between two numbers. The product has 160
            // bits.
            let bits = |x: f64| u128::from(x.to_bits() & 0x000f_ffff_ffff_ffff | 0x0010_0000_0000_0000);
            let exceeds = |m: u128| {
                let (square, number) = (m * m, bits(x));
                let low = (square & u128::from(u64::MAX)) * number;
                let high = (square >> 64) * number + (low >> 64);
                // The product for 1 is 2^160 if x is below 2 and its inverse root below 1, and otherwise 2^159.
                high >= if x < 2.0 { 1 << 96 } else { 1 << 95 }
            };
            if result < 1.0 {
                assert!(exceeds(2 * bits(result) + 1), "1 / √{x:e} is too small");
                assert!(!exceeds(2 * bits(result) - 1), "1 / √{x:e} is too great");
            }
        }
        assert!(undecided > 10);
    }
}
