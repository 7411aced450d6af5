//! Merge sort: every rung against the standard library's stable sort, on every device; elements and comparisons of the
//! tests in the simulator.

use std::fmt::Debug;

use cuda_std::{DeviceCopy, Ladder, Pod, Zeroable};
use gpu::merge_sort::{Compare, Less, MergeSortElement, MergeSortRung};
use gridstride::AlgorithmError;
use gridstride::merge_sort::{MergeSorter, default_rung, merge_views, tile};
use gridstride::prelude::*;
use launch::{Device, Queue};
use proptest::prelude::*;
use rand::Rng;
use tests::{checked_devices, devices, devices_and_turns, random, simulated};

/// An element of 64 bytes: a key, and the position before the sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
struct Record {
    key: u32,
    position: u32,
    rest: [u64; 7],
}

// SAFETY: the fields are plain integers without padding.
unsafe impl Zeroable for Record {}
// SAFETY: the fields are plain integers without padding.
unsafe impl Pod for Record {}

/// An element of 12 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
struct Point {
    x: i32,
    y: i32,
    position: u32,
}

// SAFETY: the fields are plain integers without padding.
unsafe impl Zeroable for Point {}
// SAFETY: the fields are plain integers without padding.
unsafe impl Pod for Point {}

/// Records by their keys.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(transparent)]
struct ByKey(u32);

impl Compare<Record> for ByKey {
    fn is_less(self, a: Record, b: Record) -> bool {
        // Only records of the input have these words.
        assert!(a.rest == [u64::from(self.0); 7] && b.rest == a.rest);
        a.key < b.key
    }
}

/// Points by their distance from a point, the farthest first.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Farthest {
    x: i32,
    y: i32,
}

impl Compare<Point> for Farthest {
    fn is_less(self, a: Point, b: Point) -> bool {
        self.distance(a) > self.distance(b)
    }
}

impl Farthest {
    fn distance(self, point: Point) -> i32 {
        (point.x - self.x).abs() + (point.y - self.y).abs()
    }
}

/// Bytes by their upper four bits.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct ByUpper;

impl Compare<u8> for ByUpper {
    fn is_less(self, a: u8, b: u8) -> bool {
        a >> 4 < b >> 4
    }
}

/// Floats by `<`, which is no order if there is a NaN.
#[derive(Clone, Copy, DeviceCopy)]
struct Unordered;

impl Compare<f32> for Unordered {
    fn is_less(self, a: f32, b: f32) -> bool {
        a < b
    }
}

gpu::instances!(Record by ByKey: merge_sort);
gpu::instances!(Point by Farthest: merge_sort);
gpu::instances!(u8 by ByUpper: merge_sort);
gpu::instances!(f32 by Unordered: merge_sort);

/// Sorts into another vector and in place, with one sorter, and checks both against the standard library's stable sort.
pub fn check<T, C>(device: &Device, rung: MergeSortRung, compare: C, elements: &[T])
where
    T: MergeSortElement<C> + PartialEq + Debug,
    C: Compare<T> + 'static,
{
    let n = elements.len();
    let mut expected = elements.to_vec();
    expected.sort_by(|&a, &b| compare.is_less(b, a).cmp(&compare.is_less(a, b)));
    let (mut x, mut y) = (device.upload(elements).unwrap(), device.upload(&vec![T::zeroed(); n]).unwrap());
    let mut sorter = MergeSorter::new(device, rung, n).unwrap();
    sorter.sort_into(device.queue(), compare, &x, &mut y).unwrap();
    let what = format!("{rung}, {n} elements of {} bytes, {}", size_of::<T>(), device.name());
    assert!(x.download().unwrap() == elements, "{what}: the input has changed");
    assert!(y.download().unwrap() == expected, "{what}");
    sorter.sort_in(device.queue(), compare, &mut x).unwrap();
    assert!(x.download().unwrap() == expected, "{what}: in place");
}

fn words(n: usize, seed: u64) -> Vec<u32> {
    let mut random = random(seed);
    (0..n).map(|_| random.next_u32() >> 20).collect()
}

fn points(n: usize, seed: u64) -> Vec<Point> {
    let mut random = random(seed);
    let mut coordinate = || (random.next_u32() % 20) as i32;
    (0..n as u32).map(|position| Point { x: coordinate(), y: coordinate(), position }).collect()
}

