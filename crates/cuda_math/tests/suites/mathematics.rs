//! Checks the `f32` functions against `f64` references, at sampled arguments, special arguments, and arguments at which
//! a function changes its method. `bench/mathematics` checks all 2^32 arguments on a GPU.

use cuda_math::{FLOAT_FUNCTIONS, GpuFloat};

/// The difference between the bit patterns of two successive sampled arguments, as integers. It is odd, so that the
/// samples have all kinds of low bits.
const STRIDE: usize = 1_048_573;

const SPECIAL: [f32; 30] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    8.0,
    -33.0,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    88.722_84,
    88.722_85,
    -103.972_08,
    -87.336_55,
    127.999_99,
    -149.5,
    16_777_216.0,
    16_777_215.0,
    8_388_607.5,
    2_097_152.3,
    131_072.0,
];

fn arguments() -> impl Iterator<Item = f32> {
    let sampled = (0..=u32::MAX).step_by(STRIDE).map(f32::from_bits);
    // The neighbours of numbers at which a function changes its method.
    let edges = [0.25, 0.41, 0.5, 0.55, 0.75, 1.0, 1.5, 2.0, 4.0, 10.0, 11.0, 16.98, 22.0, 37.0, 87.0, 126.0, 1e30];
    let near = edges.into_iter().flat_map(|edge: f32| {
        (-3..=3)
            .flat_map(move |by| [1.0, -1.0].map(|sign| sign * f32::from_bits(edge.to_bits().wrapping_add_signed(by))))
    });
    sampled.chain(near).chain(SPECIAL)
}

/// Returns the bits of the minimum and the maximum that propagate NaN.
fn extremes(x: f32, y: f32) -> [u32; 2] {
    [GpuFloat::minimum(x, y), GpuFloat::maximum(x, y)].map(f32::to_bits)
}

/// Returns the bits that [`extremes`] must return. As integers, numbers of one sign are in their order or in the
/// reverse order.
fn expected_extremes(x: f32, y: f32) -> [u32; 2] {
    if x.is_nan() || y.is_nan() {
        return [0x7FFF_FFFF; 2];
    }
    let ordered = |x: f32| x.to_bits() as i32 ^ ((x.to_bits() as i32 >> 31) as u32 >> 1) as i32;
    let (least, greatest) = if ordered(x) <= ordered(y) { (x, y) } else { (y, x) };
    [least, greatest].map(f32::to_bits)
}

#[test]
fn minimum_and_maximum_of_doubles_propagate_nan_and_order_zeros() {
    let bits = |x: f64, y: f64| [GpuFloat::minimum(x, y), GpuFloat::maximum(x, y)].map(f64::to_bits);
    let nan = f64::from_bits(0xFFF0_0000_0000_0001);
    for x in [0.0, -0.0, 1.5, f64::INFINITY, f64::NEG_INFINITY, nan] {
        assert_eq!([bits(x, nan), bits(nan, x)], [[0x7FF8_0000_0000_0000; 2]; 2], "{x}");
    }
    for (least, greatest) in [(-0.0, 0.0), (-1.5, 2.5), (f64::NEG_INFINITY, -0.0), (5e-324, f64::INFINITY)] {
        let expected = [least, greatest].map(f64::to_bits);
        assert_eq!([bits(least, greatest), bits(greatest, least)], [expected; 2], "{least} and {greatest}");
    }
}

