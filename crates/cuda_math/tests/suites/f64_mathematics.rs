//! Checks that the errors of the `f64` functions are as stated, by results of GNU MPFR. Also checks the results at
//! special arguments, at overflow and at underflow.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use cuda_math::{FLOAT_FUNCTIONS, GpuFloat};

/// Returns the result of the function `name` for the arguments `x`.
fn apply(name: &str, x: &[f64]) -> f64 {
    macro_rules! one_argument {
        ($($function:ident)*) => {
            match name {
                $(stringify!($function) => return GpuFloat::$function(x[0]),)*
                _ => (),
            }
        };
    }
    one_argument! {
        exp exp2 exp10 exp_m1 ln ln_1p log2 log10 sin cos tan sinpi cospi asin acos atan sinh cosh tanh asinh acosh atanh cbrt
        rcbrt rsqrt erf erfc erfcx erfinv erfcinv normcdf normcdfinv tgamma lgamma j0 j1 y0 y1 cyl_bessel_i0 cyl_bessel_i1
    }
    match name {
        "sin_cos.0" => GpuFloat::sin_cos(x[0]).0,
        "sin_cos.1" => GpuFloat::sin_cos(x[0]).1,
        "powf" => GpuFloat::powf(x[0], x[1]),
        "atan2" => GpuFloat::atan2(x[0], x[1]),
        "hypot" => GpuFloat::hypot(x[0], x[1]),
        "rhypot" => GpuFloat::rhypot(x[0], x[1]),
        "norm4d" => GpuFloat::norm4d(x[0], x[1], x[2], x[3]),
        "rnorm4d" => GpuFloat::rnorm4d(x[0], x[1], x[2], x[3]),
        _ => panic!("`{name}` is unknown: add it to `apply`"),
    }
}

/// Returns the number of steps from one double to the other in the order of the doubles.
fn distance(a: f64, b: f64) -> u64 {
    let place = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    place(a).abs_diff(place(b))
}

fn is_same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn errors_are_as_stated() {
    let bounds: HashMap<&str, u32> = FLOAT_FUNCTIONS.iter().map(|&(name, _, bound)| (name, bound)).collect();
    let mut cases = 0;
    for line in include_str!("../data/f64.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let mut numbers: Vec<f64> = words.map(|word| f64::from_bits(u64::from_str_radix(word, 16).unwrap())).collect();
        let expected = numbers.pop().unwrap();
        let result = apply(name, &numbers);
        let bound = u64::from(bounds[name.split('.').next().unwrap()]);
        assert!(
            !result.is_nan() && distance(result, expected) <= bound,
            "{name}{numbers:?} = {result:e}, which is {} ulp from {expected:e}",
            distance(result, expected)
        );
        cases += 1;
    }
    assert!(cases > 1900);
}

