//! Tests threads and blocks that wait for each other's writes.

use crate::common;

use common::{Array, KERNEL, global_index, simulator, simulators};
use simt::memory::Scope;
use simt::{Activity, Dim3, FaultKind, LaunchConfig, Schedule, memory, thread};

/// Runs a chain of blocks. Each block waits for the flag of its predecessor, which is the previous block of the grid,
/// or the next block if `is_reversed` is true.
fn chain(workers: usize, seed: u64, blocks: u32, is_reversed: bool) {
    let flags = Array::<u32>::filled(blocks as usize + 2, 0);
    let first = if is_reversed { blocks as usize + 1 } else { 0 };
    flags.store(first, 1);
    simulator(workers, seed)
        .launch(&KERNEL, LaunchConfig::new(blocks, 64), || {
            let own = thread::block_idx().x as usize + 1;
            let other = if is_reversed { own + 1 } else { own - 1 };
            thread::sync_threads();
            if thread::thread_idx().x == 3 {
                let mut sum = flags.acquire(other);
                while sum == 0 {
                    sum = flags.acquire(other);
                }
                flags.release(own, sum + 1);
            }
            thread::sync_threads();
        })
        .unwrap();
    let last = if is_reversed { 1 } else { blocks as usize };
    assert_eq!(flags.load(last), blocks + 1);
}

#[test]
fn a_chain_of_blocks_goes_on_in_either_direction() {
    for workers in [1, 2, 4] {
        for seed in [0, 1, 2] {
            chain(workers, seed, 50, false);
            chain(workers, seed, 50, true);
        }
    }
}

#[test]
fn a_chain_is_fast_when_blocks_wait_for_earlier_ones() {
    chain(2, 0, 5000, false);
}

#[test]
fn all_blocks_may_wait_for_the_last() {
    for simulator in simulators() {
        let arrived = Array::<u32>::filled(1, 0);
        // All threads of the grid wait for each other twice.
        simulator
            .launch(&KERNEL, LaunchConfig::new(30, 40), || {
                for round in 1..=2 {
                    thread::sync_threads();
                    if thread::thread_idx().x == 0 {
                        arrived.update(0, |count| count + 1);
                        while arrived.acquire(0) < 30 * round {}
                    }
                    thread::sync_threads();
                    assert!(arrived.load(0) >= 30 * round);
                }
            })
            .unwrap();
    }
}

#[test]
fn a_lock_is_handed_on() {
    for simulator in simulators() {
        let (lock, count) = (Array::<u32>::filled(1, 0), Array::<u32>::filled(1, 0));
        simulator
            .launch(&KERNEL, LaunchConfig::new(10, 50), || {
                while lock.update(0, |_| 1) != 0 {}
                let seen = count.load(0);
                // Other threads run while this one holds the lock.
                for _ in 0..20 {
                    thread::poll();
                }
                count.store(0, seen + 1);
                lock.release(0, 0);
            })
            .unwrap();
        assert_eq!(count.load(0), 500);
    }
}

#[test]
fn a_thread_may_wait_for_a_volatile_store() {
    for simulator in simulators() {
        let flag = Array::<u32>::filled(20, 0);
        simulator
            .launch(&KERNEL, LaunchConfig::new(20, 33), || {
                let block = thread::block_idx().x as usize;
                if thread::thread_idx().x == 32 {
                    // SAFETY: the array outlives the launch.
                    unsafe { memory::store_scoped(flag.at(block), 1, false, Scope::Device) };
                } else {
                    // SAFETY: the array outlives the launch.
                    while unsafe { memory::load_scoped(flag.at(block), false, Scope::Device) } == 0 {}
                }
            })
            .unwrap();
    }
}

#[test]
fn many_loads_that_do_not_wait_are_no_lack_of_progress() {
    let values = Array::<u32>::filled(1000, 1);
    simulator(2, 0)
        .launch(&KERNEL, LaunchConfig::new(4, 1), || {
            let sum: u32 = (0..200_000).map(|i| values.acquire(i % 1000)).sum();
            assert_eq!(sum, 200_000);
        })
        .unwrap();
}

#[test]
fn waiting_for_a_missing_write_ends_the_launch() {
    for simulator in simulators() {
        let flag = Array::<u32>::filled(1, 0);
        let line = line!() + 5;
        let barrier = line + 2;
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 64), || {
                if thread::thread_idx().x == 40 {
                    while flag.acquire(0) == 0 {}
                }
                thread::sync_threads();
            })
            .unwrap_err();
        assert_eq!((fault.block, fault.thread), (Some(Dim3::new(0, 0, 0)), Some(Dim3::new(40, 0, 0))));
        let text = fault.to_string();
        let FaultKind::NoProgress { polling: 1, waiting: 63, held_up: Some(held_up), .. } = fault.kind else {
            panic!("{text}")
        };
        assert_eq!(fault.location.unwrap().line, line);
        assert_eq!((held_up.activity, held_up.location.unwrap().line), (Activity::AtBarrier, barrier));
        assert!(text.contains(&format!("progress.rs:{barrier}:")), "{text}");
    }
}

#[test]
fn a_grid_that_waits_for_itself_ends_the_launch() {
    for simulator in simulators() {
        let flags = Array::<u32>::filled(8, 0);
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(8, 3), || {
                let block = thread::block_idx().x as usize;
                if block > 1 {
                    return;
                }
                // Blocks 0 and 1 wait for each other.
                while flags.acquire(1 - block) == 0 {}
                flags.release(block, 1);
            })
            .unwrap_err();
        assert!(fault.block.unwrap().x < 2);
        assert!(matches!(fault.kind, FaultKind::NoProgress { polling: 3, waiting: 0, held_up: None, .. }), "{fault}");
        if simulator.schedule() == Schedule::Natural {
            assert_eq!(fault.block, Some(Dim3::new(0, 0, 0)), "the fault must name the first waiting block");
        }
    }
}

#[test]
fn a_lock_that_is_never_released_ends_the_launch() {
    let lock = Array::<u32>::filled(1, 0);
    let fault =
        simulator(2, 0).launch(&KERNEL, LaunchConfig::new(2, 2), || while lock.update(0, |_| 1) != 0 {}).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::NoProgress { .. }));
}

#[test]
fn a_block_that_waits_for_one_that_faults_ends_too() {
    for simulator in simulators() {
        let flag = Array::<u32>::filled(1, 0);
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(5, 2), || {
                if thread::block_idx().x == 3 {
                    panic!("never written");
                }
                while flag.acquire(0) == 0 {}
            })
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::Panic("never written".to_owned()));
    }
}

#[test]
fn blocks_that_wait_do_not_keep_others_from_running() {
    let (flag, runs) = (Array::<u32>::filled(1, 0), Array::<u32>::filled(300, 0));
    simulator(2, 0)
        .launch(&KERNEL, LaunchConfig::new(300, 1), || {
            if thread::block_idx().x == 299 {
                flag.release(0, 1);
            } else if thread::block_idx().x.is_multiple_of(2) {
                while flag.acquire(0) == 0 {}
            }
            runs.store(global_index(), 1);
        })
        .unwrap();
    assert_eq!(runs.to_vec(), vec![1; 300]);
}
