//! Tests reduce on the empty input, NaN, infinities and both zeros, on every device.

use cuda_std::Ladder;
use gpu::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};
use gridstride::reduce::{ReduceRung, reduce};
use tests::all_devices;

#[test]
fn nothing_is_the_identity() {
    for device in all_devices() {
        for &kernel in ReduceRung::ALL {
            let nothing = device.upload::<f32>(&[]).unwrap();
            let sum = reduce(&device, kernel, &nothing, Sum).unwrap();
            assert_eq!(sum.to_bits(), 0.0_f32.to_bits(), "{kernel}");
        }
        let kernel = ReduceRung::GridStride;
        let (floats, integers) = (device.upload::<f64>(&[]).unwrap(), device.upload::<i64>(&[]).unwrap());
        assert_eq!(reduce(&device, kernel, &floats, Min).unwrap(), f64::INFINITY);
        assert_eq!(reduce(&device, kernel, &floats, Max).unwrap(), f64::NEG_INFINITY);
        assert_eq!(reduce(&device, kernel, &floats, Product).unwrap(), 1.0);
        assert_eq!(reduce(&device, kernel, &integers, Min).unwrap(), i64::MAX);
        assert_eq!(reduce(&device, kernel, &integers, Max).unwrap(), i64::MIN);
        let nothing = device.upload::<Affine>(&[]).unwrap();
        assert_eq!(reduce(&device, ReduceRung::Shuffle, &nothing, Compose).unwrap(), Compose::IDENTITY);
    }
}

/// Numbers of elements for which special values are the only elements, in a full chunk, in the rest after the chunks,
/// or in several blocks.
const SPECIAL_SIZES: [usize; 5] = [1, 31, 512, 1000, 8705];

macro_rules! special_values_in_extremes {
    ($($name:ident $type:ident;)*) => {$(
        #[test]
        fn $name() {
            let (least, greatest) = ($type::NEG_INFINITY, $type::INFINITY);
            for device in all_devices() {
                let of = |x: &[$type]| {
                    let x = device.upload(x).unwrap();
                    let kernel = ReduceRung::GridStride;
                    let [min, max] = [reduce(&device, kernel, &x, Min), reduce(&device, kernel, &x, Max)];
                    (min.unwrap(), max.unwrap())
                };
                for n in SPECIAL_SIZES {
                    let places = [0, n / 2, n - 1];
                    assert_eq!(of(&vec![$type::NAN; n]), (greatest, least), "NaN alone, {n}");
                    for place in places {
                        let mut x = vec![$type::NAN; n];
                        x[place] = -2.5;
                        assert_eq!(of(&x), (-2.5, -2.5), "a number among NaNs, {n}, {place}");
                        let mut x = vec![3.0; n];
                        x[place] = $type::NAN;
                        let expected = if n == 1 { (greatest, least) } else { (3.0, 3.0) };
                        assert_eq!(of(&x), expected, "a NaN among numbers, {n}, {place}");
                        x[place] = least;
                        assert_eq!(of(&x).0, least, "−∞, {n}, {place}");
                        x[place] = greatest;
                        assert_eq!(of(&x).1, greatest, "+∞, {n}, {place}");
                        let mut x = vec![0.0; n];
                        x[place] = -0.0;
                        let (min, max) = of(&x);
                        assert!(min == 0.0 && min.is_sign_negative(), "−0 < +0, {n}, {place}");
                        assert_eq!(max.is_sign_negative(), n == 1, "−0 < +0, {n}, {place}");
                    }
                }
            }
        }
    )*};
}

special_values_in_extremes! {
    special_values_have_an_order_in_f32 f32;
    special_values_have_an_order_in_f64 f64;
}

#[test]
fn special_values_come_through_every_sum() {
    for device in all_devices() {
        for &kernel in ReduceRung::ALL {
            let sum = |x: &[f32]| reduce(&device, kernel, &device.upload(x).unwrap(), Sum).unwrap();
            for n in SPECIAL_SIZES {
                // The sum starts with +0, so the sum of −0 alone is +0.
                assert_eq!(sum(&vec![-0.0; n]).to_bits(), 0.0_f32.to_bits(), "{kernel}, {n}: −0 alone");
                for place in [0, n / 2, n - 1] {
                    let mut x = vec![1.0; n];
                    x[place] = f32::NAN;
                    assert!(sum(&x).is_nan(), "{kernel}, {n}, {place}: NaN");
                    x[place] = f32::NEG_INFINITY;
                    assert_eq!(sum(&x), f32::NEG_INFINITY, "{kernel}, {n}, {place}");
                    if n > 1 {
                        x[(place + 1) % n] = f32::INFINITY;
                        assert!(sum(&x).is_nan(), "{kernel}, {n}, {place}: ∞ − ∞");
                    }
                }
            }
        }
        let product = |x: &[f64]| reduce(&device, ReduceRung::GridStride, &device.upload(x).unwrap(), Product).unwrap();
        assert_eq!(product(&[-2.0, f64::INFINITY, 0.5]), f64::NEG_INFINITY);
        assert!(product(&[0.0, f64::INFINITY]).is_nan() && product(&[f64::NAN, 1.0]).is_nan());
    }
}
