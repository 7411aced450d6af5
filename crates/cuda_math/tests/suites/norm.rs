//! Checks the lengths of vectors of any dimension, and the conversions to integers.

use cuda_math::{GpuFloat, norm, rnorm};

/// Returns pseudo-random numbers with arbitrary mantissas and with exponents up to `spread` in magnitude.
fn numbers(seed: u64, count: usize, spread: i32) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let number = |_| {
        let bits = next();
        let exponent = 1023 + (bits % (2 * spread as u64 + 1)) as i64 - i64::from(spread);
        f64::from_bits(bits & !(0x7ff << 52) | (exponent as u64) << 52)
    };
    (0..count).map(number).collect()
}

/// Returns the sum of squares with a relative error of about 2^-100. The rounding error of each product and sum is
/// added separately.
fn exact(values: &[f64]) -> f64 {
    let (mut high, mut low) = (0.0_f64, 0.0_f64);
    for &value in values {
        let square = value * value;
        let left = value.mul_add(value, -square);
        let sum = high + square;
        let part = sum - high;
        low += (high - (sum - part)) + (square - part) + left;
        high = sum;
    }
    high + low
}

#[test]
fn lengths_are_right() {
    for seed in 1..300 {
        let count = (seed as usize * 7) % 100 + 1;
        let values = numbers(seed, count, 20);
        let length = exact(&values).sqrt();
        let within = |found: f64, expected: f64| (found / expected - 1.0).abs() <= 2.3e-16;
        assert!(within(norm(&values), length), "seed {seed}: norm = {}, not {length}", norm(&values));
        assert!(within(rnorm(&values), 1.0 / length), "seed {seed}");
        // The same numbers, scaled such that their squares overflow or underflow.
        for scale in [900, -900] {
            let scaled: Vec<f64> = values.iter().map(|value| GpuFloat::ldexp(*value, scale)).collect();
            assert_eq!(norm(&scaled), GpuFloat::ldexp(norm(&values), scale), "seed {seed}");
            assert_eq!(rnorm(&scaled), GpuFloat::ldexp(rnorm(&values), -scale), "seed {seed}");
        }
        let singles: Vec<f32> = numbers(seed, count, 100).into_iter().map(|value| value as f32).collect();
        let length = exact(&singles.iter().map(|value| f64::from(*value)).collect::<Vec<_>>()).sqrt();
        assert_eq!(norm(&singles), length as f32, "seed {seed}");
        let inverse = rnorm(&singles);
        assert!((f64::from(inverse) * length - 1.0).abs() < 1e-7 || inverse.is_infinite(), "seed {seed}: {inverse}");
    }
}

#[test]
fn lengths_of_special_numbers() {
    macro_rules! check {
        ($float:ident) => {
            const LEAST: $float = $float::from_bits(1);
            assert_eq!(norm::<$float>(&[]), 0.0);
            assert_eq!(rnorm::<$float>(&[]), $float::INFINITY);
            assert_eq!(norm(&[0.0, -0.0_f32 as $float]), 0.0);
            assert_eq!(norm(&[$float::NAN, 1.0, $float::NEG_INFINITY]), $float::INFINITY);
            assert_eq!(rnorm(&[$float::NAN, 1.0, $float::NEG_INFINITY]), 0.0);
            assert!(norm(&[$float::NAN, 1.0]).is_nan() && rnorm(&[1.0, $float::NAN]).is_nan());
            assert_eq!(norm(&[$float::MAX]), $float::MAX);
            assert_eq!(norm(&[$float::MAX, $float::MAX]), $float::INFINITY);
            assert_eq!(norm(&[LEAST; 4]), 2.0 * LEAST);
            assert_eq!(norm(&[3.0 * LEAST, 4.0 * LEAST]), 5.0 * LEAST);
            assert_eq!(rnorm(&[$float::MAX / 8.0, 0.0]), 8.0 / $float::MAX);
        };
    }
    {
        check!(f32);
    }
    check!(f64);
}

#[test]
fn integers_are_the_nearest() {
    let values = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.499_999_97, 8_388_607.5, 1e10, -1e10, 9.3e18, -1e30];
    for x in values.into_iter().chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE]) {
        let (even, away) = (x.round_ties_even(), x.round());
        assert_eq!(GpuFloat::rint(x).to_bits(), even.to_bits(), "x = {x}");
        assert_eq!(GpuFloat::nearbyint(x).to_bits(), even.to_bits(), "x = {x}");
        assert_eq!([GpuFloat::lrint(x), GpuFloat::llrint(x)], [even as i64; 2], "x = {x}");
        assert_eq!([GpuFloat::lround(x), GpuFloat::llround(x)], [away as i64; 2], "x = {x}");
        let x = x as f32;
        let (even, away) = (x.round_ties_even(), x.round());
        assert_eq!([GpuFloat::rint(x), GpuFloat::nearbyint(x)].map(f32::to_bits), [even.to_bits(); 2], "x = {x}");
        assert_eq!([GpuFloat::lrint(x), GpuFloat::llrint(x)], [even as i64; 2], "x = {x}");
        assert_eq!([GpuFloat::lround(x), GpuFloat::llround(x)], [away as i64; 2], "x = {x}");
    }
}
