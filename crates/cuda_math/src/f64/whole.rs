//! Whole parts, remainders, exponents and neighbours. All results are exact.

use super::arithmetic::{from_words, high, low, magnitude_high, mul, power_of_two, with_sign};
use crate::backend;

pub use backend::{
    ceil_f64 as ceil, floor_f64 as floor, maximum_f64 as maximum, maximum_number_f64 as maximum_number,
    minimum_f64 as minimum, minimum_number_f64 as minimum_number, round_ties_even_f64 as round_ties_even,
    trunc_f64 as trunc,
};

pub use maximum_number as max;
pub use minimum_number as min;

#[inline(always)]
pub fn saturate(x: f64) -> f64 {
    min(max(x, 0.0), 1.0)
}

#[inline(always)]
pub fn fdim(x: f64, y: f64) -> f64 {
    if x <= y { 0.0 } else { x - y } // A NaN is not at most anything.
}

#[inline(always)]
pub fn round(x: f64) -> f64 {
    // The added number is the largest one below 1/2. With 1/2 itself, 0.49999999999999994 would become 1.
    with_sign(trunc(x + with_sign(0.499_999_999_999_999_94, x)), x)
}

#[inline(always)]
pub fn rint(x: f64) -> f64 {
    round_ties_even(x)
}

#[inline(always)]
pub fn nearbyint(x: f64) -> f64 {
    round_ties_even(x)
}

#[inline(always)]
pub fn lrint(x: f64) -> i64 {
    round_ties_even(x) as i64
}

#[inline(always)]
pub fn llrint(x: f64) -> i64 {
    lrint(x)
}

#[inline(always)]
pub fn lround(x: f64) -> i64 {
    round(x) as i64
}

#[inline(always)]
pub fn llround(x: f64) -> i64 {
    lround(x)
}

#[inline(always)]
pub fn fract(x: f64) -> f64 {
    x - trunc(x)
}

#[inline(always)]
pub fn modf(x: f64) -> (f64, f64) {
    let whole = trunc(x);
    (with_sign(if x.is_infinite() { 0.0 } else { x - whole }, x), whole)
}

#[inline(always)]
pub fn fmod(x: f64, y: f64) -> f64 {
    libm::fmod(x, y)
}

#[inline(always)]
pub fn remainder(x: f64, y: f64) -> f64 {
    libm::remainder(x, y)
}

#[inline(always)]
pub fn remquo(x: f64, y: f64) -> (f64, i32) {
    libm::remquo(x, y)
}

#[inline(always)]
pub fn div_euclid(x: f64, y: f64) -> f64 {
    let quotient = trunc(x / y);
    if fmod(x, y) >= 0.0 {
        quotient
    } else if y > 0.0 {
        quotient - 1.0
    } else {
        quotient + 1.0
    }
}

#[inline(always)]
pub fn rem_euclid(x: f64, y: f64) -> f64 {
    let rest = fmod(x, y);
    if rest < 0.0 { rest + y.abs() } else { rest }
}

#[inline(always)]
pub fn ldexp(x: f64, n: i32) -> f64 {
    // The function makes up to three products, and only the last can round. If the result is subnormal, the numbers
    // before it are above 2^−969.
    let (mut x, mut n) = (x, n);
    if n > 1023 {
        x = mul(x, power_of_two(1023));
        n -= 1023;
        if n > 1023 {
            x = mul(x, power_of_two(1023));
            n = if n > 2046 { 1023 } else { n - 1023 };
        }
    } else if n < -1022 {
        x = mul(x, power_of_two(-969));
        n += 969;
        if n < -1022 {
            x = mul(x, power_of_two(-969));
            n = if n < -1991 { -1022 } else { n + 969 };
        }
    }
    mul(x, power_of_two(n))
}

#[inline(always)]
pub fn scalbn(x: f64, n: i32) -> f64 {
    ldexp(x, n)
}

/// Returns `x` and 0 if `x` is normal, and `x · 2^54` and 54 if `x` is subnormal. `x` must not be 0.
#[inline(always)]
fn normal(x: f64) -> (f64, i32) {
    if magnitude_high(x) < 0x0010_0000 { (mul(x, 18_014_398_509_481_984.0), 54) } else { (x, 0) }
}

#[inline(always)]
pub fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || magnitude_high(x) >= 0x7ff0_0000 {
        return (x, 0);
    }
    let (x, offset) = normal(x);
    (from_words(high(x) & !0x7ff0_0000 | 0x3fe0_0000, low(x)), (magnitude_high(x) >> 20) - 1022 - offset)
}

#[inline(always)]
pub fn ilogb(x: f64) -> i32 {
    if x == 0.0 || x.is_nan() {
        i32::MIN
    } else if x.is_infinite() {
        i32::MAX
    } else {
        frexp(x).1 - 1
    }
}

#[inline(always)]
pub fn logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if magnitude_high(x) >= 0x7ff0_0000 {
        x.abs()
    } else {
        f64::from(frexp(x).1 - 1)
    }
}

#[inline(always)]
pub fn nextafter(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        x + y
    } else if x == y {
        y
    } else if x == 0.0 {
        with_sign(f64::from_bits(1), y)
    } else if (x < y) == (x > 0.0) {
        f64::from_bits(x.to_bits() + 1)
    } else {
        f64::from_bits(x.to_bits() - 1)
    }
}
