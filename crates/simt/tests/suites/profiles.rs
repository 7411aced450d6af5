//! Tests the profiler's counts of requests, sectors, wavefronts and bank conflicts, and the sums of a launch.

use crate::common;

use bytemuck::Pod;
use common::{Array, KERNEL, global_index};
use simt::{AccessKind, Dim3, LastWrites, LaunchConfig, Profile, Profiles, Region, Simulator, Space};
use simt::{memory, shared, thread, warp};

/// Returns the profile of one launch.
fn profile(config: LaunchConfig, body: impl Fn() + Sync) -> Profile {
    profile_with(config, &[], body)
}

fn profile_with(config: LaunchConfig, regions: &[Region], body: impl Fn() + Sync) -> Profile {
    let profiles = Profiles::default();
    Simulator::new().with_profiles(profiles.clone()).launch_on(&KERNEL, config, regions, body).unwrap();
    let mut all = profiles.take();
    assert_eq!(all.len(), 1);
    all.pop().unwrap()
}

/// Returns the numbers of requests, lanes, sectors and ideal sectors of each site that accesses global memory, in
/// source order.
fn global(profile: &Profile) -> Vec<(u64, u64, u64, u64)> {
    let sites = profile.accesses.iter().filter(|access| access.space == Space::Global);
    sites.map(|access| (access.requests, access.lanes, access.sectors, access.ideal_sectors)).collect()
}

/// Returns the requests, wavefronts, ideal wavefronts and degree of bank conflicts of each site that accesses shared
/// memory, in source order.
fn shared(profile: &Profile) -> Vec<(u64, u64, u64, u32)> {
    let sites = profile.accesses.iter().filter(|access| access.space == Space::Shared);
    sites.map(|access| (access.requests, access.wavefronts, access.ideal_wavefronts, access.max_ways)).collect()
}

/// Returns the counts of a load of one `T` per lane from global memory. Lane `i` loads element `i * stride + offset`.
fn strided<T: Pod + Sync>(config: LaunchConfig, stride: usize, offset: usize) -> (u64, u64, u64, u64) {
    let threads = config.grid.count() as usize * config.block.count() as usize;
    let x = Array::<T>::filled(threads * stride + offset, T::zeroed());
    let profile = profile(config, || {
        x.load(global_index() * stride + offset);
    });
    assert_eq!(profile.accesses[0].bytes_per_lane as usize, size_of::<T>());
    global(&profile)[0]
}

#[test]
fn a_coalesced_access_of_any_width_is_one_request() {
    let config = LaunchConfig::new(3, 128);
    assert_eq!(strided::<u8>(config, 1, 0), (12, 384, 12, 12));
    assert_eq!(strided::<u16>(config, 1, 0), (12, 384, 24, 24));
    assert_eq!(strided::<u32>(config, 1, 0), (12, 384, 48, 48));
    assert_eq!(strided::<u64>(config, 1, 0), (12, 384, 96, 96));
    assert_eq!(strided::<u128>(config, 1, 0), (12, 384, 192, 192));
}

#[test]
fn a_copy_has_a_load_and_a_store() {
    let (x, y) = (Array::filled(1 << 12, 1_u32), Array::filled(1 << 12, 0_u32));
    let regions = [("x", &x, false), ("y", &y, true)].map(|(name, array, is_writable)| Region {
        name,
        start: array.at(0).addr(),
        bytes: array.len() * 4,
        element: 4,
        is_writable,
    });
    let config = LaunchConfig::new(16, 256);
    let profile = profile_with(config, &regions, || {
        let i = global_index();
        y.store(i, x.load(i));
    });
    let [store, load] = &profile.accesses[..] else { panic!("{profile:?}") };
    for (access, kind, array) in [(store, AccessKind::Store, "y"), (load, AccessKind::Load, "x")] {
        assert_eq!((access.space, access.kind, access.bytes_per_lane), (Space::Global, kind, 4));
        assert_eq!(access.arrays, [array]);
        assert_eq!((access.wavefronts, access.ideal_wavefronts, access.max_ways), (0, 0, 0));
    }
    assert_eq!(global(&profile), [(128, 4096, 512, 512); 2]);
    assert!(load.location.file.ends_with("profiles.rs"));
    assert_eq!(load.location.line, store.location.line);
    assert!(load.location.column > store.location.column);
    assert_eq!((profile.kernel.name, profile.config), (KERNEL.name, config));
    assert!(profile.branches.is_empty());
}

