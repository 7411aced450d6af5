//! Compares every rung of saxpy with the reference, on every device.

use cuda_std::{Global, GlobalMut, GpuFloat, Ladder};
use gpu::saxpy::{saxpy_grid_stride, saxpy_monolithic, saxpy_unaligned, saxpy_unrolled, saxpy_vectorised};
use gridstride::error::AlgorithmError;
use gridstride::numbers::Number;
use gridstride::saxpy::{SaxpyRung, saxpy, saxpy_views};
use launch::{Device, Error, LaunchConfig};
use proptest::prelude::*;
use rand::Rng;
use tests::{all_devices, devices_and_turns, random, random_floats, simulated};
use workbench::saxpy::reference::{self, Reference};

/// Numbers of elements: 0 and 1; sizes near the warp, the block, an iteration of each rung's loop, and 2^20; primes.
/// For vectors of 2 and 4 elements, every number of remaining elements occurs.
const SIZES: [usize; 22] = [
    0,
    1,
    2,
    3,
    5,
    31,
    32,
    33,
    127,
    255,
    256,
    257,
    511,
    513,
    1009,
    2047,
    2048,
    2049,
    16_387,
    65_537,
    (1 << 20) - 1,
    (1 << 20) + 1,
];

fn vector<T: Number>(n: usize, seed: u64) -> Vec<T> {
    let mut random = random(seed);
    (0..n).map(|_| T::from_random(random.next_u64())).collect()
}

#[track_caller]
fn assert_close<T: Reference>(found: &[T], a: T, x: &[T], y: &[T], what: impl std::fmt::Display) {
    assert_eq!(found.len(), y.len());
    for i in 0..y.len() {
        let (expected, bound) = (reference::element(a, x[i], y[i]), reference::bound(a, x[i], y[i]));
        let error = (found[i].to_f64() - expected).abs();
        assert!(
            error <= bound,
            "{what}, element {i}: {} instead of {expected}, off by {error:e} > {bound:e}",
            found[i]
        );
    }
}

fn run<T: Reference>(device: &Device, rung: SaxpyRung, a: T, x: &[T], y: &[T]) -> Vec<T> {
    let dx = device.upload(x).unwrap();
    let mut dy = device.upload(y).unwrap();
    saxpy(device, rung, a, &dx, &mut dy).unwrap();
    dy.download().unwrap()
}

fn conforms<T: Reference>(rung: SaxpyRung, a: T) {
    for (device, turns) in devices_and_turns(2049) {
        for n in SIZES.into_iter().filter(|&n| turns.takes(n)) {
            let (x, y) = (vector(n, 1), vector(n, 2));
            assert_close(&run(&device, rung, a, &x, &y), a, &x, &y, format!("{rung}, {n} of {}", T::TYPE));
        }
    }
}

