//! Compares scans and reductions by key with the reference on every device.

use std::fmt::Debug;

use gridstride::by_key::{ByKeyElement, ByKeyRung, ByKeyRunner, RunKey, tile};
use gridstride::error::AlgorithmError;
use gridstride::numbers::Number;
use gridstride::prelude::*;
use gridstride::scan::ScanKind;
use launch::Device;
use proptest::prelude::*;
use rand::Rng;
use tests::{checked_devices, devices, devices_and_turns, random, simulated};
use workbench::by_key::reference::by_key;

/// Returns sizes near a warp, one tile and several tiles, for keys and values of `bytes` bytes together.
fn sizes(bytes: usize) -> Vec<usize> {
    let tile = tile(1, bytes);
    let around = [1, 2, 5].map(|tiles| [tiles * tile - 1, tiles * tile, tiles * tile + 1]).concat();
    [0, 1, 2, 31, 32, 33, 255, 257].into_iter().chain(around).collect()
}

/// Compares all results for `n` keys in runs of `run` elements on average, for views that begin at element 1.
pub fn check<K, T>(device: &Device, n: usize, run: u32, seed: u64)
where
    K: Number + RunKey + Debug,
    T: Number + ByKeyElement<Sum>,
    Sum: Operator<T>,
{
    check_rung::<K, T>(device, ByKeyRung::LookBack, n, run, seed);
}

fn check_rung<K, T>(device: &Device, rung: ByKeyRung, n: usize, run: u32, seed: u64)
where
    K: Number + RunKey + Debug,
    T: Number + ByKeyElement<Sum>,
    Sum: Operator<T>,
{
    let mut random = random(seed);
    let mut key = 0;
    let keys: Vec<K> = (0..=n)
        .map(|_| {
            key += u32::from(random.next_u32().is_multiple_of(run));
            K::from_f64(f64::from(key % 5))
        })
        .collect();
    let values: Vec<T> = (0..=n).map(|_| T::from_f64(f64::from(random.next_u32() >> 28))).collect();
    let (dkeys, dvalues) = (device.upload(&keys).unwrap(), device.upload(&values).unwrap());
    let expected = by_key::<K, T, Sum>(&keys[1..], &values[1..]);
    let (keys, values) = (dkeys.view().part(1, n), dvalues.view().part(1, n));
    let what = format!("{n} {} by {}, runs of {run}, {}", T::TYPE, K::TYPE, device.name());
    let mut runner = ByKeyRunner::<K, T, Sum>::with_rung(device, rung, n).unwrap();
    let mut y = device.zeroed::<T>(n).unwrap();
    runner.scan(device, ScanKind::Inclusive, keys, values, y.view_mut()).unwrap();
    assert_eq!(y.download().unwrap(), expected.inclusive, "{what}");
    runner.scan(device, ScanKind::Exclusive, keys, values, y.view_mut()).unwrap();
    assert_eq!(y.download().unwrap(), expected.exclusive, "{what}");
    let (mut y_keys, mut count) = (device.zeroed::<K>(n).unwrap(), device.upload(&[u64::MAX]).unwrap());
    runner.reduce(device, keys, values, (y_keys.view_mut(), y.view_mut(), count.view_mut())).unwrap();
    assert_eq!(count.download().unwrap(), [expected.keys.len() as u64], "{what}");
    assert_eq!(y_keys.download().unwrap()[..expected.keys.len()], expected.keys, "{what}");
    assert_eq!(y.download().unwrap()[..expected.keys.len()], expected.reduced, "{what}");
}

#[test]
fn look_back_conforms() {
    for (device, turns) in devices_and_turns(2500) {
        let of = |sizes: Vec<usize>| sizes.into_iter().filter(|&n| turns.takes(n));
        for run in [1, 2, 64, 3000] {
            of(sizes(8)).for_each(|n| check::<u32, u32>(&device, n, run, n as u64));
        }
        of(sizes(12)).for_each(|n| check::<f32, f64>(&device, n, 20, 1));
        of(sizes(12)).for_each(|n| check::<i64, f32>(&device, n, 20, 2));
        of(sizes(16)).for_each(|n| check::<f64, i64>(&device, n, 700, 3));
        of(sizes(16)).for_each(|n| check::<u64, u64>(&device, n, 5, 4));
        of(vec![10_007]).for_each(|n| check::<i32, i32>(&device, n, 10_000, 5));
    }
}