#[test]
fn strides_spread_a_request_over_sectors() {
    let config = LaunchConfig::new(2, 64);
    for (stride, sectors) in [(2, 8), (3, 12), (4, 16), (5, 20), (7, 28), (8, 32), (16, 32), (32, 32)] {
        assert_eq!(strided::<u32>(config, stride, 0), (4, 128, 4 * sectors, 16), "stride {stride}");
    }
    assert_eq!(strided::<u64>(config, 2, 0), (4, 128, 64, 32));
    assert_eq!(strided::<u8>(config, 32, 0), (4, 128, 128, 4));
}

#[test]
fn an_offset_adds_a_sector() {
    let config = LaunchConfig::new(2, 64);
    assert_eq!(strided::<u32>(config, 1, 1), (4, 128, 20, 16));
    assert_eq!(strided::<u32>(config, 1, 8), (4, 128, 16, 16));
    assert_eq!(strided::<u64>(config, 1, 1), (4, 128, 36, 32));
    assert_eq!(strided::<u8>(config, 1, 1), (4, 128, 8, 4));
}

#[test]
fn a_last_warp_may_be_small() {
    assert_eq!(strided::<u32>(LaunchConfig::new(5, 33), 1, 0).0, 10);
    // The blocks begin at 0, 33, 66, 99 and 132 elements, so each warp needs 5 sectors, except in the first block.
    assert_eq!(strided::<u32>(LaunchConfig::new(5, 33), 1, 0), (10, 165, 4 + 4 * 5 + 5, 25));
    assert_eq!(strided::<u32>(LaunchConfig::new(1, 1), 1, 0), (1, 1, 1, 1));
    assert_eq!(strided::<u32>(LaunchConfig::new(1, 20), 1, 0), (1, 20, 3, 3));
    assert_eq!(strided::<u32>(LaunchConfig::new(1, (8, 9)), 1, 0), (3, 72, 9, 9), "a warp has several rows");
}

#[test]
fn a_guard_leaves_lanes_out() {
    let x = Array::filled(70, 0_u32);
    let profile = profile(LaunchConfig::new(1, 96), || {
        let i = global_index();
        if thread::branch(i < x.len()) {
            x.store(i, 1);
        }
    });
    assert_eq!(global(&profile), [(3, 70, 9, 9)]);
    let [branch] = &profile.branches[..] else { panic!("{profile:?}") };
    assert_eq!((branch.executions, branch.divergent, branch.lanes, branch.taken), (3, 1, 96, 70));
}

#[test]
fn a_naive_transposition_reads_rows_and_writes_columns() {
    let n = 64;
    let (x, y) = (Array::filled(n * n, 0_f32), Array::filled(n * n, 0_f32));
    let profile = profile(LaunchConfig::new((2, 8), (32, 8)), || {
        let (block, index) = (thread::block_idx(), thread::thread_idx());
        let (column, row) = ((block.x * 32 + index.x) as usize, (block.y * 8 + index.y) as usize);
        let value = x.load(row * n + column);
        y.store(column * n + row, value);
    });
    assert_eq!(global(&profile), [(128, 4096, 512, 512), (128, 4096, 4096, 512)]);
}

/// Returns the profile of a block of 32 × 8 threads that transposes a 32 × 32 tile of `f32`. The tile's rows are
/// `pitch` elements apart.
fn transpose_tile(pitch: u32) -> Profile {
    let n = 64;
    let (x, y) = (Array::filled(n * n, 0_f32), Array::filled(n * n, 0_f32));
    profile(LaunchConfig::new((2, 2), (32, 8)).shared_bytes(32 * pitch * 4), || {
        let (block, index) = (thread::block_idx(), thread::thread_idx());
        let (tile, _) = shared::dynamic();
        for row in (index.y..32).step_by(8) {
            let value = x.load((block.y * 32 + row) as usize * n + (block.x * 32 + index.x) as usize);
            shared::store(tile + (row * pitch + index.x) * 4, value);
        }
        thread::sync_threads();
        for row in (index.y..32).step_by(8) {
            let value: f32 = shared::load(tile + (index.x * pitch + row) * 4);
            y.store((block.x * 32 + row) as usize * n + (block.y * 32 + index.x) as usize, value);
        }
    })
}

