//! Compares reductions and scans of segments with the reference on every device.

use std::fmt::Debug;

use cuda_std::{DeviceCopy, Pod, Zeroable};
use gridstride::error::AlgorithmError;
use gridstride::numbers::Number;
use gridstride::prelude::*;
use gridstride::scan::ScanKind;
use gridstride::segments::{SegmentBounds, SegmentElement, SegmentRunner, tile};
use launch::Device;
use proptest::prelude::*;
use rand::Rng;
use tests::{checked_devices, devices, devices_and_turns, random, simulated};
use workbench::segments::reference::{positions, reduced, scanned};

/// Returns sizes near a warp, one tile and two tiles of `T`.
fn sizes<T: SegmentElement<O>, O: 'static>() -> Vec<usize> {
    let tile = tile::<T, O>(1);
    let around = [1, 2].map(|tiles| [tiles * tile - 1, tiles * tile, tiles * tile + 1]).concat();
    [0, 1, 2, 31, 32, 33, 257].into_iter().chain(around).collect()
}

/// The lengths of segments.
#[derive(Clone, Copy, Debug)]
enum Lengths {
    /// Up to twice this length.
    Uniform(usize),
    /// A segment has at least *n* elements with the probability 1/*n*; a third of the segments are empty.
    Power,
    /// One segment has all elements.
    One,
    /// All segments are empty.
    Empty,
}

/// Returns offsets in `n` elements. The segments begin at element 3, if there are so many, and end 2 before the last.
fn offsets(n: usize, lengths: Lengths, seed: u64) -> Vec<usize> {
    let mut random = random(seed);
    let (first, end) = (n.min(3), n.saturating_sub(2).max(n.min(3)));
    let mut offsets = vec![first];
    match lengths {
        Lengths::One => offsets.push(end),
        Lengths::Empty => offsets = vec![end / 2; 700],
        Lengths::Uniform(length) => {
            let mut at = first;
            while at < end {
                at = (at + (random.next_u64() % (2 * length as u64 + 1)) as usize).min(end);
                offsets.push(at);
            }
        }
        Lengths::Power => {
            let mut at = first;
            while at < end {
                let length = u64::MAX / random.next_u64().max(1);
                at += if random.next_u32().is_multiple_of(3) { 0 } else { length.min((end - at) as u64) as usize };
                offsets.push(at);
            }
        }
    }
    offsets
}

const LENGTHS: [Lengths; 7] = [
    Lengths::Uniform(1),
    Lengths::Uniform(8),
    Lengths::Uniform(300),
    Lengths::Uniform(5000),
    Lengths::Power,
    Lengths::One,
    Lengths::Empty,
];

fn values<T: Number>(n: usize, seed: u64) -> Vec<T> {
    let mut random = random(seed);
    (0..n).map(|_| T::from_f64(f64::from(random.next_u32() >> 28))).collect()
}

/// Compares all results for `n` elements in views that begin at element `from`.
fn check<T, O>(device: &Device, n: usize, lengths: Lengths, from: usize, seed: u64)
where
    T: Number + SegmentElement<O, Output = T> + Debug,
    O: Operator<T>,
{
    let (all, offsets) = (values::<T>(from + n, seed), offsets(n, lengths, seed));
    let (dx, x) = (device.upload(&all).unwrap(), &all[from..]);
    let narrow = device.upload(&offsets.iter().map(|&offset| offset as u32).collect::<Vec<_>>()).unwrap();
    let wide = device.upload(&offsets.iter().map(|&offset| offset as u64).collect::<Vec<_>>()).unwrap();
    let what = format!("{n} {} from {from}, {lengths:?}, {}", T::TYPE, device.name());
    let mut runner = SegmentRunner::<T, O>::new(device, n).unwrap();
    let (view, mut y) = (dx.view().part(from, n), device.alloc::<T>(from + n).unwrap());
    for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
        let bounds = SegmentBounds::U64(wide.view());
        runner.scan(device, kind, view, bounds, y.view_mut().part(from, n)).unwrap();
        assert_eq!(y.download().unwrap()[from..], scanned::<T, O>(kind, x, &offsets), "{kind:?} scan, {what}");
    }
    let mut runner = runner.with_search().unwrap();
    let mut y = device.alloc::<T>(offsets.len() - 1).unwrap();
    runner.reduce(device, view, SegmentBounds::U32(narrow.view()), y.view_mut()).unwrap();
    assert_eq!(y.download().unwrap(), reduced::<T, O>(x, &offsets), "{what}");
}

