//! The functions, one row each: what the trait, its implementations and the receiver are made of.
//!
//! # Design
//!
//! This table is the only list of the functions: each row has a name, the arguments and the largest error. From it come
//! the trait `GpuFloat`, both implementations and the receiver of rewritten calls.

/// Calls the macro `$make` with the rows: `name(arguments) -> result, largest error of f32, of f64`, each in units in
/// the last place of the true value; 0 is the correctly rounded one. `F` is the float type.
///
/// The rows under `core` are methods that `core` has for both types on every target, and that give the same bits there.
macro_rules! float_functions {
    ($make:ident) => {
        $make! {
            core {
                /// The absolute value.
                abs() -> F, 0, 0;
                /// 1 with the sign of `self`, or NaN.
                signum() -> F, 0, 0;
                /// `self` with the sign of `sign`.
                copysign(sign: F) -> F, 0, 0;
                /// `1 / self`.
                recip() -> F, 0, 0;
            }
            own {
                /// `self · a + b` with one rounding (`fma.rn`).
                mul_add(a: F, b: F) -> F, 0, 0;
                /// The square root.
                sqrt() -> F, 0, 0;
                /// The lesser of both (IEEE 754's minimumNumber): a NaN gives way to a number, and −0 is less than +0.
                minimum_number(other: F) -> F, 0, 0;
                /// The greater of both (IEEE 754's maximumNumber): a NaN gives way to a number, and +0 is greater than
                /// −0.
                maximum_number(other: F) -> F, 0, 0;
                /// The lesser of both, as [`minimum_number`](Self::minimum_number).
                min(other: F) -> F, 0, 0;
                /// The greater of both, as [`maximum_number`](Self::maximum_number).
                max(other: F) -> F, 0, 0;
                /// `self` between 0 and 1; NaN becomes 0.
                saturate() -> F, 0, 0;
                /// `self − other` where that is positive, else 0.
                fdim(other: F) -> F, 0, 0;

                /// The greatest whole number that is not above `self`.
                floor() -> F, 0, 0;
                /// The least whole number that is not below `self`.
                ceil() -> F, 0, 0;
                /// The nearest whole number; halves away from 0.
                round() -> F, 0, 0;
                /// The nearest whole number; halves to the even one (`rint`, `nearbyint`).
                round_ties_even() -> F, 0, 0;
                /// [`round_ties_even`](Self::round_ties_even), by C's name.
                rint() -> F, 0, 0;
                /// [`round_ties_even`](Self::round_ties_even), by C's other name.
                nearbyint() -> F, 0, 0;
                /// [`round_ties_even`](Self::round_ties_even) as an integer: the nearest that there is, and 0 of NaN.
                lrint() -> i64, 0, 0;
                /// [`lrint`](Self::lrint), by C's other name.
                llrint() -> i64, 0, 0;
                /// [`round`](Self::round) as an integer: the nearest that there is, and 0 of NaN.
                lround() -> i64, 0, 0;
                /// [`lround`](Self::lround), by C's other name.
                llround() -> i64, 0, 0;
                /// The whole part.
                trunc() -> F, 0, 0;
                /// `self − self.trunc()`.
                fract() -> F, 0, 0;
                /// The part behind the point, with the sign of `self`, and the whole part.
                modf() -> (F, F), 0, 0;

                /// The remainder of `self / divisor` with the sign of `self`, exact (C's `fmod`, and what `%` is on the
                /// host).
                fmod(divisor: F) -> F, 0, 0;
                /// `self − n·divisor` for the whole number `n` nearest to the quotient, even if between two; exact.
                remainder(divisor: F) -> F, 0, 0;
                /// As [`remainder`](Self::remainder), with the three low bits of `n` and its sign.
                remquo(divisor: F) -> (F, i32), 0, 0;
                /// The whole number `n` for which `self − n·divisor` is [`rem_euclid`](Self::rem_euclid), as std
                /// computes it.
                div_euclid(divisor: F) -> F, 0, 0;
                /// The least remainder that is not negative, as std computes it.
                rem_euclid(divisor: F) -> F, 0, 0;

                /// `self · 2^exponent`.
                ldexp(exponent: i32) -> F, 0, 0;
                /// `self · 2^exponent`, C's other name of [`ldexp`](Self::ldexp).
                scalbn(exponent: i32) -> F, 0, 0;
                /// `m` and `e` with `self = m · 2^e` and `m` from 0.5 up to but not 1 in magnitude.
                frexp() -> (F, i32), 0, 0;
                /// The exponent, as a number of the type: −∞ of 0.
                logb() -> F, 0, 0;
                /// The exponent: `i32::MIN` of 0 and NaN, `i32::MAX` of ∞.
                ilogb() -> i32, 0, 0;
                /// The next value from `self` towards `to`.
                nextafter(to: F) -> F, 0, 0;

                /// `1 / √self`.
                rsqrt() -> F, 1, 0;
                /// The cube root.
                cbrt() -> F, 1, 1;
                /// `1 / ∛self`.
                rcbrt() -> F, 1, 1;
                /// `√(self² + y²)` without overflow on the way.
                hypot(y: F) -> F, 3, 2;
                /// `1 / √(self² + y²)`.
                rhypot(y: F) -> F, 2, 1;
                /// `√(self² + y² + z²)`.
                norm3d(y: F, z: F) -> F, 3, 2;
                /// `1 / √(self² + y² + z²)`.
                rnorm3d(y: F, z: F) -> F, 2, 1;
                /// `√(self² + y² + z² + w²)`.
                norm4d(y: F, z: F, w: F) -> F, 3, 2;
                /// `1 / √(self² + y² + z² + w²)`.
                rnorm4d(y: F, z: F, w: F) -> F, 2, 1;

                /// `e^self`.
                exp() -> F, 1, 1;
                /// `2^self`.
                exp2() -> F, 2, 1;
                /// `10^self`.
                exp10() -> F, 2, 1;
                /// `e^self − 1`, precise where that is small.
                exp_m1() -> F, 1, 1;
                /// The natural logarithm.
                ln() -> F, 1, 1;
                /// The natural logarithm of `1 + self`, precise where that is small.
                ln_1p() -> F, 1, 1;
                /// The logarithm to base 2.
                log2() -> F, 1, 1;
                /// The logarithm to base 10.
                log10() -> F, 2, 1;
                /// The logarithm to `base`: `self.ln() / base.ln()`, whose error is that of three roundings.
                log(base: F) -> F, 3, 3;
                /// `self` to the power of `exponent`.
                powf(exponent: F) -> F, 4, 2;
                /// `self` to the power of `exponent`.
                powi(exponent: i32) -> F, 4, 2;

                /// The sine of an angle in radians, of any size.
                sin() -> F, 2, 2;
                /// The cosine of an angle in radians, of any size.
                cos() -> F, 2, 2;
                /// Sine and cosine.
                sin_cos() -> (F, F), 2, 2;
                /// The tangent of an angle in radians, of any size.
                tan() -> F, 4, 2;
                /// `sin(π·self)`.
                sinpi() -> F, 1, 2;
                /// `cos(π·self)`.
                cospi() -> F, 1, 2;
                /// [`sinpi`](Self::sinpi) and [`cospi`](Self::cospi).
                sincospi() -> (F, F), 1, 2;
                /// The arc sine.
                asin() -> F, 2, 2;
                /// The arc cosine.
                acos() -> F, 2, 2;
                /// The arc tangent.
                atan() -> F, 2, 2;
                /// The angle of the point (`x`, `self`), from −π to π.
                atan2(x: F) -> F, 3, 2;
                /// The hyperbolic sine.
                sinh() -> F, 3, 2;
                /// The hyperbolic cosine.
                cosh() -> F, 2, 1;
                /// The hyperbolic tangent.
                tanh() -> F, 2, 1;
                /// The inverse hyperbolic sine.
                asinh() -> F, 3, 2;
                /// The inverse hyperbolic cosine.
                acosh() -> F, 4, 2;
                /// The inverse hyperbolic tangent.
                atanh() -> F, 3, 2;

                /// The error function.
                erf() -> F, 2, 2;
                /// `1 − erf(self)`.
                erfc() -> F, 4, 5;
                /// `e^(self²) · erfc(self)`.
                erfcx() -> F, 4, 4;
                /// The inverse of [`erf`](Self::erf).
                erfinv() -> F, 2, 5;
                /// The inverse of [`erfc`](Self::erfc).
                erfcinv() -> F, 4, 6;
                /// The standard normal distribution's probability of at most `self`.
                normcdf() -> F, 5, 5;
                /// The inverse of [`normcdf`](Self::normcdf).
                normcdfinv() -> F, 5, 8;
                /// The gamma function (C's `tgamma`).
                gamma() -> F, 5, 10;
                /// The gamma function, by C's name.
                tgamma() -> F, 5, 10;
                /// The natural logarithm of the gamma function's magnitude. Between −11 and −2, where it has zeros, the
                /// error may be larger in ulp, and is at most 1e-6 for f32, 1e-14 for f64, of the values around.
                lgamma() -> F, 6, 4;
                /// [`lgamma`](Self::lgamma), and the gamma function's sign.
                ln_gamma() -> (F, i32), 6, 4;
                /// The Bessel function of the first kind of order 0. The bound holds up to 8 in magnitude; beyond it
                /// the error is at most 2.2e-6 for f32, 5e-12 for f64.
                j0() -> F, 9, 7;
                /// The Bessel function of the first kind of order 1; its error is as [`j0`](Self::j0)'s.
                j1() -> F, 9, 7;
                /// The Bessel function of the first kind of order `n`; its error is bounded as [`j0`](Self::j0)'s
                /// beyond 8.
                jn(n: i32) -> F, 9, 7;
                /// The Bessel function of the second kind of order 0; its error is as [`j0`](Self::j0)'s.
                y0() -> F, 9, 7;
                /// The Bessel function of the second kind of order 1; its error is as [`j0`](Self::j0)'s.
                y1() -> F, 9, 7;
                /// The Bessel function of the second kind of order `n`; up to `n` its error is at most 2 + 2.5·n ulp.
                yn(n: i32) -> F, 9, 7;
                /// The modified Bessel function of the first kind of order 0.
                cyl_bessel_i0() -> F, 6, 6;
                /// The modified Bessel function of the first kind of order 1.
                cyl_bessel_i1() -> F, 6, 6;
            }
        }
    };
}

pub(super) use float_functions;
