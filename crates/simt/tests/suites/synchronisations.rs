//! Tests which synchronisations launches reach, and the effect of leaving one out.
#![expect(clippy::if_same_then_else, reason = "the same operation at different lines is what is tested")]

use crate::common;

use std::collections::BTreeMap;

use common::{Array, KERNEL, Trace, global_index, hostile, simulator, simulators};
use simt::{Checks, FaultKind, LaunchConfig, Schedule, Simulator, SourceLocation, SyncKind, Synchronisations};
use simt::{memory, shared, thread, warp};

const FULL: u32 = u32::MAX;
const THREADS: u32 = 96;

const FIRST_LINE: u32 = line!() + 6;

/// Executes six kinds of synchronisation, one per source line from `FIRST_LINE` on. Returns the results of the kinds
/// that have a result.
#[rustfmt::skip]
fn one_of_each() -> (u32, Option<u64>, u32) {
    thread::sync_threads();
    let count = thread::sync_threads_count(thread::lane_id() == 0);
    warp::sync(FULL);
    let exchanged = warp::exchange(FULL, thread::lane_id().into(), 5);
    let votes = warp::ballot(FULL, thread::lane_id() < 4);
    memory::fence();
    (count, exchanged, votes)
}

const KINDS: [SyncKind; 6] =
    [SyncKind::Barrier, SyncKind::CountingBarrier, SyncKind::Warp, SyncKind::Shuffle, SyncKind::Vote, SyncKind::Fence];

fn reached_in_one_of_each(simulator: &Simulator) -> Vec<(SourceLocation, SyncKind)> {
    let synchronisations = Synchronisations::new();
    let config = LaunchConfig::new(10, THREADS);
    simulator
        .clone()
        .with_synchronisations(synchronisations.clone())
        .launch(&KERNEL, config, || _ = one_of_each())
        .unwrap();
    synchronisations.reached()
}

#[test]
fn a_launch_reaches_each_kind() {
    for simulator in simulators() {
        let met = reached_in_one_of_each(&simulator);
        let lines: Vec<_> = met.iter().map(|(at, kind)| (at.line, *kind)).collect();
        let expected: Vec<_> = (FIRST_LINE..).zip(KINDS).collect();
        assert_eq!(lines, expected, "{}", simulator.schedule());
        assert!(met.iter().all(|(at, _)| at.file.ends_with("synchronisations.rs") && at.column > 1));
    }
}

#[test]
fn several_launches_are_recorded_together_and_each_site_once() {
    let synchronisations = Synchronisations::new();
    let simulator = simulator(2, 0).with_synchronisations(synchronisations.clone());
    assert_eq!(synchronisations.reached(), []);
    let line = line!() + 4;
    let launch = |is_second: bool| {
        let kernel = || {
            if is_second {
                thread::sync_threads();
            } else {
                (0..50).for_each(|_| thread::sync_threads());
            }
        };
        simulator.launch(&KERNEL, LaunchConfig::new(20, 64), kernel).unwrap()
    };
    assert_eq!(launch(false).barriers, 20 * 50);
    assert_eq!(launch(true).barriers, 20);
    assert_eq!(launch(true).barriers, 20);
    let lines: Vec<_> = synchronisations.reached().iter().map(|(at, kind)| (at.line, *kind)).collect();
    assert_eq!(lines, [(line, SyncKind::Barrier), (line + 2, SyncKind::Barrier)]);
}

#[test]
fn an_omitted_operation_still_returns_its_value() {
    for simulator in simulators() {
        for (left_out, kind) in reached_in_one_of_each(&simulator) {
            let synchronisations = Synchronisations::without(left_out);
            let stats = simulator
                .clone()
                .with_synchronisations(synchronisations.clone())
                .launch(&KERNEL, LaunchConfig::new(10, THREADS), || {
                    assert_eq!(one_of_each(), (3, Some(5), 0b1111));
                })
                .unwrap();
            let (barriers, operations) = match kind {
                SyncKind::Barrier => (10, 90),
                SyncKind::Warp => (20, 60),
                _ => (20, 90),
            };
            assert_eq!((stats.barriers, stats.warp_operations), (barriers, operations), "{kind:?}");
            assert_eq!(synchronisations.reached().len(), 6, "the record must have the left-out one, too");
        }
    }
}

/// Returns the order in which the threads of two blocks reach two points. Between these points each thread calls
/// `between`.
fn trace(synchronisations: Synchronisations, between: fn()) -> Vec<usize> {
    let trace = Trace::default();
    simulator(1, 0)
        .with_synchronisations(synchronisations)
        .launch(&KERNEL, LaunchConfig::new(2, 32), || {
            trace.push(global_index());
            between();
            trace.push(global_index());
        })
        .unwrap();
    trace.into_vec()
}

