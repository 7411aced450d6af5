//! Tests scan in further cases: distant look-back, various grids, special values, errors and random vectors.

use cuda_std::Global;
use cuda_std::Ladder;
use cuda_std::warp::Shuffle;
use gpu::operator::{Affine, Compose, Max, Min, Operator, Sum};
use gpu::scan::{
    AGGREGATE, CHUNKS, PREFIX, THREADS, TICKET, first_word, scan_down_sweep, scan_look_back, scan_naive_step,
    scan_shifted_copy, scan_up_sweep, state_words, tile_elements,
};
use gridstride::error::AlgorithmError;
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner, check, scan};
use launch::{Device, Error, LaunchConfig};
use proptest::prelude::*;
use rand::Rng;
use tests::{all_devices, devices, devices_and_turns, random, random_floats, simulated};
use workbench::scan::reference;

const KINDS: [ScanKind; 2] = [ScanKind::Inclusive, ScanKind::Exclusive];

fn found<T: ScanElement<O>, O: Operator<T>>(
    device: &Device,
    rung: ScanRung,
    kind: ScanKind,
    x: &[T],
    operator: O,
) -> Vec<T> {
    let dx = device.upload(x).unwrap();
    let mut dy = device.alloc(x.len()).unwrap();
    scan(device, rung, kind, &dx, &mut dy, operator).unwrap();
    dy.download().unwrap()
}

/// Returns a vector of floats and its prefix sums. All prefix sums, and all sums of neighbouring elements, are exact.
fn exact_sums(n: usize) -> (Vec<f32>, Vec<f32>) {
    let mut random = random(n as u64);
    let prefixes: Vec<f32> = (0..n).map(|_| (random.next_u32() >> 12) as f32 - f32::from(1_u16 << 15)).collect();
    let x = (0..n).map(|i| prefixes[i] - if i == 0 { 0.0 } else { prefixes[i - 1] }).collect();
    (x, prefixes)
}

#[test]
fn sums_that_no_order_rounds_are_exact_at_any_length() {
    let large = [(1 << 20) - 1, (1 << 20) + 1, 40 * tile_elements(CHUNKS, 4)];
    for &rung in ScanRung::ALL {
        let devices: Vec<_> = devices_and_turns(if is_one_pass(rung) { 100_003 } else { 1000 }).collect();
        for n in [5, 1000, 100_003].into_iter().chain(large) {
            if check::<f32, Sum>(rung, n).is_err() || (large.contains(&n) && !is_one_pass(rung)) {
                continue;
            }
            let (x, prefixes) = exact_sums(n);
            for (device, _) in devices.iter().filter(|(_, turns)| turns.takes(n)) {
                assert!(found(device, rung, ScanKind::Inclusive, &x, Sum) == prefixes, "{rung}, {n}");
                let exclusive = found(device, rung, ScanKind::Exclusive, &x, Sum);
                assert!(exclusive[0] == 0.0 && exclusive[1..] == prefixes[..n - 1], "{rung}, {n}");
            }
        }
    }
}

/// Returns true if the rung scans a vector of any length in one pass over memory.
fn is_one_pass(rung: ScanRung) -> bool {
    matches!(rung, ScanRung::LookBack | ScanRung::Pipelined)
}

/// Stores the published state of a tile, `flag` and `value`, in `words`, the state words of all tiles.
fn publish<T: Shuffle>(words: &mut [u64], tile: usize, flag: u32, value: T) {
    for i in 0..T::WORDS {
        words[first_word::<T>(tile) + i] = u64::from(flag) << 32 | u64::from(value.to_words()[i]);
    }
}

