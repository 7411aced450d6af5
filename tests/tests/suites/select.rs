//! Compares every rung of select with the reference, for intervals, flags and runs, on every device.

use std::fmt::Debug;
use std::ops::{Bound, RangeBounds};

use cuda_std::{Element, Ladder, bf16, f16};
use gridstride::error::AlgorithmError;
use gridstride::numbers::Number;
use gridstride::prelude::*;
use gridstride::select::{
    ByFlag, Interval, NumberFormat, RunElement, RunLengthEncoder, Runs, SelectElement, SelectRung, Selection, Selector,
    check, pipelined_tile, tile,
};
use launch::Device;
use proptest::prelude::*;
use rand::Rng;
use tests::{Turns, checked_devices, devices, devices_and_turns, random, simulated};
use workbench::select::reference::{begins_run, partition, run_lengths};

/// Returns sizes near a warp, one tile and several tiles of `rung`, for elements of `bytes` bytes.
fn sizes(rung: SelectRung, bytes: usize) -> Vec<usize> {
    let tile = if rung == SelectRung::Pipelined { pipelined_tile(bytes) } else { tile(1, bytes) };
    let around = [1, 2, 5].map(|tiles| [tiles * tile - 1, tiles * tile, tiles * tile + 1]).concat();
    [0, 1, 2, 31, 32, 33, 255, 257].into_iter().chain(around).collect()
}

/// Returns the selected and the rejected elements of `x` without its first element, found by `rung`.
pub fn found<T: SelectElement<C>, C: 'static>(
    device: &Device,
    rung: SelectRung,
    x: &[T],
    flags: &[u8],
    criterion: C,
) -> (Vec<T>, Vec<T>) {
    let n = x.len() - 1;
    let (dx, dflags) = (device.upload(x).unwrap(), device.upload(flags).unwrap());
    let [mut y, mut rejected] = [0; 2].map(|_| device.zeroed::<T>(n).unwrap());
    let mut count = device.upload(&[u64::MAX]).unwrap();
    let selection = Selection::new(dx.view().part(1, n), criterion, y.view_mut(), count.view_mut());
    let selection = if flags.is_empty() { selection } else { selection.flags(dflags.view().part(1, n)) };
    let mut selector = Selector::new(device, rung, n).unwrap();
    selector.run(device, selection.rejected(rejected.view_mut())).unwrap();
    let count = count.download().unwrap()[0] as usize;
    let [mut y, mut rejected] = [y, rejected].map(|buffer| buffer.download().unwrap());
    y.truncate(count);
    rejected.truncate(n - count);
    (y, rejected)
}

/// Returns `n + 1` random elements, of which neighbours are often equal.
fn elements<T: Number>(n: usize, seed: u64) -> Vec<T> {
    let mut random = random(seed);
    let mut last = T::from_random(0);
    (0..=n)
        .map(|_| {
            if !random.next_u32().is_multiple_of(3) {
                last = T::from_random(random.next_u64());
            }
            last
        })
        .collect()
}

fn conforms_for<T>(device: &Device, turns: &Turns, rung: SelectRung)
where
    T: Number + NumberFormat + Debug + SelectElement<Interval<T>> + SelectElement<Runs> + SelectElement<ByFlag>,
{
    if check::<T, ByFlag>(rung).is_err() {
        return;
    }
    for n in sizes(rung, size_of::<T>()).into_iter().filter(|&n| turns.takes(n)) {
        let x = elements::<T>(n, n as u64);
        let what = format!("{rung}, {n} {}, {}", std::any::type_name::<T>(), device.name());
        let own = &x[1..];
        let [low, high] = [T::from_f64(-0.25), T::from_f64(100.0)];
        let expected = partition(own, |i| (low..high).contains(&own[i]));
        assert_eq!(found(device, rung, &x, &[], within(low..high)), expected, "{what}");
        let flags: Vec<u8> = (0..=n).map(|i| (i * i % 7 % 3) as u8 * 85).collect();
        assert_eq!(found(device, rung, &x, &flags, ByFlag), partition(own, |i| flags[i + 1] != 0), "{what}");
        assert_eq!(found(device, rung, &x, &[], Runs), partition(own, |i| begins_run(own, i)), "{what}");
    }
}

fn conforms(rung: SelectRung) {
    for (device, turns) in devices_and_turns(2100) {
        conforms_for::<u8>(&device, &turns, rung);
        conforms_for::<i8>(&device, &turns, rung);
        conforms_for::<u16>(&device, &turns, rung);
        conforms_for::<f16>(&device, &turns, rung);
        conforms_for::<bf16>(&device, &turns, rung);
        conforms_for::<u32>(&device, &turns, rung);
        conforms_for::<i32>(&device, &turns, rung);
        conforms_for::<f32>(&device, &turns, rung);
        conforms_for::<i64>(&device, &turns, rung);
        conforms_for::<f64>(&device, &turns, rung);
    }
}

