//! Tests that the remedies in reports are correct. Each faulty kernel must be reported with its remedy. The cured
//! kernel, in which the remedy is applied, must have no fault and the correct result.

use cuda_std::{Global, GlobalMut, fence, fence_block, kernel, shared_array, thread, warp};
use launch::{Device, Error, LaunchConfig};
use simt::Remedy;
use tests::reports::devices_and_orders;

/// Asserts that every order reports the faulty kernel with `remedy`, and that the cured kernel returns `right`. The
/// second argument of `launch` selects the kernel: true for the faulty one.
#[track_caller]
pub fn assert_cured(remedy: Remedy, right: &[u32], launch: impl Fn(&Device, bool) -> Result<Vec<u32>, Error>) {
    for (device, order) in devices_and_orders() {
        match launch(&device, true) {
            Err(Error::Fault(fault)) => {
                assert_eq!(fault.remedy(), Some(remedy), "{order}: {fault}");
                assert!(fault.to_string().ends_with(&format!("; {remedy}")), "{order}: {fault}");
            }
            other => panic!("{order}: {other:?}"),
        }
        assert_right(right, &launch(&device, false), &order);
    }
}

/// Asserts that the cured kernel has no fault and returned `right`.
#[track_caller]
pub fn assert_right(right: &[u32], cured: &Result<Vec<u32>, Error>, order: &str) {
    match cured {
        Ok(found) => assert_eq!(found, right, "{order}: the cured kernel gives a wrong result"),
        Err(error) => panic!("{order}: the cured kernel is at fault: {error}"),
    }
}

/// Launches a call with a view of `$len` zeros. Returns the downloaded contents of the view.
macro_rules! filled {
    ($device:ident, $config:expr, $len:expr, |$view:ident| $call:expr) => {{
        let mut y = $device.zeroed($len)?;
        let $view = y.view_mut();
        $device.launch($config, $call)?;
        y.download()
    }};
}
pub(crate) use filled;

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
    assert_cured(Remedy::WarpSynchronisation, &[1; 32], |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 32), 32, |y| neighbours(y, is_faulty, true))
    });
}

#[test]
fn a_block_barrier() {
    assert_cured(Remedy::BlockBarrier, &[1; 64], |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 64), 64, |y| neighbours(y, is_faulty, false))
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
        assert_cured(Remedy::OneThread, &[7], |device, is_faulty| {
            filled!(device, config, 1, |y| a_store_by_all(y, is_faulty))
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
        assert_cured(remedy, &[7, 7], |device, is_faulty| {
            let mut flag = device.zeroed(1)?;
            let (releases, acquires) = (releases || !is_faulty, acquires || !is_faulty);
            filled!(device, LaunchConfig::new(2, 1), 2, |y| a_message(y, flag.view_mut(), releases, acquires))
        });
    }
}

/// A kernel that sends a message within a block, by a flag in shared memory and fences of block scope.
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
        assert_cured(remedy, &[42], |device, is_faulty| {
            let (releases, acquires) = (releases || !is_faulty, acquires || !is_faulty);
            filled!(device, LaunchConfig::new(1, 64), 1, |y| a_message_in_a_block(y, releases, acquires))
        });
    }
}

/// A kernel that adds to a sum while it holds a lock. The first thread of each block takes the lock.
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
        assert_cured(remedy, &[4], |device, is_faulty| {
            let mut lock = device.zeroed(1)?;
            let (releases, acquires) = (releases || !is_faulty, acquires || !is_faulty);
            filled!(device, LaunchConfig::new(4, 1), 1, |sum| a_lock(lock.view_mut(), sum, releases, acquires))
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
    assert_cured(Remedy::WiderScope, &[3], |device, is_faulty| {
        filled!(device, LaunchConfig::new(3, 1), 1, |y| a_count(y, is_faulty))
    });
}

#[kernel]
fn a_count_of_halves(y: GlobalMut<u32>, is_faulty: bool) {
    let words = shared_array![u64; 1];
    if thread::index_1d() == 0 {
        words.store(0, 0);
    }
    thread::sync_threads();
    if is_faulty && thread::index_1d() >= 32 {
        words.cast::<u32>().atomic_add(0, 1);
    } else {
        words.atomic_add(0, 1);
    }
    thread::sync_threads();
    y.store(thread::index_1d(), words.load(0) as u32);
}

#[test]
fn one_width() {
    assert_cured(Remedy::OneWidth, &[64; 64], |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 64), 64, |y| a_count_of_halves(y, is_faulty))
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
    assert_cured(Remedy::BetweenBlocks, &[1, 1], |device, is_faulty| {
        let (mut x, config) = (device.zeroed(2)?, LaunchConfig::new(2, 1));
        if !is_faulty {
            filled!(device, config, 2, |y| the_other_block(x.view_mut(), y, true, false))?;
        }
        filled!(device, config, 2, |y| the_other_block(x.view_mut(), y, is_faulty, true))
    });
}

