//! What a report proposes cures the kernel: each faulty kernel is reported with its remedy, and is clean with that applied.

use cuda_std::{GlobalMut, dynamic_shared, fence, fence_block, kernel, shared_array, thread, warp};
use launch::{Device, Error, LaunchConfig};
use simt::{FaultKind, Remedy};
use tests::reports::devices_and_orders;

/// In every order the kernel is reported with `remedy` if it `is_faulty`, and not if it is cured.
#[track_caller]
fn assert_cured(remedy: Remedy, launch: impl Fn(&Device, bool) -> Result<(), Error>) {
    for (device, order) in devices_and_orders() {
        match launch(&device, true) {
            Err(Error::Fault(fault)) => match &fault.kind {
                FaultKind::Race(race) => assert_eq!(race.remedy, remedy, "{order}: {fault}"),
                _ => panic!("{order}: {fault}"),
            },
            other => panic!("{order}: {other:?}"),
        }
        let cured = launch(&device, false);
        assert!(cured.is_ok(), "{order}: {cured:?}");
    }
}

#[kernel]
fn neighbours(y: GlobalMut<u32>, is_faulty: bool, is_warp: bool) {
    let tile = shared_array![u32; 64];
    let i = thread::thread_idx_x() as usize;
    tile.store(i, 0);
    thread::sync_threads();
    tile.store(i, 1);
    if !is_faulty {
        if is_warp {
            warp::sync_warp(u32::MAX);
        } else {
            thread::sync_threads();
        }
    }
    y.store(i, tile.load((i + if is_warp { 1 } else { 32 }) % thread::block_dim_x() as usize));
}

#[test]
fn a_warp_synchronisation() {
    assert_cured(Remedy::WarpSynchronisation, |device, is_faulty| {
        device.launch(LaunchConfig::new(1, 32), neighbours(device.zeroed(64)?.view_mut(), is_faulty, true))
    });
}

#[test]
fn a_block_barrier() {
    assert_cured(Remedy::BlockBarrier, |device, is_faulty| {
        device.launch(LaunchConfig::new(1, 64), neighbours(device.zeroed(64)?.view_mut(), is_faulty, false))
    });
}

#[kernel]
fn a_store_by_all(y: GlobalMut<u32>, is_faulty: bool) {
    if is_faulty || thread::index_1d() == 0 {
        y.store(0, 7);
    }
}

#[test]
fn one_thread_stores() {
    for config in [LaunchConfig::new(1, 32), LaunchConfig::new(2, 1), LaunchConfig::new(1, 64)] {
        assert_cured(Remedy::OneThread, |device, is_faulty| {
            device.launch(config, a_store_by_all(device.zeroed(1)?.view_mut(), is_faulty))
        });
    }
}

#[kernel]
fn a_message(y: GlobalMut<u32>, flag: GlobalMut<u32>, releases: bool, acquires: bool) {
    if thread::block_idx_x() == 0 {
        y.store(0, 7);
        if releases {
            fence();
        }
        flag.store_relaxed(0, 1);
    } else {
        while flag.load_relaxed(0) == 0 {}
        if acquires {
            fence();
        }
        y.store(1, y.load(0));
    }
}

#[test]
fn the_side_of_a_message_that_lacks_its_fence() {
    for (remedy, releases, acquires) in
        [(Remedy::Release, false, true), (Remedy::Acquire, true, false), (Remedy::ReleaseAndAcquire, false, false)]
    {
        assert_cured(remedy, |device, is_faulty| {
            let (mut y, mut flag) = (device.zeroed(2)?, device.zeroed(1)?);
            let (releases, acquires) = (releases || !is_faulty, acquires || !is_faulty);
            device.launch(LaunchConfig::new(2, 1), a_message(y.view_mut(), flag.view_mut(), releases, acquires))
        });
    }
}

/// The flag is one of the block's own, and so are the fences.
#[kernel]
fn a_message_in_a_block(y: GlobalMut<u32>, releases: bool, acquires: bool) {
    let (value, flag) = (shared_array![u32; 1], shared_array![u32; 1]);
    let i = thread::thread_idx_x();
    if i == 0 {
        flag.store(0, 0);
    }
    thread::sync_threads();
    if i == 0 {
        value.store(0, 42);
        if releases {
            fence_block();
        }
        flag.store_relaxed(0, 1);
    }
    if i == 32 {
        while flag.load_relaxed(0) == 0 {}
        if acquires {
            fence_block();
        }
        y.store(0, value.load(0));
    }
}

