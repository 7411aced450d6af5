//! Tests the checker on atomic exchanges on uninitialised memory. If the result of an exchange is unused, the exchange
//! initialises the element. If the result is used, the exchange reads the element.

use cuda_std::atomic::Ordering;
use cuda_std::{GlobalMut, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Early, Race, RaceFree, Unwritten};

/// Returns a launch configuration of one block of one warp.
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
    a_sum_without_initial_value: Unwritten("y"), |device| {
        let mut y = device.alloc(1)?;
        device.launch(warp(), a_sum_without_initial_value(y.view_mut()))
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
    added_to_after_a_barrier: RaceFree, |device| {
        let mut y = device.alloc(1)?;
        device.launch(LaunchConfig::new(1, 64), added_to_after_a_barrier(y.view_mut()))
    };
    added_to_without_barrier: Early("y"), |device| {
        let mut y = device.alloc(1)?;
        device.launch(LaunchConfig::new(1, 64), added_to_without_barrier(y.view_mut()))
    };
    a_flag_that_is_stored_and_polled: Early("flag"), |device| {
        let mut flag = device.alloc(1)?;
        device.launch(LaunchConfig::new(2, 1), a_flag_that_is_stored_and_polled(flag.view_mut()))
    };
    a_shared_count_begun_too_late: Early("count"), |device| launch!(device, LaunchConfig::new(1, 64), a_shared_count_begun_too_late, 64);
    begun_by_each_and_added_to: RaceFree, |device| {
        let mut y = device.alloc(1)?;
        device.launch(LaunchConfig::new(2, 64), begun_by_each_and_added_to(y.view_mut()))
    };
    begun_and_passed_on: RaceFree, |device| {
        let (mut y, mut flag) = (device.alloc(1)?, device.zeroed(1)?);
        device.launch(LaunchConfig::new(2, 32), begun_and_passed_on(y.view_mut(), flag.view_mut()))
    };
    exchanges_with_unused_results: RaceFree, |device| {
        let mut y = device.alloc(96)?;
        device.launch(warp(), exchanges_with_unused_results(y.view_mut()))
    };
    an_exchange_bound_and_used: Unwritten("y"), |device| {
        let mut y = device.alloc(32)?;
        device.launch(warp(), an_exchange_bound_and_used(y.view_mut()))
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
fn a_sum_without_initial_value(y: GlobalMut<u32>) {
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

// Sound: the first thread has written the value, and a barrier follows, before all threads add to it.
#[kernel]
fn added_to_after_a_barrier(y: GlobalMut<u32>) {
    if thread::index_1d() == 0 {
        y.atomic_exchange(0, 5);
    }
    thread::sync_threads();
    y.atomic_add(0, 1);
}

// Faulty: without a barrier, an addition may find an uninitialised element.
#[kernel]
fn added_to_without_barrier(y: GlobalMut<u32>) {
    if thread::index_1d() == 0 {
        y.atomic_exchange(0, 5); // early
    }
    y.atomic_add(0, 1); // early
}

// Faulty: the flag is polled before its first write, because the host did not set it to 0.
#[kernel]
fn a_flag_that_is_stored_and_polled(flag: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        flag.store_release(0, 1); // early
    } else {
        // early
        while flag.load_acquire(0) != 1 {}
    }
}

#[kernel]
fn a_shared_count_begun_too_late(y: GlobalMut<u32>) {
    let count = shared_array![u32; 1];
    let i = thread::index_1d();
    if i == 0 {
        count.store_relaxed(0, 5); // early
    }
    let ticket = count.atomic_add(0, 1); // early
    y.store(i, ticket);
}

// Sound: each thread writes the element before it adds to it. Another thread may have written the element in between.
#[kernel]
fn begun_by_each_and_added_to(y: GlobalMut<u32>) {
    y.atomic_exchange(0, 5);
    y.atomic_add(0, 1);
}

// Sound: a thread that has seen the flag runs after the first write of the value.
#[kernel]
fn begun_and_passed_on(y: GlobalMut<u32>, flag: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        if thread::thread_idx_x() == 0 {
            y.store_relaxed(0, 5);
            flag.store_release(0, 1);
        }
        thread::sync_threads();
    } else {
        while flag.load_acquire(0) == 0 {}
    }
    y.atomic_add(0, 1);
}

#[kernel]
fn exchanges_with_unused_results(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    _ = y.atomic_exchange(i, 7);
    let _old = y.atomic_exchange(32 + i, 7);
    let _other: u32 = y.block_atomic(64 + i).swap(7, Ordering::Relaxed);
    y.store(i, y.load(i) + y.load(32 + i) + y.load(64 + i));
}

#[kernel]
fn an_exchange_bound_and_used(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let _old = y.atomic_exchange(i, 7); // unwritten
    y.store(i, _old + 1);
}