/// Compares the positions for `n` elements.
fn check_positions<T>(device: &Device, n: usize, lengths: Lengths, seed: u64)
where
    T: Number + Default + SegmentElement<ArgMin, Output = Indexed<T>>,
    T: SegmentElement<ArgMax, Output = Indexed<T>>,
{
    let (x, offsets) = (values::<T>(n, seed), offsets(n, lengths, seed));
    let bounds: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
    let what = format!("{n} {}, {lengths:?}, {}", T::TYPE, device.name());
    let least = device.reduce_segments(&x, &bounds, ArgMin).unwrap();
    assert_eq!(least, positions(&x, &offsets, |a, b| a < b), "least, {what}");
    let greatest = device.reduce_segments(&x, &bounds, ArgMax).unwrap();
    assert_eq!(greatest, positions(&x, &offsets, |a, b| a > b), "greatest, {what}");
}

#[test]
fn look_back_conforms() {
    for (device, turns) in devices_and_turns(2050) {
        for lengths in [Lengths::Uniform(8), Lengths::Power, Lengths::One] {
            for n in sizes::<u32, Sum>().into_iter().filter(|&n| turns.takes(n)) {
                check::<u32, Sum>(&device, n, lengths, 0, n as u64);
            }
        }
        for lengths in LENGTHS {
            for n in [5, 1030, 3000].into_iter().filter(|&n| turns.takes(n)) {
                check::<f64, Sum>(&device, n, lengths, 0, 1);
                check::<i64, Min>(&device, n, lengths, 1, 2);
                check::<f32, Max>(&device, n, lengths, 3, 3);
                check::<i32, Min>(&device, n, lengths, 4, 4);
                check_positions::<f32>(&device, n, lengths, 5);
                check_positions::<i64>(&device, n, lengths, 6);
            }
        }
        // More tiles than two groups have.
        let n = 70 * tile::<u64, Sum>(1) + 7;
        for lengths in [Lengths::Uniform(60_000), Lengths::One].into_iter().filter(|_| turns.takes(n)) {
            check::<u64, Sum>(&device, n, lengths, 0, 7);
        }
        // Tiles of each size, because threads load more vectors of a longer input.
        for n in [150_003, 530_001].into_iter().filter(|&n| turns.takes(n)) {
            check::<u32, Sum>(&device, n, Lengths::Power, 0, 8);
        }
    }
}

#[test]
fn numbers_are_compared_as_by_reduce() {
    let device = simulated(0);
    let x = [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, f32::NAN, f32::NEG_INFINITY, 1.0];
    let offsets = [0_u32, 2, 4, 6, 8, 8];
    let least = device.reduce_segments(&x, &offsets, Min).unwrap();
    assert_eq!(format!("{least:?}"), "[inf, -0.0, inf, -inf, inf]");
    let greatest = device.reduce_segments(&x, &offsets, Max).unwrap();
    assert_eq!(format!("{greatest:?}"), "[-inf, 0.0, inf, 1.0, -inf]");
    let least = device.reduce_segments(&x, &offsets, ArgMin).unwrap();
    assert_eq!(
        least.iter().map(|least| least.found().map(|found| found.index)).collect::<Vec<_>>(),
        [None, Some(1), Some(0), Some(0), None]
    );
    let greatest = device.reduce_segments(&[i64::MIN, i64::MIN, 5], &[0_u64, 2, 3], ArgMax).unwrap();
    assert_eq!(greatest, [Indexed { index: 0, value: i64::MIN }, Indexed { index: 0, value: 5 }]);
    let scanned = device.scan_segments_exclusive(&[3, 1, 2, 9_i32], &[1_u32, 1, 3], Min).unwrap();
    assert_eq!(scanned, [i32::MAX, i32::MAX, 1, i32::MAX]);
}

#[test]
fn floats_have_the_same_sum_in_every_order_of_blocks() {
    let mut random = random(1);
    let x: Vec<f32> = (0..70_000).map(|_| f32::from_random(random.next_u64())).collect();
    let sums = |device: Device| {
        let scanned = device.scan_segments_inclusive(&x, &[0_u32, 3, 66_000, 70_000], Sum).unwrap();
        (device.reduce_segments(&x, &[0_u32, 69_000, 70_000], Sum).unwrap(), scanned)
    };
    let first = sums(simulated(0));
    assert!((1..6).all(|seed| sums(simulated(seed)) == first));
}

/// An element of the bicyclic monoid: closing brackets, followed by opening ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
struct Brackets {
    closing: u32,
    opening: u32,
}

// SAFETY: two `u32`, and all-zero bits are a `u32`.
unsafe impl Zeroable for Brackets {}
// SAFETY: two `u32` without padding, and any bits are a `u32`.
unsafe impl Pod for Brackets {}

/// Brackets that follow each other, without the pairs that match. It is not commutative.
#[derive(Clone, Copy)]
struct Follow;