#[test]
fn textbook_conforms() {
    for (device, turns) in devices_and_turns(2500) {
        for (n, run) in [(0, 1), (1, 1), (2, 2), (33, 5), (255, 64), (257, 300), (2500, 7)] {
            if turns.takes(n) {
                check_rung::<u32, u32>(&device, ByKeyRung::Textbook, n, run, 8);
                check_rung::<f32, i32>(&device, ByKeyRung::Textbook, n, run, 9);
            }
        }
    }
    let error = ByKeyRunner::<u32, f32, Sum>::with_rung(&simulated(0), ByKeyRung::Textbook, 1).map(drop).unwrap_err();
    assert!(error.to_string().contains("use the rung look_back"), "{error}");
}

#[test]
fn keys_are_equal_as_by_their_operator() {
    let device = simulated(0);
    let keys = [0.0, -0.0, f32::NAN, f32::NAN, 1.0, 1.0];
    let (keys, sums) = device.reduce_by_key(&keys, &[1, 2, 4, 8, 16, 32], Sum).unwrap();
    assert_eq!((format!("{keys:?}"), sums), ("[-0.0, NaN, NaN, 1.0]".to_owned(), vec![3, 4, 8, 48]));
    let (keys, sums) = device.reduce_by_key(&Vec::<u32>::new(), &Vec::<f64>::new(), Sum).unwrap();
    assert!(keys.is_empty() && sums.is_empty());
}

#[test]
fn a_reduction_is_made_again_in_a_graph() {
    for device in devices().chain(checked_devices().step_by(4)) {
        let made = ByKeyRunner::<u32, u32, Sum>::new(&device, 3000).unwrap();
        let inputs = (device.zeroed::<u32>(3000).unwrap(), device.upload(&[1_u32; 3000]).unwrap());
        let outputs = (device.zeroed::<u32>(10).unwrap(), device.zeroed::<u32>(10).unwrap(), device.zeroed(1).unwrap());
        let mut graph = device
            .record((made, inputs, outputs), |queue, (made, (keys, values), (y_keys, y, count))| {
                let outputs = (y_keys.view_mut(), y.view_mut(), count.view_mut());
                made.reduce(queue, keys.view(), values.view(), outputs)
            })
            .unwrap();
        for length in [3000, 1000, 250] {
            let keys: Vec<u32> = (0..3000).map(|i| i / length).collect();
            graph.resources_mut().1.0.upload(&keys).unwrap();
            graph.launch().unwrap();
            let (_, _, (y_keys, y, count)) = graph.resources();
            // Of twelve runs, ten fit into the outputs.
            let runs = (3000 / length) as usize;
            assert_eq!(count.download().unwrap(), [runs as u64]);
            assert_eq!(y_keys.download().unwrap()[..runs.min(10)], (0..runs.min(10) as u32).collect::<Vec<_>>());
            assert_eq!(y.download().unwrap()[..runs.min(10)], vec![length; runs.min(10)]);
        }
    }
}

#[test]
fn wrong_lengths_are_refused() {
    let device = simulated(0);
    let error = device.reduce_by_key(&[1_u32, 2], &[1.0_f32], Sum).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
    let error = device.scan_by_key_inclusive(&[1_u32], &[1.0_f32, 2.0], Sum).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
    let mut runner = ByKeyRunner::<u32, u32, Sum>::new(&device, 1).unwrap();
    let (x, mut y, mut y_keys) =
        (device.upload(&[1_u32]).unwrap(), device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
    let mut counts = device.zeroed(2).unwrap();
    let outputs = (y_keys.view_mut(), y.view_mut(), counts.view_mut());
    assert!(runner.reduce(&device, x.view(), x.view(), outputs).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_is_in_its_run(n in 0_usize..6000, run in 1_u32..4000, seed in any::<u64>()) {
        check::<u32, f32>(&simulated(seed), n, run, seed);
    }
}