macro_rules! suite {
    ($($test:ident: $rung:ident for $($type:ident)*;)*) => {
        $(#[test] fn $test() { $(conforms::<$type>(SaxpyRung::$rung, -1.7);)* })*

        #[test]
        fn every_rung_is_in_the_suite() {
            assert_eq!(SaxpyRung::ALL, [$(SaxpyRung::$rung),*]);
        }
    };
}

suite! {
    monolithic_conforms: Monolithic for f32;
    grid_stride_conforms: GridStride for f32;
    unrolled_2_conforms: Unrolled2 for f32;
    unrolled_4_conforms: Unrolled4 for f32;
    unrolled_8_conforms: Unrolled8 for f32;
    vectorised_conforms: Vectorised for f32 f64;
}

/// Tests grids of several shapes. One has a single thread, and one has 32 blocks for each multiprocessor of an H200.
#[test]
fn a_grid_of_any_shape_gives_the_same() {
    let devices: Vec<_> = devices_and_turns(1000).collect();
    // Three blocks of 64 threads process 768 elements at once. 772 elements are one vector more.
    for n in [3, 772, 1000, 10_007] {
        let (a, x, y) = (0.3_f32, random_floats(n, 3), random_floats(n, 4));
        let expected: Vec<f32> = (0..n).map(|i| a.mul_add(x[i], y[i])).collect();
        for (device, _) in devices.iter().filter(|(_, turns)| turns.takes(n)) {
            let dx = device.upload(&x).unwrap();
            for (grid, block) in [(1, 1), (1, 32), (3, 64), (40, 256), (7, 500), (200, 512), (32 * 132, 32)] {
                let config = LaunchConfig::new(grid, block);
                macro_rules! check {
                    ($($kernel:expr;)*) => {$({
                        let mut dy = device.upload(&y).unwrap();
                        device.launch(config, $kernel(a, dx.view(), dy.view_mut())).unwrap();
                        let what = stringify!($kernel);
                        assert_eq!(dy.download().unwrap(), expected, "{what}, {n} elements, {grid} blocks of {block}");
                    })*};
                }
                check! {
                    saxpy_grid_stride;
                    saxpy_unrolled::<f32, 2>;
                    saxpy_unrolled::<f32, 4>;
                    saxpy_unrolled::<f32, 8>;
                    saxpy_vectorised::<f32, 4>;
                    saxpy_unaligned::<f32, 4>;
                }
            }
        }
    }
}

/// Tests special values. Every rung must compute an element in the same way within a vector and in the tail.
#[test]
fn special_values_pass_through() {
    let special =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), -1.5];
    let (x, y): (Vec<f32>, Vec<f32>) = special.iter().flat_map(|&x| special.iter().map(move |&y| (x, y))).unzip();
    for device in all_devices() {
        for &rung in SaxpyRung::ALL {
            for a in [2.0, -0.0, 0.5, f32::INFINITY, f32::MAX] {
                let found = run(&device, rung, a, &x, &y);
                for i in 0..x.len() {
                    let expected = a.mul_add(x[i], y[i]);
                    let same = found[i].to_bits() == expected.to_bits() || (found[i].is_nan() && expected.is_nan());
                    assert!(same, "{rung}: {a:e} * {:e} + {:e} = {:e}, not {expected:e}", x[i], y[i], found[i]);
                }
            }
        }
    }
}

/// Tests views whose addresses are not aligned to vectors.
#[test]
fn views_that_start_anywhere_are_taken() {
    for device in all_devices() {
        for (start_x, start_y) in [(0, 1), (1, 0), (1, 1), (2, 2), (3, 1), (4, 4)] {
            let (n, a) = (1000, 0.7_f32);
            let (x, y) = (random_floats(n + start_x, 5), random_floats(n + start_y, 6));
            let dx = device.upload(&x).unwrap();
            let mut dy = device.upload(&y).unwrap();
            let (whole_x, whole_y) = (dx.view(), dy.view_mut());
            // SAFETY: the buffers have `n` elements from there on and outlive the launch.
            let (part_x, part_y) = unsafe {
                (
                    Global::from_raw_parts(whole_x.as_ptr().add(start_x), n, whole_x.device()),
                    GlobalMut::from_raw_parts(whole_y.as_ptr().add(start_y), n, whole_y.device()),
                )
            };
            device.launch(LaunchConfig::new(2, 64), saxpy_vectorised::<f32, 4>(a, part_x, part_y)).unwrap();
            let found = dy.download().unwrap();
            assert_eq!(found[..start_y], y[..start_y]);
            let expected: Vec<f32> = (0..n).map(|i| a.mul_add(x[start_x + i], y[start_y + i])).collect();
            assert_eq!(found[start_y..], expected, "from {start_x} and {start_y}");
        }
    }
}

/// Tests views that start at every position in a vector, for both arguments, with each of `lengths`. The kernel must
/// not write outside the view.
fn views_conform<T: Reference>(rung: SaxpyRung, lengths: impl Iterator<Item = usize> + Clone) {
    let places = 16 / size_of::<T>();
    let a = T::from_f64(-0.7);
    for device in all_devices() {
        for (from, to) in (0..places).flat_map(|from| (0..places).map(move |to| (from, to))) {
            for n in lengths.clone() {
                let (x, y) = (vector::<T>(from + n, 5), vector::<T>(to + n + 1, 6));
                let (dx, mut dy) = (device.upload(&x).unwrap(), device.upload(&y).unwrap());
                saxpy_views(&device, rung, a, dx.view().part(from, n), dy.view_mut().part(to, n)).unwrap();
                let mut expected = y.clone();
                for i in 0..n {
                    expected[to + i] = GpuFloat::mul_add(a, x[from + i], y[to + i]);
                }
                assert_eq!(dy.download().unwrap(), expected, "{rung}, {n} of {} from {from} to {to}", T::TYPE);
            }
        }
    }
}

