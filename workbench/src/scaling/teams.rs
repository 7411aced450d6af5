//! Tests that an algorithm has the same result on a team as on one device.

use std::fmt::Debug;

use cuda_std::Ladder;
use gpu::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};
use launch::{Buffer, Device, DeviceChoice, Element, Group};

use gridstride::AlgorithmError;
use gridstride::capabilities;
use gridstride::histogram::{Bins, HistogramRung};
use gridstride::reduce::{self, ReduceElement};
use gridstride::saxpy::SaxpyRung;
use gridstride::scan::{self, ScanElement, ScanKind};
use multi::MultiError;
use multi::histogram::SplitHistogram;
use multi::ranks::{alone, in_threads};
use multi::reduce::SplitReduction;
use multi::saxpy::split_saxpy;
use multi::scan::{RoundScan, Rounds, SplitScan};

use super::*;
use crate::catalogue;
use crate::reduce::reference as reduced;
use crate::scan::reference::scan as scanned;

/// The lengths of the tested vectors: 0, numbers below the number of members, and numbers that are not multiples of 2,
/// 3, 4 or 7.
const SIZES: [usize; 6] = [0, 1, 2, 5, 1009, 10_007];

/// Returns the random bits of element `index`.
pub(super) fn bits(index: usize) -> u64 {
    RandomVector::<u64>::new(5, 0).bits(index)
}

pub(super) fn group(members: usize) -> Group {
    Group::open(&format!("sim:{members}").parse().unwrap(), gridstride::MODULES).unwrap()
}

/// Calls `work` with teams of several sizes: 1, 2, 3 and 7 devices of one rank, and 1 to 4 ranks. In a team of several
/// ranks, a rank with an odd number has two devices, and any other rank has one device.
pub(super) fn on_teams(work: impl Fn(&Team<'_>) + Sync) {
    for members in [1, 2, 3, 7] {
        let ranks = alone();
        work(&Team::new(&group(members), &ranks).unwrap());
    }
    for size in 1..=4 {
        in_threads(size, |ranks| work(&Team::new(&group(1 + ranks.rank() % 2), ranks).unwrap()));
    }
}

/// Returns the whole vector, collected from all ranks. Each rank passes its segments as `parts`.
pub(super) fn whole<T: Element>(team: &Team<'_>, parts: &[Buffer<T>]) -> Vec<T> {
    let own: Vec<T> = parts.iter().flat_map(|part| part.download().unwrap()).collect();
    team.gather(&own).unwrap()
}

fn check_reduce<T, O>(element: fn(u64) -> T)
where
    T: ReduceElement<O> + PartialEq + Debug,
    O: Operator<T>,
{
    on_teams(|team| {
        for n in SIZES {
            let x: Vec<T> = (0..n).map(|index| element(bits(index))).collect();
            let expected = x.iter().copied().fold(O::IDENTITY, O::combine);
            let parts = team.upload(&x).unwrap();
            let mut reduction = SplitReduction::<T, O>::new(team, reduce::default_rung::<T, O>(), &parts).unwrap();
            for _ in 0..2 {
                assert_eq!(reduction.reduce(&parts).unwrap(), expected, "{n} on {}", team.members());
            }
        }
    });
}

fn affine(bits: u64) -> Affine {
    Affine { factor: bits as u32 | 1, offset: (bits >> 32) as u32 }
}

#[test]
fn a_reduction_is_that_of_one_device_and_keeps_the_order() {
    check_reduce::<i32, Sum>(|bits| bits as i32);
    check_reduce::<u64, Product>(|bits| bits | 1);
    check_reduce::<f64, Min>(|bits| bits as f64 - 9e18);
    check_reduce::<Affine, Compose>(affine);
}

#[test]
fn a_sum_of_floats_is_within_its_roundings() {
    on_teams(|team| {
        for n in SIZES {
            let element = |index| (bits(index) >> 40) as f32 / 1e6 - 8.0;
            let parts = team.filled(n, element).unwrap();
            let mut sum = SplitReduction::<f32, Sum>::new(team, reduce::default_rung::<f32, Sum>(), &parts).unwrap();
            let answer = reduced::reduce::<f32, Sum>(n, element);
            let deviation = answer.deviation(sum.reduce(&parts).unwrap(), sum.roundings());
            assert_eq!(deviation.wrong, None, "{n} on {}: {deviation:?}", team.members());
        }
    });
}

fn check_scan<T, O>(element: fn(u64) -> T)
where
    T: ScanElement<O> + ReduceElement<O> + PartialEq + Debug,
    O: Operator<T>,
{
    on_teams(|team| {
        for n in SIZES {
            let x: Vec<T> = (0..n).map(|index| element(bits(index))).collect();
            let (mut parts, mut y) = (team.upload(&x).unwrap(), team.alloc(n).unwrap());
            let mut scan = SplitScan::<T, O>::new(team, scan::default_rung::<T>, &parts).unwrap();
            for kind in [ScanKind::Inclusive, ScanKind::Exclusive, ScanKind::Inclusive] {
                scan.scan(kind, &mut parts, &mut y).unwrap();
                assert_eq!(whole(team, &y), scanned::<T, O>(kind, &x), "{kind} scan of {n} on {}", team.members());
                assert_eq!(whole(team, &parts), x, "the input stays");
            }
        }
    });
}

#[test]
fn a_scan_is_that_of_one_device_and_keeps_the_order() {
    check_scan::<i32, Sum>(|bits| bits as i32);
    check_scan::<u64, Product>(|bits| bits | 1);
    check_scan::<f32, Max>(|bits| (bits >> 40) as f32 - 9e6);
    check_scan::<Affine, Compose>(affine);
}

#[test]
fn a_scan_in_rounds_is_that_of_one_device() {
    on_teams(|team| {
        for (n, count) in [(0, 1), (3, 2), (1009, 1), (1009, 5), (10_007, 3)] {
            let x: Vec<Affine> = (0..n).map(|index| affine(bits(index))).collect();
            let rounds = Rounds::of(team, n, count);
            let mut parts = rounds.make(team, |device, part| Ok(device.upload(&x[part])?)).unwrap();
            let mut y = rounds.make(team, |device, part| Ok(device.alloc(part.len())?)).unwrap();
            let mut scan = RoundScan::<Affine, Compose>::new(team, scan::default_rung::<Affine>, &parts).unwrap();
            for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                scan.scan(kind, &mut parts, &mut y).unwrap();
                let expected = scanned::<Affine, Compose>(kind, &x);
                let whole: Vec<Affine> = y.iter().flat_map(|round| whole(team, round)).collect();
                assert_eq!(whole, expected, "{kind} scan of {n} in {count} on {}", team.members());
            }
        }
    });
}