#[test]
fn a_tile_turns_columns_into_bank_conflicts_and_padding_takes_them_away() {
    let tile = transpose_tile(32);
    assert_eq!(global(&tile), [(128, 4096, 512, 512); 2]);
    assert_eq!(shared(&tile), [(128, 128, 128, 1), (128, 4096, 128, 32)]);
    assert_eq!((tile.barriers, tile.shared_bytes), (4, 4096));
    let padded = transpose_tile(33);
    assert_eq!(global(&padded), global(&tile));
    assert_eq!(shared(&padded), [(128, 128, 128, 1); 2]);
    assert_eq!((padded.barriers, padded.shared_bytes), (4, 4224));
    // With rows of 34 elements, lane 16 is 544 words after lane 0, in the same bank.
    assert_eq!(shared(&transpose_tile(34))[1], (128, 256, 128, 2));
}

/// Returns the counts of a load of one `T` per lane of a warp from shared memory. `address` computes the address of
/// each lane.
fn shared_load<T: Pod>(address: impl Fn(u32) -> u32 + Sync) -> (u64, u64, u64, u32) {
    let profile = profile(LaunchConfig::new(1, 32).shared_bytes(1 << 14), || {
        shared::load::<T>(address(thread::lane_id()));
    });
    shared(&profile)[0]
}

#[test]
fn all_widths_have_their_bank_conflicts() {
    assert_eq!(shared_load::<u32>(|lane| lane * 4), (1, 1, 1, 1));
    assert_eq!(shared_load::<u32>(|_| 64), (1, 1, 1, 1), "a broadcast");
    assert_eq!(shared_load::<u32>(|lane| lane * 8), (1, 2, 1, 2));
    assert_eq!(shared_load::<u32>(|lane| lane * 12), (1, 1, 1, 1), "an odd stride");
    assert_eq!(shared_load::<u32>(|lane| lane / 4 * 128), (1, 8, 1, 8));
    assert_eq!(shared_load::<u8>(|lane| lane), (1, 1, 1, 1));
    assert_eq!(shared_load::<u16>(|lane| lane * 128), (1, 32, 1, 32));
    assert_eq!(shared_load::<u64>(|lane| lane * 8), (1, 2, 2, 1));
    assert_eq!(shared_load::<u64>(|lane| lane * 16), (1, 4, 2, 2));
    assert_eq!(shared_load::<u64>(|_| 8), (1, 1, 1, 1));
    assert_eq!(shared_load::<u128>(|lane| lane * 16), (1, 4, 4, 1));
    assert_eq!(shared_load::<u128>(|lane| lane * 32), (1, 8, 4, 2));
}

#[test]
fn atomics_are_counted_of_their_own() {
    let counters = Array::filled(32, 0_u32);
    let profile = profile(LaunchConfig::new(4, 64).shared_bytes(128), || {
        counters.update(0, |count| count + 1);
        counters.update(thread::lane_id() as usize, |count| count + 1);
        shared::update(thread::lane_id() * 4, |count: u32| count | 1);
        shared::update(thread::lane_id() % 8 * 4, |count: u32| count | 1);
    });
    assert!(profile.accesses.iter().all(|access| access.kind == AccessKind::Atomic));
    assert_eq!(global(&profile), [(8, 256, 8, 8), (8, 256, 32, 32)]);
    assert_eq!(shared(&profile), [(8, 8, 8, 1), (8, 32, 8, 4)], "updates of one word come one after the other");
}

#[test]
fn atomic_loads_and_stores_are_loads_and_stores() {
    let flags = Array::filled(32, 1_u32);
    let profile = profile(LaunchConfig::new(1, 32), || {
        let i = global_index();
        assert_eq!(flags.acquire(i), 1);
        flags.release(i, 1);
    });
    let kinds: Vec<_> = profile.accesses.iter().map(|access| access.kind).collect();
    assert_eq!(kinds, [AccessKind::Load, AccessKind::Store]);
    assert_eq!(global(&profile), [(1, 32, 4, 4); 2]);
}