#[test]
fn the_side_of_a_message_in_a_block_that_lacks_its_fence() {
    for (remedy, releases, acquires) in
        [(Remedy::Release, false, true), (Remedy::Acquire, true, false), (Remedy::ReleaseAndAcquire, false, false)]
    {
        assert_cured(remedy, |device, is_faulty| {
            let (releases, acquires) = (releases || !is_faulty, acquires || !is_faulty);
            let mut y = device.zeroed(1)?;
            device.launch(LaunchConfig::new(1, 64), a_message_in_a_block(y.view_mut(), releases, acquires))
        });
    }
}

/// A sum under a lock, by the first thread of each block.
#[kernel]
fn a_lock(lock: GlobalMut<u32>, sum: GlobalMut<u32>, releases: bool, acquires: bool) {
    while lock.atomic_exchange(0, 1) != 0 {}
    if acquires {
        fence();
    }
    sum.store(0, sum.load(0) + 1);
    if releases {
        fence();
    }
    lock.atomic_exchange(0, 0);
}

#[test]
fn the_side_of_a_lock_that_lacks_its_fence() {
    for (remedy, releases, acquires) in
        [(Remedy::Release, false, true), (Remedy::Acquire, true, false), (Remedy::ReleaseAndAcquire, false, false)]
    {
        assert_cured(remedy, |device, is_faulty| {
            let (mut lock, mut sum) = (device.zeroed(1)?, device.zeroed(1)?);
            let (releases, acquires) = (releases || !is_faulty, acquires || !is_faulty);
            device.launch(LaunchConfig::new(4, 1), a_lock(lock.view_mut(), sum.view_mut(), releases, acquires))
        });
    }
}

#[kernel]
fn a_count(y: GlobalMut<u32>, is_faulty: bool) {
    if is_faulty {
        y.block_atomic(0).fetch_add(1, cuda_std::atomic::Ordering::Relaxed);
    } else {
        y.atomic_add(0, 1);
    }
}

#[test]
fn a_wider_scope() {
    assert_cured(Remedy::WiderScope, |device, is_faulty| {
        device.launch(LaunchConfig::new(3, 1), a_count(device.zeroed(1)?.view_mut(), is_faulty))
    });
}

#[kernel]
fn the_other_block(x: GlobalMut<u32>, y: GlobalMut<u32>, writes: bool, reads: bool) {
    let i = thread::block_idx_x() as usize;
    if writes {
        x.store(i, 1);
    }
    if reads {
        y.store(i, x.load(1 - i));
    }
}

#[test]
fn a_launch_of_its_own() {
    assert_cured(Remedy::BetweenBlocks, |device, is_faulty| {
        let (mut x, mut y) = (device.zeroed(2)?, device.zeroed(2)?);
        let config = LaunchConfig::new(2, 1);
        if is_faulty {
            return device.launch(config, the_other_block(x.view_mut(), y.view_mut(), true, true));
        }
        device.launch(config, the_other_block(x.view_mut(), y.view_mut(), true, false))?;
        device.launch(config, the_other_block(x.view_mut(), y.view_mut(), false, true))
    });
}

#[kernel]
fn dynamic_memory(y: GlobalMut<u32>) {
    let tile = dynamic_shared::<u32>();
    tile.store(0, 1);
    y.store(0, tile.load(0));
}

#[test]
fn shared_bytes_give_dynamic_memory() {
    for (device, order) in devices_and_orders() {
        let launch = |config: LaunchConfig| device.launch(config, dynamic_memory(device.zeroed(1)?.view_mut()));
        let text = launch(LaunchConfig::new(1, 1)).unwrap_err().to_string();
        assert!(text.contains(".shared_bytes(bytes)"), "{order}: {text}");
        launch(LaunchConfig::new(1, 1).shared_bytes(4)).unwrap();
    }
}
