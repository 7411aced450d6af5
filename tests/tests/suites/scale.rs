//! Compares every rung of scale with the reference, on every device.

use cuda_std::{Global, GlobalMut, Ladder};
use gpu::scale::{scale_grid, scale_one_block, scale_vectorised};
use gridstride::error::AlgorithmError;
use gridstride::numbers::Number;
use gridstride::scale::{ScaleElement, ScaleRung, scale, scale_views};
use launch::{Device, Error, LaunchConfig};
use proptest::prelude::*;
use rand::Rng;
use tests::{all_devices, devices_and_turns, random, simulated};
use workbench::scale::reference::{self, Product};

/// Numbers of elements that one block can process: 0 and 1, sizes near the warp and several blocks, and primes.
const SMALL_SIZES: [usize; 15] = [0, 1, 2, 31, 32, 33, 63, 127, 255, 256, 257, 512, 1009, 1023, 1024];

/// Numbers of elements that need several blocks: sizes near an iteration of the simulator's grid, and near 2^20.
const LARGE_SIZES: [usize; 7] = [1025, 8191, 8193, 16_385, 65_537, (1 << 20) - 1, (1 << 20) + 1];

fn vector<T: Number>(n: usize, seed: u64) -> Vec<T> {
    let mut random = random(seed);
    (0..n).map(|_| T::from_random(random.next_u64())).collect()
}

fn run<T: ScaleElement>(device: &Device, rung: ScaleRung, s: T, x: &[T]) -> Vec<T> {
    let dx = device.upload(x).unwrap();
    let mut dy = device.upload(&vector(x.len(), 99)).unwrap();
    scale(device, rung, s, &dx, &mut dy).unwrap();
    dy.download().unwrap()
}

fn conforms(rung: ScaleRung, sizes: &[usize]) {
    for (device, turns) in devices_and_turns(8193) {
        for &n in sizes.iter().filter(|&&n| turns.takes(n)) {
            let x = vector::<f32>(n, 1);
            assert_eq!(run(&device, rung, -1.7, &x), reference::scale(-1.7, &x), "{rung}, f32, {n}");
            let x = vector::<i32>(n, 2);
            let s = 0x1234_5677;
            assert_eq!(run(&device, rung, s, &x), reference::scale(s, &x), "{rung}, i32, {n}");
        }
    }
}

#[test]
fn one_block_conforms() {
    conforms(ScaleRung::OneBlock, &SMALL_SIZES);
}

#[test]
fn grid_conforms() {
    conforms(ScaleRung::Grid, &[&SMALL_SIZES[..], &LARGE_SIZES[..]].concat());
}

#[test]
fn vectorised_conforms() {
    conforms(ScaleRung::Vectorised, &[&SMALL_SIZES[..], &LARGE_SIZES[..]].concat());
}

/// Tests views that start at any element. The kernel accesses 16 bytes at once if both views are aligned to 16 bytes.
/// Otherwise it accesses single elements.
#[test]
fn parts_that_are_aligned_to_elements_alone_are_scaled() {
    let x = vector::<i32>(80, 4);
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        for (start_x, start_y, n) in [(0, 0, 0), (1, 0, 64), (0, 3, 64), (1, 1, 70), (4, 8, 67), (2, 6, 5)] {
            let mut dy = device.upload(&[7; 80]).unwrap();
            let (whole_x, whole_y) = (dx.view(), dy.view_mut());
            // SAFETY: the views are parts of the buffers, and the buffers outlive them.
            let (part_x, part_y) = unsafe {
                (
                    Global::from_raw_parts(whole_x.as_ptr().add(start_x), n, whole_x.device()),
                    GlobalMut::from_raw_parts(whole_y.as_ptr().add(start_y), n, whole_y.device()),
                )
            };
            device.launch(LaunchConfig::new(2, 32), scale_vectorised::<i32, 4>(-3, part_x, part_y)).unwrap();
            let mut expected = [7; 80];
            expected[start_y..start_y + n].copy_from_slice(&reference::scale(-3, &x[start_x..start_x + n]));
            assert_eq!(dy.download().unwrap(), expected, "{start_x}, {start_y}, {n}");
        }
    }
}

