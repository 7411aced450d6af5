//! The error function and related functions.

use super::arithmetic::{fma, horner, mul, rcp_normal};
use super::exponential::{exp_of_sum, exp_within};

// The polynomials in this file are minimax approximations. Their coefficients have 24 bits each, from Sollya's
// `fpminimax`.

/// Returns erf(x) for x from −1 to 1, with a relative error of 1.5e-9.
#[inline(always)]
fn erf_within(x: f32) -> f32 {
    let s = mul(x, x);
    // `p` approximates erf(x) / x − 1.
    let p = horner!(s;
        0.128_379_17, -0.376_126_3, 0.112_836_18, -2.685_511_9e-2, 5.190_7e-3, -8.030_268e-4, 7.918_066e-5
    );
    fma(x, p, x)
}

#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let a = x.abs();
    if a < 1.0 {
        erf_within(x)
    } else {
        // `p` approximates −ln(1 − erf(a)) within 1.6e-7. For `a` from 4 on, the result is 1.
        let a = if a > 4.0 { 4.0 } else { a };
        let p = horner!(a;
            6.584_267e-4, 1.126_275_3, 0.638_581_75, 0.103_720_315, -2.280_440_7e-2, 3.484_996_5e-3, -3.244_110_6e-4,
            1.371_406_3e-5
        );
        (1.0 - exp_within(-p)).copysign(x)
    }
}

#[inline(always)]
pub fn erfc(x: f32) -> f32 {
    let a = x.abs();
    if a < 0.5 {
        return 1.0 - erf_within(x);
    }
    // For `a` from 11 on the result is 0.
    let a = if a > 11.0 { 11.0 } else { a };
    // `p` approximates e^(a²)·erfc(a)·(1 + 2a) by a polynomial in (a − 2) / (a + 2), within 2e-8.
    let q = mul(a - 2.0, rcp_normal(a + 2.0));
    let p = horner!(q;
        1.276_978_4, -9.276_389e-2, -0.166_030_93, 0.164_053_14, -5.420_780_6e-2, -8.044_675e-3, 8.644_661e-3,
        1.273_402_7e-3, -1.259_488e-3, -3.638_872_3e-4, 2.928_974_6e-5
    );
    let divisor = fma(a, 2.0, 1.0);
    let inverse = rcp_normal(divisor);
    let ratio = mul(p, inverse);
    let ratio = fma(fma(-divisor, ratio, p), inverse, ratio);
    let square = mul(a, a);
    let result = mul(exp_of_sum(-square, -fma(a, a, -square)), ratio);
    if x < 0.0 { 2.0 - result } else { result }
}
