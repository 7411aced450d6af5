//! Compares every rung of histogram with the reference, for both widths of keys, on every device.

use std::fmt::Debug;

use cuda_std::Ladder;
use gpu::histogram::{
    Key, MAX_REPLICAS, STATE_WORDS, VALUES, histogram_global, histogram_privatised, histogram_replicated,
};
use gridstride::error::AlgorithmError;
use gridstride::histogram::{Bins, Histogram, HistogramRung, Plan, histogram};
use launch::{Device, Kernel, LaunchConfig};
use proptest::prelude::*;
use rand::Rng;
use tests::{all_devices, checked_devices, devices, random, simulated};
use workbench::histogram::reference;

/// The number of different keys of 32 bits.
const ALL: u64 = 1 << 32;

/// Numbers of keys: 0; fewer keys than a vector, a warp or a block processes; sizes near a tile for either key width;
/// one iteration of the checked devices' grid, and more than one; primes.
const SIZES: [usize; 20] = [
    0, 1, 2, 15, 16, 17, 31, 33, 1000, 4099, 16_383, 16_384, 16_385, 32_767, 32_768, 32_769, 65_537, 100_003, 131_072,
    200_017,
];

trait RandomKey: Key + Debug + PartialEq {
    fn from_random(bits: u64) -> Self;
}

impl RandomKey for u8 {
    fn from_random(bits: u64) -> Self {
        bits as u8
    }
}

impl RandomKey for u32 {
    fn from_random(bits: u64) -> Self {
        bits as u32
    }
}

fn keys<K: RandomKey>(n: usize, seed: u64) -> Vec<K> {
    let mut random = random(seed);
    (0..n).map(|_| K::from_random(random.next_u64())).collect()
}

fn bins(count: u32, lower: u32, upper: u64) -> Bins {
    Bins::even(count, lower, upper).unwrap()
}

/// Returns the counts that `rung` writes. The output contains other values before the launch, so the test fails if a
/// count is not written.
fn run<K: RandomKey>(device: &Device, rung: HistogramRung, keys: &[K], bins: Bins) -> Vec<u32> {
    let keys = device.upload(keys).unwrap();
    let mut counts = device.upload(&vec![99; bins.count() as usize]).unwrap();
    histogram(device, rung, &keys, bins, &mut counts).unwrap();
    counts.download().unwrap()
}

#[track_caller]
fn assert_counts(found: &[u32], expected: &[u32], what: impl std::fmt::Display) {
    assert_eq!(found.len(), expected.len(), "{what}");
    if let Some(bin) = (0..found.len()).find(|&bin| found[bin] != expected[bin]) {
        panic!("{what}: bin {bin} has {}, and should have {}", found[bin], expected[bin]);
    }
}

fn conforms_for<K: RandomKey>(rung: HistogramRung, device: &Device, most: usize, several: &[Bins]) {
    for n in SIZES.into_iter().filter(|&n| n <= most) {
        let keys = keys::<K>(n, 1);
        for &bins in several {
            let what = format!("{rung}, {n} {}, {bins:?}, {}", std::any::type_name::<K>(), device.name());
            assert_counts(&run(device, rung, &keys, bins), &reference::histogram(&keys, bins), what);
        }
    }
}

fn conforms(rung: HistogramRung) {
    let bytes = [bins(256, 0, 256), bins(7, 10, 200), bins(300, 0, 256), bins(1, 255, 256)];
    let words = [bins(256, 0, ALL), bins(7, 1 << 20, 4_000_000_007), bins(1000, 5, ALL)];
    for device in devices() {
        conforms_for::<u8>(rung, &device, usize::MAX, &bytes);
        conforms_for::<u32>(rung, &device, usize::MAX, &words);
        // The last number of bins needs more shared memory than a block has.
        let many = [bins(8193, 0, ALL), bins(65_536, 0, ALL)];
        conforms_for::<u32>(rung, &device, 17_000, &many);
    }
    for device in checked_devices() {
        conforms_for::<u8>(rung, &device, 4099, &bytes[..2]);
        conforms_for::<u32>(rung, &device, 1000, &words[..2]);
    }
}

