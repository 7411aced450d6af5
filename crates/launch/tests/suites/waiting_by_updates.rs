//! Tests that the simulator runs kernels whose threads change a value again and again while they wait, and that a
//! thorough check of such kernels ends.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};

use cuda_std::{GlobalMut, kernel, shared_array, thread};
use launch::{Call, Device, Error, LaunchConfig, Schedule, Simulator, Thorough, check_thoroughly, checked_devices};

type Kernel = for<'a> fn(GlobalMut<'a, u32>, GlobalMut<'a, u32>) -> Call<'a>;

/// Launches `kernel` with words for locks, all 0, and checks that the first value is `right`.
fn run(device: &Device, config: LaunchConfig, kernel: Kernel, right: u32) -> Result<(), Error> {
    let (mut locks, mut values) = (device.zeroed(4)?, device.zeroed(4)?);
    device.launch(config, kernel(locks.view_mut(), values.view_mut()))?;
    assert_eq!(values.download()?[0], right, "{}", device.summary());
    Ok(())
}

/// Runs `kernel` without checks, under the hostile schedules, and under those of a thorough check.
fn check(config: LaunchConfig, kernel: Kernel, right: u32) -> Thorough {
    for schedule in Schedule::HOSTILE {
        run(&Device::simulated(Simulator::new().with_schedule(schedule)), config, kernel, right).unwrap();
    }
    checked_devices().for_each(|device| run(&device, config, kernel, right).unwrap());
    let begun = Instant::now();
    let thorough = check_thoroughly(Duration::from_millis(100), |device| run(device, config, kernel, right));
    let thorough = thorough.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(thorough.orders >= 8 && begun.elapsed() < Duration::from_secs(20), "{thorough}");
    thorough
}

const WRITER: u32 = 1 << 16;

/// A lock for one writer (block 0) or several readers. A reader that waits updates the lock for ever.
#[kernel]
fn readers_and_writer(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let (lock, block) = (locks.atomic(0), thread::block_idx_x());
    if block == 0 {
        while lock.compare_exchange(0, WRITER, Acquire, Relaxed).is_err() {}
        values.store(0, 7);
        lock.fetch_and(!WRITER, Release);
    } else {
        while lock.fetch_add(1, Acquire) >= WRITER {
            lock.fetch_sub(1, Relaxed);
        }
        values.store(block as usize, values.load(0));
        lock.fetch_sub(1, Release);
    }
}

#[test]
fn a_lock_for_readers_and_a_writer() {
    let Thorough { unfinished, orders, .. } = check(LaunchConfig::new(3, 1), readers_and_writer, 7);
    assert!(orders > 20 && unfinished == 0, "{orders} {unfinished}");
}

/// Counts the blocks under a spin lock.
#[kernel]
fn spin_lock(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let lock = locks.atomic(0);
    while lock.swap(1, Acquire) != 0 {}
    values.store(0, values.load(0) + 1);
    lock.store(0, Release);
}

/// Counts the blocks under a lock that is given in the order of tickets.
#[kernel]
fn ticket_lock(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let ticket = locks.atomic(0).fetch_add(1, Relaxed);
    while locks.atomic(1).load(Acquire) != ticket {}
    values.store(0, values.load(0) + 1);
    locks.atomic(1).store(ticket + 1, Release);
}

/// Counts the blocks under a spin lock whose threads wait longer after each attempt.
#[kernel]
fn lock_with_back_off(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let (lock, mut pause) = (locks.atomic(0), 1_u32);
    while lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
        for _ in 0..pause {
            core::hint::spin_loop();
        }
        pause = (2 * pause).min(64);
    }
    values.store(0, values.load(0) + 1);
    lock.store(0, Release);
}

/// Counts the blocks under a lock. A thread that waits counts its attempts.
#[kernel]
fn lock_with_counted_attempts(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let lock = locks.atomic(0);
    while lock.swap(1, Acquire) != 0 {
        locks.atomic(1).fetch_add(1, Relaxed);
    }
    values.store(0, values.load(0) + 1);
    lock.store(0, Release);
}

#[test]
fn locks_whose_waiting_threads_change_values_or_do_not() {
    for kernel in [spin_lock as Kernel, ticket_lock, lock_with_back_off, lock_with_counted_attempts] {
        assert_eq!(check(LaunchConfig::new(3, 1), kernel, 3).unfinished, 0);
    }
}

/// Waits until the semaphore `locks[0]` is positive, and decrements it. A thread that waits changes the semaphore.
#[cuda_std::device]
fn acquire(locks: GlobalMut<u32>) {
    while locks.atomic(0).fetch_sub(1, Acquire).cast_signed() <= 0 {
        locks.atomic(0).fetch_add(1, Relaxed);
    }
}

/// The last block increments a semaphore for which all other blocks wait.
#[kernel]
fn semaphore_of_the_last_block(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let others = thread::grid_dim_x() - 1;
    if thread::block_idx_x() == others {
        values.store(0, 5);
        locks.atomic(0).fetch_add(others, Release);
    } else {
        acquire(locks);
        values.store(1 + thread::block_idx_x() as usize, values.load(0));
    }
}

