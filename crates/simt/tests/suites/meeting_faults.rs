//! Tests faults of threads that never meet at barriers and warp operations, under every schedule.
#![expect(clippy::if_same_then_else, reason = "the same operation at different lines is what is tested")]

use crate::common;

use common::{Array, KERNEL, simulator, simulators};
use simt::{Activity, Dim3, Fault, FaultKind, LaunchConfig, Remedy, Schedule, Whereabouts, thread, warp};

const FULL: u32 = u32::MAX;

/// Returns the source line of the fault, which must be in this file.
fn line(fault: &Fault) -> u32 {
    let location = fault.location.as_ref().unwrap();
    assert!(location.file.ends_with("meeting_faults.rs"), "{location}");
    location.line
}

fn x(x: u32) -> Dim3 {
    Dim3::new(x, 0, 0)
}

#[test]
fn a_barrier_that_some_have_passed_by() {
    for simulator in simulators() {
        let at = line!() + 4;
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 100), || {
                if thread::thread_idx().x != 77 {
                    thread::sync_threads();
                }
            })
            .unwrap_err();
        let missing = Box::new(Whereabouts { thread: x(77), activity: Activity::Exited, location: None });
        assert_eq!(fault.kind, FaultKind::BarrierNotReached { waiting: 99, exited: 1, missing });
        assert_eq!(line(&fault), at);
        assert_ne!(fault.thread, Some(x(77)));
    }
}

#[test]
fn a_thread_that_has_passed_a_barrier_by_was_last_seen_at_a_line() {
    // Under these schedules the simulator observes every access.
    for schedule in [Schedule::EveryAccess(3), Schedule::Interleaved(4)] {
        let cells = Array::<u32>::filled(100, 0);
        let (barrier, store) = (line!() + 6, line!() + 8);
        let fault = simulator(1, 0)
            .with_schedule(schedule)
            .launch(&KERNEL, LaunchConfig::new(1, 100), || {
                let i = thread::thread_idx().x;
                if i != 50 {
                    return thread::sync_threads();
                }
                cells.store(50, cells.load(50) + 1);
            })
            .unwrap_err();
        assert_eq!(line(&fault), barrier);
        let text = fault.to_string();
        assert!(text.contains("99 wait, 1 has exited; thread"), "{text}");
        let FaultKind::BarrierNotReached { waiting: 99, exited: 1, missing } = fault.kind else { panic!("{text}") };
        assert_eq!((missing.thread, missing.activity), (x(50), Activity::Exited));
        assert_eq!(missing.location.unwrap().line, store);
        assert!(text.contains(&format!("thread (50, 0, 0) has exited, last seen at {}:{store}:", file!())), "{text}");
    }
}

#[test]
fn a_barrier_that_some_threads_cannot_reach() {
    for simulator in simulators() {
        let (barrier, operation) = (line!() + 5, line!() + 7);
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 32), || {
                if thread::lane_id() < 10 {
                    // The other lanes wait for these lanes.
                    thread::sync_threads();
                } else {
                    warp::sync(FULL);
                    thread::sync_threads();
                }
            })
            .unwrap_err();
        assert_eq!(line(&fault), barrier);
        assert!(fault.thread.unwrap().x < 10);
        // The lanes at the operation would reach the barrier if its mask contained only these lanes, or all lanes.
        assert_eq!(fault.remedy(), Some(Remedy::MaskOfReachingLanes));
        let FaultKind::BarrierNotReached { waiting: 10, exited: 0, missing } = fault.kind else { panic!("{fault}") };
        assert_eq!((missing.thread, missing.activity), (x(10), Activity::AtWarpOperation { mask: FULL }));
        assert_eq!(missing.location.unwrap().line, operation);
    }
}

#[test]
fn a_barrier_while_others_poll() {
    for simulator in simulators() {
        let flag = Array::<u32>::filled(1, 0);
        let barrier = line!() + 4;
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 40), || match thread::thread_idx().x {
                0 => {}
                1..30 => thread::sync_threads(),
                _ => while flag.acquire(0) == 0 {},
            })
            .unwrap_err();
        // Thread 0 has exited, so the barrier is never complete, however long the others poll.
        assert_eq!(line(&fault), barrier);
        let FaultKind::BarrierNotReached { waiting: 29, exited: 1, missing } = fault.kind else { panic!("{fault}") };
        assert_eq!((missing.thread, missing.activity), (x(0), Activity::Exited));
    }
}

#[test]
fn a_warp_operation_while_a_lane_polls() {
    for schedule in [Schedule::Natural, Schedule::EveryAccess(4), Schedule::Interleaved(5)] {
        let simulator = simulator(1, 0).with_schedule(schedule);
        let flag = Array::<u32>::filled(1, 0);
        let (poll, operation) = (line!() + 4, line!() + 6);
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 32), || {
                if thread::lane_id() == 7 {
                    while flag.acquire(0) == 0 {}
                }
                warp::sync(FULL);
            })
            .unwrap_err();
        assert!(matches!(fault.kind, FaultKind::NoProgress { polling: 1, waiting: 31, .. }), "{fault}");
        assert_eq!(line(&fault), poll);
        assert!(fault.to_string().contains(&format!("meeting_faults.rs:{operation}:")), "{fault}");
    }
}

