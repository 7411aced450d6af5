//! The gamma function and its logarithm.
//!
//! From 10 on, the functions use Stirling's series `ln Γ(x) = (x − 1/2)·ln x − x + ln √(2π) + 1/(12·x) − 1/(360·x³) …`.
//! They compute the large terms of the series as sums of two numbers. For a smaller `x` they evaluate the series at a
//! number that is greater by 10, and use `Γ(x) = Γ(x + n) / (x·(x + 1)·…·(x + n − 1))`. For a negative `x` they use the
//! reflection formula.

use super::arithmetic::{mul, mul_add, polynomial, with_sign};
use super::exponential::exp_corrected;
use super::logarithm::{ln, ln_of_normal};
use super::power::{Double, ln_in_two_parts, product, sum};
use super::trigonometric::sinpi;
use crate::backend::{floor_f64 as floor, trunc_f64 as trunc};

/// Returns `a + b` without error as the sum of two numbers. Either of `a` and `b` may be the greater one.
#[inline(always)]
fn sum_of_any(a: f64, b: f64) -> Double {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

#[inline(always)]
fn sum_of_doubles(a: Double, b: Double) -> Double {
    let (high, low) = sum_of_any(a.0, b.0);
    sum(high, low + (a.1 + b.1))
}

/// Returns `1/(12·x) − 1/(360·x³) …` for `x` from 10 on.
#[inline(always)]
fn stirling(x: f64) -> f64 {
    let inverse = 1.0 / x;
    let square = mul(inverse, inverse);
    // The coefficients are B(2k) / (2k·(2k − 1)), with the Bernoulli numbers B.
    mul(
        inverse,
        polynomial!(square; 0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953, 0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242, 0.17964437236883057, -1.3924322169059011, 13.402864044168393),
    )
}

/// Returns `ln Γ(x)` for `x` from 10 to 2^1000.
#[inline(always)]
fn ln_gamma_far(x: f64) -> Double {
    let series = stirling(x);
    let logarithm = product(ln_in_two_parts(x, 0), sum_of_any(x, -0.5));
    let constant = sum_of_any(0.9189385332046728, -3.8782941580672414e-17 + series);
    sum_of_doubles(sum_of_doubles(logarithm, (-x, 0.0)), constant)
}

/// Returns `x·(x + 1)·…·(x + 9)`.
#[inline(always)]
fn ten_factors(x: f64) -> Double {
    let mut result = (x, 0.0);
    let mut n = 1.0;
    while n < 10.0 {
        let (high, low) = product(result, sum_of_any(x, n));
        result = sum(high, low);
        n += 1.0;
    }
    result
}

/// Returns `ln Γ(x)` for `x` from 2^−900 to 10.
#[inline(always)]
fn ln_gamma_raised(x: f64) -> Double {
    let factors = ten_factors(x);
    let (high, low) = ln_in_two_parts(factors.0, 0);
    let raised = sum_of_any(x, 10.0);
    // This adds the effect of a tiny b on ln Γ(a + b). The derivative is approximately ln a.
    let far = ln_gamma_far(raised.0);
    let slope = mul(raised.1, ln(raised.0) - mul(0.5, 1.0 / raised.0));
    sum_of_doubles((far.0, far.1 + slope), (-high, -low - factors.1 / factors.0))
}

/// Returns `ln Γ(x)` for `x` from 2^−900 to 2^1000.
#[inline(always)]
fn ln_gamma_positive(x: f64) -> Double {
    if x < 10.0 { ln_gamma_raised(x) } else { ln_gamma_far(x) }
}

/// Returns `Γ(x)` for `x` from 1e-17 to 12. A polynomial yields `Γ` from 2 to 3, and is exact at 2. For another `x`,
/// the function multiplies or divides the polynomial's value by the factors of `Γ(x + 1) = x·Γ(x)`.
#[inline(always)]
fn tgamma_near(x: f64) -> f64 {
    let (mut near, mut factors) = (x, 1.0);
    while near >= 3.0 {
        near -= 1.0;
        factors = mul(factors, near);
    }
    while near < 2.0 {
        factors = mul(factors, near);
        near += 1.0;
    }
    let u = near - 2.5;
    let gamma = mul_add(
        near - 2.0,
        polynomial!(u; 0.658680776358274, 0.5521074905356229, 0.20490217489140353, 0.09793814389944021, 0.023470180207474135, 0.009781200777955497, 0.0012224052300121313, 0.0007699904069069216, -3.103149984944847e-05, 6.99481782941021e-05, -1.7245713543480478e-05, 8.874519008912006e-06, -3.1948593834432966e-06, 1.3325604765700322e-06, -6.269999393268994e-07, 2.522088038844946e-07),
        1.0,
    );
    if x < 2.0 { gamma / factors } else { mul(gamma, factors) }
}

#[inline(always)]
pub fn tgamma(x: f64) -> f64 {
    if (1e-17..12.0).contains(&x) {
        tgamma_near(x)
    } else if x.is_nan() || x == f64::INFINITY {
        x
    } else if x == 0.0 {
        with_sign(f64::INFINITY, x)
    } else if x < 0.0 && trunc(x) == x {
        f64::NAN
    } else if x.abs() < 1e-17 {
        1.0 / x
    } else if x > 171.7 {
        f64::INFINITY
    } else if x < -185.0 {
        with_sign(0.0, sign_of_gamma(x))
    } else if x < 0.0 {
        // Γ(x) = −π / (sin(πx)·x·Γ(|x|)). Γ(|x|) may exceed the largest number.
        let (high, low) = ln_gamma_positive(-x);
        let factor = -core::f64::consts::PI / mul(sinpi(x), x);
        mul(exp_corrected(-high, -low), factor)
    } else {
        let (high, low) = ln_gamma_positive(x);
        exp_corrected(high, low)
    }
}

#[inline(always)]
pub fn gamma(x: f64) -> f64 {
    tgamma(x)
}

/// Returns ±1, the sign of `Γ(x)` for a negative number that is not whole.
#[inline(always)]
fn sign_of_gamma(x: f64) -> f64 {
    let below = mul(floor(x), 0.5);
    if x > 0.0 || trunc(below) == below { 1.0 } else { -1.0 }
}

/// Returns `ln Γ(x)` near its zero 1. The last step adds 0, which turns −0 into +0.
#[inline(always)]
fn lgamma_near_one(x: f64) -> f64 {
    let distance = x - 1.0;
    mul_add(
        distance,
        polynomial!(distance; -0.5772156649015329, 0.8224670334241132, -0.40068563438653176, 0.27058080842778487, -0.20738555102848616, 0.1695571769972287, -0.1440498968071761, 0.12550966956137244, -0.11133426190364797, 0.1000994537228836, -0.09095425231836768, 0.08335406527548254, -0.07692405484250547, 0.07142486077451461, -0.06685608265556364, 0.06267999411915424, -0.05634390411275365, 0.05318628672219364, -0.07031151356082357, 0.06688800808906181),
        0.0,
    )
}

/// Returns `ln Γ(x)` for `x` from 1.5 to 3, as a polynomial times the distance from the zero 2.
#[inline(always)]
fn lgamma_near_two(x: f64) -> f64 {
    let u = x - 2.25;
    mul_add(
        x - 2.0,
        polynomial!(u; 0.4994868595695864, 0.29223842821659285, -0.054295403852149704, 0.014688323717319495, -0.004662626671230447, 0.001614885420399567, -0.0005901656738913573, 0.00022352008495941193, -8.680583901980938e-05, 3.433618311343762e-05, -1.377172098985427e-05, 5.583773169976165e-06, -2.2839125695395905e-06, 9.406702765710136e-07, -3.8869308072374267e-07, 1.6182005044262837e-07, -6.982338015073525e-08, 2.9316110955647894e-08, -9.476708580862645e-09, 3.990275038619519e-09, -3.834164926411226e-09, 1.6305432352127331e-09),
        0.0,
    )
}

/// Returns `ln Γ(x)` for `x` from 3 to 1e16.
#[inline(always)]
fn lgamma_from_three(x: f64) -> f64 {
    if x < 10.0 {
        // The loop uses Γ(x) = (x − 1)·(x − 2)·…·Γ(x − n).
        let (mut x, mut factors) = (x - 1.0, x - 1.0);
        while x >= 3.0 {
            x -= 1.0;
            factors = mul(factors, x);
        }
        ln_of_normal(factors) + lgamma_near_two(x)
    } else {
        // This is Stirling's series, whose terms are no longer much larger than the result. The constant is ½·ln 2π −
        // ½.
        mul_add(x - 0.5, ln_of_normal(x) - 1.0, 0.4189385332046727 + stirling(x))
    }
}

#[inline(always)]
pub fn lgamma(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() {
        x
    } else if x == 0.0 || x < 0.0 && trunc(x) == x || magnitude == f64::INFINITY {
        f64::INFINITY
    } else if magnitude < 1e-17 {
        -ln(magnitude)
    } else if x > 1e16 {
        // The other terms of Stirling's series are less than one ulp.
        mul(x, ln(x) - 1.0)
    } else if x >= 3.0 {
        lgamma_from_three(x)
    } else if x >= 1.5 {
        lgamma_near_two(x)
    } else if x > 0.75 && x < 1.25 {
        lgamma_near_one(x)
    } else {
        let (high, low) = ln_gamma_positive(magnitude);
        if x > 0.0 {
            return high;
        }
        // The result is ln(π / |x·sin(πx)|) − ln Γ(|x|).
        let sine = mul(sinpi(x), x).abs();
        let (sine_high, sine_low) = ln_in_two_parts(sine, 0);
        let factor = sum_of_doubles((1.1447298858494002, 1.0265951162707826e-17), (-sine_high, -sine_low));
        sum_of_doubles(factor, (-high, -low)).0
    }
}

#[inline(always)]
pub fn ln_gamma(x: f64) -> (f64, i32) {
    let sign = if x == 0.0 { with_sign(1.0, x) } else { sign_of_gamma(x) };
    (lgamma(x), if sign < 0.0 { -1 } else { 1 })
}