/// Tests the scan of only tile `tile`. All earlier tiles have published their states. `has_prefix` returns true for
/// tiles that have published a prefix. The other tiles have published an aggregate. States before the last prefix have
/// wrong values, which the scan must not use.
fn scan_one_tile<T: Shuffle + PartialEq + std::fmt::Debug, O: Operator<T>, const V: usize>(
    device: &Device,
    (tile, has_prefix): (usize, fn(usize, usize) -> bool),
    element: impl Fn(u32) -> T,
) where
    scan_look_back<T, O, V>: launch::Kernel,
{
    let aggregates: Vec<T> = (0..tile).map(|other| element(other as u32)).collect();
    let prefixes = reference::scan::<T, O>(ScanKind::Inclusive, &aggregates);
    let last = (0..tile).rev().find(|&other| has_prefix(other, tile)).unwrap();
    let mut words = vec![0; state_words::<T>(tile + 1)];
    words[TICKET] = tile as u64;
    for other in 0..tile {
        match has_prefix(other, tile) {
            true => publish(&mut words, other, PREFIX, if other < last { element(77) } else { prefixes[other] }),
            false => publish(&mut words, other, AGGREGATE, if other < last { element(77) } else { aggregates[other] }),
        }
    }
    let start = tile * tile_elements(CHUNKS, V);
    let own: Vec<T> = (0..tile_elements(CHUNKS, V) as u32 - 3).map(|i| element(i % 1000)).collect();
    let mut x = vec![element(1); start];
    x.extend(&own);
    let expected: Vec<T> = reference::scan::<T, O>(ScanKind::Inclusive, &own)
        .into_iter()
        .map(|value| O::combine(prefixes[tile - 1], value))
        .collect();

    let (dx, mut dy, mut states) =
        (device.upload(&x).unwrap(), device.upload(&x).unwrap(), device.upload(&words).unwrap());
    let call = scan_look_back::<T, O, V>(dx.view(), dy.view_mut(), 0, CHUNKS as u32, states.view_mut());
    device.launch(LaunchConfig::new(1, THREADS), call).unwrap();
    let y = dy.download().unwrap();
    assert!(y[..start] == x[..start], "tile {tile} wrote outside of itself");
    let wrong = (0..own.len()).find(|&i| y[start + i] != expected[i]);
    assert_eq!(wrong, None, "tile {tile}, prefix in tile {last}");
    // The tile itself publishes its prefix.
    let mut published = words;
    publish(&mut published, tile, PREFIX, *expected.last().unwrap());
    published[TICKET] += 1;
    assert_eq!(states.download().unwrap(), published);
}

#[test]
fn look_back_takes_in_aggregates_up_to_the_nearest_prefix_in_order() {
    let only_first: fn(usize, usize) -> bool = |other, _| other == 0;
    let nearest: fn(usize, usize) -> bool = |other, tile| other == 0 || other + 1 == tile;
    let halfway: fn(usize, usize) -> bool = |other, tile| other <= tile / 2;
    let map = |i: u32| Affine { factor: 2 * i + 3, offset: 7 * i + 1 };
    for (device, turns) in devices_and_turns(usize::MAX) {
        for tile in [1, 2, 3, 31, 32, 33, 34, 63, 64, 65, 70, 97] {
            for has_prefix in [only_first, nearest, halfway].into_iter().filter(|_| turns.takes(tile)) {
                scan_one_tile::<Affine, Compose, 2>(&device, (tile, has_prefix), map);
                scan_one_tile::<i32, Sum, 4>(&device, (tile, has_prefix), |i| i as i32 - 500);
                scan_one_tile::<f64, Max, 2>(&device, (tile, has_prefix), |i| f64::from(i % 13 * 100 + i));
            }
        }
    }
}

#[test]
fn the_level_kernels_give_the_same_for_any_grid() {
    let n = 3001;
    let x: Vec<f64> = random_floats(n, 5).into_iter().map(f64::from).collect();
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        let results = [(1, 1), (1, 32), (3, 64), (40, 256), (7, 250)].map(|(grid, block)| {
            let config = LaunchConfig::new(grid, block);
            let mut y = device.alloc::<f64>(n).unwrap();
            let mut other = device.alloc(n).unwrap();
            device.launch(config, scan_shifted_copy::<f64, Sum>(dx.view(), y.view_mut(), 1)).unwrap();
            let widths: Vec<usize> = (0..n.ilog2()).map(|level| 1 << level).collect();
            for &width in &widths {
                device.launch(config, scan_up_sweep::<f64, Sum>(y.view_mut(), width)).unwrap();
            }
            for &width in widths.iter().rev() {
                device.launch(config, scan_down_sweep::<f64, Sum>(y.view_mut(), width)).unwrap();
            }
            device.launch(config, scan_naive_step::<f64, Sum>(dx.view(), other.view_mut(), 700, 1)).unwrap();
            (y.download().unwrap(), other.download().unwrap())
        });
        assert!(results.iter().all(|result| result == &results[0]));
        assert_eq!(results[0].0, found(&device, ScanRung::WorkEfficient, ScanKind::Exclusive, &x, Sum));
    }
}

