//! What a report proposes cures the kernel: each faulty kernel is reported with its remedy, and is clean with that
//! applied.

use cuda_std::{AsyncCopies, Global, GlobalMut, fence, fence_block, kernel, shared_array, thread, warp};
use launch::{Device, Error, LaunchConfig};
use simt::Remedy;
use tests::reports::devices_and_orders;

/// In every order the kernel is reported with `remedy` if it `is_faulty`, and not if it is cured.
#[track_caller]
pub fn assert_cured(remedy: Remedy, launch: impl Fn(&Device, bool) -> Result<(), Error>) {
    for (device, order) in devices_and_orders() {
        match launch(&device, true) {
            Err(Error::Fault(fault)) => {
                assert_eq!(fault.remedy(), Some(remedy), "{order}: {fault}");
                assert!(fault.to_string().ends_with(&format!("; {remedy}")), "{order}: {fault}");
            }
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
    assert_cured(Remedy::OneWidth, |device, is_faulty| {
        device.launch(LaunchConfig::new(1, 64), a_count_of_halves(device.zeroed(64)?.view_mut(), is_faulty))
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
    assert_cured(Remedy::BarrierForAll, |device, is_faulty| {
        let (x, mut y) = (device.zeroed(50)?, device.zeroed(50)?);
        device.launch(LaunchConfig::new(1, 64), work_of_some(x.view(), y.view_mut(), is_faulty))
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

/// A barrier that the arms of a branch call.
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
    assert_cured(Remedy::OneBarrier, |device, is_faulty| {
        device.launch(config, a_barrier_in_each_arm(device.zeroed(64)?.view_mut(), is_faulty))
    });
    assert_cured(Remedy::OneBarrier, |device, is_faulty| {
        device.launch(config, a_call_in_each_arm(device.zeroed(64)?.view_mut(), is_faulty))
    });
}

/// Lanes below 20 vote: by a mask of all lanes or of these, or with the others. The others go on, to a barrier or
/// another operation.
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
            let mut y = device.zeroed(32)?;
            device.launch(LaunchConfig::new(1, 32), a_vote_of_some(y.view_mut(), has_full_mask, all_come, to_barrier))
        };
        assert_cured(Remedy::MaskOfThoseWhoCome, |device, is_faulty| launch(device, is_faulty, false));
        // The other half of the remedy.
        assert_cured(Remedy::MaskOfThoseWhoCome, |device, is_faulty| launch(device, true, !is_faulty));
    }
}

#[kernel]
fn a_vote(y: GlobalMut<u32>, mask: u32) {
    let lane = thread::thread_idx_x() as usize;
    y.store(lane, warp::ballot(mask, true));
}

#[test]
fn the_caller_in_its_mask() {
    assert_cured(Remedy::MaskWithCaller, |device, is_faulty| {
        let mask = if is_faulty { 0x7FFF_FFFF } else { u32::MAX };
        device.launch(LaunchConfig::new(1, 32), a_vote(device.zeroed(32)?.view_mut(), mask))
    });
}

/// Faulty without the commit: the wait is for no copy.
#[kernel]
fn a_copy_of_a_group(x: Global<u32>, y: GlobalMut<u32>, is_committed: bool) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy(x, i, tile, i);
    if is_committed {
        copies.commit();
    }
    copies.wait::<0>();
    y.store_vec(i, tile.load(i));
}

#[test]
fn a_commit_of_the_copy() {
    assert_cured(Remedy::WaitForCopy, |device, is_faulty| {
        let (x, mut y) = (device.zeroed(256)?, device.zeroed(256)?);
        device.launch(LaunchConfig::new(1, 64), a_copy_of_a_group(x.view(), y.view_mut(), !is_faulty))
    });
    assert!(Remedy::WaitForCopy.to_string().contains("commit"));
}

/// Vectors of `y` are those of `x` so far on, which asynchronous copies bring.
#[kernel]
fn a_copy(x: Global<u32>, y: GlobalMut<u32>, distance: usize, waits: bool, has_barrier: bool) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy(x, i, tile, i);
    copies.commit();
    if waits {
        copies.wait::<0>();
    }
    if has_barrier {
        thread::sync_threads();
    }
    y.store_vec(i, tile.load((i + distance) % 64));
    copies.wait::<0>();
}

#[test]
fn a_wait_for_the_copy() {
    let launch = |device: &Device, distance, waits, has_barrier| {
        let (x, mut y) = (device.zeroed(256)?, device.zeroed(256)?);
        device.launch(LaunchConfig::new(1, 64), a_copy(x.view(), y.view_mut(), distance, waits, has_barrier))
    };
    assert_cured(Remedy::WaitForCopy, |device, is_faulty| launch(device, 0, !is_faulty, false));
    assert_cured(Remedy::WaitForCopyAndBarrier, |device, is_faulty| launch(device, 32, !is_faulty, true));
    // Neither is there.
    assert_cured(Remedy::WaitForCopyAndBarrier, |device, is_faulty| launch(device, 32, !is_faulty, !is_faulty));
}