macro_rules! suite {
    ($($test:ident: $rung:ident;)*) => {
        $(#[test] fn $test() { conforms(SelectRung::$rung); })*

        #[test]
        fn every_rung_is_in_the_suite() {
            assert_eq!(SelectRung::ALL, [$(SelectRung::$rung),*]);
        }
    };
}

suite! {
    textbook_conforms: Textbook;
    look_back_conforms: LookBack;
    pipelined_conforms: Pipelined;
}

#[test]
fn wide_elements_are_selected_by_flags() {
    fn check<T: Element + PartialEq + Debug + SelectElement<ByFlag>>(device: &Device, element: fn(u32) -> T) {
        let x: Vec<T> = (0..3001).map(element).collect();
        let flags: Vec<u8> = (0..3001).map(|i| (i % 5 % 2) as u8).collect();
        let expected = partition(&x[1..], |i| flags[i + 1] != 0);
        assert_eq!(found(device, SelectRung::LookBack, &x, &flags, ByFlag), expected);
    }
    for device in devices() {
        check::<[u32; 4]>(&device, |i| [i, 2 * i, 3, 4]);
        check::<[f32; 2]>(&device, |i| [i as f32, -1.0]);
        check::<[u8; 4]>(&device, |i| i.to_le_bytes());
    }
}

#[test]
fn runs_are_encoded() {
    fn check<T: Number + RunElement>(device: &Device, turns: &Turns, length: usize) {
        for n in sizes(SelectRung::LookBack, size_of::<T>()).into_iter().filter(|&n| turns.takes(n)) {
            let x: Vec<T> = elements::<T>(n / length + 1, n as u64)
                .iter()
                .flat_map(|&element| std::iter::repeat_n(element, length))
                .take(n + 1)
                .collect();
            let dx = device.upload(&x).unwrap();
            let mut encoder = RunLengthEncoder::new(device, n).unwrap();
            let (mut y, mut lengths) = (device.zeroed::<T>(n).unwrap(), device.zeroed(n).unwrap());
            let mut count = device.upload(&[u64::MAX]).unwrap();
            let part = dx.view().part(1, n);
            encoder.run(device, part, y.view_mut(), lengths.view_mut(), count.view_mut()).unwrap();
            let (elements, expected) = run_lengths(&x[1..]);
            let what = format!("{n} {} in runs of {length}, {}", T::TYPE, device.name());
            assert_eq!(count.download().unwrap(), [elements.len() as u64], "{what}");
            assert_eq!(y.download().unwrap()[..elements.len()], elements, "{what}");
            assert_eq!(lengths.download().unwrap()[..elements.len()], expected, "{what}");
        }
    }
    for (device, turns) in devices_and_turns(2100) {
        check::<u8>(&device, &turns, 1);
        check::<u16>(&device, &turns, 40);
        check::<f32>(&device, &turns, 1);
        check::<i32>(&device, &turns, 5);
        check::<u32>(&device, &turns, 1700);
        check::<f64>(&device, &turns, 3);
    }
    let error = RunLengthEncoder::<u8>::new(&simulated(0), 1 << 32).err().unwrap().to_string();
    assert!(error.contains("4294967296 elements") && error.contains("up to 4294967295"), "{error}");
}

/// Tests intervals whose bounds are zeros, infinities, NaN, and the limits of the types.
#[test]
fn intervals_have_the_bounds_of_the_numbers() {
    fn check<T: Number + NumberFormat + SelectElement<Interval<T>>>(device: &Device, numbers: &[T]) {
        // The text tells −0 from +0, and a NaN equals itself.
        let same = |found: &[T], expected: &[T]| assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        for &low in numbers {
            for &high in numbers {
                for range in [
                    (Bound::Included(low), Bound::Included(high)),
                    (Bound::Included(low), Bound::Excluded(high)),
                    (Bound::Excluded(low), Bound::Included(high)),
                    (Bound::Excluded(low), Bound::Excluded(high)),
                    (Bound::Unbounded, Bound::Excluded(high)),
                    (Bound::Excluded(low), Bound::Unbounded),
                ] {
                    let (inside, outside) = partition(numbers, |i| range.contains(&numbers[i]));
                    same(&device.select(numbers, within(range)).unwrap(), &inside);
                    same(&device.select(numbers, within(range).negated()).unwrap(), &outside);
                }
            }
        }
    }
    let device = simulated(0);
    check(&device, &[0.0, -0.0, 1.5, -1.5, f32::MIN_POSITIVE, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX]);
    check(&device, &[0.0, -0.0, f64::MIN_POSITIVE, -1.0, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN]);
    check(&device, &[0, 1, 127, u8::MAX]);
    check(&device, &[i32::MIN, -1, 0, i32::MAX]);
    check(&device, &[0, 1, u64::MAX]);
    check(&device, &[i64::MIN, i64::MIN + 1, 0, i64::MAX]);
    assert_eq!(device.select(&[1.0, f32::NAN, f32::INFINITY], within(..)).unwrap(), [1.0, f32::INFINITY]);
}

#[test]
fn floats_are_equal_as_by_their_operator() {
    let device = simulated(0);
    let x = [0.0, -0.0, 0.0, f32::NAN, f32::NAN, 1.0, 1.0, f32::INFINITY, f32::INFINITY];
    let found = device.unique(&x).unwrap();
    assert_eq!(format!("{found:?}"), "[0.0, NaN, NaN, 1.0, inf]");
    assert_eq!(device.unique(&[f64::NAN, -f64::NAN, -0.0, 0.0]).unwrap().len(), 3);
    assert_eq!(device.unique(&[-1_i8, -1, 127, -128, -128]).unwrap(), [-1, 127, -128]);
}

#[test]
fn what_does_not_fit_is_counted_and_not_stored() {
    for device in devices().chain(checked_devices().step_by(4)) {
        for &rung in SelectRung::ALL {
            let x = device.upload(&(0..5000).collect::<Vec<u32>>()).unwrap();
            let [mut y, mut rejected] = [0; 2].map(|_| device.zeroed::<u32>(2002).unwrap());
            let mut count = device.zeroed(1).unwrap();
            let selection = Selection::new(x.view(), within(2500..), y.view_mut().part(1, 2000), count.view_mut());
            let mut selector = Selector::new(&device, rung, 5000).unwrap();
            selector.run(&device, selection.rejected(rejected.view_mut().part(1, 2000))).unwrap();
            assert_eq!(count.download().unwrap(), [2500]);
            let padded = |first: u32| [&[0], &(first..first + 2000).collect::<Vec<_>>()[..], &[0]].concat();
            assert_eq!(y.download().unwrap(), padded(2500), "{rung}");
            assert_eq!(rejected.download().unwrap(), padded(0), "{rung}");
        }
    }
}

#[test]
fn a_selection_is_made_again_in_a_graph() {
    for device in devices().chain(checked_devices().step_by(4)) {
        for &rung in SelectRung::ALL {
            let made = Selector::<u32, Interval<u32>>::new(&device, rung, 3001).unwrap();
            let x = device.zeroed::<u32>(3001).unwrap();
            let all = (made, x, device.alloc::<u32>(3001).unwrap(), device.alloc::<u64>(1).unwrap());
            let mut graph = device
                .record(all, |queue, (made, x, y, count)| {
                    made.run(queue, Selection::new(x.view(), within(..1 << 31), y.view_mut(), count.view_mut()))
                })
                .unwrap();
            for seed in 0..3 {
                let x = elements::<u32>(3000, seed);
                graph.resources_mut().1.upload(&x).unwrap();
                graph.launch().unwrap();
                let (expected, _) = partition(&x, |i| x[i] < 1 << 31);
                assert_eq!(graph.resources().3.download().unwrap(), [expected.len() as u64]);
                assert_eq!(graph.resources().2.download().unwrap()[..expected.len()], expected);
            }
        }
    }
}

#[test]
fn wrong_lengths_are_refused() {
    let device = simulated(0);
    let x = device.upload(&[1_u32, 2, 3]).unwrap();
    for &rung in SelectRung::ALL {
        let [mut count, mut two] = [1, 2].map(|len| device.zeroed::<u64>(len).unwrap());
        let mut y = device.zeroed::<u32>(3).unwrap();
        let mut refused = |len, flags: usize, is_two: bool| {
            let mut selector = Selector::<u32, ByFlag>::new(&device, rung, len).unwrap();
            let flags = device.zeroed::<u8>(flags).unwrap();
            let count = if is_two { two.view_mut() } else { count.view_mut() };
            let selection = Selection::new(x.view(), ByFlag, y.view_mut(), count).flags(flags.view());
            let error = selector.run(&device, selection).unwrap_err();
            assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
        };
        refused(2, 3, false);
        refused(3, 2, false);
        refused(3, 0, false);
        refused(3, 3, true);
    }
    let error = device.select_flagged(&[[1_u32; 3]], &[1]).unwrap_err().to_string();
    assert!(error.contains("elements of 12 bytes") && error.contains("1, 2, 4, 8 and 16 bytes"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_element_is_in_one_part(
        n in 0_usize..9000,
        low in any::<u32>(),
        high in any::<u32>(),
        rung in prop::sample::select(SelectRung::ALL),
        seed in any::<u64>(),
    ) {
        let (device, x) = (simulated(seed), elements::<u32>(n, seed));
        let expected = partition(&x[1..], |i| (low..=high).contains(&x[i + 1]));
        prop_assert_eq!(found(&device, rung, &x, &[], within(low..=high)), expected);
    }
}
