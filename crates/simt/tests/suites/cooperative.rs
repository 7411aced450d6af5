//! Tests cooperative launches and the barrier of the grid.

use crate::common;

use common::races::{checked, lines, race_with};
use common::{Array, KERNEL, simulators};
use simt::{Activity, FaultKind, LaunchConfig, Schedule, Simulator, thread};

fn all_simulators() -> impl Iterator<Item = Simulator> {
    let checked = Schedule::HOSTILE.into_iter().map(|schedule| checked().with_schedule(schedule));
    simulators().into_iter().chain(checked)
}

/// Returns the calling thread's linear index in the grid.
fn number() -> usize {
    (thread::block_idx().x * thread::block_dim().x + thread::thread_idx().x) as usize
}

#[test]
fn every_round_sees_the_writes_of_all_blocks_in_the_last() {
    const N: usize = 12 * 48;
    for simulator in all_simulators() {
        let cells = Array::new(&[[0_u32; N]; 2].concat());
        simulator
            .launch(&KERNEL, LaunchConfig::new(12, 48).cooperative(), || {
                let i = number();
                cells.store(i, i as u32);
                for round in 0..5 {
                    thread::sync_grid();
                    let (from, to) = (round % 2 * N, (round + 1) % 2 * N);
                    // Reads the value of a distant block.
                    cells.store(to + i, cells.load(from + (i + 5 * 48 + 1) % N));
                }
            })
            .unwrap_or_else(|fault| panic!("{}: {fault}", simulator.schedule()));
        let expected: Vec<_> = (0..N).map(|i| ((i + 5 * (5 * 48 + 1)) % N) as u32).collect();
        assert_eq!(cells.to_vec()[N..], expected, "{}", simulator.schedule());
    }
}

#[test]
fn blocks_may_also_wait_for_each_other_by_flags() {
    for simulator in all_simulators() {
        let flags = Array::new(&[0_u32; 8]);
        simulator
            .launch(&KERNEL, LaunchConfig::new(8, 32).cooperative(), || {
                let block = thread::block_idx().x as usize;
                if thread::thread_idx().x == 0 {
                    // Each block waits for the next one, except the last.
                    while block < 7 && flags.acquire(block + 1) == 0 {}
                    flags.release(block, 1);
                }
                thread::sync_grid();
                assert_eq!(flags.load_relaxed((block + 3) % 8), 1);
            })
            .unwrap_or_else(|fault| panic!("{}: {fault}", simulator.schedule()));
    }
}

#[test]
fn a_missing_barrier_of_the_grid_is_a_race() {
    for schedule in Schedule::HOSTILE {
        let cells = Array::new(&[0_u32; 64]);
        let line = line!() + 2;
        let found = race_with(&checked().with_schedule(schedule), LaunchConfig::new(2, 32).cooperative(), || {
            cells.store(number(), 1);
            thread::sync_threads();
            cells.load((number() + 32) % 64);
        });
        let lines = lines(&found);
        assert!([(line, line + 2), (line + 2, line)].contains(&lines), "{lines:?}");
    }
}

#[test]
fn a_barrier_of_the_grid_that_a_block_does_not_reach_is_a_fault() {
    for simulator in all_simulators() {
        let line = line!() + 4;
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(5, 32).cooperative(), || {
                if thread::block_idx().x != 3 {
                    thread::sync_grid();
                }
            })
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::GridBarrierNotReached { waiting: 4, ended: 1 }, "{fault}");
        assert_eq!(fault.location.as_ref().map(|at| at.line), Some(line), "{fault}");
    }
}

#[test]
fn threads_of_a_block_that_do_not_reach_it_are_a_fault_of_their_block() {
    for simulator in all_simulators() {
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(2, 32).cooperative(), || {
                if number() != 40 {
                    thread::sync_grid();
                }
            })
            .unwrap_err();
        let FaultKind::BarrierNotReached { waiting: 31, missing, .. } = &fault.kind else { panic!("{fault}") };
        assert_eq!((missing.thread.x, missing.activity), (8, Activity::Exited), "{fault}");
    }
}

#[test]
fn a_flag_that_is_set_behind_the_barrier_is_no_progress() {
    let flag = Array::new(&[0_u32]);
    let fault = Simulator::new()
        .launch(&KERNEL, LaunchConfig::new(2, 1).cooperative(), || {
            if thread::block_idx().x == 0 {
                while flag.load_relaxed(0) == 0 {}
            }
            thread::sync_grid();
            flag.store_relaxed(0, 1);
        })
        .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::NoProgress { polling: 1, waiting: 0, .. }), "{fault}");
}

#[test]
fn only_a_cooperative_launch_has_such_a_barrier_and_it_has_a_limit() {
    let fault = |config| Simulator::new().launch(&KERNEL, config, || thread::sync_grid()).unwrap_err().kind;
    let FaultKind::InvalidLaunch(reason) = fault(LaunchConfig::new(1, 1)) else { panic!("not an invalid launch") };
    assert!(reason.contains("add `.cooperative()`"));
    let most = Simulator::new().max_cooperative_threads();
    let blocks = most as u32 / 256;
    let too_large = fault(LaunchConfig::new(blocks + 1, 256).cooperative());
    assert!(too_large.is_limit_of_simulator());
    let FaultKind::SimulatorLimit(reason) = too_large else { panic!("not a limit of the simulator") };
    assert!(reason.contains(&format!("at most {most} threads")), "{reason}");
    Simulator::new().launch(&KERNEL, LaunchConfig::new(blocks, 256).cooperative(), || thread::sync_grid()).unwrap();
}
