//! Tests the default reductions and scans on the empty input, on NaN and on zeros of both signs, with each operator, on
//! every device.

use gridstride::prelude::*;
use gridstride::reduce::ReduceElement;
use gridstride::scan::ScanElement;
use tests::{all_devices, devices_and_turns};

/// Numbers of elements: alone, in one vector, in one tile, and in several tiles and blocks.
const SIZES: [usize; 4] = [1, 3, 300, 4500];

/// A number type whose bits can be compared.
trait Bits: Copy + PartialEq + std::fmt::Debug {
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($type:ident)*) => {$(
        impl Bits for $type {
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }
    )*};
}

bits! { f16 bf16 f32 f64 }

fn assert_scans_nothing<T: ScanElement<O> + PartialEq + std::fmt::Debug, O: Operator<T>>(device: &Device, operator: O) {
    let nothing: [T; 0] = [];
    assert_eq!(device.scan_inclusive(&nothing, operator).unwrap(), nothing);
    assert_eq!(device.scan_exclusive(&nothing, operator).unwrap(), nothing);
}

fn assert_identity<T, O>(device: &Device, operator: O, identity: T)
where
    T: ReduceElement<O> + ScanElement<O> + PartialEq + std::fmt::Debug,
    O: Operator<T>,
{
    assert_eq!(device.reduce(&[] as &[T], operator).unwrap(), identity);
    assert_eq!(O::IDENTITY, identity);
    assert_scans_nothing::<T, O>(device, operator);
}

#[test]
fn an_empty_input_gives_the_identity_or_an_empty_scan() {
    macro_rules! integers {
        ($device:ident $($type:ident)*) => {$(
            assert_identity::<$type, Sum>(&$device, Sum, 0);
            assert_identity::<$type, Product>(&$device, Product, 1);
            assert_identity(&$device, Min, $type::MAX);
            assert_identity(&$device, Max, $type::MIN);
        )*};
    }
    macro_rules! floats {
        ($device:ident $($type:ident)*) => {$(
            assert_identity::<$type, Sum>(&$device, Sum, 0.0);
            assert!($device.reduce(&[] as &[$type], Sum).unwrap().is_sign_positive());
            assert_identity::<$type, Product>(&$device, Product, 1.0);
            assert_identity(&$device, Min, $type::INFINITY);
            assert_identity(&$device, Max, $type::NEG_INFINITY);
            assert_identity(&$device, Minimum, $type::INFINITY);
            assert_identity(&$device, Maximum, $type::NEG_INFINITY);
        )*};
    }
    for device in all_devices() {
        integers! { device i32 u32 i64 u64 }
        floats! { device f32 f64 }
        assert_identity(&device, Compose, Affine { factor: 1, offset: 0 });
        assert_scans_nothing::<f16, Sum>(&device, Sum);
        assert_scans_nothing::<bf16, Sum>(&device, Sum);
    }
}

/// Checks the scans of `x`. `prefixes` has the bits of the identity, and of the combination of the first 1, 2, …
/// elements.
fn assert_scans<T: ScanElement<O> + Bits, O: Operator<T>>(device: &Device, operator: O, x: &[T], prefixes: &[u64]) {
    let bits = |y: Vec<T>| y.into_iter().map(Bits::bits).collect::<Vec<_>>();
    let (first, last) = (&prefixes[..x.len()], &prefixes[1..]);
    assert_eq!(bits(device.scan_inclusive(x, operator).unwrap()), last, "inclusive scan of {x:?}");
    assert_eq!(bits(device.scan_exclusive(x, operator).unwrap()), first, "exclusive scan of {x:?}");
}

/// Checks the reduction and the scans of `x`. `combine` returns the combination of a prefix and the next element.
fn assert_combined<T, O>(device: &Device, operator: O, x: &[T], combine: fn(T, T) -> T)
where
    T: ReduceElement<O> + ScanElement<O> + Bits,
    O: Operator<T>,
{
    let mut prefixes = vec![O::IDENTITY];
    for &element in x {
        prefixes.push(combine(prefixes[prefixes.len() - 1], element));
    }
    let prefixes: Vec<u64> = prefixes.into_iter().map(Bits::bits).collect();
    assert_eq!(device.reduce(x, operator).unwrap().bits(), prefixes[x.len()], "reduction of {x:?}");
    assert_scans::<T, O>(device, operator, x, &prefixes);
}

/// The rules for extremes, written without the operators: numbers are in their total order, in which −0 < +0.
macro_rules! rules {
    ($($type:ident $module:ident $nan:literal;)*) => {$(
        mod $module {
            fn extreme(a: $type, b: $type, is_first: bool) -> $type {
                if a.total_cmp(&b).is_le() == is_first { a } else { b }
            }

            fn propagating(a: $type, b: $type, is_first: bool) -> $type {
                if a.is_nan() || b.is_nan() { $type::from_bits($nan) } else { extreme(a, b, is_first) }
            }

            pub fn min(prefix: $type, x: $type) -> $type {
                if x.is_nan() { prefix } else { extreme(prefix, x, true) }
            }

            pub fn max(prefix: $type, x: $type) -> $type {
                if x.is_nan() { prefix } else { extreme(prefix, x, false) }
            }

            pub fn minimum(prefix: $type, x: $type) -> $type {
                propagating(prefix, x, true)
            }

            pub fn maximum(prefix: $type, x: $type) -> $type {
                propagating(prefix, x, false)
            }
        }
    )*};
}

