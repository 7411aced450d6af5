//! Elements of 1 to 64 bytes: reductions and scans agree with a plain fold, and sorts with the standard library's, in
//! the simulator and on a GPU.
use std::fmt::Debug;

use gridstride::merge_sort::{Compare, MergeSortElement};
use gridstride::prelude::*;
use gridstride::reduce::{ReduceElement, Reducer, default_rung};
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner};
use own_type_kernels::sizes::*;

/// Returns some of the devices that check the kernels, and a GPU if there is one.
fn devices() -> impl Iterator<Item = Device> {
    let modules = [gridstride::MODULES, launch::include_ptx!("own_type_kernels")].concat().leak();
    let device = Device::open(DeviceChoice::Auto, modules).unwrap();
    launch::checked_devices().step_by(3).chain(Some(device).filter(|device| !device.is_simulated()))
}

/// Returns lengths around the sizes of warps, blocks and tiles.
fn lengths(device: &Device, bytes: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, 2, 31, 33, 255, 257, 16_384 / bytes - 1, 16_384 / bytes + 1, 2_003, 4_099];
    if !device.is_simulated() {
        lengths.extend([65_537, (1 << 20) + 1, 12_345_679]);
    }
    lengths
}

fn samples<T: Sample>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::sample(i as u32)).collect()
}

fn reduces<T: Sample + ReduceElement<O> + PartialEq + Debug, O: Operator<T>>() {
    for device in devices() {
        for n in lengths(&device, size_of::<T>()) {
            let elements = samples::<T>(n + 3);
            let x = device.upload(&elements).unwrap();
            let mut reducer = Reducer::<T, O>::new(&device, default_rung::<T, O>(), n).unwrap();
            for first in [0, 1, 3] {
                let expected = elements[first..first + n].iter().fold(O::IDENTITY, |all, &x| O::combine(all, x));
                let result = reducer.run_view(device.queue(), x.view().part(first, n)).unwrap();
                assert_eq!(result.download().unwrap(), [expected], "{n} elements from {first} on, {}", device.name());
            }
        }
    }
}

fn scans<T: Sample + ScanElement<O> + PartialEq + Debug, O: Operator<T>>() {
    for device in devices() {
        let rungs = [ScanRung::LookBack, ScanRung::Pipelined].into_iter();
        for rung in rungs.filter(|&rung| gridstride::scan::check::<T, O>(rung, 1).is_ok()) {
            for n in lengths(&device, size_of::<T>()) {
                let elements = samples::<T>(n + 3);
                let (x, mut y) = (device.upload(&elements).unwrap(), device.alloc::<T>(n).unwrap());
                let mut scanner = Scanner::<T, O>::new(&device, rung, n).unwrap();
                for (kind, first) in [(ScanKind::Inclusive, 0), (ScanKind::Exclusive, 1)] {
                    let mut all = O::IDENTITY;
                    let inclusive = elements[first..first + n].iter().map(|&x| {
                        let before = all;
                        all = O::combine(all, x);
                        if kind == ScanKind::Inclusive { all } else { before }
                    });
                    let expected: Vec<_> = inclusive.collect();
                    scanner.scan_views(device.queue(), kind, x.view().part(first, n), y.view_mut()).unwrap();
                    let result = y.download().unwrap();
                    let wrong = result.iter().zip(&expected).position(|(result, expected)| result != expected);
                    assert_eq!(wrong, None, "{kind} {rung} of {n} elements from {first} on, {}", device.name());
                }
            }
        }
    }
}

fn sorts<T: Sample + MergeSortElement<Rough> + PartialEq>()
where
    Rough: Compare<T>,
{
    for device in devices() {
        for n in lengths(&device, size_of::<T>()) {
            let elements = samples::<T>(n);
            let mut expected = elements.clone();
            expected.sort_by(|&a, &b| Rough.is_less(b, a).cmp(&Rough.is_less(a, b)));
            let sorted = device.sorted_by(&elements, Rough).unwrap();
            assert!(sorted == expected, "{n} elements of {} bytes, {}", size_of::<T>(), device.name());
        }
    }
}

#[test]
fn sorts_every_size() {
    sorts::<Bytes1>();
    sorts::<Bytes4>();
    sorts::<Bytes12>();
    sorts::<Bytes16>();
    sorts::<Bytes24>();
    sorts::<Bytes64>();
}

macro_rules! tests {
    ($($type:ident $reduces:ident $scans:ident;)*) => {$(
        #[test]
        fn $reduces() {
            reduces::<$type, Total>();
            reduces::<$type, Then>();
        }

        #[test]
        fn $scans() {
            scans::<$type, Then>();
        }
    )*};
}

tests! {
    Bytes1 reduces_1_byte scans_1_byte;
    Bytes2 reduces_2_bytes scans_2_bytes;
    Bytes4 reduces_4_bytes scans_4_bytes;
    Bytes8 reduces_8_bytes scans_8_bytes;
    Bytes12 reduces_12_bytes scans_12_bytes;
    Bytes16 reduces_16_bytes scans_16_bytes;
    Bytes24 reduces_24_bytes scans_24_bytes;
    Bytes32 reduces_32_bytes scans_32_bytes;
    Bytes48 reduces_48_bytes scans_48_bytes;
    Bytes64 reduces_64_bytes scans_64_bytes;
}

#[test]
fn scans_by_commutative_operators() {
    scans::<Bytes1, Total>();
    scans::<Bytes12, Total>();
}

#[test]
fn a_rung_that_is_not_built_says_which_one_is() {
    let device = devices().next().unwrap();
    let message = |result: Result<_, AlgorithmError>| result.err().unwrap().to_string();
    let rung = gridstride::reduce::ReduceRung::GridStride;
    assert_eq!(
        message(Reducer::<Bytes12, Then>::new(&device, rung, 3).map(|_| ())),
        "reduce's rung grid_stride does not offer Then of [u32; 3]: it offers sum, product, min and max of f32, f64, \
         i32, u32, i64, u64, u8, f16, bf16 and i8; minimum and maximum of f32 and f64; use the rung \
         shuffle for your own"
    );
    assert!(message(Scanner::<Bytes12, Then>::new(&device, ScanRung::Pipelined, 3).map(|_| ())).contains("look_back"));
}
