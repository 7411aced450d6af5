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
    if high(x).wrapping_sub(0x0010_0000) as u32 >= 0x7fe0_0000 {
        return rsqrt_special(x);
    }
    rsqrt_of_normal(x)
}

#[cold]
#[inline(always)]
fn rsqrt_special(x: f64) -> f64 {
    if x == 0.0 {
        with_sign(f64::INFINITY, x)
    } else if x < 0.0 {
        f64::NAN
    } else if x == f64::INFINITY {
        0.0
    } else {
        mul(rsqrt_of_normal(mul(x, 18_014_398_509_481_984.0)), 134_217_728.0) // 2^54 and 2^27; a NaN stays one.
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

/// The greatest exponent of some numbers as a power of two, to divide them by: its upper word. Of what is 0 or infinite, or NaN, some
/// power that does no harm.
#[inline(always)]
fn scale_of(greatest: f64) -> i32 {
    let top = magnitude_high(greatest) & 0x7ff0_0000;
    top.clamp(0x0370_0000, 0x7fd0_0000)
}

/// The sum of the squares of numbers, which are first divided by a power of two near the greatest of them, and that power's upper word.
#[inline(always)]
fn sum_of_squares<const N: usize>(values: [f64; N]) -> (f64, i32) {
    let mut greatest = values[0].abs();
    let mut i = 1;
    while i < N {
        let magnitude = values[i].abs();
        // Whichever is NaN, the sum below is.
        greatest = if magnitude > greatest { magnitude } else { greatest };
        i += 1;
    }
    let top = scale_of(greatest);
    let inverse = from_words(0x7fe0_0000 - top, 0);
    let mut squares = [0.0; 4];
    let mut i = 0;
    while i < N {
        squares[i] = mul(values[i], inverse);
        i += 1;
    }
    // Two sums of two, because three one after the other round worse.
    let [x, y, z, w] = squares;
    let sum = if N <= 2 { mul_add(x, x, mul(y, y)) } else { mul_add(x, x, mul(y, y)) + mul_add(z, z, mul(w, w)) };
    (sum, top)
}

/// Is one of them infinite? Then a length is, whatever the others are.
#[inline(always)]
fn is_any_infinite<const N: usize>(values: [f64; N]) -> bool {
    values.iter().any(|value| value.abs() == f64::INFINITY)
}

#[inline(always)]
fn length<const N: usize>(values: [f64; N]) -> f64 {
    let (sum, top) = sum_of_squares(values);
    let result = mul(sqrt(sum), from_words(top, 0));
    if is_any_infinite(values) { f64::INFINITY } else { result }
}

#[inline(always)]
fn inverse_length<const N: usize>(values: [f64; N]) -> f64 {
    let (sum, top) = sum_of_squares(values);
    let result = mul(rsqrt(sum), from_words(0x7fe0_0000 - top, 0));
    if is_any_infinite(values) { 0.0 } else { result }
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