fn records(n: usize, seed: u64) -> Vec<Record> {
    let mut random = random(seed);
    (0..n as u32).map(|position| Record { key: random.next_u32() % 50, position, rest: [3; 7] }).collect()
}

/// Returns sizes near a warp, one tile and several tiles of `tile` elements.
fn sizes(tile: usize) -> Vec<usize> {
    let around = [1, 2, 3, 5].map(|tiles| [tiles * tile - 1, tiles * tile, tiles * tile + 1]).concat();
    [0, 1, 2, 3, 14, 15, 16, 31, 32, 33, 255, 257].into_iter().chain(around).collect()
}

fn conforms(rung: MergeSortRung) {
    for (device, turns) in devices_and_turns(1000) {
        for n in sizes(tile(4)).into_iter().chain([1000]).filter(|&n| turns.takes(n)) {
            check(&device, rung, Less, &words(n, n as u64));
        }
        let several: [fn(u32) -> u32; 4] = [|_| 7, |i| i, |i| !i, |i| i % 3];
        for key in several.into_iter().filter(|_| turns.takes(9001)) {
            check(&device, rung, Less, &(0..9001).map(key).collect::<Vec<_>>());
        }
    }
}

macro_rules! suite {
    ($($test:ident: $rung:ident;)*) => {
        $(#[test] fn $test() { conforms(MergeSortRung::$rung); })*

        #[test]
        fn every_rung_is_in_the_suite() {
            assert_eq!(MergeSortRung::ALL, [$(MergeSortRung::$rung),*]);
        }
    };
}

suite! {
    ranks_conforms: Ranks;
    merge_path_conforms: MergePath;
}

/// Tests elements of 1, 12 and 64 bytes, whose comparison finds many of them equal, in several tiles. The kernels are
/// in no PTX.
#[test]
fn own_elements_keep_their_order() {
    let rung = MergeSortRung::MergePath;
    let device = simulated(0);
    for n in [0, 1, 2, 33, 255, 256, 257, 3 * 256 + 7] {
        check(&device, rung, ByKey(3), &records(n, 1));
    }
    for n in [1, 2, 33, tile(12) - 1, tile(12), tile(12) + 1] {
        check(&device, rung, Farthest { x: 3, y: 9 }, &points(n, 2));
    }
    let bytes: Vec<u8> = words(tile(1) + 33, 3).into_iter().map(|word| word as u8).collect();
    check(&device, rung, ByUpper, &bytes);
    for device in checked_devices().step_by(4) {
        check(&device, rung, ByKey(3), &records(256 + 7, 1));
        check(&device, rung, Farthest { x: 3, y: 9 }, &points(200, 2));
    }
}

#[test]
fn merges_take_elements_of_the_first_vector_first() {
    let compare = Farthest { x: 0, y: 0 };
    for device in [simulated(0)].into_iter().chain(checked_devices().step_by(4)) {
        let most = if device.summary().contains("checks") { 400 } else { 9000 };
        for [len_a, len_b] in [[0, 0], [0, 5], [5, 0], [100, 300], [most, 1], [1, most], [most / 2, most / 3]] {
            let mut all = points(len_a + len_b, 4);
            let stable = |part: &mut [Point]| part.sort_by_key(|point| -compare.distance(*point));
            stable(&mut all[..len_a]);
            stable(&mut all[len_a..]);
            let merged = device.merge_by(&all[..len_a], &all[len_a..], compare).unwrap();
            stable(&mut all);
            assert!(merged == all, "{len_a} and {len_b}, {}", device.name());
        }
    }
}

/// Tests that a comparison which is no order reads and writes only the memory of the input and output.
#[test]
fn not_a_number_is_sorted_somewhere() {
    for device in checked_devices().step_by(4).chain([simulated(0)]) {
        let elements: Vec<f32> =
            words(9000, 6).iter().map(|&word| if word % 3 == 0 { f32::NAN } else { word as f32 }).collect();
        let sorted = device.sorted_by(&elements[..tile(4) + 900], Unordered).unwrap();
        assert!(sorted.iter().all(|y| y.is_nan() || elements.contains(y)), "{}", device.name());
    }
}

#[test]
fn views_begin_anywhere() {
    for device in devices() {
        let elements = words(20_000, 2);
        let x = device.upload(&elements).unwrap();
        for (start, n, at) in [(1, 9001, 3), (3, 12_345, 1), (7, 1, 5), (5, 0, 2), (2, 100, 1000)] {
            let mut y = device.upload(&[7; 20_000]).unwrap();
            let mut sorter = MergeSorter::new(&device, default_rung(), n).unwrap();
            let view = y.view_mut().part(at, n);
            sorter.sort_views(device.queue(), Less, x.view().part(start, n), view).unwrap();
            let mut all = vec![7; 20_000];
            all[at..at + n].copy_from_slice(&elements[start..start + n]);
            all[at..at + n].sort_unstable();
            assert!(y.download().unwrap() == all, "{n} from {start} at {at}");
        }
    }
    let device = simulated(0);
    let mut buffer = device.upload(&[0_u32; 100]).unwrap();
    let start = buffer.view_mut().as_ptr();
    let input = buffer.view().part(40, 60);
    // SAFETY: the elements are in the buffer, and the sort must refuse to access them.
    let out = unsafe { cuda_std::GlobalMut::from_raw_parts(start, 60, input.device()) };
    let error = MergeSorter::new(&device, default_rung(), 60)
        .and_then(|mut sorter| sorter.sort_views(device.queue(), Less, input, out))
        .unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::Overlap)), "{error}");
    let error = merge_views(device.queue(), Less, input.part(0, 0), input, out).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::Overlap)), "{error}");
}