#[test]
fn one_place_may_access_several_arrays() {
    let (x, y) = (Array::filled(32, 0_u32), Array::filled(32, 0_u32));
    let region = |name, array: &Array<u32>| {
        let (start, bytes) = (array.at(0).addr(), array.len() * 4);
        Region { name, start, bytes, element: 4, is_writable: false }
    };
    let profile = profile_with(LaunchConfig::new(1, 32), &[region("x", &x), region("y", &y)], || {
        for array in [&x, &y] {
            array.load(global_index());
        }
    });
    assert_eq!(global(&profile), [(2, 64, 8, 8)]);
    assert_eq!(profile.accesses[0].arrays, ["x", "y"]);
}

#[test]
fn synchronisations_are_counted() {
    let profile = profile(LaunchConfig::new(3, 96), || {
        thread::sync_threads();
        warp::sync(u32::MAX);
        warp::ballot(u32::MAX, true);
        thread::sync_threads();
        if thread::lane_id() < 8 {
            warp::exchange(0xFF, 0, 1);
        }
        memory::fence();
    });
    assert_eq!((profile.barriers, profile.warp_operations, profile.fences), (6, 27, 288));
}

#[test]
fn every_launch_leaves_a_profile_and_a_faulty_one_none() {
    let profiles = Profiles::default();
    let simulator = Simulator::new().with_profiles(profiles.clone());
    for blocks in 1..4 {
        simulator.launch(&KERNEL, LaunchConfig::new(blocks, 32), thread::sync_threads).unwrap();
    }
    simulator.launch(&KERNEL, LaunchConfig::new(1, 32), || panic!("at once")).unwrap_err();
    assert_eq!(profiles.take().iter().map(|profile| profile.barriers).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(profiles.take().is_empty());
}

#[test]
fn the_steps_are_of_the_chosen_warp() {
    let y = Array::filled(4 * 64, 0_u32);
    let first = |thread: Option<(Dim3, Dim3)>| {
        let profiles = Profiles::default();
        let simulator = Simulator::new().with_profiles(profiles.clone());
        let simulator = if let Some(thread) = thread { simulator.with_steps_of(thread) } else { simulator };
        simulator.launch(&KERNEL, LaunchConfig::new(4, (8, 8)), || y.store(global_index(), 1)).unwrap();
        let access = profiles.take()[0].steps[0].access.clone().unwrap();
        (access.lanes[0].1 as usize - y.at(0).addr()) / 4
    };
    assert_eq!(first(None), 0);
    // Thread (1, 5) of 8 × 8 is in the block's second warp.
    assert_eq!(first(Some((Dim3::new(2, 0, 0), Dim3::new(1, 5, 0)))), 2 * 64 + 32);
}

#[test]
fn the_last_write_of_an_element_is_the_newest() {
    let y = Array::filled(3, 0_u32);
    let writes = LastWrites::new();
    assert_eq!(writes.last(), None);
    let simulator = Simulator::new().with_profiles(Profiles::default()).with_last_writes(writes.clone());
    for thread in [1, 2] {
        let store = || {
            if thread::thread_idx().x == thread {
                y.store(1, thread);
            }
        };
        simulator.launch(&KERNEL, LaunchConfig::new(1, 4), store).unwrap();
    }
    assert_eq!(writes.last().unwrap().thread, Dim3::new(2, 0, 0));
    let of = |i: usize| writes.of(y.at(i).addr()..y.at(i).addr() + 4).map(|side| side.thread);
    assert_eq!([of(0), of(1), of(2)], [None, Some(Dim3::new(2, 0, 0)), None]);
    // A write to any byte of the range counts, and a newer one that begins elsewhere.
    assert!(writes.of(y.at(1).addr() + 3..y.at(1).addr() + 5).is_some());
    // SAFETY: the byte is in the array.
    let store = || unsafe { memory::store(y.at(1).cast::<u8>().wrapping_add(1), 1) };
    simulator.launch(&KERNEL, LaunchConfig::new(1, 1), store).unwrap();
    assert_eq!(of(1), Some(Dim3::new(0, 0, 0)));
}
