//! Tests scans of 16-bit floats on every device: the sums are in `f32`, and each result is rounded once.

use cuda_std::Ladder;
use gridstride::numbers::Number;
use gridstride::prelude::*;
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner, scan, tile};
use tests::{devices, devices_and_turns, gpu, random_floats, simulated};
use workbench::scan::reference;

const KINDS: [ScanKind; 2] = [ScanKind::Inclusive, ScanKind::Exclusive];

fn scanned<T: ScanElement<Sum>>(device: &Device, kind: ScanKind, x: &[T]) -> Vec<T>
where
    Sum: Operator<T>,
{
    match kind {
        ScanKind::Inclusive => device.scan_inclusive(x, Sum),
        ScanKind::Exclusive => device.scan_exclusive(x, Sum),
    }
    .unwrap()
}

/// Returns `n` whole numbers that both types have, whose sums are exact in `f32` and seldom in the types.
fn whole_numbers<T: Number>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64((i * 37 % 101) as f64 - 49.0)).collect()
}

/// Returns the exact prefix sums of `x`, each rounded once.
fn rounded_once<T: Number>(kind: ScanKind, x: &[T]) -> Vec<T> {
    let mut sum = 0.0;
    let prefix = |x: &T| {
        let before = sum;
        sum += x.to_f64();
        T::from_f64(if kind == ScanKind::Inclusive { sum } else { before })
    };
    x.iter().map(prefix).collect()
}

fn assert_rounded_once<T: Number + ScanElement<Sum>>(device: &Device, n: usize)
where
    Sum: Operator<T>,
{
    let x = whole_numbers::<T>(n);
    for kind in KINDS {
        assert!(scanned(device, kind, &x) == rounded_once(kind, &x), "{} of {n}, {kind}", T::TYPE);
    }
}

/// Numbers of elements around a vector, a chunk, and one and two tiles of each size. The first tiles have 4096
/// elements.
const SIZES: [usize; 17] = [0, 1, 2, 7, 8, 9, 255, 256, 257, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 10_007];

#[test]
fn each_sum_is_rounded_once() {
    assert_eq!(tile(ScanRung::LookBack, 1, 2), 4096);
    for (device, turns) in devices_and_turns(4097) {
        for n in SIZES.into_iter().filter(|&n| turns.takes(n)) {
            assert_rounded_once::<f16>(&device, n);
            assert_rounded_once::<bf16>(&device, n);
        }
    }
}

#[test]
fn larger_tiles_are_scanned_too() {
    // Threads load 4 vectors from 2¹⁷ elements on, and 8 from 2¹⁹ on.
    let [n, larger] = [(1 << 17) + 8193, (1 << 19) + 16_385];
    for device in [Some(simulated(0)), gpu()].into_iter().flatten() {
        assert_rounded_once::<bf16>(&device, n);
        let x = whole_numbers::<f16>(larger);
        assert!(scanned(&device, ScanKind::Exclusive, &x) == rounded_once(ScanKind::Exclusive, &x));
    }
}

#[test]
fn random_sums_are_within_their_bounds() {
    fn check<T: Number + ScanElement<Sum>>(device: &Device, n: usize)
    where
        Sum: Operator<T>,
    {
        let x: Vec<T> = random_floats(n, 7).into_iter().map(|x| T::from_f64(x.into())).collect();
        for kind in KINDS {
            let found = scanned(device, kind, &x);
            let deviation = reference::compare_sums(ScanRung::LookBack, kind, |i| x[i], &found);
            assert!(deviation.wrong.is_none(), "{} of {n}, {kind}: {deviation:?}", T::TYPE);
        }
    }
    for device in devices() {
        check::<f16>(&device, 30_011);
        check::<bf16>(&device, 30_011);
    }
}

/// Tests views that begin at any element, and that the scan writes nothing beside its view.
#[test]
fn views_may_begin_anywhere() {
    let n = 5003;
    for (device, turns) in devices_and_turns(n) {
        for (from, to) in [(0, 0), (1, 1), (3, 2), (0, 5), (8, 16), (4, 4)].into_iter().filter(|_| turns.takes(n)) {
            let x = whole_numbers::<f16>(from + n);
            let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed::<f16>(to + n + 1).unwrap());
            let mut scanner = Scanner::<f16, Sum>::new(&device, ScanRung::LookBack, n).unwrap();
            for kind in KINDS {
                let (x_part, y_part) = (dx.view().part(from, n), dy.view_mut().part(to, n));
                scanner.scan_views(device.queue(), kind, x_part, y_part).unwrap();
                let y = dy.download().unwrap();
                assert!(y[to..to + n] == rounded_once(kind, &x[from..]), "{kind}, from {from} to {to}");
                assert!(y[..to].iter().chain(&y[to + n..]).all(|&y| y == f16::ZERO), "{kind}, beside {to}");
            }
        }
    }
}

#[test]
fn halves_are_added_in_single_precision() -> Result<(), AlgorithmError> {
    for device in devices() {
        // In `f16`, 2048 + 1 is 2048.
        let x = [2048.0, 1.0, 1.0, 1.0, -2048.0].map(f16::from_f32);
        let sums = device.scan_inclusive(&x, Sum)?;
        assert_eq!(sums, [2048.0, 2048.0, 2050.0, 2052.0, 3.0].map(f16::from_f32));
        // A prefix may leave the range of `f16` and return.
        let x = [f16::MAX, f16::MAX, -f16::MAX, f16::INFINITY, f16::ONE];
        let sums = device.scan_inclusive(&x, Sum)?;
        assert_eq!(sums[..4], [f16::MAX, f16::INFINITY, f16::MAX, f16::INFINITY]);
        let sums = device.scan_exclusive(&device.upload(&[bf16::ONE; 300])?, Sum)?.download()?;
        assert_eq!((sums[0], sums[257].to_f32(), sums[299].to_f32()), (bf16::ZERO, 256.0, 300.0));
    }
    Ok(())
}

#[test]
fn other_rungs_name_what_they_offer() {
    let device = simulated(0);
    let (x, mut y) = (device.upload(&[f16::ONE; 3]).unwrap(), device.alloc(3).unwrap());
    for rung in [ScanRung::Naive, ScanRung::Pipelined] {
        let error = scan(&device, rung, ScanKind::Inclusive, &x, &mut y, Sum).unwrap_err().to_string();
        let expected = format!("scan's rung {} does not offer sum of f16: it offers sum", rung.name());
        assert!(error.starts_with(&expected), "{error}");
    }
}