#[test]
fn views_of_f32_may_begin_anywhere() {
    views_conform::<f32>(SaxpyRung::Vectorised, (0..=19).chain([40, 511, 517, 1025]));
    views_conform::<f32>(SaxpyRung::GridStride, [37].into_iter());
}

#[test]
fn views_of_f64_may_begin_anywhere() {
    views_conform::<f64>(SaxpyRung::Vectorised, (0..=9).chain([40, 255, 259, 513]));
}

#[test]
fn lengths_must_match() {
    let device = simulated(0);
    let x = device.upload(&[1.0_f32; 3]).unwrap();
    let mut y = device.upload(&[1.0_f32; 4]).unwrap();
    for &rung in SaxpyRung::ALL {
        let error = saxpy(&device, rung, 1.0, &x, &mut y).unwrap_err();
        assert!(matches!(error, AlgorithmError::Launch(Error::LengthMismatch { .. })), "{error}");
    }
}

#[test]
fn a_rung_that_is_not_built_for_doubles_says_so() {
    let device = simulated(0);
    let x = device.upload(&[1.0_f64; 3]).unwrap();
    let mut y = device.upload(&[1.0_f64; 3]).unwrap();
    for &rung in SaxpyRung::ALL {
        match saxpy(&device, rung, 1.0, &x, &mut y) {
            Ok(()) => assert_eq!(rung, SaxpyRung::Vectorised),
            Err(error) => assert!(error.to_string().contains("does not offer f64: it offers f32"), "{error}"),
        }
    }
}

#[test]
fn a_short_input_is_a_fault_at_the_kernels_line() {
    let device = simulated(0);
    let x = device.upload(&[1.0; 3]).unwrap();
    let mut y = device.upload(&[1.0; 40]).unwrap();
    let call = saxpy_monolithic(1.0, x.view(), y.view_mut());
    let message = device.launch(LaunchConfig::new(1, 64), call).unwrap_err().to_string();
    for part in ["saxpy_monolithic", "monolithic.rs:", "3"] {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
    // Rungs with unchecked accesses must reject views of different lengths.
    let call = saxpy_vectorised::<f32, 4>(1.0, x.view(), y.view_mut());
    let message = device.launch(LaunchConfig::new(1, 64), call).unwrap_err().to_string();
    assert!(message.contains("vectorised.rs:"), "{message}");
    let call = saxpy_unaligned::<f32, 4>(1.0, x.view(), y.view_mut());
    let message = device.launch(LaunchConfig::new(1, 64), call).unwrap_err().to_string();
    assert!(message.contains("unaligned.rs:"), "{message}");
    let call = saxpy_unrolled::<f32, 2>(1.0, x.view(), y.view_mut());
    let message = device.launch(LaunchConfig::new(1, 64), call).unwrap_err().to_string();
    assert!(message.contains("unrolled.rs:"), "{message}");
}

#[test]
fn a_short_input_is_reported_as_the_page_shows() {
    let device = simulated(0);
    let x = device.upload(&[1.0; 1000]).unwrap();
    let mut y = device.upload(&[1.0; 1024]).unwrap();
    let call = saxpy_grid_stride(2.0, x.view(), y.view_mut());
    let message = device.launch(LaunchConfig::new(4, 256), call).unwrap_err().to_string();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(include_str!("../../../docs/check.md")).contains(&words(&message)), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_rung_gives_the_same(n in 0_usize..5000, a in -2.0_f32..2.0, seed in any::<u64>()) {
        let device = simulated(seed);
        let (x, y) = (random_floats(n, seed), random_floats(n, !seed));
        let expected: Vec<f32> = (0..n).map(|i| a.mul_add(x[i], y[i])).collect();
        for &rung in SaxpyRung::ALL {
            prop_assert_eq!(&run(&device, rung, a, &x, &y), &expected, "{}", rung);
        }
    }
}