/// Returns the error of `found` in units in the last place of `expected`. Returns ∞ if only one of them is NaN, or if
/// both are zeros of different sign.
fn error(found: f32, expected: f64) -> f64 {
    const MOST: f64 = 3.402_823_669_209_385e38;
    if expected.is_nan() || found.is_nan() {
        return if expected.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found == 0.0 && expected == 0.0 {
        return if found.is_sign_negative() == expected.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    // ∞ counts as the number after the greatest one.
    let limit = |value: f64| if value.is_infinite() { MOST.copysign(value) } else { value };
    if f64::from(expected as f32) == f64::from(found) && expected.abs() >= MOST {
        return 0.0;
    }
    let expected = limit(expected);
    let exponent = ((expected.to_bits() >> 52 & 0x7ff) as i32 - 1_023).clamp(-126, 127);
    (limit(f64::from(found)) - expected).abs() / 2_f64.powi(exponent - 23)
}

/// Returns the largest error that the table states for the function `name` on `f32`.
fn bound(name: &str) -> f64 {
    let row = FLOAT_FUNCTIONS.iter().find(|(of, ..)| *of == name);
    let (_, single, _) = row.unwrap_or_else(|| panic!("{name} is not in the table"));
    // A correctly rounded result has an error of half a unit, plus the error of the reference.
    f64::from(*single).max(0.500_001)
}

fn check(name: &str, found: impl Fn(f32) -> f32, expected: impl Fn(f64) -> f64) {
    let bound = bound(name);
    for x in arguments() {
        let (found, expected) = (found(x), expected(f64::from(x)));
        let error = error(found, expected);
        assert!(error <= bound, "{name}({x:e}, {:08x}) is {found:e}, not {expected:e}: {error} ulp", x.to_bits());
    }
}

macro_rules! check {
    ($($name:ident: $expected:expr;)*) => {$(
        check(stringify!($name), |x| GpuFloat::$name(x), $expected);
    )*};
}

#[test]
fn exponentials_and_logarithms() {
    check! {
        exp: f64::exp;
        exp2: f64::exp2;
        exp10: |x| 10_f64.powf(x);
        exp_m1: f64::exp_m1;
        ln: f64::ln;
        ln_1p: f64::ln_1p;
        log2: f64::log2;
        log10: f64::log10;
    }
}

/// Returns sin(π·x + n·π/2), with exact zeros.
fn sin_of_half_turns(x: f64, n: f64) -> f64 {
    let quarter = (2.0 * x).round_ties_even();
    let (sin, cos) = ((x - 0.5 * quarter) * std::f64::consts::PI).sin_cos();
    let turned = [sin, cos, -sin, -cos];
    // The result is NaN if `x` is NaN or infinite.
    turned[(quarter.rem_euclid(4.0) + n) as usize % 4] + if x.is_finite() { 0.0 } else { f64::NAN }
}

#[test]
fn angles() {
    check! {
        sin: f64::sin;
        cos: f64::cos;
        tan: f64::tan;
        asin: f64::asin;
        acos: f64::acos;
        atan: f64::atan;
        sinpi: |x| {
            let sin = sin_of_half_turns(x, 0.0);
            if sin == 0.0 { 0_f64.copysign(x) } else { sin }
        };
        cospi: |x| sin_of_half_turns(x, 1.0).abs().copysign({
            let cos = sin_of_half_turns(x, 1.0);
            if cos == 0.0 { 1.0 } else { cos }
        });
    }
    check("sin_cos", |x| GpuFloat::sin_cos(x).0, f64::sin);
    check("sin_cos", |x| GpuFloat::sin_cos(x).1, f64::cos);
    for x in arguments() {
        let (sin, cos) = GpuFloat::sincospi(x);
        let of_each = (GpuFloat::sinpi(x), GpuFloat::cospi(x));
        assert!((sin.to_bits(), cos.to_bits()) == (of_each.0.to_bits(), of_each.1.to_bits()) || sin.is_nan(), "{x:e}");
    }
}

#[test]
fn hyperbolic_functions() {
    check! {
        sinh: f64::sinh;
        cosh: f64::cosh;
        tanh: f64::tanh;
        asinh: f64::asinh;
        acosh: f64::acosh;
        // std's function loses small arguments.
        atanh: |x| if x.abs() < 1e-5 { x + x * x * x / 3.0 } else { f64::atanh(x) };
    }
}

#[test]
fn roots_and_powers() {
    check! {
        sqrt: f64::sqrt;
        cbrt: f64::cbrt;
        rsqrt: |x| 1.0 / x.sqrt();
        rcbrt: |x| 1.0 / x.cbrt();
        recip: |x| 1.0 / x;
    }
    for y in
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -3.7, 33.0, 101.25, 1e-3, -1e6, 16_777_217.0, f32::INFINITY, f32::NAN]
    {
        check("powf", |x| GpuFloat::powf(x, y), |x| x.powf(f64::from(y)));
        check("powf", |x| GpuFloat::powf(y, x), |x| f64::from(y).powf(x));
        check("hypot", |x| GpuFloat::hypot(x, y), |x| x.hypot(f64::from(y)));
        check("rhypot", |x| GpuFloat::rhypot(y, x), |x| 1.0 / x.hypot(f64::from(y)));
        check("norm3d", |x| GpuFloat::norm3d(x, y, x), |x| (x.hypot(x)).hypot(f64::from(y)));
        check("rnorm3d", |x| GpuFloat::rnorm3d(x, y, x), |x| 1.0 / (x.hypot(x)).hypot(f64::from(y)));
        check("norm4d", |x| GpuFloat::norm4d(x, y, x, 2.0), |x| (x.hypot(x)).hypot(f64::from(y).hypot(2.0)));
        check("rnorm4d", |x| GpuFloat::rnorm4d(x, y, x, 2.0), |x| 1.0 / (x.hypot(x)).hypot(f64::from(y).hypot(2.0)));
        check("atan2", |x| GpuFloat::atan2(x, y), |x| x.atan2(f64::from(y)));
        check("atan2", |x| GpuFloat::atan2(y, x), |x| f64::from(y).atan2(x));
    }
    for n in [0, 1, -1, 2, 7, -13, 64, 1_000_001, i32::MAX, i32::MIN] {
        check("powi", |x| GpuFloat::powi(x, n), |x| x.powf(f64::from(n)));
    }
    check("log", |x| GpuFloat::log(x, 3.0), |x| x.ln() / 3_f64.ln());
}

#[test]
fn error_functions_and_their_kin_are_near_identities() {
    for x in arguments().filter(|x| x.is_finite()) {
        let wide = f64::from(x);
        // The function of `f64` is the first reference. Near 0 and far from 0, series and asymptotic forms are the
        // second.
        assert!(error(GpuFloat::erf(x), GpuFloat::erf(wide)) <= bound("erf"), "erf({x:e}) is inexact");
        assert!(error(GpuFloat::erfc(x), GpuFloat::erfc(wide)) <= bound("erfc"), "erfc({x:e}) is inexact");
        if x.abs() < 1e-4 {
            let expected = wide * (std::f64::consts::FRAC_2_SQRT_PI - 0.376_126_389_031_837_5 * wide * wide);
            assert!(error(GpuFloat::erf(x), expected) <= 2.0, "erf({x:e}) is inexact");
        }
        if x.abs() > 4.5 {
            assert_eq!(GpuFloat::erf(x), 1_f32.copysign(x));
        }
    }
    // These values are from Abramowitz and Stegun, tables 7.1 and 7.3.
    for (x, erf) in [(0.5_f32, 0.520_499_877_8), (1.0, 0.842_700_792_9), (1.5, 0.966_105_146_5), (2.0, 0.995_322_265_0)]
    {
        assert!((f64::from(GpuFloat::erf(x)) - erf).abs() < 1.2e-7);
        assert!((f64::from(GpuFloat::erfc(x)) - (1.0 - erf)).abs() < 1.2e-7);
    }
}

#[test]
fn exact_functions_are_exact() {
    check! {
        floor: f64::floor;
        ceil: f64::ceil;
        round: f64::round;
        round_ties_even: f64::round_ties_even;
        trunc: f64::trunc;
        fract: f64::fract;
        abs: f64::abs;
        signum: f64::signum;
        saturate: |x| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) + 0.0 };
    }
    for x in arguments() {
        let bits = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        for y in [3.1_f32, -0.7, 1e-30, 2e38, 1e-42, 0.0, f32::INFINITY, f32::NAN] {
            assert!(bits(GpuFloat::fmod(x, y), x % y), "{x:e} % {y:e}");
            assert!(bits(GpuFloat::rem_euclid(x, y), x.rem_euclid(y)), "{x:e} rem_euclid {y:e}");
            assert!(bits(GpuFloat::div_euclid(x, y), x.div_euclid(y)), "{x:e} div_euclid {y:e}");
            let rest = GpuFloat::remainder(x, y);
            let (same, low) = GpuFloat::remquo(x, y);
            assert!(bits(rest, same) && (-7..=7).contains(&low));
            assert!(bits(rest, exact_remainder(x, y)), "{x:e} remainder {y:e}: {rest:e}");
            assert!(bits(GpuFloat::fdim(x, y), if x <= y { 0.0 } else { x - y }));
            assert!(bits(GpuFloat::copysign(x, y), x.copysign(y)));
            assert_eq!(extremes(x, y), expected_extremes(x, y), "{x:e} and {y:e}");
        }
        for n in [0, 1, -1, 30, -30, 150, -150, 300, -300, i32::MAX, i32::MIN] {
            let expected = (f64::from(x) * 2_f64.powi(n.clamp(-400, 400))) as f32;
            assert!(bits(GpuFloat::ldexp(x, n), expected) && bits(GpuFloat::scalbn(x, n), expected), "{x:e} · 2^{n}");
        }
        let (mantissa, exponent) = GpuFloat::frexp(x);
        if x != 0.0 && x.is_finite() {
            assert!((0.5..1.0).contains(&mantissa.abs()) && bits(GpuFloat::ldexp(mantissa, exponent), x), "x = {x:e}");
            assert_eq!(GpuFloat::ilogb(x), exponent - 1);
            assert_eq!(GpuFloat::logb(x), (exponent - 1) as f32);
        } else {
            assert!(bits(mantissa, x) && exponent == 0);
        }
        let (part, whole) = GpuFloat::modf(x);
        assert!(bits(whole, x.trunc()) && (x.is_nan() || part.is_sign_negative() == x.is_sign_negative()), "x = {x:e}");
        assert!(!x.is_finite() || part + whole == x);
        assert!(bits(GpuFloat::nextafter(x, f32::INFINITY), if x == 0.0 { 1e-45 } else { x.next_up() }), "x = {x:e}");
        assert!(
            bits(GpuFloat::nextafter(x, f32::NEG_INFINITY), if x == 0.0 { -1e-45 } else { x.next_down() }),
            "x = {x:e}"
        );
    }
    assert_eq!((GpuFloat::ilogb(0.0_f32), GpuFloat::ilogb(f32::NEG_INFINITY)), (i32::MIN, i32::MAX));
    assert_eq!((GpuFloat::logb(0.0_f32), GpuFloat::logb(f32::NEG_INFINITY)), (f32::NEG_INFINITY, f32::INFINITY));
    assert_eq!(GpuFloat::remquo(29.0_f32, 3.0), (-1.0, 2));
    assert_eq!(GpuFloat::remquo(-29.0_f32, 3.0), (1.0, -2));
    assert_eq!(GpuFloat::max(-0.0_f32, 0.0).to_bits(), 0);
    assert_eq!(GpuFloat::min(f32::NAN, 2.0), 2.0);
}

/// Returns the IEEE remainder of `x / y`, from exact `f64` arithmetic.
fn exact_remainder(x: f32, y: f32) -> f32 {
    let (a, b) = (f64::from(x).abs(), f64::from(y).abs());
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return f32::NAN;
    }
    if y.is_infinite() {
        return x;
    }
    // The remainder modulo twice the divisor tells an even quotient from an odd one.
    let rest = a % (2.0 * b);
    let rest = if rest >= 1.5 * b {
        rest - 2.0 * b
    } else if rest > 0.5 * b {
        rest - b
    } else {
        rest
    };
    (if rest == 0.0 { 0.0 } else { rest } as f32) * 1_f32.copysign(x)
}