#[test]
fn the_textbooks_sums_are_the_same_in_every_run_and_on_every_device() {
    let x = random_floats(1000, 8);
    for rung in [ScanRung::NaiveBlock, ScanRung::Naive, ScanRung::WorkEfficient] {
        for kind in KINDS {
            let results: Vec<_> =
                all_devices().chain(devices()).map(|device| found(&device, rung, kind, &x, Sum)).collect();
            assert!(results.iter().all(|result| result == &results[0]), "{rung}");
        }
    }
}

#[test]
fn nan_gives_way_to_numbers_and_infinities_are_numbers() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = [nan, 2.0, nan, -inf, 3.0, inf, nan];
    for device in all_devices() {
        let found = |kind, max| match max {
            true => found(&device, ScanRung::LookBack, kind, &x, Max),
            false => found(&device, ScanRung::LookBack, kind, &x, Min),
        };
        assert_eq!(found(ScanKind::Inclusive, true), [-inf, 2.0, 2.0, 2.0, 3.0, inf, inf]);
        assert_eq!(found(ScanKind::Inclusive, false), [inf, 2.0, 2.0, -inf, -inf, -inf, -inf]);
        assert_eq!(found(ScanKind::Exclusive, true), [-inf, -inf, 2.0, 2.0, 2.0, 3.0, inf]);
        assert_eq!(found(ScanKind::Exclusive, false), [inf, inf, 2.0, 2.0, -inf, -inf, -inf]);
    }
}

#[test]
fn a_sum_keeps_infinities_and_nan_from_where_they_stand() {
    for &rung in ScanRung::ALL {
        for device in all_devices() {
            let y = found(&device, rung, ScanKind::Inclusive, &[1.0, f32::INFINITY, 2.0, f32::NAN, 3.0], Sum);
            assert_eq!(y[..3], [1.0, f32::INFINITY, f32::INFINITY], "{rung}");
            assert!(y[3].is_nan() && y[4].is_nan(), "{rung}");
        }
    }
}

#[test]
fn an_exclusive_sum_starts_with_a_plain_zero() {
    for &rung in ScanRung::ALL {
        for device in all_devices() {
            let y = found(&device, rung, ScanKind::Exclusive, &[1.5_f32, -2.0], Sum);
            assert_eq!(y.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), [0.0, 1.5].map(f32::to_bits), "{rung}");
        }
    }
}

/// Tests that the look-back kernel rejects views and blocks of other sizes. The kernel's accesses are unchecked, and a
/// block of another size would draw tiles that no thread scans.
#[test]
fn look_back_refuses_views_and_blocks_that_it_is_not_for() {
    let device = simulated(0);
    let x = device.upload(&[1_i32; 40]).unwrap();
    let refused = [
        (39, (256, 1), 8),
        (41, (256, 1), 8),
        (40, (128, 1), 8),
        (40, (16, 16), 8),
        (40, (256, 1), 0),
        (40, (256, 1), 9),
    ];
    for (len, block, chunks) in refused {
        let (mut y, mut states) = (device.alloc(len).unwrap(), device.zeroed(state_words::<i32>(1)).unwrap());
        let call = scan_look_back::<i32, Sum, 4>(x.view(), y.view_mut(), 0, chunks, states.view_mut());
        let message = device.launch(LaunchConfig::new(1, block), call).unwrap_err().to_string();
        assert!(message.contains("look_back/mod.rs:"), "{len}, {block:?}, {chunks}: {message}");
    }
}

/// Tests three launches that share states. The flags must distinguish the states of a launch from the states of the
/// previous launch. This must also work when the epoch (the number of the launch) wraps.
#[test]
fn look_back_tells_the_states_of_a_launch_from_those_before() {
    let n = 5003_usize;
    for chunks in 1..=CHUNKS as u32 {
        let tiles = n.div_ceil(tile_elements(chunks as usize, 4));
        for device in all_devices() {
            let mut words = vec![0; state_words::<i32>(tiles)];
            words[TICKET] = 0x3fff_ffff << 32;
            let mut states = device.upload(&words).unwrap();
            for launch in 0..3 {
                let x: Vec<i32> = (0..n as i32).map(|i| i * (launch + 2) % 1000 - 400).collect();
                let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc::<i32>(n).unwrap());
                let (kind, exclusive) = (KINDS[launch as usize % 2], launch as u32 % 2);
                let call =
                    scan_look_back::<i32, Sum, 4>(dx.view(), dy.view_mut(), exclusive, chunks, states.view_mut());
                device.launch(LaunchConfig::new(tiles as u32, THREADS), call).unwrap();
                assert!(
                    dy.download().unwrap() == reference::scan::<_, Sum>(kind, &x),
                    "{chunks} chunks, launch {launch}"
                );
                assert_eq!(states.download().unwrap()[TICKET], (0x4000_0000 + launch as u64) << 32);
            }
        }
    }
}

