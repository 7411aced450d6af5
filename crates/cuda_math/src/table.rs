//! The table of the float functions.
//!
//! # Design
//!
//! This table is the only list of the functions. Each row has a name, the arguments and the largest errors. Macros
//! generate from it the trait `GpuFloat`, its implementations for `f32` and `f64`, and the methods of `FloatReceiver`
//! for rewritten method calls.

/// Calls the macro `$make` with the rows `name(arguments) -> result, error for f32, error for f64`. An error is the
/// largest error of the function in units in the last place of the true value. An error of 0 means that the result is
/// correctly rounded. `F` is the float type.
///
/// The rows under `core` are methods that `core` has for both types. These methods return the same bits on every
/// target.
macro_rules! float_functions {
    ($make:ident) => {
        $make! {
            core {
                /// Returns the absolute value.
                abs() -> F, 0, 0;
                /// Returns 1 with the sign of `self`, or NaN.
                signum() -> F, 0, 0;
                /// Returns `self` with the sign of `sign`.
                copysign(sign: F) -> F, 0, 0;
                /// Returns `1 / self`.
                recip() -> F, 0, 0;
            }
            own {
                /// Returns `self · a + b` with one rounding (`fma.rn`).
                mul_add(a: F, b: F) -> F, 0, 0;
                /// Returns the square root.
                sqrt() -> F, 0, 0;
                /// Returns the minimum (IEEE 754's minimumNumber): a NaN is ignored, and −0 is less than +0.
                minimum_number(other: F) -> F, 0, 0;
                /// Returns the maximum (IEEE 754's maximumNumber): a NaN is ignored, and +0 is greater than −0.
                maximum_number(other: F) -> F, 0, 0;
                /// Returns the minimum (IEEE 754's minimum): NaN if an operand is NaN, and −0 is less than +0. The NaN
                /// is always the same one, with the bits `7FFFFFFF` or `7FF80000_00000000`.
                minimum(other: F) -> F, 0, 0;
                /// Returns the maximum (IEEE 754's maximum): NaN if an operand is NaN, as for
                /// [`minimum`](Self::minimum), and +0 is greater than −0.
                maximum(other: F) -> F, 0, 0;
                /// Returns the minimum, like [`minimum_number`](Self::minimum_number).
                min(other: F) -> F, 0, 0;
                /// Returns the maximum, like [`maximum_number`](Self::maximum_number).
                max(other: F) -> F, 0, 0;
                /// Clamps `self` between 0 and 1. NaN becomes 0.
                saturate() -> F, 0, 0;
                /// Returns `self − other` if that is positive, and otherwise 0.
                fdim(other: F) -> F, 0, 0;

                /// Returns the largest whole number that is not greater than `self`.
                floor() -> F, 0, 0;
                /// Returns the smallest whole number that is not less than `self`.
                ceil() -> F, 0, 0;
                /// Returns the nearest whole number. Ties round away from 0.
                round() -> F, 0, 0;
                /// Returns the nearest whole number. Ties round to the even one (`rint`, `nearbyint`).
                round_ties_even() -> F, 0, 0;
                /// C's name for [`round_ties_even`](Self::round_ties_even).
                rint() -> F, 0, 0;
                /// Another name in C for [`round_ties_even`](Self::round_ties_even).
                nearbyint() -> F, 0, 0;
                /// Returns [`round_ties_even`](Self::round_ties_even) as an integer. The conversion saturates and
                /// returns 0 for NaN.
                lrint() -> i64, 0, 0;
                /// C's other name for [`lrint`](Self::lrint).
                llrint() -> i64, 0, 0;
                /// Returns [`round`](Self::round) as an integer. The conversion saturates and returns 0 for NaN.
                lround() -> i64, 0, 0;
                /// C's other name for [`lround`](Self::lround).
                llround() -> i64, 0, 0;
                /// Returns the whole part of `self`.
                trunc() -> F, 0, 0;
                /// Returns `self − self.trunc()`.
                fract() -> F, 0, 0;
                /// Returns the fractional part with the sign of `self`, and the whole part.
                modf() -> (F, F), 0, 0;

                /// Returns the exact remainder of `self / divisor` with the sign of `self` (C's `fmod`, and `%` on the
                /// host).
                fmod(divisor: F) -> F, 0, 0;
                /// Returns `self − n·divisor`, exactly, for the whole number `n` nearest to the quotient. If two are
                /// equally near, `n` is the even one.
                remainder(divisor: F) -> F, 0, 0;
                /// Returns [`remainder`](Self::remainder), and the three low bits of its quotient `n` with the sign of
                /// `n`.
                remquo(divisor: F) -> (F, i32), 0, 0;
                /// Returns the whole number `n` such that `self − n·divisor` is [`rem_euclid`](Self::rem_euclid), as in
                /// std.
                div_euclid(divisor: F) -> F, 0, 0;
                /// Returns the smallest nonnegative remainder, as in std.
                rem_euclid(divisor: F) -> F, 0, 0;

                /// Returns `self · 2^exponent`.
                ldexp(exponent: i32) -> F, 0, 0;
                /// C's other name for [`ldexp`](Self::ldexp): `self · 2^exponent`.
                scalbn(exponent: i32) -> F, 0, 0;
                /// Returns `m` and `e` with `self = m · 2^e`. The magnitude of `m` is at least 0.5 and less than 1.
                frexp() -> (F, i32), 0, 0;
                /// Returns the binary exponent of `self` as a float, and −∞ for 0.
                logb() -> F, 0, 0;
                /// Returns the binary exponent of `self`, `i32::MIN` for 0 and NaN, and `i32::MAX` for ∞.
                ilogb() -> i32, 0, 0;
                /// Returns the next representable value after `self` in the direction of `to`.
                nextafter(to: F) -> F, 0, 0;

                /// Returns `1 / √self`.
                rsqrt() -> F, 1, 0;
                /// Returns the cube root.
                cbrt() -> F, 1, 1;
                /// Returns `1 / ∛self`.
                rcbrt() -> F, 1, 1;
                /// Returns `√(self² + y²)` without overflow of the squares.
                hypot(y: F) -> F, 3, 2;
                /// Returns `1 / √(self² + y²)`.
                rhypot(y: F) -> F, 2, 1;
                /// Returns `√(self² + y² + z²)`.
                norm3d(y: F, z: F) -> F, 3, 2;
                /// Returns `1 / √(self² + y² + z²)`.
                rnorm3d(y: F, z: F) -> F, 2, 1;
                /// Returns `√(self² + y² + z² + w²)`.
                norm4d(y: F, z: F, w: F) -> F, 3, 2;
                /// Returns `1 / √(self² + y² + z² + w²)`.
                rnorm4d(y: F, z: F, w: F) -> F, 2, 1;

                /// Returns `e^self`.
                exp() -> F, 1, 1;
                /// Returns `2^self`.
                exp2() -> F, 2, 1;
                /// Returns `10^self`.
                exp10() -> F, 2, 1;
                /// Returns `e^self − 1`, also precise for a small `self`.
                exp_m1() -> F, 1, 1;
                /// Returns the natural logarithm.
                ln() -> F, 1, 1;
                /// Returns the natural logarithm of `1 + self`, also precise for a small `self`.
                ln_1p() -> F, 1, 1;
                /// Returns the logarithm to base 2.
                log2() -> F, 1, 1;
                /// Returns the logarithm to base 10.
                log10() -> F, 2, 1;
                /// Returns the logarithm to `base`: `self.ln() / base.ln()`, with the error of three roundings.
                log(base: F) -> F, 3, 3;
                /// Returns `self` to the power of `exponent`.
                powf(exponent: F) -> F, 4, 2;
                /// Returns `self` to the power of `exponent`.
                powi(exponent: i32) -> F, 4, 2;

                /// Returns the sine of an angle in radians, of any size.
                sin() -> F, 2, 2;
                /// Returns the cosine of an angle in radians, of any size.
                cos() -> F, 2, 2;
                /// Returns the sine and the cosine of an angle in radians, of any size.
                sin_cos() -> (F, F), 2, 2;
                /// Returns the tangent of an angle in radians, of any size.
                tan() -> F, 4, 2;
                /// Returns `sin(π·self)`.
                sinpi() -> F, 1, 2;
                /// Returns `cos(π·self)`.
                cospi() -> F, 1, 2;
                /// Returns [`sinpi`](Self::sinpi) and [`cospi`](Self::cospi).
                sincospi() -> (F, F), 1, 2;
                /// Returns the arc sine in radians.
                asin() -> F, 2, 2;
                /// Returns the arc cosine in radians.
                acos() -> F, 2, 2;
                /// Returns the arc tangent in radians.
                atan() -> F, 2, 2;
                /// Returns the angle of the point (`x`, `self`) in radians, from −π to π.
                atan2(x: F) -> F, 3, 2;
                /// Returns the hyperbolic sine.
                sinh() -> F, 3, 2;
                /// Returns the hyperbolic cosine.
                cosh() -> F, 2, 1;
                /// Returns the hyperbolic tangent.
                tanh() -> F, 2, 1;
                /// Returns the inverse hyperbolic sine.
                asinh() -> F, 3, 2;
                /// Returns the inverse hyperbolic cosine.
                acosh() -> F, 4, 2;
                /// Returns the inverse hyperbolic tangent.
                atanh() -> F, 3, 2;

                /// Returns the error function.
                erf() -> F, 2, 2;
                /// Returns `1 − erf(self)`.
                erfc() -> F, 4, 5;
                /// Returns `e^(self²) · erfc(self)`.
                erfcx() -> F, 4, 4;
                /// Returns the inverse of [`erf`](Self::erf).
                erfinv() -> F, 2, 5;
                /// Returns the inverse of [`erfc`](Self::erfc).
                erfcinv() -> F, 4, 6;
                /// Returns the probability that a number from the standard normal distribution is at most `self`.
                normcdf() -> F, 5, 5;
                /// Returns the inverse of [`normcdf`](Self::normcdf).
                normcdfinv() -> F, 5, 8;
                /// Returns the gamma function (C's `tgamma`).
                gamma() -> F, 5, 10;
                /// C's name for [`gamma`](Self::gamma).
                tgamma() -> F, 5, 10;
                /// Returns the natural logarithm of the gamma function's magnitude. Between −11 and −2, where the
                /// result has zeros, the error in ulp may be larger than stated. There it is at most 1e-6 (f32) or
                /// 1e-14 (f64), relative to the surrounding values.
                lgamma() -> F, 6, 4;
                /// Returns [`lgamma`](Self::lgamma) and the gamma function's sign.
                ln_gamma() -> (F, i32), 6, 4;
                /// Returns the Bessel function of the first kind of order 0. The stated error applies to magnitudes up
                /// to 8. Beyond 8 the error is at most 2.2e-6 (f32) or 5e-12 (f64).
                j0() -> F, 9, 7;
                /// Returns the Bessel function of the first kind of order 1. For its error see [`j0`](Self::j0).
                j1() -> F, 9, 7;
                /// Returns the Bessel function of the first kind of order `n`. For its error beyond 8 see
                /// [`j0`](Self::j0).
                jn(n: i32) -> F, 9, 7;
                /// Returns the Bessel function of the second kind of order 0. For its error see [`j0`](Self::j0).
                y0() -> F, 9, 7;
                /// Returns the Bessel function of the second kind of order 1. For its error see [`j0`](Self::j0).
                y1() -> F, 9, 7;
                /// Returns the Bessel function of the second kind of order `n`. For arguments up to `n` its error is at
                /// most 2 + 2.5·n ulp.
                yn(n: i32) -> F, 9, 7;
                /// Returns the modified Bessel function of the first kind of order 0.
                cyl_bessel_i0() -> F, 6, 6;
                /// Returns the modified Bessel function of the first kind of order 1.
                cyl_bessel_i1() -> F, 6, 6;
            }
        }
    };
}

pub(super) use float_functions;
