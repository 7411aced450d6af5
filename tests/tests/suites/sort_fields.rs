//! Sort: structures by several of their fields, against the standard library's stable sort.

use std::cmp::Ordering;

use cuda_std::{DeviceCopy, Pod, Zeroable};
use gridstride::AlgorithmError;
use gridstride::prelude::*;
use gridstride::sort::{FieldSorter, SortFields};
use launch::{Device, Queue};
use rand::Rng;
use tests::{devices, devices_and_turns, random, simulated};

/// Fields of 1, 2, 4 and 8 bytes.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Reading {
    time: i64,
    value: f32,
    station: u16,
    kind: u8,
    /// Is not compared.
    quality: i8,
}

// SAFETY: the fields are plain numbers without padding.
unsafe impl Zeroable for Reading {}
// SAFETY: the fields are plain numbers without padding.
unsafe impl Pod for Reading {}

gridstride::sort_fields!(Reading: kind descending, station, value descending nan_last, time);

/// Seven bytes.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Colour {
    red: u8,
    green: u8,
    rest: [u8; 5],
}

// SAFETY: the fields are plain numbers without padding.
unsafe impl Zeroable for Colour {}
// SAFETY: the fields are plain numbers without padding.
unsafe impl Pod for Colour {}

gridstride::sort_fields!(Colour: green, red descending);

fn readings(n: usize, seed: u64) -> Vec<Reading> {
    let mut random = random(seed);
    let mut next = |bound: u32| random.next_u32() % bound;
    let reading = |_| Reading {
        time: i64::from(next(4)) - 2,
        value: [1.5, -0.0, 0.0, f32::NAN, f32::NEG_INFINITY][next(5) as usize],
        station: next(3) as u16 * 300,
        kind: next(3) as u8 * 100,
        quality: next(100) as i8,
    };
    (0..n).map(reading).collect()
}

fn by_fields(a: &Reading, b: &Reading) -> Ordering {
    let value = || a.value.is_nan().cmp(&b.value.is_nan()).then(b.value.total_cmp(&a.value));
    b.kind.cmp(&a.kind).then(a.station.cmp(&b.station)).then_with(value).then(a.time.cmp(&b.time))
}

/// Sorts into another vector, and in place, and compares the bytes: NaN equals no number.
fn check<T: SortFields>(device: &Device, x: &[T], compare: fn(&T, &T) -> Ordering) {
    let mut order: Vec<u32> = (0..x.len() as u32).collect();
    order.sort_by(|&a, &b| compare(&x[a as usize], &x[b as usize]));
    let expected: Vec<T> = order.iter().map(|&index| x[index as usize]).collect();
    let (dx, mut y) = (device.upload(x).unwrap(), device.alloc(x.len()).unwrap());
    let mut sorter = FieldSorter::new(device, x.len()).unwrap();
    let what = format!("{} structures of {} bytes, {}", x.len(), size_of::<T>(), device.name());
    for _ in 0..2 {
        sorter.sort_into(device.queue(), &dx, &mut y).unwrap();
        assert_eq!(sorter.indices().download().unwrap(), order, "{what}");
        assert!(bytes(&y.download().unwrap()) == bytes(&expected), "{what}");
    }
    let mut found = x.to_vec();
    device.sort_by_fields(&mut found).unwrap();
    assert!(bytes(&found) == bytes(&expected), "{what}: in place");
}

fn bytes<T: Pod>(x: &[T]) -> &[u8] {
    // SAFETY: the elements have no padding.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), size_of_val(x)) }
}

#[test]
fn structures_are_sorted_by_all_listed_fields() {
    for (device, turns) in devices_and_turns(150) {
        for n in [0, 1, 100, 150, 8193].into_iter().filter(|&n| turns.takes(n)) {
            check(&device, &readings(n, n as u64), by_fields);
        }
        if !turns.takes(700) {
            continue;
        }
        let colours: Vec<Colour> = readings(700, 1)
            .iter()
            .map(|reading| Colour { red: reading.kind, green: reading.time as u8, rest: [reading.quality as u8; 5] })
            .collect();
        check(&device, &colours, |a, b| a.green.cmp(&b.green).then(b.red.cmp(&a.red)));
    }
}

type Resources = (FieldSorter<Reading>, Buffer<Reading>, Buffer<Reading>);

#[test]
fn a_sort_by_fields_is_made_again_in_a_graph() {
    for device in devices() {
        let all = (FieldSorter::new(&device, 200).unwrap(), device.alloc(200).unwrap(), device.alloc(200).unwrap());
        let record = |queue: Queue<'_>, (sorter, x, y): &mut Resources| sorter.sort_into(queue, x, y);
        let mut graph = device.record(all, record).unwrap();
        for seed in [1, 2] {
            let mut x = readings(200, seed);
            graph.resources_mut().1.upload(&x).unwrap();
            graph.launch().unwrap();
            x.sort_by(by_fields);
            assert!(bytes(&graph.resources().2.download().unwrap()) == bytes(&x), "{}", device.name());
        }
    }
}

#[test]
fn what_cannot_be_sorted_is_refused() {
    let device = simulated(0);
    let mut sorter = FieldSorter::new(&device, 5).unwrap();
    let (x, mut y) = (device.upload(&readings(5, 1)).unwrap(), device.alloc(4).unwrap());
    let error = sorter.sort_into(device.queue(), &x, &mut y).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
    let error = FieldSorter::<Reading>::new(&device, (1 << 32) + 1).err().unwrap().to_string();
    assert!(error.contains("4294967297 structures") && error.contains("sort_by"), "{error}");
}