#[test]
fn special_values_are_c_s() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    const MIN: f64 = f64::MIN_POSITIVE;
    const TINY: f64 = 5e-324;
    // The results at −0, 0, −∞, ∞ and NaN.
    let five: &[(&str, [f64; 5])] = &[
        ("exp", [1.0, 1.0, 0.0, INF, NAN]),
        ("exp2", [1.0, 1.0, 0.0, INF, NAN]),
        ("exp10", [1.0, 1.0, 0.0, INF, NAN]),
        ("exp_m1", [-0.0, 0.0, -1.0, INF, NAN]),
        ("ln", [-INF, -INF, NAN, INF, NAN]),
        ("log2", [-INF, -INF, NAN, INF, NAN]),
        ("log10", [-INF, -INF, NAN, INF, NAN]),
        ("ln_1p", [-0.0, 0.0, NAN, INF, NAN]),
        ("sin", [-0.0, 0.0, NAN, NAN, NAN]),
        ("cos", [1.0, 1.0, NAN, NAN, NAN]),
        ("tan", [-0.0, 0.0, NAN, NAN, NAN]),
        ("sinpi", [-0.0, 0.0, NAN, NAN, NAN]),
        ("cospi", [1.0, 1.0, NAN, NAN, NAN]),
        ("asin", [-0.0, 0.0, NAN, NAN, NAN]),
        ("acos", [FRAC_PI_2, FRAC_PI_2, NAN, NAN, NAN]),
        ("atan", [-0.0, 0.0, -FRAC_PI_2, FRAC_PI_2, NAN]),
        ("sinh", [-0.0, 0.0, -INF, INF, NAN]),
        ("cosh", [1.0, 1.0, INF, INF, NAN]),
        ("tanh", [-0.0, 0.0, -1.0, 1.0, NAN]),
        ("asinh", [-0.0, 0.0, -INF, INF, NAN]),
        ("acosh", [NAN, NAN, NAN, INF, NAN]),
        ("atanh", [-0.0, 0.0, NAN, NAN, NAN]),
        ("cbrt", [-0.0, 0.0, -INF, INF, NAN]),
        ("rcbrt", [-INF, INF, -0.0, 0.0, NAN]),
        ("rsqrt", [-INF, INF, NAN, 0.0, NAN]),
        ("erf", [-0.0, 0.0, -1.0, 1.0, NAN]),
        ("erfc", [1.0, 1.0, 2.0, 0.0, NAN]),
        ("erfcx", [1.0, 1.0, INF, 0.0, NAN]),
        ("erfinv", [-0.0, 0.0, NAN, NAN, NAN]),
        ("erfcinv", [INF, INF, NAN, NAN, NAN]),
        ("normcdf", [0.5, 0.5, 0.0, 1.0, NAN]),
        ("normcdfinv", [-INF, -INF, NAN, NAN, NAN]),
        ("tgamma", [-INF, INF, NAN, INF, NAN]),
        ("lgamma", [INF, INF, INF, INF, NAN]),
        ("j0", [1.0, 1.0, 0.0, 0.0, NAN]),
        ("j1", [-0.0, 0.0, -0.0, 0.0, NAN]),
        ("y0", [-INF, -INF, NAN, 0.0, NAN]),
        ("y1", [-INF, -INF, NAN, 0.0, NAN]),
        ("cyl_bessel_i0", [1.0, 1.0, INF, INF, NAN]),
        ("cyl_bessel_i1", [-0.0, 0.0, -INF, INF, NAN]),
    ];
    for &(name, expected) in five {
        for (x, y) in [-0.0, 0.0, -INF, INF, NAN].into_iter().zip(expected) {
            let result = apply(name, &[x]);
            assert!(is_same(result, y), "{name}({x:?}) = {result:?}, not {y:?}");
        }
    }
    // Arguments with exact results, and arguments at the edges of ranges.
    let exact: &[(&str, &[f64], f64)] = &[
        ("exp", &[709.782712893384], 1.7976931348622732e308),
        ("exp", &[709.7827128933841], INF),
        ("exp", &[-745.1332191019411], TINY),
        ("exp", &[-745.1332191019412], 0.0),
        ("exp2", &[1024.0], INF),
        ("exp2", &[-1074.0], TINY),
        ("exp2", &[-1075.0], 0.0),
        ("exp2", &[10.0], 1024.0),
        ("exp10", &[3.0], 1000.0),
        ("exp10", &[308.0], 1e308),
        ("exp10", &[308.3], INF),
        ("exp_m1", &[1e-300], 1e-300),
        ("exp_m1", &[-TINY], -TINY),
        ("exp_m1", &[-800.0], -1.0),
        ("exp_m1", &[710.0], INF),
        ("ln", &[1.0], 0.0),
        ("ln", &[TINY], -744.4400719213812),
        ("ln", &[-1.0], NAN),
        ("log2", &[8.0], 3.0),
        ("log2", &[TINY], -1074.0),
        ("log10", &[1000.0], 3.0),
        ("log10", &[1e22], 22.0),
        ("ln_1p", &[-1.0], -INF),
        ("ln_1p", &[-2.0], NAN),
        ("ln_1p", &[f64::MAX], 709.782712893384),
        ("sin", &[FRAC_PI_2], 1.0),
        ("sin", &[PI], 1.2246467991473532e-16),
        ("sin", &[1e22], -0.8522008497671888),
        ("cos", &[1e-9], 1.0),
        ("cos", &[PI], -1.0),
        ("tan", &[TINY], TINY),
        ("tan", &[FRAC_PI_4], 0.9999999999999999),
        ("sinpi", &[1.0], 0.0),
        ("sinpi", &[-3.0], -0.0),
        ("sinpi", &[0.5], 1.0),
        ("sinpi", &[1e300], 0.0),
        ("sinpi", &[1125899906842624.5], 1.0),
        ("sinpi", &[-1125899906842623.5], 1.0),
        ("sinpi", &[TINY], 1.5e-323),
        ("cospi", &[1125899906842624.0 + 0.25], std::f64::consts::FRAC_1_SQRT_2),
        ("cospi", &[0.5], 0.0),
        ("cospi", &[-2.5], 0.0),
        ("cospi", &[9007199254740993.0], 1.0),
        ("cospi", &[4503599627370497.0], -1.0),
        ("asin", &[1.0], FRAC_PI_2),
        ("asin", &[1.0000000000000002], NAN),
        ("acos", &[1.0], 0.0),
        ("acos", &[-1.0], PI),
        ("atan", &[1.0], FRAC_PI_4),
        ("sinh", &[710.4758600739439], 1.7976931348621744e308),
        ("sinh", &[710.475860073944], INF),
        ("acosh", &[1.0], 0.0),
        ("atanh", &[1.0], INF),
        ("atanh", &[-1.0], -INF),
        ("cbrt", &[27.0], 3.0),
        ("cbrt", &[-TINY], -1.7031839360032603e-108),
        ("rsqrt", &[4.0], 0.5),
        ("rsqrt", &[TINY], 4.4989137945431964e161),
        ("rsqrt", &[8.0 * TINY], 1.5906062260475982e161),
        ("rsqrt", &[-TINY], NAN),
        ("rsqrt", &[f64::MAX], 7.458340731200207e-155),
        ("rcbrt", &[TINY], 5.871356456934583e107),
        ("rcbrt", &[-f64::MAX], -1.7718548704178432e-103),
        ("cbrt", &[f64::MAX], 5.643803094122362e102),
        ("erf", &[5.8], 0.9999999999999998),
        ("erf", &[-6.5], -1.0),
        ("erf", &[TINY], TINY),
        ("erfinv", &[1.0], INF),
        ("erfcinv", &[2.0], -INF),
        ("erfcx", &[-27.0], INF),
        ("normcdfinv", &[0.5], -0.0),
        ("tgamma", &[1.0], 1.0),
        ("tgamma", &[5.0], 24.0),
        ("tgamma", &[171.7], INF),
        ("tgamma", &[-2.0], NAN),
        ("tgamma", &[-200.5], -0.0),
        ("lgamma", &[1.0], 0.0),
        ("lgamma", &[2.0], 0.0),
        ("lgamma", &[-3.0], INF),
        ("atan2", &[0.0, -1.0], PI),
        ("atan2", &[-0.0, -1.0], -PI),
        ("atan2", &[-0.0, 1.0], -0.0),
        ("atan2", &[0.0, 0.0], 0.0),
        ("atan2", &[0.0, -0.0], PI),
        ("atan2", &[INF, INF], FRAC_PI_4),
        ("atan2", &[-INF, -INF], -3.0 * FRAC_PI_4),
        ("atan2", &[INF, -3.0], FRAC_PI_2),
        ("atan2", &[1.0, -INF], PI),
        ("atan2", &[NAN, 1.0], NAN),
        ("atan2", &[f64::MAX, f64::MAX], FRAC_PI_4),
        ("atan2", &[TINY, TINY], FRAC_PI_4),
        ("atan2", &[TINY, -f64::MAX], PI),
        ("atan2", &[-f64::MAX, TINY], -FRAC_PI_2),
        ("atan2", &[TINY, f64::MAX], 0.0),
        ("atan2", &[5.0 * TINY, 8.0 * TINY], 0.5585993153435624),
        ("hypot", &[3.0, 4.0], 5.0),
        ("hypot", &[INF, NAN], INF),
        ("hypot", &[f64::MAX, f64::MAX], INF),
        ("hypot", &[1e308, 1e308], 1.4142135623730951e308),
        ("hypot", &[TINY, 0.0], TINY),
        ("rhypot", &[0.0, 0.0], INF),
        ("rhypot", &[NAN, INF], 0.0),
        ("norm4d", &[MIN, MIN, MIN, MIN], 2.0 * MIN),
        ("powf", &[NAN, 0.0], 1.0),
        ("powf", &[1.0, NAN], 1.0),
        ("powf", &[-8.0, 1.0 / 3.0], NAN),
        ("powf", &[-2.0, 3.0], -8.0),
        ("powf", &[-0.0, 3.0], -0.0),
        ("powf", &[-0.0, -3.0], -INF),
        ("powf", &[-0.0, -2.0], INF),
        ("powf", &[-1.0, INF], 1.0),
        ("powf", &[0.5, INF], 0.0),
        ("powf", &[0.5, -INF], INF),
        ("powf", &[-INF, 3.0], -INF),
        ("powf", &[-INF, -3.0], -0.0),
        ("powf", &[10.0, 22.0], 1e22),
        ("powf", &[2.0, -1074.0], TINY),
        ("powf", &[2.0, 1e300], INF),
        ("powf", &[1.0000000000000002, -1e300], 0.0),
        ("powf", &[TINY, 0.5], 2.2227587494850775e-162),
    ];
    for &(name, arguments, expected) in exact {
        let result = apply(name, arguments);
        assert!(is_same(result, expected), "{name}{arguments:?} = {result:?}, not {expected:?}");
    }
}