#[kernel]
fn work_of_some(x: Global<u32>, y: GlobalMut<u32>, is_faulty: bool) {
    let (tile, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    if is_faulty && i >= x.len() {
        return;
    }
    if i < x.len() {
        tile.store(i, x.load(i));
    }
    thread::sync_threads();
    if i < x.len() {
        y.store(i, tile.load(x.len() - 1 - i));
    }
}

#[test]
fn all_threads_come_to_the_barrier() {
    let x: Vec<u32> = (0..50).collect();
    let right: Vec<u32> = (0..50).rev().collect();
    assert_cured(Remedy::BarrierForAll, &right, |device, is_faulty| {
        let x = device.upload(&x)?;
        filled!(device, LaunchConfig::new(1, 64), 50, |y| work_of_some(x.view(), y, is_faulty))
    });
}

#[kernel]
fn a_barrier_in_each_arm(y: GlobalMut<u32>, is_faulty: bool) {
    let (tile, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    tile.store(i, 1);
    if !is_faulty {
        thread::sync_threads();
    }
    if i < 32 {
        if is_faulty {
            thread::sync_threads();
        }
        y.store(i, tile.load(i + 32));
    } else {
        if is_faulty {
            thread::sync_threads();
        }
        y.store(i, tile.load(i - 32));
    }
}

fn end_phase() {
    thread::sync_threads();
}

/// A kernel with a barrier in a function. Both arms of a branch call this function.
#[kernel]
fn a_call_in_each_arm(y: GlobalMut<u32>, is_faulty: bool) {
    let i = thread::thread_idx_x() as usize;
    if i.is_multiple_of(2) {
        y.store(i, 1);
        if is_faulty {
            end_phase();
        }
    } else if is_faulty {
        end_phase();
    }
    if !is_faulty {
        end_phase();
    }
}

#[test]
fn one_barrier_outside_of_the_branches() {
    let config = LaunchConfig::new(1, 64);
    assert_cured(Remedy::OneBarrier, &[1; 64], |device, is_faulty| {
        filled!(device, config, 64, |y| a_barrier_in_each_arm(y, is_faulty))
    });
    let right: Vec<u32> = (0..64).map(|i| 1 - i % 2).collect();
    assert_cured(Remedy::OneBarrier, &right, |device, is_faulty| {
        filled!(device, config, 64, |y| a_call_in_each_arm(y, is_faulty))
    });
}

/// A kernel that counts rounds, with a barrier in each round. If `is_faulty` is true, every other thread runs one round
/// less.
#[kernel]
fn rounds_of_some(y: GlobalMut<u32>, is_faulty: bool) {
    let (tile, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    let rounds = if i.is_multiple_of(2) { 3 } else { 2 };
    tile.store(i, 0);
    for round in 0..if is_faulty { rounds } else { 3 } {
        if round < rounds {
            tile.store(i, tile.load(i) + 1);
        }
        thread::sync_threads();
    }
    thread::sync_threads();
    y.store(i, tile.load(i ^ 1));
}

#[test]
fn as_many_iterations_for_all_threads() {
    let right: Vec<u32> = (0..64).map(|i| 2 + i % 2).collect();
    assert_cured(Remedy::OneBarrier, &right, |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 64), 64, |y| rounds_of_some(y, is_faulty))
    });
}

/// A kernel with a vote of the lanes below 20. The mask of the vote contains all lanes or only the lanes below 20, or
/// the other lanes vote, too. Lanes that do not vote continue to a barrier or to another operation.
#[kernel]
fn a_vote_of_some(y: GlobalMut<u32>, has_full_mask: bool, all_come: bool, to_barrier: bool) {
    let lane = thread::thread_idx_x();
    let takes_part = lane < 20;
    let mask = if has_full_mask { warp::FULL_MASK } else { warp::ballot(warp::FULL_MASK, takes_part) };
    let mut votes = 0;
    if all_come || takes_part {
        votes = warp::ballot(mask, takes_part);
    }
    if to_barrier {
        thread::sync_threads();
    } else {
        warp::sync_warp(warp::FULL_MASK);
    }
    y.store(lane as usize, votes);
}

#[test]
fn a_mask_of_the_lanes_that_come() {
    for to_barrier in [false, true] {
        let launch = |device: &Device, has_full_mask, all_come| {
            filled!(device, LaunchConfig::new(1, 32), 32, |y| a_vote_of_some(y, has_full_mask, all_come, to_barrier))
        };
        let some: Vec<u32> = (0..32).map(|lane| if lane < 20 { 0xF_FFFF } else { 0 }).collect();
        assert_cured(Remedy::MaskOfReachingLanes, &some, |device, is_faulty| launch(device, is_faulty, false));
        // This is the other alternative of the remedy.
        assert_cured(Remedy::MaskOfReachingLanes, &[0xF_FFFF; 32], |device, is_faulty| {
            launch(device, true, !is_faulty)
        });
    }
}

#[kernel]
fn a_vote(y: GlobalMut<u32>, mask: u32) {
    let lane = thread::thread_idx_x() as usize;
    y.store(lane, warp::ballot(mask, true));
}

#[test]
fn the_caller_in_its_mask() {
    assert_cured(Remedy::MaskWithCaller, &[u32::MAX; 32], |device, is_faulty| {
        let mask = if is_faulty { 0x7FFF_FFFF } else { u32::MAX };
        filled!(device, LaunchConfig::new(1, 32), 32, |y| a_vote(y, mask))
    });
}