#[test]
fn rounds_cover_each_element_once_and_give_the_last_member_more() {
    let (ranks, group) = (alone(), group(3));
    let team = Team::new(&group, &ranks).unwrap();
    for (n, count) in [(0, 1), (1, 4), (7, 7), (700, 1), (7000, 10), (10_007, 3)] {
        let rounds = Rounds::of(&team, n, count);
        let parts = (0..rounds.len()).flat_map(|round| (0..3).map(move |device| (round, device)));
        let mut next = 0;
        for (round, device) in parts {
            let part = rounds.segment(round, device);
            assert_eq!(part.start, next, "{n} in {count}: {round} {device}");
            next = part.end;
        }
        assert_eq!(next, n);
    }
    let lengths = |rounds: Rounds| [0, 1, 2].map(|device| rounds.segment(0, device).len());
    assert_eq!(lengths(Rounds::of(&team, 7000, 10)), [200, 200, 300]);
    assert_eq!(Rounds::largest_share(3), 300.0 / 700.0);
    assert_eq!(lengths(Rounds::of(&team, 7000, 1)), [2334, 2333, 2333]);
    assert_eq!([1 << 20, 1 << 28, 1 << 34].map(|n| Rounds::new::<f32>(&team, n).len()), [1, 4, 32]);
}

/// Checks segments that no team chooses: one member has most elements, and some members have none.
#[test]
fn parts_may_be_uneven_and_empty() {
    for lengths in [[0, 0, 0, 0], [0, 5000, 0, 3], [1, 0, 4099, 0], [0, 0, 0, 7], [2, 1, 0, 1]] {
        let (ranks, group) = (alone(), group(4));
        let team = Team::new(&group, &ranks).unwrap();
        let x: Vec<Affine> = (0..lengths.iter().sum()).map(|index| affine(bits(index))).collect();
        let mut start = 0;
        let of_lengths = team.devices().iter().zip(lengths).map(|(device, len)| {
            start += len;
            device.upload(&x[start - len..start]).unwrap()
        });
        let mut parts: Vec<_> = of_lengths.collect();
        let mut y: Vec<_> =
            team.devices().iter().zip(lengths).map(|(device, len)| device.alloc(len).unwrap()).collect();
        let rung = reduce::default_rung::<Affine, Compose>();
        let mut reduction = SplitReduction::<Affine, Compose>::new(&team, rung, &parts).unwrap();
        let expected = x.iter().copied().fold(Compose::IDENTITY, Compose::combine);
        assert_eq!(reduction.reduce(&parts).unwrap(), expected, "{lengths:?}");
        let mut scan = SplitScan::<Affine, Compose>::new(&team, scan::default_rung::<Affine>, &parts).unwrap();
        for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
            scan.scan(kind, &mut parts, &mut y).unwrap();
            assert_eq!(whole(&team, &y), scanned::<Affine, Compose>(kind, &x), "{kind} {lengths:?}");
        }
    }
}