#[test]
fn whole_parts_remainders_and_exponents_are_std_s() {
    let mut state = 88172645463325252u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let special = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        0.49999999999999994,
        1.5,
        2.5,
        4503599627370497.5,
        f64::MAX,
        5e-324,
        f64::INFINITY,
        f64::NAN,
    ];
    for i in 0..20_000u64 {
        // The arguments have arbitrary bits, or are small numbers with few bits, as typical arguments are.
        let mut draw = || match (i + random() % 3) % 3 {
            0 => f64::from_bits(random()),
            1 => (random() as i16) as f64 / 8.0,
            _ => special[random() as usize % special.len()],
        };
        let (x, y) = (draw(), draw());
        let check = |name: &str, result: f64, expected: f64| {
            assert!(is_same(result, expected), "{name}({x:e}, {y:e}) = {result:e}, not {expected:e}");
        };
        check("floor", GpuFloat::floor(x), x.floor());
        check("ceil", GpuFloat::ceil(x), x.ceil());
        check("round", GpuFloat::round(x), x.round());
        check("round_ties_even", GpuFloat::round_ties_even(x), x.round_ties_even());
        check("trunc", GpuFloat::trunc(x), x.trunc());
        check("fmod", GpuFloat::fmod(x, y), x % y);
        check("rem_euclid", GpuFloat::rem_euclid(x, y), x.rem_euclid(y));
        let towards = GpuFloat::nextafter(x, y);
        if x < y {
            check("nextafter", towards, x.next_up());
        } else if x > y {
            check("nextafter", towards, x.next_down());
        }
        let (mantissa, exponent) = GpuFloat::frexp(x);
        assert!(x == 0.0 || !x.is_finite() || (0.5..1.0).contains(&mantissa.abs()), "frexp({x:e}) = {mantissa:e}");
        check("ldexp", GpuFloat::ldexp(mantissa, exponent), x);
        if x != 0.0 && x.is_finite() {
            assert_eq!(GpuFloat::ilogb(x), exponent - 1);
            check("logb", GpuFloat::logb(x), f64::from(exponent - 1));
        }
    }
    assert_eq!(GpuFloat::ldexp(1.5, -1074), 1e-323, "1.5 units in the last place round once, to 2 units");
    assert_eq!(GpuFloat::ldexp(1.0, i32::MAX), f64::INFINITY);
    assert_eq!(GpuFloat::ldexp(f64::MAX, -5000), 0.0);
    assert_eq!(GpuFloat::ldexp(5e-324, 2097), 8.98846567431158e307);
}

