//! The collectives in kernels of other crates: every block size, and mistakes that the checker must report.

use cuda_std::prelude::*;
use gpu::collective::arrangement::{load_blocked, load_striped, store_blocked, store_striped};
use gpu::collective::block::{MAX_WARPS, block_broadcast, block_exclusive_scan, block_inclusive_scan, block_reduce};
use gpu::collective::warp::{warp_broadcast, warp_exclusive_scan, warp_inclusive_scan};
use gpu::operator::{Affine, Compose, Operator, Sum};
use launch::{Device, LaunchConfig, checked_devices};
use tests::reports::{Kind, Marked, Report, report};

const SOURCE: Marked = Marked { file: "collectives.rs", text: include_str!("collectives.rs") };

/// Writes the scans of the block's values, its aggregate and the value of its last thread.
#[kernel(max_threads = 1024)]
fn block_scans(x: Global<Affine>, inclusive: GlobalMut<Affine>, exclusive: GlobalMut<Affine>, ends: GlobalMut<Affine>) {
    let (first, second) = (shared_array![Affine; MAX_WARPS], shared_array![Affine; MAX_WARPS]);
    let place = shared_array![Affine; 1];
    let thread = thread::index_in_block();
    let value = x.load(thread as usize);
    let (scanned, aggregate) = block_inclusive_scan::<Affine, Compose>(first, value);
    inclusive.store(thread as usize, scanned);
    let (before, same) = block_exclusive_scan::<Affine, Compose>(second, value);
    exclusive.store(thread as usize, before);
    let last = block_broadcast(place, value, thread::block_size() - 1);
    if thread == 0 {
        ends.store(0, aggregate);
        ends.store(1, same);
        ends.store(2, last);
    }
}

/// Writes the scans of each warp and the value of its lane 3.
#[kernel(max_threads = 1024)]
fn warp_scans(x: Global<u64>, inclusive: GlobalMut<u64>, exclusive: GlobalMut<u64>, third: GlobalMut<u64>) {
    let thread = thread::index_in_block() as usize;
    let value = x.load(thread);
    inclusive.store(thread, warp_inclusive_scan::<u64, Sum>(value));
    exclusive.store(thread, warp_exclusive_scan::<u64, Sum>(value));
    third.store(thread, warp_broadcast(value, 3));
}

/// Loads a tile in one arrangement and stores it in the same one.
#[kernel(max_threads = 1024)]
fn copy_tiles(x: Global<u16>, by_blocks: GlobalMut<u16>, by_stripes: GlobalMut<u16>) {
    let start = thread::block_idx_x() as usize * thread::block_size() as usize * 3;
    store_blocked::<u16, 3>(by_blocks, start, load_blocked(x, start, 7));
    store_striped::<u16, 3>(by_stripes, start, load_striped(x, start, 7));
}

const BLOCKS: [u32; 8] = [1, 31, 32, 33, 64, 100, 257, 1024];

#[test]
fn a_block_scans_and_broadcasts_in_thread_order() {
    for device in checked_devices() {
        for block in BLOCKS {
            let maps: Vec<_> = (0..block).map(|i| Affine { factor: 2 * i + 3, offset: 7 * i + 1 }).collect();
            let n = maps.len();
            let (x, mut inclusive) = (device.upload(&maps).unwrap(), device.alloc(n).unwrap());
            let (mut exclusive, mut ends) = (device.alloc(n).unwrap(), device.alloc(3).unwrap());
            let call = block_scans(x.view(), inclusive.view_mut(), exclusive.view_mut(), ends.view_mut());
            device.launch(LaunchConfig::new(1, block), call).unwrap();
            let mut all = vec![Compose::IDENTITY];
            all.extend(maps.iter().scan(Compose::IDENTITY, |all, &map| {
                *all = Compose::combine(*all, map);
                Some(*all)
            }));
            assert_eq!(inclusive.download().unwrap(), all[1..], "{block} threads");
            assert_eq!(exclusive.download().unwrap(), all[..n], "{block} threads");
            assert_eq!(ends.download().unwrap(), [all[n], all[n], maps[n - 1]], "{block} threads");
        }
    }
}