/// The last thread increments a semaphore for which the first one waits.
#[kernel]
fn semaphore_of_the_last_thread(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let thread = thread::thread_idx_x();
    if thread + 1 == thread::block_dim_x() {
        locks.atomic(0).fetch_add(1, Release);
    } else if thread == 0 {
        acquire(locks);
        values.store(0, 5);
    }
}

/// Block 0 waits for the last block: its first thread tries to decrement a semaphore between barriers.
#[kernel]
fn semaphore_between_barriers(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let is_first = thread::thread_idx_x() == 0;
    let is_over = shared_array![u32; 1];
    if thread::block_idx_x() + 1 == thread::grid_dim_x() {
        if is_first {
            locks.atomic(0).fetch_add(1, Release);
        }
    } else if thread::block_idx_x() == 0 {
        loop {
            if is_first {
                let is_free = locks.atomic(0).fetch_sub(1, Acquire).cast_signed() > 0;
                if !is_free {
                    locks.atomic(0).fetch_add(1, Relaxed);
                }
                is_over.store(0, is_free.into());
            }
            thread::sync_threads();
            if is_over.load(0) != 0 {
                break;
            }
            thread::sync_threads();
        }
        if is_first {
            values.store(0, 5);
        }
    }
}

/// Block 0 waits for a flag of the last block: its first thread loads the flag between barriers.
#[kernel]
fn flag_between_barriers(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let is_first = thread::thread_idx_x() == 0;
    let is_over = shared_array![u32; 1];
    if thread::block_idx_x() + 1 == thread::grid_dim_x() {
        if is_first {
            locks.atomic(0).store(1, Release);
        }
    } else if thread::block_idx_x() == 0 {
        loop {
            if is_first {
                is_over.store(0, locks.atomic(0).load(Acquire));
            }
            thread::sync_threads();
            if is_over.load(0) != 0 {
                break;
            }
            thread::sync_threads();
        }
        if is_first {
            values.store(0, 5);
        }
    }
}

#[test]
fn threads_that_wait_by_updates_let_later_threads_and_blocks_run() {
    check(LaunchConfig::new(4, 1), semaphore_of_the_last_block, 5);
    check(LaunchConfig::new(1, 40), semaphore_of_the_last_thread, 5);
    check(LaunchConfig::new(3, 33), semaphore_between_barriers, 5);
    check(LaunchConfig::new(3, 33), flag_between_barriers, 5);
}

#[test]
fn blocks_of_a_cooperative_launch_wait_by_updates() {
    let config = LaunchConfig::new(3, 1).cooperative();
    check(config, readers_and_writer, 7);
    check(config, semaphore_of_the_last_block, 5);
}

/// Readers take a lock again and again until the writer has had it.
#[kernel]
fn readers_that_do_not_stop(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    let (lock, is_written) = (locks.atomic(0), locks.atomic(1));
    if thread::block_idx_x() == 0 {
        while lock.compare_exchange(0, WRITER, Acquire, Relaxed).is_err() {}
        values.store(0, 5);
        is_written.store(1, Relaxed);
        lock.fetch_and(!WRITER, Release);
    } else {
        let mut is_over = false;
        while !is_over {
            while lock.fetch_add(1, Acquire) >= WRITER {
                lock.fetch_sub(1, Relaxed);
            }
            is_over = is_written.load(Relaxed) != 0;
            lock.fetch_sub(1, Release);
        }
    }
}

#[test]
fn a_writer_is_not_kept_waiting_by_readers_for_ever() {
    check(LaunchConfig::new(3, 1), readers_that_do_not_stop, 5);
}

/// If block 1 runs first, it waits by updates for ever.
#[kernel]
fn waits_for_ever_in_some_orders(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        locks.atomic(1).store(1, Relaxed);
        values.store(0, 5);
    } else if locks.atomic(1).load(Relaxed) == 0 {
        acquire(locks);
    }
}

#[test]
fn an_order_that_does_not_finish_is_counted_and_is_no_fault() {
    let begun = Instant::now();
    let config = LaunchConfig::new(2, 1);
    let thorough = check_thoroughly(Duration::ZERO, |device| run(device, config, waits_for_ever_in_some_orders, 5));
    let thorough = thorough.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(thorough.unfinished > 0 && thorough.orders + thorough.unfinished == 8, "{thorough}");
    let text = format!("; {} further orders did not finish", thorough.unfinished);
    assert!(thorough.to_string().ends_with(&text), "{thorough}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// Waits for a semaphore that no thread increments.
#[kernel]
fn semaphore_of_nobody(locks: GlobalMut<u32>, values: GlobalMut<u32>) {
    acquire(locks);
    values.store(0, 5);
}

#[test]
fn a_kernel_that_never_finishes_fails() {
    let begun = Instant::now();
    let failed =
        check_thoroughly(Duration::ZERO, |device| run(device, LaunchConfig::new(1, 1), semaphore_of_nobody, 5));
    let failed = failed.unwrap_err();
    assert_eq!((failed.orders, failed.tried.unfinished), (0, 8));
    let text = failed.to_string();
    assert!(text.contains("waiting_by_updates.rs") && text.contains("no block has ended"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}