rules! {
    f32 rules_of_f32 0x7FFF_FFFF;
    f64 rules_of_f64 0x7FF8_0000_0000_0000;
}

macro_rules! extremes {
    ($($name:ident $type:ident $rules:ident;)*) => {$(
        #[test]
        fn $name() {
            for (device, turns) in devices_and_turns(300) {
                let check = |x: &[$type]| {
                    if turns.takes(x.len()) {
                        assert_combined(&device, Min, x, $rules::min);
                        assert_combined(&device, Max, x, $rules::max);
                        assert_combined(&device, Minimum, x, $rules::minimum);
                        assert_combined(&device, Maximum, x, $rules::maximum);
                    }
                };
                check(&[0.0, -0.0]);
                check(&[-0.0, 0.0]);
                // A NaN with a sign and other bits becomes the canonical one.
                check(&[2.5, -$type::from_bits($type::NAN.to_bits() | 5), 1.5]);
                for n in SIZES {
                    check(&vec![$type::NAN; n]);
                    // In a long vector, one place is enough.
                    for place in if n < 4500 { vec![0, n / 2, n - 1] } else { vec![n / 2] } {
                        for (one, others) in [
                            ($type::NAN, 3.0),
                            (-2.5, $type::NAN),
                            (-0.0, 0.0),
                            (0.0, -0.0),
                            ($type::INFINITY, $type::NEG_INFINITY),
                        ] {
                            let mut x = vec![others; n];
                            x[place] = one;
                            check(&x);
                        }
                    }
                }
            }
        }
    )*};
}

extremes! {
    extremes_of_f32_skip_or_propagate_nan_and_order_zeros f32 rules_of_f32;
    extremes_of_f64_skip_or_propagate_nan_and_order_zeros f64 rules_of_f64;
}

#[test]
fn both_rules_for_nan_have_names() -> Result<(), AlgorithmError> {
    for device in all_devices() {
        let x = [1.5, f32::NAN, -2.0];
        assert_eq!(device.reduce(&x, Min)?, -2.0);
        assert!(device.reduce(&x, Minimum)?.is_nan());
        assert_eq!(device.scan_inclusive(&x, Max)?, [1.5, 1.5, 1.5]);
        assert!(device.scan_inclusive(&x, Maximum)?[1..].iter().all(|y| y.is_nan()));
    }
    Ok(())
}

#[test]
fn sums_and_products_of_negative_zeros_have_their_sign() {
    for (device, turns) in devices_and_turns(300) {
        for n in SIZES.into_iter().filter(|&n| turns.takes(n)) {
            assert_combined(&device, Sum, &vec![-0.0_f32; n], |_, _| 0.0);
            assert_combined(&device, Sum, &vec![-0.0_f64; n], |_, _| 0.0);
            assert_combined(&device, Product, &vec![-0.0_f32; n], |prefix, x| prefix * x);
            assert_combined(&device, Product, &vec![-0.0_f64; n], |prefix, x| prefix * x);
            assert_scans(&device, Sum, &vec![-f16::ZERO; n], &vec![0; n + 1]);
            assert_scans(&device, Sum, &vec![-bf16::ZERO; n], &vec![0; n + 1]);
        }
    }
}

#[test]
fn a_nan_makes_every_sum_and_product_after_it_nan() {
    for (device, turns) in devices_and_turns(300) {
        for n in SIZES.into_iter().filter(|&n| turns.takes(n)) {
            for place in [0, n / 2, n - 1] {
                let mut x = vec![1.0_f32; n];
                x[place] = f32::NAN;
                assert!(device.reduce(&x, Sum).unwrap().is_nan() && device.reduce(&x, Product).unwrap().is_nan());
                let halves: Vec<f16> = x.iter().map(|&x| f16::from_f32(x)).collect();
                let sums = device.scan_inclusive(&x, Sum).unwrap();
                let halves = device.scan_inclusive(&halves, Sum).unwrap();
                for i in 0..n {
                    let is_after = i >= place;
                    assert_eq!((sums[i].is_nan(), halves[i].is_nan()), (is_after, is_after), "{n}, {place}: {i}");
                    assert!(is_after || (sums[i], halves[i].to_f32()) == ((i + 1) as f32, half(i + 1)));
                }
            }
        }
    }
}

/// Returns `n` rounded to `f16`.
fn half(n: usize) -> f32 {
    f16::from_f64(n as f64).to_f32()
}