#[test]
fn barriers_of_one_line_are_different_ones() {
    for simulator in simulators() {
        let at = line!() + 4;
        #[rustfmt::skip]
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(2, 64), || {
                if thread::lane_id().is_multiple_of(2) { thread::sync_threads() } else { thread::sync_threads() }
            })
            .unwrap_err();
        let here = fault.location.clone().unwrap();
        let FaultKind::BarrierMismatch { other, .. } = fault.kind else { panic!("{fault}") };
        assert_eq!((here.line, other.line), (at, at));
        assert_ne!(here.column, other.column);
    }
}

#[test]
fn a_barrier_that_one_warp_reaches_once_more() {
    for simulator in simulators() {
        let (often, after) = (line!() + 5, line!() + 7);
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 96), || {
                let rounds = if thread::warp_id() == 1 { 3 } else { 2 };
                for _ in 0..rounds {
                    thread::sync_threads();
                }
                thread::sync_threads();
            })
            .unwrap_err();
        let here = line(&fault);
        let FaultKind::BarrierMismatch { other, other_thread } = fault.kind else { panic!("{fault}") };
        let mut found = [here, other.line];
        found.sort_unstable();
        assert_eq!(found, [often, after]);
        assert_ne!(other_thread.x / 32 == 1, fault.thread.unwrap().x / 32 == 1);
    }
}

#[test]
fn different_barriers() {
    for simulator in simulators() {
        let lines = [line!() + 4, line!() + 6];
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 64), || {
                if thread::thread_idx().x < 32 {
                    thread::sync_threads();
                } else {
                    thread::sync_threads();
                }
            })
            .unwrap_err();
        let here = line(&fault);
        let FaultKind::BarrierMismatch { other, other_thread } = fault.kind else { panic!("{fault}") };
        let mut found = [here, other.line];
        found.sort_unstable();
        assert_eq!(found, lines);
        assert_ne!(other_thread.x < 32, fault.thread.unwrap().x < 32);
    }
}

#[test]
fn a_lane_outside_of_its_own_mask() {
    for simulator in simulators() {
        let at = line!() + 3;
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 32), || {
                warp::ballot(0x7FFF_FFFF, true);
            })
            .unwrap_err();
        assert_eq!((fault.thread, line(&fault)), (Some(x(31)), at));
        assert_eq!(fault.kind, FaultKind::WarpMismatch { mask: 0x7FFF_FFFF, other: None });
    }
}

#[test]
fn lanes_at_different_operations() {
    for simulator in simulators() {
        let lines = [line!() + 4, line!() + 6];
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 32), || {
                if thread::lane_id() < 16 {
                    warp::ballot(FULL, true);
                } else {
                    warp::ballot(FULL, true);
                }
            })
            .unwrap_err();
        let here = line(&fault);
        let FaultKind::WarpMismatch { mask: FULL, other: Some(other) } = fault.kind else { panic!("{fault}") };
        assert_eq!((fault.thread, here), (Some(x(0)), lines[0]));
        assert_eq!((other.thread, other.activity), (x(16), Activity::AtWarpOperation { mask: FULL }));
        assert_eq!(other.location.unwrap().line, lines[1]);
    }
}

/// Checks that lanes meet at warp synchronisations at different source lines, as on GPUs since sm_70.
#[test]
fn lanes_meet_at_synchronisations_of_one_mask_at_different_lines() {
    for simulator in simulators() {
        let stats = simulator.launch(&KERNEL, LaunchConfig::new(1, 32), || {
            if thread::lane_id() < 16 {
                warp::sync(FULL);
            } else {
                warp::sync(FULL);
            }
        });
        assert_eq!(stats.map(|stats| stats.warp_operations), Ok(1));
    }
}

#[test]
fn lanes_with_different_masks() {
    for simulator in simulators() {
        let at = line!() + 4;
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 32), || {
                let mask = if thread::lane_id() == 4 { 0x0000_00F0 } else { FULL };
                warp::exchange(mask, 0, 0);
            })
            .unwrap_err();
        assert_eq!(line(&fault), at);
        let FaultKind::WarpMismatch { mask: FULL, other: Some(other) } = fault.kind else { panic!("{fault}") };
        assert_eq!((other.thread, other.activity), (x(4), Activity::AtWarpOperation { mask: 0xF0 }));
        assert_eq!(other.location.unwrap().line, at);
    }
}

#[test]
fn lanes_at_different_kinds_of_operation() {
    for simulator in simulators() {
        let lines = [line!() + 4, line!() + 6];
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 64), || {
                if thread::lane_id() != 9 {
                    warp::exchange(FULL, 1, 9);
                } else {
                    warp::ballot(FULL, true);
                }
            })
            .unwrap_err();
        let here = line(&fault);
        let FaultKind::WarpMismatch { mask: FULL, other: Some(other) } = fault.kind else { panic!("{fault}") };
        assert_eq!((here, other.thread.x % 32), (lines[0], 9));
        assert_eq!(other.location.unwrap().line, lines[1]);
    }
}

#[test]
fn a_lane_of_the_mask_that_waits_at_a_barrier() {
    for simulator in simulators() {
        let (barrier, operation) = (line!() + 4, line!() + 6);
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 64), || {
                if thread::lane_id() == 3 {
                    thread::sync_threads();
                } else {
                    warp::sync(FULL);
                    thread::sync_threads();
                }
            })
            .unwrap_err();
        assert_eq!(line(&fault), barrier);
        let FaultKind::BarrierNotReached { waiting: 2, exited: 0, missing } = fault.kind else { panic!("{fault}") };
        assert_eq!(missing.activity, Activity::AtWarpOperation { mask: FULL });
        assert_eq!(missing.location.unwrap().line, operation);
    }
}