macro_rules! suite {
    ($($test:ident: $rung:ident;)*) => {
        $(#[test] fn $test() { conforms(HistogramRung::$rung); })*

        #[test]
        fn every_rung_is_in_the_suite() {
            assert_eq!(HistogramRung::ALL, [$(HistogramRung::$rung),*]);
        }
    };
}

suite! {
    global_conforms: Global;
    privatised_conforms: Privatised;
    replicated_conforms: Replicated;
}

/// Tests inputs with few different keys, with keys that all use one bank, and with runs of equal keys.
#[test]
fn keys_that_are_alike_are_all_counted() {
    fn check<K: RandomKey>(device: &Device, bins: Bins) {
        let of = |key: fn(u64) -> u64| (0..9001).map(|i| K::from_random(key(i))).collect::<Vec<K>>();
        let several = [of(|_| 42), of(|_| u64::MAX), of(|i| i % 2 * 255), of(|i| i % 8 * 32), of(|i| i / 16 % 256)];
        for keys in &several {
            for &rung in HistogramRung::ALL {
                let what = format!("{rung}, {:?} …", &keys[..4]);
                assert_counts(&run(device, rung, keys, bins), &reference::histogram(keys, bins), what);
            }
        }
    }
    for device in devices() {
        check::<u8>(&device, bins(256, 0, 256));
        check::<u32>(&device, bins(256, 0, 256));
        check::<u32>(&device, bins(256, 0, ALL));
    }
}

/// Tests grids of any number of whole warps, with any segments and replicas, with keys that start at any element, and
/// with reused state.
#[test]
fn any_launch_counts_the_same() {
    fn check<K: RandomKey>(device: &Device, bins: Bins, segments: &[(u32, u32)], launches: &[(u32, u32)])
    where
        histogram_privatised<K>: Kernel,
        histogram_replicated<K>: Kernel,
    {
        let all = keys::<K>(7777, 5);
        let dx = device.upload(&all).unwrap();
        let mut state = device.zeroed::<u32>(STATE_WORDS).unwrap();
        for (number, &(blocks, threads)) in launches.iter().enumerate() {
            let (segment, replicas) = segments[number % segments.len()];
            let (start, n) = [(0, 7777), (1, 7776), (3, 4100), (13, 2), (5, 0), (4, 2048 * 3)][number % 6];
            let expected = reference::histogram(&all[start..start + n], bins);
            let (even, part) = (bins.even_bins(), dx.view().part(start, n));
            let rows = if K::BY_VALUE { 1 } else { bins.count().div_ceil(segment) };
            let mut counts = device.upload(&vec![7; bins.count() as usize]).unwrap();
            let config = LaunchConfig::new((blocks, rows), threads).shared_bytes(segment * replicas * 4);
            let call = histogram_replicated(part, even, segment, replicas, state.view_mut(), counts.view_mut());
            device.launch(config, call).unwrap();
            let what = format!("{n} keys from {start}, {segment} x {replicas}, {config:?}, {}", device.name());
            assert_counts(&counts.download().unwrap(), &expected, &what);
            assert_eq!(state.download().unwrap(), [0; STATE_WORDS], "{what}");

            let mut counts = device.zeroed::<u32>(bins.count() as usize).unwrap();
            let config = LaunchConfig::new((blocks, bins.count().div_ceil(segment)), threads).shared_bytes(segment * 4);
            device.launch(config, histogram_privatised(part, even, segment, counts.view_mut())).unwrap();
            assert_counts(&counts.download().unwrap(), &expected, &what);
        }
    }
    let launches = [(1, 32), (2, 64), (3, 96), (5, 32), (1, 160), (7, 64), (4, 32)];
    let bytes = [(VALUES, MAX_REPLICAS)];
    let words = [(100, 1), (34, 2), (33, 4), (25, 8), (99, 1), (15, 16), (100, 32)];
    for device in all_devices() {
        check::<u8>(&device, bins(100, 3, 250), &bytes, &launches);
        check::<u32>(&device, bins(100, 1000, 4_000_000_000), &words, &launches);
    }
}

#[test]
fn a_histogram_is_made_again_in_a_graph() {
    for device in all_devices() {
        for &rung in HistogramRung::ALL {
            let bins = bins(50, 0, 256);
            let (first, second) = (keys::<u8>(3001, 1), keys::<u8>(3001, 2));
            let made = Histogram::new::<u8>(&device, rung, first.len(), bins).unwrap();
            let counts = device.alloc::<u32>(50).unwrap();
            let all = (made, device.upload(&first).unwrap(), counts);
            let mut graph = device.record(all, |queue, (made, keys, counts)| made.run(queue, keys, counts)).unwrap();
            for keys in [&first, &second, &first] {
                graph.resources_mut().1.upload(keys).unwrap();
                graph.launch().unwrap();
                let found = graph.resources().2.download().unwrap();
                assert_counts(&found, &reference::histogram(keys, bins), rung);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let device = simulated(0);
    let keys = device.upload(&[1_u8, 2, 3]).unwrap();
    let four = bins(4, 0, 256);
    for &rung in HistogramRung::ALL {
        let mut counts = device.zeroed::<u32>(5).unwrap();
        let error = histogram(&device, rung, &keys, four, &mut counts).unwrap_err();
        assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
        let mut made = Histogram::new::<u8>(&device, rung, 2, four).unwrap();
        let error = made.run(&device, &keys, &mut device.zeroed::<u32>(4).unwrap()).unwrap_err();
        assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
        let error = Histogram::new::<u8>(&device, rung, 1 << 32, four).err().unwrap();
        assert!(error.to_string().contains("4294967296 were given"), "{error}");
    }
}

/// Tests that kernels reject launches with other numbers of threads or bytes, because their unchecked accesses rely on
/// these numbers.
#[test]
fn a_kernel_refuses_launches_of_another_shape() {
    let device = simulated(0);
    let keys = device.upload(&[1_u8; 40]).unwrap();
    let words = device.upload(&[1_u32; 40]).unwrap();
    let bins = bins(4, 0, 256).even_bins();
    let mut counts = device.zeroed::<u32>(4).unwrap();
    let config = LaunchConfig::new(1, 64).shared_bytes(32 * 1024);
    let mut refused = |config: LaunchConfig, segment, replicas| {
        let mut state = device.zeroed::<u32>(STATE_WORDS).unwrap();
        let call = histogram_replicated(keys.view(), bins, segment, replicas, state.view_mut(), counts.view_mut());
        let message = device.launch(config, call).unwrap_err().to_string();
        assert!(message.contains("histogram_replicated_u8") && message.contains("replicated.rs:"), "{message}");
    };
    // These launches have too little shared memory, other counters, several rows, partial warps, or two dimensions.
    refused(config.shared_bytes(32 * 1024 - 4), VALUES, MAX_REPLICAS);
    refused(config, 255, MAX_REPLICAS);
    refused(config, VALUES, 16);
    refused(LaunchConfig::new((1, 2), 64).shared_bytes(32 * 1024), VALUES, MAX_REPLICAS);
    refused(LaunchConfig::new(1, 48).shared_bytes(32 * 1024), VALUES, MAX_REPLICAS);
    refused(LaunchConfig::new(1, (32, 2)).shared_bytes(32 * 1024), VALUES, MAX_REPLICAS);
    for replicas in [0, 3, 64] {
        let mut state = device.zeroed::<u32>(STATE_WORDS).unwrap();
        let call = histogram_replicated(words.view(), bins, 4, replicas, state.view_mut(), counts.view_mut());
        let message = device.launch(config, call).unwrap_err().to_string();
        assert!(message.contains("histogram_replicated_u32") && message.contains("replicated.rs:"), "{message}");
    }
    // This output has fewer counts than there are bins.
    let mut few = device.zeroed::<u32>(3).unwrap();
    let call = histogram_global(words.view(), Bins::even(4, 0, 2).unwrap().even_bins(), few.view_mut());
    assert!(device.launch(LaunchConfig::new(1, 64), call).is_ok(), "key 1 of 0..2 is in bin 2 of 4");
    let call = histogram_global(words.view(), Bins::even(4, 1, 2).unwrap().even_bins(), few.view_mut().part(0, 0));
    assert!(device.launch(LaunchConfig::new(1, 64), call).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_key_inside_is_counted_once(
        n in 0_usize..40_000,
        count in 1_u32..5000,
        lower in any::<u32>(),
        range in 1_u64..ALL,
        is_wide in any::<bool>(),
        shared_bytes in prop::sample::select(vec![1024_u32, 48 * 1024, 227 * 1024]),
        rung in prop::sample::select(HistogramRung::ALL),
        seed in any::<u64>(),
    ) {
        let device = simulated(seed);
        // The smallest shared memory is too small for the replicas of byte counters.
        let shared_bytes = if is_wide { shared_bytes } else { shared_bytes.max(48 * 1024) };
        macro_rules! check {
            ($key:ty, $lower:expr, $upper:expr) => {{
                let bins = bins(count, $lower, $upper);
                let keys = keys::<$key>(n, seed);
                let plan = Plan::with_limits::<$key>(rung, n, count, 3, shared_bytes);
                let mut made = Histogram::with_plan(&device, plan, n, bins).unwrap();
                let mut counts = device.alloc::<u32>(count as usize).unwrap();
                made.run(&device, &device.upload(&keys).unwrap(), &mut counts).unwrap();
                let counts = counts.download().unwrap();
                prop_assert_eq!(&counts, &reference::histogram(&keys, bins));
                let inside = keys.iter().filter(|key| bins.of(key.value()).is_some()).count();
                prop_assert_eq!(counts.iter().map(|&count| count as usize).sum::<usize>(), inside);
            }};
        }
        if is_wide {
            check!(u32, lower, (u64::from(lower) + range).min(ALL));
        } else {
            let lower = lower % 300;
            check!(u8, lower, u64::from(lower) + range % 400 + 1);
        }
    }
}