#[test]
fn a_view_need_not_start_at_a_multiple_of_16_bytes() {
    let n = 2 * tile_elements(CHUNKS, 4) + 100;
    let x: Vec<i32> = (0..=n as i32).map(|i| i * 7 % 1000 - 400).collect();
    for device in all_devices() {
        let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc::<i32>(n).unwrap());
        let mut states = device.zeroed(state_words::<i32>(3)).unwrap();
        let whole = dx.view();
        // SAFETY: the buffer has one more element than the view, and outlives the launch.
        let part = unsafe { Global::from_raw_parts(whole.as_ptr().wrapping_add(1), n, whole.device()) };
        let call = scan_look_back::<i32, Sum, 4>(part, dy.view_mut(), 0, CHUNKS as u32, states.view_mut());
        device.launch(LaunchConfig::new(3, THREADS), call).unwrap();
        assert!(dy.download().unwrap() == reference::scan::<_, Sum>(ScanKind::Inclusive, &x[1..]));
    }
}

#[test]
fn a_scanner_scans_again_and_again() {
    for &rung in ScanRung::ALL {
        for device in all_devices() {
            let n = 777;
            let mut scanner = Scanner::<i32, Sum>::new(&device, rung, n).unwrap();
            let mut y = device.alloc(n).unwrap();
            for round in 0..4 {
                let x: Vec<i32> = (0..n as i32).map(|i| i * round - 300).collect();
                let dx = device.upload(&x).unwrap();
                let kind = KINDS[round as usize % 2];
                scanner.scan(kind, &dx, &mut y).unwrap();
                assert!(y.download().unwrap() == reference::scan::<_, Sum>(kind, &x), "{rung}, {round}");
            }
        }
    }
}

#[test]
fn lengths_must_match() {
    let device = simulated(0);
    let x = device.upload(&[1.0_f32; 3]).unwrap();
    for &rung in ScanRung::ALL {
        for len in [0, 2, 4] {
            let mut y = device.alloc(len).unwrap();
            let error = scan(&device, rung, ScanKind::Inclusive, &x, &mut y, Sum).unwrap_err();
            assert!(matches!(error, AlgorithmError::Launch(Error::LengthMismatch { .. })), "{error}");
        }
        let mut scanner = Scanner::<f32, Sum>::new(&device, rung, 4).unwrap();
        let error = scanner.scan(ScanKind::Inclusive, &x, &mut device.alloc(3).unwrap()).unwrap_err();
        assert!(error.to_string().contains("4") && error.to_string().contains("3"), "{error}");
    }
}

#[test]
fn an_error_names_the_supported_instances() {
    let device = simulated(0);
    let x = device.upload(&[1_i32; 1025]).unwrap();
    let mut y = device.alloc(1025).unwrap();
    let error = scan(&device, ScanRung::NaiveBlock, ScanKind::Inclusive, &x, &mut y, Sum).unwrap_err().to_string();
    for part in ["naive_block", "1025 elements", "at most 1024", "f32, f64 and i32"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    for rung in [ScanRung::NaiveBlock, ScanRung::Naive, ScanRung::WorkEfficient] {
        let error = scan(&device, rung, ScanKind::Inclusive, &x, &mut y, Min).unwrap_err();
        assert!(matches!(error, AlgorithmError::NotBuilt { .. }));
        assert!(error.to_string().contains("min of i32") && error.to_string().contains("sum"), "{error}");
        assert!(check::<Affine, Compose>(rung, 1).is_err() && check::<u64, Sum>(rung, 1).is_err());
    }
    for rung in [ScanRung::LookBack, ScanRung::Pipelined] {
        assert!(check::<Affine, Compose>(rung, usize::MAX).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_vector_is_scanned(
        x in prop_oneof![proptest::collection::vec(any::<i32>(), 0..70), proptest::collection::vec(-3..3, 0..20_000)],
        rung in proptest::sample::select(ScanRung::ALL),
        kind in proptest::sample::select(&KINDS[..]),
        seed in 0..4_u64,
    ) {
        prop_assume!(check::<i32, Sum>(rung, x.len()).is_ok());
        let expected = reference::scan::<_, Sum>(kind, &x);
        prop_assert!(found(&simulated(seed), rung, kind, &x, Sum) == expected);
    }
}
