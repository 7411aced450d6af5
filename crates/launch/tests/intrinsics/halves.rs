//! Tests floats of 16 bits.

use cuda_std::{bf16, bf16x2, f16, f16x2};
use launch::{Error, LaunchConfig};

use super::kernels::halves::{self, OPERATIONS, PAIRS};
use super::{devices, two_devices};

/// Returns the 16-bit float nearest to `value`, found by a comparison with both neighbours. The device library uses
/// another algorithm.
fn nearest(value: f64, widen: impl Fn(u16) -> f64, infinity: u16) -> u16 {
    if value.is_nan() {
        return 0x7FFF;
    }
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    // Finds the greatest 16-bit float that is not above the magnitude.
    let (mut low, mut high) = (0_u16, infinity);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if widen(middle) <= magnitude { low = middle } else { high = middle }
    }
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    // The next value after the last one, at the same distance as the one before it.
    let above = if high == infinity { 2.0 * widen(low) - widen(low - 1) } else { widen(high) };
    let (down, up) = (magnitude - widen(low), above - magnitude);
    sign | if down < up || down == up && low % 2 == 0 { low } else { high }
}

fn words(count: usize) -> Vec<u32> {
    let scramble = |i: u64| (i ^ i >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (1..=count as u64).map(|i| (scramble(scramble(i)) >> 29) as u32).collect()
}

#[test]
fn every_operation_is_rounded_once() -> Result<(), Error> {
    const N: usize = 20_000;
    let x = words(2 * N);
    for device in two_devices() {
        let words = device.upload(&x)?;
        macro_rules! check {
            ($type:ident $kernel:ident $infinity:literal) => {{
                let mut out = device.zeroed::<u16>(OPERATIONS * N)?;
                device.launch(LaunchConfig::new(4, 256), halves::$kernel(words.view(), out.view_mut()))?;
                let widen = |bits: u16| f64::from($type::from_bits(bits).to_f32());
                let nearest = |value: f64| nearest(value, widen, $infinity);
                for (found, words) in out.download()?.chunks(OPERATIONS).zip(x.chunks(2)) {
                    let [a, b, c] = [words[0] as u16, (words[0] >> 16) as u16, words[1] as u16].map(widen);
                    let extreme = |value: f64| nearest(value);
                    let wide = f64::from_bits(u64::from(words[1]) << 32 | u64::from(words[0]));
                    let expected = [
                        nearest(a + b),
                        nearest(a - b),
                        nearest(a * b),
                        found[3],
                        nearest(a / b),
                        extreme(if a.is_nan() || b < a { b } else { a }),
                        extreme(if a.is_nan() || b > a { b } else { a }),
                        nearest(a.sqrt()),
                        nearest(f64::from(f32::from_bits(words[1]))),
                        nearest(wide),
                    ];
                    assert_eq!(found, expected, "{a} {b} {c}");
                    // The fused result is nearer to the sum in `f64` than both neighbours, up to `f64`'s own rounding.
                    let (sum, result) = (a.mul_add(b, c), widen(found[3]));
                    if result.is_finite() {
                        let magnitude = found[3] & 0x7FFF;
                        let ulp = (widen(magnitude + 1) - widen(magnitude))
                            .min(widen(magnitude) - widen(magnitude.max(1) - 1));
                        let next = widen(magnitude + 1) - widen(magnitude);
                        let slack = if next.is_finite() { next } else { ulp };
                        assert!(
                            (sum - result).abs() <= slack / 2.0 + sum.abs() * f64::EPSILON,
                            "{a}·{b} + {c}: {result}"
                        );
                    }
                }
            }};
        }
        check! { f16 half 0x7C00 }
        check! { bf16 brain 0x7F80 }
    }
    Ok(())
}

#[test]
fn pairs_are_both_numbers() -> Result<(), Error> {
    const N: usize = 3000;
    let x = words(3 * N);
    for device in two_devices() {
        let words = device.upload(&x)?;
        let mut out = device.zeroed::<u32>(PAIRS * N)?;
        device.launch(LaunchConfig::new(4, 256), halves::pairs(words.view(), out.view_mut()))?;
        for (found, words) in out.download()?.chunks(PAIRS).zip(x.chunks(3)) {
            let &[a, b, c] = words else { panic!("three words") };
            let floats = [a, b].map(f32::from_bits);
            let halves = floats.map(|x| u32::from(f16::from_f32(x).to_bits()));
            let brains = floats.map(|x| u32::from(bf16::from_f32(x).to_bits()));
            assert_eq!(found[8..], [halves, brains].map(|[low, high]| low | high << 16), "{floats:?}");
            for shift in [0, 16] {
                let [a, b, c] = [a, b, c].map(|word| (word >> shift) as u16);
                macro_rules! check {
                    ($type:ident $first:literal) => {{
                        let [a, b, c] = [a, b, c].map($type::from_bits);
                        let expected = [a + b, a - b, a * b, a.mul_add(b, c)].map($type::to_bits);
                        assert_eq!([0, 1, 2, 3].map(|k| (found[$first + k] >> shift) as u16), expected);
                    }};
                }
                check! { f16 0 }
                check! { bf16 4 }
            }
        }
    }
    Ok(())
}

#[test]
fn pairs_are_added_atomically() -> Result<(), Error> {
    for device in devices() {
        let mut halves = device.upload(&[f16x2::from_f32(1.0, 2.0); 2])?;
        let mut brains = device.upload(&[bf16x2::from_f32(1.0, 2.0)])?;
        device.launch(LaunchConfig::new(2, 40), halves::atomic_pairs(halves.view_mut(), brains.view_mut()))?;
        assert_eq!(halves.download()?, [f16x2::from_f32(41.0, 82.0), f16x2::from_f32(-19.0, 82.0)]);
        assert_eq!(brains.download()?, [bf16x2::from_f32(41.0, 82.0)]);
    }
    Ok(())
}