#[test]
fn known_totals_need_no_exchange() {
    let (ranks, group) = (alone(), group(3));
    let team = Team::new(&group, &ranks).unwrap();
    let x: Vec<u32> = (0..100).collect();
    let (mut parts, mut y) = (team.upload(&x).unwrap(), team.alloc(100).unwrap());
    let mut scan = SplitScan::<u32, Sum>::new(&team, scan::default_rung::<u32>, &parts).unwrap();
    let before: Vec<_> =
        team.segments(100).map(|part| (part.start > 0).then(|| x[..part.start].iter().sum())).collect();
    scan.scan_from(ScanKind::Inclusive, &before, &mut parts, &mut y).unwrap();
    assert_eq!(whole(&team, &y), scanned::<u32, Sum>(ScanKind::Inclusive, &x));
    let error = scan.scan_from(ScanKind::Inclusive, &before[1..], &mut parts, &mut y).unwrap_err();
    assert!(
        matches!(error, MultiError::Algorithm(AlgorithmError::Launch(launch::Error::LengthMismatch { .. }))),
        "{error}"
    );
}

#[test]
fn saxpy_has_the_bits_of_one_device() {
    let device = Device::open(DeviceChoice::Sim, gridstride::MODULES).unwrap();
    on_teams(|team| {
        for n in SIZES {
            let vector = |number| (0..n).map(|index| bits(2 * index + number) as f32 / 1e18 - 9.0).collect::<Vec<_>>();
            let (x, y) = (vector(0), vector(1));
            let (parts, mut sums) = (team.upload(&x).unwrap(), team.upload(&y).unwrap());
            split_saxpy(team, SaxpyRung::default_rung(&capabilities::of_type::<f32>()), 1.7, &parts, &mut sums)
                .unwrap();
            let mut alone = device.upload(&y).unwrap();
            gridstride::saxpy::saxpy(&device, SaxpyRung::LAST, 1.7, &device.upload(&x).unwrap(), &mut alone).unwrap();
            assert_eq!(whole(team, &sums), alone.download().unwrap());
        }
    });
}

#[test]
fn a_histogram_counts_the_keys_of_all_parts() {
    let bins = Bins::even(100, 0, 256).unwrap();
    on_teams(|team| {
        for n in SIZES {
            let keys: Vec<u8> = (0..n).map(|index| bits(index) as u8).collect();
            let parts = team.upload(&keys).unwrap();
            let mut counts = SplitHistogram::new(team, HistogramRung::LAST, bins, &parts).unwrap();
            counts.run(&parts).unwrap();
            let expected: Vec<u64> =
                crate::histogram::reference::histogram(&keys, bins).into_iter().map(u64::from).collect();
            assert_eq!(counts.counts().unwrap(), expected);
        }
    });
}

#[test]
fn a_repeated_pattern_goes_on_from_part_to_part() {
    let repeated = Repeated::new((0..37_u32).collect());
    on_teams(|team| {
        for n in SIZES {
            let parts = repeated.on(team, n).unwrap();
            assert_eq!(whole(team, &parts), (0..n).map(|index| repeated.element(index)).collect::<Vec<_>>(), "{n}");
        }
    });
    assert_eq!(Repeated::<u8>::new(vec![]).element(5), 0);
}

#[test]
fn the_first_members_are_a_team() {
    let sizes = in_threads(3, |ranks| {
        let team = Team::new(&group(2), ranks).unwrap();
        let parts: Vec<_> = (0..=6).map(|members| team.of_first(members)).collect();
        let x: Vec<i64> = (0..1000).collect();
        for team in &parts[1..] {
            let parts = team.upload(&x).unwrap();
            let mut sum = SplitReduction::<i64, Sum>::new(team, reduce::default_rung::<i64, Sum>(), &parts).unwrap();
            assert_eq!(sum.reduce(&parts).unwrap(), 499_500);
        }
        parts.iter().map(|team| team.devices().len()).collect::<Vec<_>>()
    });
    assert_eq!(sizes, [[0, 1, 2, 2, 2, 2, 2], [0, 0, 0, 1, 2, 2, 2], [0, 0, 0, 0, 0, 1, 2]]);
}

#[test]
fn buffers_of_another_number_are_refused() {
    let (ranks, group) = (alone(), group(2));
    let team = Team::new(&group, &ranks).unwrap();
    let x = team.upload(&[1_u32, 2, 3]).unwrap();
    let error = SplitReduction::<u32, Sum>::new(&team, reduce::default_rung::<u32, Sum>(), &x[..1]).err().unwrap();
    assert!(
        matches!(error, MultiError::Algorithm(AlgorithmError::Launch(launch::Error::LengthMismatch { .. }))),
        "{error}"
    );
}

#[test]
fn every_work_is_right_on_teams_of_any_size() {
    let check = |team: &Team<'_>, n| {
        for (algorithm, work) in catalogue::scaling_measurements() {
            let mut prepared = (work.prepare)(team, n).unwrap();
            for _ in 0..2 {
                assert_eq!(prepared.verify().unwrap(), Deviation::default(), "{} of {n}", algorithm.name());
                assert!(time(team, &mut *prepared).unwrap() > 0.0);
            }
        }
    };
    for (devices, n) in [(1, 1000), (3, 0), (3, 2 * PERIOD + 77)] {
        let ranks = alone();
        check(&Team::new(&group(devices), &ranks).unwrap(), n);
    }
    in_threads(2, |ranks| check(&Team::new(&group(2), ranks).unwrap(), PERIOD + 1));
}