impl Operator<Brackets> for Follow {
    const IDENTITY: Brackets = Brackets { closing: 0, opening: 0 };
    const COMMUTATIVE: bool = false;

    fn combine(a: Brackets, b: Brackets) -> Brackets {
        let pairs = a.opening.min(b.closing);
        Brackets { closing: a.closing + b.closing - pairs, opening: b.opening + a.opening - pairs }
    }
}

gpu::instances!(Brackets by Follow: segments);

#[test]
fn an_operator_need_not_be_commutative() {
    let mut random = random(2);
    let x: Vec<Brackets> =
        (0..4100).map(|_| if random.next_u32() & 1 == 0 { (1, 0) } else { (0, 1) }).map(brackets).collect();
    for device in [simulated(0), simulated(1)].into_iter().chain(checked_devices().take(2)) {
        for (lengths, n) in [(Lengths::Power, 3000), (Lengths::Uniform(700), 4100), (Lengths::One, 4100)] {
            let (x, offsets) = (&x[..n], offsets(n, lengths, 3));
            let bounds: Vec<u64> = offsets.iter().map(|&offset| offset as u64).collect();
            assert_eq!(device.reduce_segments(x, &bounds, Follow).unwrap(), reduced::<_, Follow>(x, &offsets));
            let found = device.scan_segments_exclusive(x, &bounds, Follow).unwrap();
            assert_eq!(found, scanned::<_, Follow>(ScanKind::Exclusive, x, &offsets));
        }
    }
}

fn brackets((closing, opening): (u32, u32)) -> Brackets {
    Brackets { closing, opening }
}

#[test]
fn rows_of_any_length_are_reduced() {
    for (device, turns) in devices_and_turns(3072) {
        for (length, count) in [(1, 3000), (3, 700), (1024, 3), (1500, 5), (7000, 1), (40, 0)] {
            if !turns.takes(length * count) {
                continue;
            }
            let x = values::<u64>(length * count, 3);
            let offsets: Vec<usize> = (0..=count).map(|row| row * length).collect();
            assert_eq!(device.reduce_segments(&x, rows(length), Sum).unwrap(), reduced::<_, Sum>(&x, &offsets));
            let found = device.scan_segments_inclusive(&x, rows(length), Sum).unwrap();
            assert_eq!(found, scanned::<_, Sum>(ScanKind::Inclusive, &x, &offsets));
        }
    }
}

#[test]
fn a_reduction_is_made_again_in_a_graph() {
    for device in devices().chain(checked_devices().step_by(4)) {
        let made = SegmentRunner::<u32, Sum>::new(&device, 3000).unwrap();
        let inputs = (device.upload(&[1_u32; 3000]).unwrap(), device.upload(&[0_u32, 10, 3000]).unwrap());
        let mut graph = device
            .record((made, inputs, device.zeroed::<u32>(2).unwrap()), |queue, (made, (x, offsets), y)| {
                made.reduce(queue, x.view(), SegmentBounds::U32(offsets.view()), y.view_mut())
            })
            .unwrap();
        for middle in [0, 17, 3000] {
            graph.resources_mut().1.1.upload(&[0, middle, 3000]).unwrap();
            graph.launch().unwrap();
            assert_eq!(graph.resources().2.download().unwrap(), [middle, 3000 - middle]);
        }
    }
}

#[test]
fn wrong_segments_are_refused() {
    let device = simulated(0);
    let refused = |found: Result<Vec<u32>, AlgorithmError>, text: &str| {
        let message = found.unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    };
    let x = [1_u32, 2, 3];
    refused(device.reduce_segments(&x, &[0_u32, 2, 1], Sum), "the offset 2 before 1");
    refused(device.reduce_segments(&x, &[0_u64, 4], Sum), "the offset 4 before 3, with 3 elements");
    refused(device.reduce_segments(&x, &Vec::<u32>::new(), Sum), "no offsets");
    refused(device.reduce_segments(&x, rows(2), Sum), "rows of 2 of 3 elements");
    refused(device.scan_segments_exclusive(&x, rows(0), Sum), "rows of 0 of 3 elements");
    assert_eq!(device.reduce_segments(&x, &[3_u32], Sum).unwrap(), Vec::<u32>::new());
    let mut runner = SegmentRunner::<u32, Sum>::new(&device, 3).unwrap();
    let (x, mut y) = (device.upload(&x).unwrap(), device.zeroed(2).unwrap());
    let error = runner.reduce(&device, x.view(), SegmentBounds::Rows(3), y.view_mut()).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_element_is_in_its_segment(n in 0_usize..9000, length in 1_usize..3000, seed in any::<u64>()) {
        check::<u32, Sum>(&simulated(seed), n, Lengths::Uniform(length), 0, seed);
    }
}
