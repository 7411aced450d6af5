//! Sort: values, indices and segments.

use std::fmt::Debug;

use gridstride::prelude::*;
use gridstride::sort::{SegmentSorter, SortOptions, SortRung, Sorter, plan};
use launch::{Device, Element};
use proptest::prelude::*;
use rand::Rng;
use tests::{checked_devices, devices, devices_and_turns, random, simulated};
use workbench::sort::reference::{ReferenceKey, argsort};

use crate::sort::{assert_same, keys};

/// Tests values of every size, with keys of every size: each value stays with its key, and values of equal keys keep
/// their order.
#[test]
fn values_move_with_their_keys() {
    fn check<K: ReferenceKey, V: Element + Debug + PartialEq>(device: &Device, n: usize, value: impl Fn(usize) -> V) {
        let few = keys::<K>(n.div_ceil(4).max(1), 9);
        let keys: Vec<K> = (0..n).map(|i| few[i * 7 % few.len()]).collect();
        let values: Vec<V> = (0..n).map(value).collect();
        let (mut dkeys, mut dvalues) = (device.upload(&keys).unwrap(), device.upload(&values).unwrap());
        device.sort_pairs(&mut dkeys, &mut dvalues).unwrap();
        let order = argsort(&keys, &SortOptions::default());
        let what = format!("{n} {} with {}", std::any::type_name::<K>(), std::any::type_name::<V>());
        assert_same(&dkeys.download().unwrap(), &order.iter().map(|&i| keys[i]).collect::<Vec<_>>(), &what);
        let expected: Vec<V> = order.iter().map(|&i| values[i]).collect();
        assert!(dvalues.download().unwrap() == expected, "{what}: the values");
    }
    for (device, turns) in devices_and_turns(700) {
        for n in [700, 9001] {
            macro_rules! check_in_turn {
                ($($key:ty, $value:ty: $of:expr;)*) => {
                    $(if turns.takes(n) { check::<$key, $value>(&device, n, $of); })*
                };
            }
            check_in_turn! {
                u8, f32: |i| i as f32;
                u16, [u8; 4]: |i| (i as u32).to_ne_bytes();
                i32, u32: |i| i as u32;
                f32, [u32; 2]: |i| [i as u32, !(i as u32)];
                u32, [f32; 4]: |i| [i as f32; 4];
                u64, u32: |i| i as u32;
                f64, u64: |i| i as u64;
                i64, [u64; 2]: |i| [i as u64; 2];
            }
        }
    }
}

/// Tests the first keys and their indices, for more and fewer keys than there are, and in other orders.
#[test]
fn the_first_keys_have_their_indices() {
    for device in devices() {
        for (n, k) in [(0, 3), (5, 0), (5, 9), (1000, 1), (9001, 700)] {
            let keys: Vec<f32> = keys::<f32>(n, 6).into_iter().map(|key| (key * 50.0).round()).collect();
            for options in [SortOptions::descending(), SortOptions { nan_last: true, ..SortOptions::default() }] {
                let (found, indices) = device.top_k(&keys, k, &options).unwrap();
                let expected: Vec<usize> = argsort(&keys, &options).into_iter().take(k).collect();
                let what = format!("{k} of {n}, {}", device.name());
                assert!(indices.iter().map(|&index| index as usize).eq(expected.iter().copied()), "{what}");
                assert_same(&found, &expected.iter().map(|&i| keys[i]).collect::<Vec<_>>(), what);
            }
        }
    }
}

#[test]
fn indices_are_those_of_the_keys() {
    for (device, turns) in devices_and_turns(1000) {
        for n in [0, 1, 1000, 6000].into_iter().filter(|&n| turns.takes(n)) {
            let keys: Vec<f32> = keys::<f32>(n, 4).into_iter().map(|key| (key * 50.0).round()).collect();
            let found: Vec<usize> = device.argsort(&keys).unwrap().into_iter().map(|index| index as usize).collect();
            assert_eq!(found, argsort(&keys, &SortOptions::default()), "{n}, {}", device.name());
        }
    }
    let device = simulated(0);
    let keys = keys::<u64>(9001, 5);
    let dkeys = device.upload(&keys).unwrap();
    let (mut sorted, mut indices) = (device.alloc(9001).unwrap(), device.alloc::<u64>(9001).unwrap());
    let options = SortOptions::descending();
    let mut sorter = Sorter::<u64, u64>::new(&device, SortRung::OneSweep, 9001, &options).unwrap();
    sorter.argsort_into(device.queue(), &dkeys, (&mut sorted, &mut indices)).unwrap();
    let found: Vec<usize> = indices.download().unwrap().into_iter().map(|index| index as usize).collect();
    assert_eq!(found, argsort(&keys, &options));
}

