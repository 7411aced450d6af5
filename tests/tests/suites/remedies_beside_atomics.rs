//! Tests remedies for three cases: a thread communicates on behalf of its block or warp, several threads update one
//! element, or a whole grid must synchronise.

use cuda_std::atomic::Ordering;
use cuda_std::{GlobalMut, grid, kernel, shared_array, thread, warp};
use launch::{Device, Error, LaunchConfig};
use simt::Remedy;
use tests::reports::devices_and_orders;

use super::remedies::{assert_cured, assert_right, filled};

/// Asserts the same as [`assert_cured`], except that some orders may report the remedy `otherwise`. In these orders,
/// the later access comes before the message. At least one order must report `remedy`.
#[track_caller]
pub fn assert_cured_or(
    otherwise: Option<Remedy>,
    remedy: Remedy,
    right: &[u32],
    launch: impl Fn(&Device, bool) -> Result<Vec<u32>, Error>,
) {
    let mut given = Vec::new();
    for (device, order) in devices_and_orders() {
        match launch(&device, true) {
            Err(Error::Fault(fault)) => {
                let found = fault.remedy();
                assert!(found == Some(remedy) || found == otherwise, "{order}: {fault}");
                given.push(found);
            }
            other => panic!("{order}: {other:?}"),
        }
        assert_right(right, &launch(&device, false), &order);
    }
    assert!(given.contains(&Some(remedy)), "{given:?}");
}

/// Synchronises the warp if `is_warp` is true, and the block otherwise. Does nothing if `is_there` is false.
fn meet(is_there: bool, is_warp: bool) {
    if is_there && is_warp {
        warp::sync_warp(u32::MAX);
    } else if is_there {
        thread::sync_threads();
    }
}

/// A kernel in which one block reads values that another block writes. One thread of each block communicates by a flag.
#[kernel]
fn a_message_of_leaders(
    y: GlobalMut<u32>,
    flag: GlobalMut<u32>,
    before_release: bool,
    after_acquire: bool,
    is_warp: bool,
) {
    let (i, threads) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    if thread::block_idx_x() == 0 {
        y.store(i, 7);
        meet(before_release, is_warp);
        if i == 0 {
            flag.store_release(0, 1);
        }
    } else {
        if i == 0 {
            while flag.load_acquire(0) == 0 {}
        }
        meet(after_acquire, is_warp);
        y.store(threads + i, y.load(i));
    }
}

#[test]
fn a_warp_synchronisation_beside_a_flag() {
    let launch = |device: &Device, before, after| {
        let mut flag = device.zeroed(1)?;
        let config = LaunchConfig::new(2, 32);
        filled!(device, config, 64, |y| a_message_of_leaders(y, flag.view_mut(), before, after, true))
    };
    let otherwise = Some(Remedy::BetweenBlocks);
    assert_cured_or(otherwise, Remedy::WarpBeforeRelease, &[7; 64], |device, is_faulty| {
        launch(device, !is_faulty, true)
    });
    assert_cured_or(otherwise, Remedy::WarpAfterAcquire, &[7; 64], |device, is_faulty| {
        launch(device, true, !is_faulty)
    });
}

/// A kernel in which one block reads a value that another block writes. In each block, the thread that accesses the
/// value and the thread that communicates are in different warps.
#[kernel]
fn a_message_for_another_warp(y: GlobalMut<u32>, flag: GlobalMut<u32>, before_release: bool, after_acquire: bool) {
    let i = thread::thread_idx_x();
    if thread::block_idx_x() == 0 {
        if i == 32 {
            y.store(0, 7);
        }
        meet(before_release, false);
        if i == 0 {
            flag.store_release(0, 1);
        }
    } else {
        if i == 0 {
            while flag.load_acquire(0) == 0 {}
        }
        meet(after_acquire, false);
        if i == 32 {
            y.store(1, y.load(0));
        }
    }
}

#[test]
fn a_block_barrier_beside_a_flag() {
    let launch = |device: &Device, before, after| {
        let mut flag = device.zeroed(1)?;
        let config = LaunchConfig::new(2, 64);
        filled!(device, config, 2, |y| a_message_for_another_warp(y, flag.view_mut(), before, after))
    };
    let otherwise = Some(Remedy::BetweenBlocks);
    assert_cured_or(otherwise, Remedy::BarrierBeforeRelease, &[7; 2], |device, is_faulty| {
        launch(device, !is_faulty, true)
    });
    assert_cured_or(otherwise, Remedy::BarrierAfterAcquire, &[7; 2], |device, is_faulty| {
        launch(device, true, !is_faulty)
    });
}