#[test]
fn bessel_functions_of_higher_order_follow_the_recurrence() {
    // J(n − 1, x) + J(n + 1, x) = 2n/x · J(n, x) for orders below and above x, and also for Y. The loop also checks the
    // signs at negative arguments.
    for x in [0.5, 3.0, 9.5, 20.0, 61.3] {
        for n in 1..60 {
            for bessel in [|x: f64, n: i32| GpuFloat::jn(x, n), |x: f64, n: i32| GpuFloat::yn(x, n)] {
                let [below, value, above] = [n - 1, n, n + 1].map(|n| bessel(x, n));
                let size = below.abs() + above.abs() + 1.0;
                if size.is_finite() {
                    let difference = below + above - 2.0 * f64::from(n) / x * value;
                    assert!(difference.abs() <= 1e-12 * size, "off by {difference:e} at order {n}, x = {x}");
                }
            }
            assert!(
                (GpuFloat::jn(x, n) * GpuFloat::yn(x, n - 1)
                    - GpuFloat::jn(x, n - 1) * GpuFloat::yn(x, n)
                    - 2.0 / (PI * x))
                    .abs()
                    <= 1e-12 * (1.0 / x),
                "the Wronskian is wrong at order {n}, x = {x}"
            );
        }
    }
    assert_eq!(GpuFloat::jn(-3.0, 3), -GpuFloat::jn(3.0, 3));
    assert_eq!(GpuFloat::jn(3.0, -3), -GpuFloat::jn(3.0, 3));
    assert_eq!(GpuFloat::yn(3.0, -3), -GpuFloat::yn(3.0, 3));
}