#[test]
fn a_barrier_or_warp_synchronisation_that_is_left_out_is_passed() {
    let waiting: Vec<_> = [(0..32), (0..32), (32..64), (32..64)].into_iter().flatten().collect();
    let passing: Vec<_> = (0..64).flat_map(|thread| [thread, thread]).collect();
    for between in [|| thread::sync_threads(), || warp::sync(FULL)] as [fn(); 2] {
        let synchronisations = Synchronisations::new();
        assert_eq!(trace(synchronisations.clone(), between), waiting);
        let is_here = |(at, kind): &(SourceLocation, SyncKind)| at.file == file!() && *kind != SyncKind::Fence;
        let here = synchronisations.reached().into_iter().find(is_here).unwrap().0;
        assert_eq!(trace(Synchronisations::without(here.clone()), between), passing);
        for other in [
            SourceLocation { line: here.line + 1, ..here.clone() },
            SourceLocation { column: here.column + 1, ..here.clone() },
            SourceLocation { file: "elsewhere.rs".to_owned(), ..here },
        ] {
            assert_eq!(trace(Synchronisations::without(other), between), waiting);
        }
    }
}

#[test]
fn a_sum_without_one_of_its_barriers_is_wrong_under_some_order() {
    let sum = |simulator: &Simulator, synchronisations: &Synchronisations| {
        let sums = Array::<u32>::filled(4, 0);
        let simulator = simulator.clone().with_synchronisations(synchronisations.clone());
        let result = simulator.launch(&KERNEL, LaunchConfig::new(4, 64).shared_bytes(256), || {
            let (base, i) = (shared::dynamic().0, thread::thread_idx().x);
            shared::store(base + 4 * i, 1_u32);
            thread::sync_threads();
            let mut width = 32;
            while width > 0 {
                if i < width {
                    let other: u32 = shared::load(base + 4 * (i + width));
                    shared::store(base + 4 * i, shared::load::<u32>(base + 4 * i).wrapping_add(other));
                }
                thread::sync_threads();
                width /= 2;
            }
            if i == 0 {
                sums.store(thread::block_idx().x as usize, shared::load(base));
            }
        });
        result.unwrap();
        sums.to_vec()
    };
    let all = Synchronisations::new();
    for simulator in hostile() {
        assert_eq!(sum(&simulator, &all), [64; 4]);
    }
    let met = all.reached();
    assert_eq!(met.len(), 2);
    for (left_out, _) in met {
        let wrong: Vec<_> = hostile()
            .filter(|simulator| sum(simulator, &Synchronisations::without(left_out.clone())) != [64; 4])
            .map(|simulator| simulator.schedule())
            .collect();
        assert!(wrong.len() >= 4 && wrong.contains(&Schedule::EveryAccess(4)), "{left_out}: {wrong:?}");
    }
}

#[test]
fn if_one_of_two_barriers_is_left_out_the_other_is_not_reached() {
    for simulator in simulators() {
        let all = Synchronisations::new();
        let kernel = || {
            if global_index() % 64 < 20 {
                thread::sync_threads();
            } else {
                thread::sync_threads();
            }
        };
        let config = LaunchConfig::new(3, 64);
        let fault = simulator.clone().with_synchronisations(all.clone()).launch(&KERNEL, config, kernel).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::BarrierMismatch { .. }), "{fault}");
        let kinds: BTreeMap<_, _> = all.reached().into_iter().map(|(at, kind)| (at.line, (at, kind))).collect();
        assert_eq!(kinds.len(), 2);
        for (index, (left_out, _)) in kinds.into_values().enumerate() {
            let without = Synchronisations::without(left_out);
            let fault = simulator.clone().with_synchronisations(without).launch(&KERNEL, config, kernel).unwrap_err();
            let waiting = [44, 20][index];
            let FaultKind::BarrierNotReached { waiting: found, exited, .. } = fault.kind else { panic!("{fault}") };
            assert_eq!((found, exited), (waiting, 64 - waiting));
        }
    }
}

/// Runs a checked launch in which each thread writes a value, calls `between`, and reads the value that its neighbour
/// has written.
fn checked(synchronisations: Synchronisations, between: fn()) -> Result<(), FaultKind> {
    let simulator = simulator(1, 0).with_checks(Checks::default()).with_synchronisations(synchronisations);
    let config = LaunchConfig::new(2, 32).shared_bytes(128);
    let result = simulator.launch(&KERNEL, config, || {
        let (base, i) = (shared::dynamic().0, thread::thread_idx().x);
        shared::store(base + 4 * i, i);
        between();
        assert_eq!(shared::load::<u32>(base + 4 * ((i + 1) % 32)), (i + 1) % 32);
    });
    result.map(|_| ()).map_err(|fault| fault.kind)
}

#[test]
fn an_omitted_synchronisation_orders_nothing() {
    let operations: [(SyncKind, fn()); 5] = [
        (SyncKind::Barrier, || thread::sync_threads()),
        (SyncKind::CountingBarrier, || _ = thread::sync_threads_count(true)),
        (SyncKind::Warp, || warp::sync(FULL)),
        (SyncKind::Shuffle, || _ = warp::exchange(FULL, 0, 0)),
        (SyncKind::Vote, || _ = warp::ballot(FULL, true)),
    ];
    for (kind, between) in operations {
        let all = Synchronisations::new();
        assert_eq!(checked(all.clone(), between), Ok(()), "{kind:?}");
        let met = all.reached();
        assert_eq!((met.len(), met[0].1), (1, kind));
        let found = checked(Synchronisations::without(met[0].0.clone()), between);
        // Some synchronisations still make threads wait, so the value is right, but the read is a race nevertheless.
        assert!(matches!(found, Err(FaultKind::Race(_))), "{kind:?}: {found:?}");
    }
}