/// A kernel that adds to one sum per thread while the block holds a lock. The first thread of the block takes the lock.
#[kernel]
fn a_lock_of_leaders(lock: GlobalMut<u32>, sums: GlobalMut<u32>, is_faulty: bool) {
    let i = thread::thread_idx_x() as usize;
    if i == 0 {
        while lock.atomic(0).compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {}
    }
    thread::sync_threads();
    if i >= 32 {
        sums.store(i, sums.load(i) + 1);
    }
    if !is_faulty {
        thread::sync_threads();
    }
    if i == 0 {
        lock.store_release(0, 0);
    }
}

#[test]
fn a_block_barrier_before_a_lock_is_given_back() {
    let right: Vec<u32> = (0..64).map(|i| if i < 32 { 0 } else { 3 }).collect();
    assert_cured(Remedy::BarrierBeforeRelease, &right, |device, is_faulty| {
        let mut lock = device.zeroed(1)?;
        filled!(device, LaunchConfig::new(3, 64), 64, |sums| a_lock_of_leaders(lock.view_mut(), sums, is_faulty))
    });
}

/// A kernel in which one warp sends a message to another warp by a flag in shared memory.
#[kernel]
fn warps_of_leaders(y: GlobalMut<u32>, before_release: bool, after_acquire: bool) {
    let (values, flag) = (shared_array![u32; 32], shared_array![u32; 1]);
    let i = thread::thread_idx_x() as usize;
    if i == 0 {
        flag.store(0, 0);
    }
    thread::sync_threads();
    if i < 32 {
        values.store(i, 7);
        meet(before_release, true);
        if i == 0 {
            flag.store_release(0, 1);
        }
    } else {
        if i == 32 {
            while flag.load_acquire(0) == 0 {}
        }
        meet(after_acquire, true);
        y.store(i, values.load(i - 32));
    }
}

#[test]
fn a_warp_synchronisation_beside_a_flag_of_the_block() {
    let launch = |device: &Device, before, after| {
        filled!(device, LaunchConfig::new(1, 64), 64, |y| warps_of_leaders(y, before, after))
    };
    let otherwise = Some(Remedy::BlockBarrier);
    let right: Vec<u32> = (0..64).map(|i| if i < 32 { 0 } else { 7 }).collect();
    assert_cured_or(otherwise, Remedy::WarpAfterAcquire, &right, |device, is_faulty| launch(device, true, !is_faulty));
    assert_cured_or(otherwise, Remedy::WarpBeforeRelease, &right, |device, is_faulty| launch(device, !is_faulty, true));
}

/// A kernel that counts all threads.
#[kernel]
fn a_count_of_all(y: GlobalMut<u32>, is_faulty: bool) {
    if is_faulty {
        y.store(0, y.load(0) + 1);
    } else {
        y.atomic_add(0, 1);
    }
}

#[test]
fn one_atomic_update() {
    for config in
        [LaunchConfig::new(1, 32), LaunchConfig::new(1, 128), LaunchConfig::new(3, 1), LaunchConfig::new(3, 64)]
    {
        assert_cured(Remedy::AtomicUpdate, &[config.grid.x * config.block.x], |device, is_faulty| {
            filled!(device, config, 1, |y| a_count_of_all(y, is_faulty))
        });
    }
}

/// A kernel in which each block reads values that another block has written.
#[kernel]
fn across_the_grid(x: GlobalMut<u32>, y: GlobalMut<u32>, has_barrier: bool) {
    let i = thread::index_1d();
    x.store(i, 1);
    if has_barrier {
        grid::sync();
    }
    y.store(i, x.load((i + 32) % x.len()));
}

#[test]
fn a_barrier_of_the_grid() {
    assert_cured(Remedy::GridBarrier, &[1; 64], |device, is_faulty| {
        let mut x = device.zeroed(64)?;
        let config = LaunchConfig::new(2, 32).cooperative();
        filled!(device, config, 64, |y| across_the_grid(x.view_mut(), y, !is_faulty))
    });
}
