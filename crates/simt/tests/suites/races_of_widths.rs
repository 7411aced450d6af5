//! Tests races of atomics of several widths, and of `mbarrier`s in shared memory.

use simt::memory::{Scope, fence_scoped};
use simt::{Checks, FaultKind, LaunchConfig, Remedy, Schedule, Simulator, shared, thread};

use crate::common::KERNEL;

/// Runs `kernel` in a block of two warps under each hostile schedule. Returns for each launch the remedy of the race
/// that the launch reports, or `None` if it reports no race.
fn remedies(kernel: impl Fn() + Sync) -> Vec<Option<Remedy>> {
    let config = LaunchConfig::new(1, 64).shared_bytes(512);
    let launch = |schedule| {
        let simulator = Simulator::new().with_checks(Checks::default()).with_schedule(schedule);
        simulator.launch(&KERNEL, config, &kernel).err().map(|fault| {
            assert!(matches!(fault.kind, FaultKind::Race(_)), "{fault}");
            fault.remedy().unwrap()
        })
    };
    Schedule::HOSTILE.map(launch).to_vec()
}

fn me() -> u32 {
    thread::thread_idx().x
}

fn clear() {
    if me() < 8 {
        shared::store(8 * me(), 0_u64);
    }
    thread::sync_threads();
}

#[test]
fn atomics_of_two_widths_race_where_they_overlap() {
    let add = |wide_at: u32, narrow_at: u32, is_ordered: bool| {
        move || {
            clear();
            if me() == 0 {
                shared::update(wide_at, |value: u64| value + 1);
            }
            if is_ordered {
                thread::sync_threads();
            }
            if me() == 40 {
                shared::update(narrow_at, |value: u32| value + 1);
            }
        }
    };
    for narrow in [8, 12] {
        assert_eq!(remedies(add(8, narrow, false)), [Some(Remedy::OneWidth); 8]);
        assert_eq!(remedies(add(8, narrow, true)), [None; 8]);
    }
    assert_eq!(remedies(add(8, 4, false)), [None; 8]);
    assert_eq!(remedies(add(8, 16, false)), [None; 8]);
}

/// Arrives at a barrier of 64 threads in the shared word at address 0. The word's upper half is the phase, and its
/// lower half is the number of arrivals. Returns the phase before the arrival.
fn arrive() -> u64 {
    fence_scoped(Scope::Block);
    let before = shared::arrive(0, |word| match word + 1 {
        word if word as u32 == 64 => (((word >> 32) + 1) << 32, true),
        word => (word, false),
    });
    before >> 32
}

fn wait(phase: u64) {
    while shared::load_phase(0) >> 32 == phase {}
}

#[test]
fn a_wait_follows_the_arrivals_of_its_phase_alone() {
    let rounds = |has_second_wait: bool| {
        move || {
            clear();
            for round in 0..2 {
                shared::store(64 + 4 * me(), round);
                wait(arrive());
                assert_eq!(shared::load::<u32>(64 + 4 * (63 - me())), round);
                if has_second_wait {
                    wait(arrive());
                }
            }
        }
    };
    assert_eq!(remedies(rounds(true)), [None; 8]);
    assert_eq!(remedies(rounds(false)), [Some(Remedy::BlockBarrier); 8]);
}

#[test]
fn an_arrival_follows_nothing() {
    let kernel = || {
        clear();
        shared::store(64 + 4 * me(), 1_u32);
        let phase = arrive();
        fence_scoped(Scope::Block);
        shared::load::<u32>(64 + 4 * (63 - me()));
        wait(phase);
    };
    let found = remedies(|| {
        if me() < 32 {
            // The other warp's word is written before it is read, in either order.
            shared::store(64 + 4 * me(), 0_u32);
            shared::store(64 + 4 * (63 - me()), 0_u32);
        }
        thread::sync_threads();
        kernel();
    });
    assert_eq!(found, [Some(Remedy::BlockBarrier); 8]);
}