/// Tests views that start at every position in a vector, for both arguments, with lengths near whole vectors and blocks
/// of vectors. The kernel must not write outside the view.
#[test]
fn views_may_begin_anywhere() {
    for device in all_devices() {
        for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))) {
            for (rung, n) in
                (0..=19).chain([40, 511, 517, 1025]).map(|n| (ScaleRung::Vectorised, n)).chain([(ScaleRung::Grid, 37)])
            {
                let x = vector::<i32>(from + n, 4);
                let (dx, mut dy) = (device.upload(&x).unwrap(), device.upload(&vec![7; to + n + 1]).unwrap());
                scale_views(&device, rung, -3, dx.view().part(from, n), dy.view_mut().part(to, n)).unwrap();
                let mut expected = vec![7; to + n + 1];
                expected[to..to + n].copy_from_slice(&reference::scale(-3, &x[from..]));
                assert_eq!(dy.download().unwrap(), expected, "{rung}, {n} from {from} to {to}");
            }
        }
    }
}

#[test]
fn a_grid_of_any_shape_gives_the_same() {
    let x = vector::<i32>(10_007, 3);
    let expected = reference::scale(-3, &x);
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        for (grid, block) in [(1, 1), (1, 32), (3, 64), (40, 256), (7, 1000), (200, 1024)] {
            let mut dy = device.zeroed::<i32>(x.len()).unwrap();
            device.launch(LaunchConfig::new(grid, block), scale_grid(-3, dx.view(), dy.view_mut())).unwrap();
            assert_eq!(dy.download().unwrap(), expected, "{grid} blocks of {block}");
        }
    }
}

#[test]
fn a_block_larger_than_the_vector_writes_no_further() {
    for device in all_devices() {
        let dx = device.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
        let mut dy = device.zeroed::<f32>(3).unwrap();
        device.launch(LaunchConfig::new(1, 1024), scale_one_block(2.0, dx.view(), dy.view_mut())).unwrap();
        assert_eq!(dy.download().unwrap(), [2.0, 4.0, 6.0]);
    }
}

#[test]
fn special_values_are_products_too() {
    let floats = [f32::NAN, f32::INFINITY, -0.0, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::from_bits(3)];
    let integers = [i32::MIN, i32::MAX, -1, 0, 1];
    for device in all_devices() {
        for &rung in ScaleRung::ALL {
            for s in [2.0, -0.5, 0.0, f32::INFINITY] {
                let found = run(&device, rung, s, &floats);
                for (found, expected) in found.iter().zip(reference::scale(s, &floats)) {
                    let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                    assert!(same, "{rung}, {s}: {found:e} instead of {expected:e}");
                }
            }
            for s in [i32::MIN, i32::MAX, -1, 2] {
                assert_eq!(run(&device, rung, s, &integers), reference::scale(s, &integers), "{rung}, {s}");
            }
        }
    }
}

#[test]
fn one_block_says_how_many_it_takes() {
    let device = simulated(0);
    let x = device.zeroed::<f32>(1025).unwrap();
    let mut y = device.zeroed::<f32>(1025).unwrap();
    let error = scale(&device, ScaleRung::OneBlock, 2.0, &x, &mut y).unwrap_err();
    assert!(matches!(error, AlgorithmError::NotBuilt { .. }), "{error}");
    for part in ["one_block", "1025", "at most 1024", "grid"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
}

#[test]
fn lengths_must_match() {
    let device = simulated(0);
    let x = device.upload(&[1, 2, 3]).unwrap();
    for len in [0, 2, 4] {
        let mut y = device.zeroed::<i32>(len).unwrap();
        for &rung in ScaleRung::ALL {
            let error = scale(&device, rung, 2, &x, &mut y).unwrap_err();
            assert!(matches!(error, AlgorithmError::Launch(Error::LengthMismatch { .. })), "{error}");
            assert!(error.to_string().contains(&format!("buffer has {len} elements")), "{error}");
        }
    }
}

fn agrees<T: ScaleElement + Product>(n: usize, seed: u64) -> Result<(), TestCaseError> {
    let (device, x) = (simulated(seed), vector::<T>(n, seed));
    let s = T::from_random(seed.rotate_left(17));
    let expected = reference::scale(s, &x);
    prop_assert_eq!(&run(&device, ScaleRung::Grid, s, &x), &expected);
    prop_assert_eq!(&run(&device, ScaleRung::Vectorised, s, &x), &expected);
    if n <= 1024 {
        prop_assert_eq!(&run(&device, ScaleRung::OneBlock, s, &x), &expected);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_vector_times_any_number(n in 0_usize..3000, seed in any::<u64>()) {
        agrees::<f32>(n, seed)?;
        agrees::<i32>(n, seed)?;
    }
}
