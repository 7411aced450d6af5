//! Exchanges in memory that nobody has written: one whose result nobody uses initialises, one whose result is used reads.

use cuda_std::atomic::Ordering;
use cuda_std::{GlobalMut, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree, Unwritten};

/// One block of a warp.
fn warp() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

cases! {
    "exchanges.rs";
    initialised_by_exchanges: RaceFree, |device| {
        let mut y = device.alloc(32)?;
        device.launch(warp(), initialised_by_exchanges(y.view_mut()))
    };
    an_exchange_that_is_used: Unwritten("y"), |device| {
        let mut y = device.alloc(32)?;
        device.launch(warp(), an_exchange_that_is_used(y.view_mut()))
    };
    a_sum_that_nobody_began: Unwritten("y"), |device| {
        let mut y = device.alloc(1)?;
        device.launch(warp(), a_sum_that_nobody_began(y.view_mut()))
    };
    a_lock_set_up_in_shared_memory: RaceFree, |device| launch!(device, warp(), a_lock_set_up_in_shared_memory, 32);
    a_lock_taken_before_it_is_set_up: Unwritten("lock"), |device| launch!(device, LaunchConfig::new(1, 1), a_lock_taken_before_it_is_set_up, 1);
    a_used_exchange_after_one_that_is_not: RaceFree, |device| {
        let mut y = device.alloc(32)?;
        device.launch(warp(), a_used_exchange_after_one_that_is_not(y.view_mut()))
    };
    an_exchange_by_its_order: RaceFree, |device| {
        let mut y = device.alloc(32)?;
        device.launch(warp(), an_exchange_by_its_order(y.view_mut()))
    };
    an_exchange_read_without_order: Race("y"), |device| {
        let mut y = device.alloc(1)?;
        device.launch(LaunchConfig::new(1, 2), an_exchange_read_without_order(y.view_mut()))
    };
}

#[kernel]
fn initialised_by_exchanges(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.atomic_exchange(i, 7);
    y.store(i, y.load(i) + 1);
}

#[kernel]
fn an_exchange_that_is_used(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let before = y.atomic_exchange(i, 7); // unwritten
    y.store(i, before + 1);
}

#[kernel]
fn a_sum_that_nobody_began(y: GlobalMut<u32>) {
    y.atomic_add(0, 1); // unwritten
}

#[kernel]
fn a_lock_set_up_in_shared_memory(y: GlobalMut<u32>) {
    let lock = shared_array![u32; 1];
    let i = thread::index_1d();
    if i == 0 {
        let _ = lock.atomic_exchange(0, 0);
    }
    thread::sync_threads();
    y.store(i, lock.atomic_exchange(0, 1));
}

#[kernel]
fn a_lock_taken_before_it_is_set_up(y: GlobalMut<u32>) {
    let lock = shared_array![u32; 1];
    // unwritten
    if lock.atomic_exchange(0, 1) == 0 {
        y.store(0, 1);
    }
    lock.atomic_exchange(0, 0);
}

#[kernel]
fn a_used_exchange_after_one_that_is_not(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.atomic_exchange(i, 7);
    let before = y.atomic_exchange(i, 8);
    y.store(i, before);
}

#[kernel]
fn an_exchange_by_its_order(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.block_atomic(i).swap(7, Ordering::Relaxed);
    y.store(i, y.load(i) + 1);
}

#[kernel]
fn an_exchange_read_without_order(y: GlobalMut<u32>) {
    if thread::index_1d() == 0 {
        y.atomic_exchange(0, 7); // race
    } else {
        let found = y.load(0); // race
        assert!(found != 9);
    }
}
