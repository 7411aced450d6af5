//! Roots, and lengths of vectors.

use super::arithmetic::{add_exponent, from_words, high, magnitude_high, mul, mul_add, polynomial, with_sign};
use crate::backend;
use crate::backend::sqrt_f64 as sqrt;

/// `1 / √x` of a positive normal number, correctly rounded but for the odd one in 2^50.
#[inline(always)]
fn rsqrt_of_normal(x: f64) -> f64 {
    // The estimate differs between devices. Newton's method to the third order makes its error less than an ulp; the last step
    // then knows that error to 2^−105, and what it rounds is the same.
    let estimate = backend::rsqrt_estimate_f64(x);
    let error = mul_add(mul(-x, estimate), estimate, 1.0);
    let root = mul_add(mul(estimate, error), mul_add(0.375, error, 0.5), estimate);
    let product = mul(x, root);
    let product_low = mul_add(x, root, -product);
    let error = mul_add(-product_low, root, mul_add(-product, root, 1.0));
    mul_add(mul(0.5, root), error, root)
}

#[inline(always)]
pub fn rsqrt(x: f64) -> f64 {
    if x > 0.0 && x < f64::INFINITY {
        let (x, n) = normal(x);
        add_exponent(rsqrt_of_normal(x), 3 * n / 2)
    } else if x == 0.0 {
        with_sign(f64::INFINITY, x)
    } else if x < 0.0 {
        f64::NAN
    } else if x == f64::INFINITY {
        0.0
    } else {
        x
    }
}

/// `1 / ∛x` to 2^−51 or so, of a normal number.
#[inline(always)]
fn rcbrt_of_normal(x: f64) -> f64 {
    // A third of the exponent, to 3.3 %, and two steps of Newton's method, of the sixth and the third order.
    let third = (magnitude_high(x) as u32 / 3) as i32;
    let root = from_words((0x553ee800 - third) | (high(x) & i32::MIN), 0);
    let error = mul_add(mul(-x, root), mul(root, root), 1.0);
    let root = mul_add(
        mul(root, error),
        polynomial!(error; 0.3333333412119549, 0.22221815586090088, 0.1728299856185913, 0.1455368995666504, 0.1267338991165161),
        root,
    );
    let error = mul_add(mul(-x, root), mul(root, root), 1.0);
    mul_add(mul(root, error), mul_add(error, 2.0 / 9.0, 1.0 / 3.0), root)
}

/// `x` times 2^`3·n`, if it is subnormal, and `n`.
#[inline(always)]
fn normal(x: f64) -> (f64, i32) {
    if magnitude_high(x) < 0x0010_0000 { (mul(x, 18_014_398_509_481_984.0), 18) } else { (x, 0) }
}

#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    if x == 0.0 || magnitude_high(x) >= 0x7ff0_0000 {
        return x + x;
    }
    let (x, n) = normal(x);
    let inverse = rcbrt_of_normal(x);
    let square = mul(inverse, inverse);
    let root = mul(x, square);
    let error = mul_add(-mul(root, root), root, x);
    add_exponent(mul_add(error, mul(square, 1.0 / 3.0), root), -n)
}

#[inline(always)]
pub fn rcbrt(x: f64) -> f64 {
    if x == 0.0 || magnitude_high(x) >= 0x7ff0_0000 {
        return if x.is_nan() {
            x
        } else if x == 0.0 {
            with_sign(f64::INFINITY, x)
        } else {
            with_sign(0.0, x)
        };
    }
    let (x, n) = normal(x);
    let root = rcbrt_of_normal(x);
    // One more step, with the error to twice the precision.
    let square = mul(root, root);
    let square_low = mul_add(root, root, -square);
    let cube = mul(square, root);
    let cube_low = mul_add(square_low, root, mul_add(square, root, -cube));
    let error = mul_add(-cube_low, x, mul_add(-cube, x, 1.0));
    add_exponent(mul_add(mul(root, 1.0 / 3.0), error, root), n)
}

/// The sum of the squares of numbers, divided by a power of two near the greatest of them, and the upper word of that power. `Err` is
/// whether one of them is infinite, if not all are finite: then a length is infinite, whatever the others are.
#[inline(always)]
fn sum_of_squares<const N: usize>(values: [f64; N]) -> Result<(f64, i32), bool> {
    let mut top = 0;
    let mut i = 0;
    while i < N {
        top = top.max(magnitude_high(values[i]));
        i += 1;
    }
    if top >= 0x7ff0_0000 {
        return Err(values.iter().any(|value| value.is_infinite()));
    }
    // Where the power or its inverse would not be a normal number, another one does.
    let top = (top & 0x7ff0_0000).clamp(0x0370_0000, 0x7fd0_0000);
    let inverse = from_words(0x7fe0_0000 - top, 0);
    let mut scaled = [0.0; 4];
    let mut i = 0;
    while i < N {
        scaled[i] = mul(values[i], inverse);
        i += 1;
    }
    // Two sums of two, because three one after the other round worse.
    let [x, y, z, w] = scaled;
    let sum = mul_add(x, x, mul(y, y));
    Ok((if N <= 2 { sum } else { sum + mul_add(z, z, mul(w, w)) }, top))
}

#[inline(always)]
fn length<const N: usize>(values: [f64; N]) -> f64 {
    match sum_of_squares(values) {
        Ok((sum, top)) => mul(sqrt(sum), from_words(top, 0)),
        Err(is_infinite) => {
            if is_infinite {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
    }
}

#[inline(always)]
fn inverse_length<const N: usize>(values: [f64; N]) -> f64 {
    match sum_of_squares(values) {
        Ok((sum, top)) if sum > 0.0 => mul(rsqrt_of_normal(sum), from_words(0x7fe0_0000 - top, 0)),
        Ok(_) => f64::INFINITY,
        Err(is_infinite) => {
            if is_infinite {
                0.0
            } else {
                f64::NAN
            }
        }
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
