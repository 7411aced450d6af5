//! Tests that the default orders find faults that appear only if another block runs between two atomic accesses.

use std::time::{Duration, Instant};

use cuda_std::{GlobalMut, kernel, thread};
use launch::{Call, Device, Error, FaultKind, LaunchConfig, checked_devices};

/// The largest number of blocks of the kernels below, and the length of each buffer.
const LEN: usize = 16;

/// Launches `kernel` on `blocks` blocks under each of the eight orders, with buffers of zeros. Returns the number of
/// orders in which the launch has a fault or the first buffer differs from `right`.
fn failures(
    blocks: u32,
    right: &[u32],
    kernel: for<'a> fn(GlobalMut<'a, u32>, GlobalMut<'a, u32>) -> Call<'a>,
) -> usize {
    let run = |device: &Device| {
        let (mut data, mut locks) = (device.zeroed(LEN)?, device.zeroed(LEN)?);
        device.launch(LaunchConfig::new(blocks, 32), kernel(data.view_mut(), locks.view_mut()))?;
        data.download()
    };
    let is_wrong = |result: &Result<Vec<u32>, Error>| !matches!(result, Ok(data) if data[..right.len()] == *right);
    checked_devices().map(|device| run(&device)).filter(is_wrong).count()
}

/// Adds 1 to a counter in each block.
#[kernel]
fn volatile_count(is_sound: bool, count: GlobalMut<u32>, _locks: GlobalMut<u32>) {
    if thread::index_in_block() == 0 {
        if is_sound {
            count.atomic_add(0, 1);
        } else {
            count.store_volatile(0, count.load_volatile(0) + 1);
        }
    }
}

#[test]
fn a_lost_update_by_volatile_accesses() {
    assert!(failures(4, &[4], |count, locks| volatile_count(false, count, locks)) > 0);
    assert_eq!(failures(4, &[4], |count, locks| volatile_count(true, count, locks)), 0);
}

#[cuda_std::device]
fn lock(locks: GlobalMut<u32>, i: usize) {
    while locks.atomic_compare_exchange(i, 0, 1) != 0 {}
    cuda_std::fence();
}

#[cuda_std::device]
fn unlock(locks: GlobalMut<u32>, i: usize) {
    cuda_std::fence();
    locks.store_release(i, 0);
}

/// Moves 1 from one account to another in each block, under the locks of both accounts. The sound variant locks the
/// lower account first.
#[kernel]
fn transfer(is_sound: bool, accounts: GlobalMut<u32>, locks: GlobalMut<u32>) {
    if thread::index_in_block() == 0 {
        let from = thread::block_idx_x() as usize;
        let to = (from + 1) % thread::grid_dim_x() as usize;
        let (first, second) = if is_sound { (from.min(to), from.max(to)) } else { (from, to) };
        lock(locks, first);
        lock(locks, second);
        accounts.store(from, accounts.load(from) + 1);
        accounts.store(to, accounts.load(to) + 1);
        unlock(locks, second);
        unlock(locks, first);
    }
}

#[test]
fn locks_in_opposite_orders() {
    for blocks in 2..5 {
        let right = vec![2; blocks as usize];
        assert!(failures(blocks, &right, |accounts, locks| transfer(false, accounts, locks)) > 0, "{blocks}");
        assert_eq!(failures(blocks, &right, |accounts, locks| transfer(true, accounts, locks)), 0, "{blocks}");
    }
}

#[test]
fn a_deadlock_names_who_waits_for_which_lock() {
    let launch = |device: Device| {
        let (mut accounts, mut locks) = (device.zeroed(LEN)?, device.zeroed(LEN)?);
        device.launch(LaunchConfig::new(2, 1), transfer(false, accounts.view_mut(), locks.view_mut()))
    };
    let begun = Instant::now();
    let found = checked_devices().map(launch).find_map(|result| match result {
        Err(Error::Fault(fault)) => Some(fault),
        _ => None,
    });
    let fault = found.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let text = fault.to_string();
    let FaultKind::NoProgress { waits, .. } = fault.kind else { panic!("{text}") };
    let found: Vec<_> = waits.iter().map(|wait| (wait.block.x, wait.element)).collect();
    let [(0, Some(("locks", 1))), (1, Some(("locks", 0)))] = found[..] else { panic!("{text}") };
    for (block, other) in [(0, 1), (1, 0)] {
        let part = format!(
            "for `locks[{other}]`, last changed by block ({other}, 0, 0), thread (0, 0, 0) at \
             crates/launch/tests/suites/blocks_in_turn.rs:"
        );
        let waits = format!(". Block ({block}, 0, 0), thread (0, 0, 0) waits at crates/launch");
        assert!(text.contains(&part) && text.contains(&waits), "{text}");
    }
}

/// A queue lock by Mellor-Crummey and Scott, in which each block waits at a flag of its own. `locks[0]` is the last
/// block of the queue, counted from 1; `locks[block]` is the flag of a block and `locks[block + 8]` its successor. The
/// sound variant passes the lock on by a release and an acquire.
#[kernel]
fn queue_lock(is_sound: bool, count: GlobalMut<u32>, locks: GlobalMut<u32>) {
    if thread::index_in_block() != 0 {
        return;
    }
    let block = thread::block_idx_x() as usize + 1;
    let before = locks.atomic_exchange(0, block as u32) as usize;
    cuda_std::fence();
    if before != 0 {
        locks.store_release(before + 8, block as u32);
        while locks.load_acquire(block) == 0 {}
    }
    count.store(0, count.load(0) + 1);
    if locks.load_acquire(block + 8) == 0 {
        cuda_std::fence();
        if locks.atomic_compare_exchange(0, block as u32, 0) == block as u32 {
            return;
        }
        while locks.load_acquire(block + 8) == 0 {}
    }
    let next = locks.load_relaxed(block + 8) as usize;
    if is_sound {
        locks.store_release(next, 1);
    } else {
        locks.store_relaxed(next, 1);
    }
}

#[test]
fn a_queue_lock_with_a_relaxed_hand_over() {
    assert!(failures(4, &[4], |count, locks| queue_lock(false, count, locks)) > 0);
    assert_eq!(failures(4, &[4], |count, locks| queue_lock(true, count, locks)), 0);
}