/// Tests segments of all lengths, also empty and long ones, with and without values.
#[test]
fn segments_are_sorted_separately() {
    let checked = checked_devices().step_by(4).map(|device| (device, 600));
    for (device, long) in devices().map(|device| (device, 9000)).chain(checked) {
        let lengths = [0, 3, 1, 0, 33, 513, 100, long, 2, 1500];
        let mut offsets = vec![5];
        offsets.extend(lengths.iter().scan(5, |end, length| {
            *end += length;
            Some(*end)
        }));
        let n = offsets[lengths.len()] + 7;
        let (keys, values): (Vec<f32>, Vec<u32>) = (keys(n, 6), (0..n as u32).collect());
        let (mut order, mut expected): (Vec<usize>, Vec<f32>) = ((0..n).collect(), keys.clone());
        for segment in offsets.windows(2) {
            order[segment[0]..segment[1]].sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
            expected[segment[0]..segment[1]].sort_by(f32::total_cmp);
        }
        let mut found = keys.clone();
        device.sort_segments(&mut found, &offsets).unwrap();
        assert_same(&found, &expected, device.name());
        let (mut dkeys, mut dvalues) = (device.upload(&keys).unwrap(), device.upload(&values).unwrap());
        let mut sorter = SegmentSorter::new(&device, n, &offsets, &SortOptions::default()).unwrap();
        sorter.sort_pairs_in(device.queue(), &mut dkeys, &mut dvalues).unwrap();
        assert_same(&dkeys.download().unwrap(), &expected, device.name());
        let found: Vec<usize> = dvalues.download().unwrap().into_iter().map(|index| index as usize).collect();
        assert_eq!(found, order, "{}", device.name());
    }
    let device = simulated(0);
    let error = device.sort_segments(&mut [1_u32, 2, 3], &[2, 1]).unwrap_err().to_string();
    assert!(error.contains("the offset 2 before 1, with 3 keys"), "{error}");
    assert!(device.sort_segments(&mut [1_u32, 2, 3], &[0, 4]).is_err());
    let error = SegmentSorter::<u16, u32>::new(&device, 3, &[0, 3], &SortOptions::default()).err().unwrap().to_string();
    assert!(error.contains("segments of keys of 2 bytes with values of 4"), "{error}");
    let mut bytes = [2_u8, 1, 0];
    device.sort_segments(&mut bytes, &[0, 2, 3]).unwrap();
    assert_eq!(bytes, [1, 2, 0]);
    device.sort_segments(&mut [1_u32, 2, 3], &[]).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_keys_are_sorted(
        n in 0_usize..20_000,
        width in 1_u32..=64,
        seed in any::<u64>(),
        descending in any::<bool>(),
        tiles in 1_usize..4,
    ) {
        let device = simulated(seed);
        let mut random = random(seed);
        let keys: Vec<u64> = (0..n).map(|_| random.next_u64() >> (64 - width)).collect();
        let options = SortOptions { descending, ..SortOptions::default() };
        let plan = plan::<u64, u32>(&device, SortRung::OneSweep, n, &options).unwrap().with_portion(tiles * 4224);
        let mut sorter = Sorter::<u64, u32>::with_plan(&device, plan, &options).unwrap();
        let (mut sorted, mut indices) = (device.alloc(n).unwrap(), device.alloc(n).unwrap());
        sorter.argsort_into(device.queue(), &device.upload(&keys).unwrap(), (&mut sorted, &mut indices)).unwrap();
        let order = argsort(&keys, &options);
        let found: Vec<usize> = indices.download().unwrap().into_iter().map(|index| index as usize).collect();
        prop_assert!(found == order);
        prop_assert!(sorted.download().unwrap() == order.into_iter().map(|i| keys[i]).collect::<Vec<_>>());
    }
}