type Resources = (MergeSorter<u32, Less>, Buffer<u32>, Buffer<u32>);

#[test]
fn a_sort_is_made_again_in_a_graph_and_a_stream() {
    let record = |queue: Queue<'_>, (sorter, x, y): &mut Resources| {
        sorter.sort_into(queue, Less, x, y)?;
        sorter.sort_in(queue, Less, x)
    };
    for device in devices().chain(checked_devices().step_by(4)) {
        for (rung, n) in [(MergeSortRung::MergePath, 2 * tile(4) + 1), (MergeSortRung::Ranks, 200)] {
            let (first, second) = (words(n, 1), words(n, 2));
            let sorter = MergeSorter::new(&device, rung, n).unwrap();
            let all = (sorter, device.upload(&first).unwrap(), device.alloc(n).unwrap());
            let mut graph = device.record(all, record).unwrap();
            for elements in [&first, &second] {
                graph.resources_mut().1.upload(elements).unwrap();
                graph.launch().unwrap();
                let mut expected = elements.clone();
                expected.sort_unstable();
                let (_, x, y) = graph.resources();
                assert!(x.download().unwrap() == expected && y.download().unwrap() == expected, "{rung}");
            }
        }
        let stream = device.stream().unwrap();
        let n = tile(4) + 1;
        let mut x = device.upload(&words(n, 3)).unwrap();
        let mut sorter = MergeSorter::new(&device, default_rung(), n).unwrap();
        sorter.sort_in(stream.queue(), Less, &mut x).unwrap();
        stream.queue().synchronize().unwrap();
        assert!(x.download().unwrap().is_sorted(), "{}", device.name());
    }
}

#[test]
fn what_cannot_be_sorted_is_refused() {
    let device = simulated(0);
    let error = MergeSorter::<Point, Farthest>::new(&device, MergeSortRung::Ranks, 5).err().unwrap().to_string();
    assert!(error.contains("Farthest of Point") && error.contains("merge_path"), "{error}");
    let mut sorter = MergeSorter::new(&device, default_rung(), 5).unwrap();
    let error = sorter.sort_in(device.queue(), Less, &mut device.upload(&[1_u32; 4]).unwrap()).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
    let (x, mut y) = (device.upload(&[1_u32; 4]).unwrap(), device.alloc(7).unwrap());
    let error = merge_views(device.queue(), Less, x.view(), x.view(), y.view_mut()).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_points_are_sorted(n in 0_usize..4000, seed in any::<u64>(), x in 0..20, y in 0..20) {
        check(&simulated(seed), MergeSortRung::MergePath, Farthest { x, y }, &points(n, seed));
    }
}