#[test]
fn a_warp_scans_and_broadcasts_in_lane_order() {
    for device in checked_devices() {
        for block in [4, 31, 32, 64, 100] {
            let values: Vec<u64> = (0..block).map(|i| u64::from(i) << 30 | 5).collect();
            let n = values.len();
            let (x, mut inclusive) = (device.upload(&values).unwrap(), device.alloc(n).unwrap());
            let (mut exclusive, mut third) = (device.alloc(n).unwrap(), device.alloc(n).unwrap());
            let call = warp_scans(x.view(), inclusive.view_mut(), exclusive.view_mut(), third.view_mut());
            device.launch(LaunchConfig::new(1, block), call).unwrap();
            let first = |i: usize| i / 32 * 32;
            let sums =
                |end: fn(usize) -> usize| (0..n).map(|i| values[first(i)..end(i)].iter().sum()).collect::<Vec<u64>>();
            assert_eq!(inclusive.download().unwrap(), sums(|i| i + 1), "{block} threads");
            assert_eq!(exclusive.download().unwrap(), sums(|i| i), "{block} threads");
            let thirds: Vec<u64> = (0..n).map(|i| values[first(i) + 3]).collect();
            assert_eq!(third.download().unwrap(), thirds, "{block} threads");
        }
    }
}

#[test]
fn a_tile_is_loaded_and_stored_in_both_arrangements() {
    for device in checked_devices() {
        for n in [0, 1, 100, 191, 192, 193, 383] {
            let values: Vec<u16> = (0..n).map(|i| i * 3).collect();
            let x = device.upload(&values).unwrap();
            let (mut by_blocks, mut by_stripes) =
                (device.zeroed(values.len()).unwrap(), device.zeroed(values.len()).unwrap());
            let call = copy_tiles(x.view(), by_blocks.view_mut(), by_stripes.view_mut());
            device.launch(LaunchConfig::new(2, 64), call).unwrap();
            assert_eq!(by_blocks.download().unwrap(), values);
            assert_eq!(by_stripes.download().unwrap(), values);
        }
    }
}

/// Reduces twice in the same shared memory, without a barrier between.
#[kernel(max_threads = 1024)]
fn reduces_without_a_barrier(x: Global<u32>, y: GlobalMut<u32>) {
    let aggregates = shared_array![u32; MAX_WARPS];
    let i = thread::index_in_block() as usize;
    let (first, _) = block_inclusive_scan::<u32, Sum>(aggregates, x.load(i)); // read
    let (second, _) = block_inclusive_scan::<u32, Sum>(aggregates, first); // write
    y.store(i, second);
}

/// Calls a collective of the block in a branch that half of the threads take.
#[kernel(max_threads = 1024)]
fn reduces_in_a_branch(x: Global<u32>, y: GlobalMut<u32>) {
    let aggregates = shared_array![u32; MAX_WARPS];
    let i = thread::index_in_block() as usize;
    if i < 32 {
        let (sum, _) = block_exclusive_scan::<u32, Sum>(aggregates, x.load(i)); // branch
        y.store(i, sum);
    }
}

/// Calls a collective of the warp in a branch that half of the lanes take.
#[kernel(max_threads = 1024)]
fn scans_half_a_warp(x: Global<u32>, y: GlobalMut<u32>) {
    let lane = warp::lane_id();
    if lane < 16 {
        y.store(lane as usize, warp_inclusive_scan::<u32, Sum>(x.load(lane as usize))); // half
    }
    warp::sync_warp(warp::FULL_MASK); // other half
}

/// Gives the block's reduction room for too few warps.
#[kernel(max_threads = 1024)]
fn reduces_in_too_little_memory(x: Global<u32>, y: GlobalMut<u32>) {
    let aggregates = shared_array![u32; 1];
    let sum = block_reduce::<u32, Sum>(aggregates, x.load(thread::index_in_block() as usize));
    y.store(0, sum);
}

/// Launches `kernel` in a block of 64 threads and returns the report.
fn reported(
    device: &Device,
    kernel: impl for<'a> Fn(Global<'a, u32>, GlobalMut<'a, u32>) -> launch::Call<'a>,
) -> Option<Report> {
    let (x, mut y) = (device.upload(&[1; 64]).unwrap(), device.zeroed(64).unwrap());
    report(&device.launch(LaunchConfig::new(1, 64), kernel(x.view(), y.view_mut())))
}

#[test]
fn mistakes_are_reported_at_the_lines_of_the_kernel() {
    let line = |marker| SOURCE.line(marker);
    for device in checked_devices() {
        let race = reported(&device, reduces_without_a_barrier);
        assert_eq!(race, Some(Report::new(Kind::Race, "aggregates", &[line("read"), line("write")])));
        let barrier = reported(&device, reduces_in_a_branch).unwrap();
        assert_eq!((barrier.kind, barrier.places.contains(&line("branch"))), (Kind::BarrierNotReached, true));
        let warp = reported(&device, scans_half_a_warp).unwrap();
        assert_eq!(warp.kind, Kind::WarpMismatch);
        assert!(warp.places.contains(&line("half")) || warp.places.contains(&line("other half")), "{warp}");
        let bounds = reported(&device, reduces_in_too_little_memory).unwrap();
        assert_eq!((bounds.kind, bounds.array.as_deref()), (Kind::OutOfBounds, Some("aggregates")));
    }
}
