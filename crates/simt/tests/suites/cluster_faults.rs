//! Tests the faults of clusters that the simulator reports, and the limits of their launches.

use crate::common;

use common::clusters::{THREADS, all_simulators, config, init, lane, next, rank, tile};
use common::races::{accept_with, checked, lines, race_with};
use common::{Array, KERNEL, simulator};
use simt::memory::{self, Scope};
use simt::{
    Activity, ClusterMisuse, Dim3, Fault, FaultKind, LaunchConfig, Lifetime, Remedy, Schedule, Simulator, SyncKind,
    Synchronisations, cluster, shared, thread,
};

/// Returns the fault of `kernel` in a checked launch of one cluster of two blocks.
#[track_caller]
fn fault_with(simulator: &Simulator, kernel: impl Fn() + Sync) -> Fault {
    match simulator.launch(&KERNEL, config(2, 2), kernel) {
        Err(fault) => fault,
        Ok(_) => panic!("a fault was expected in the order {}", simulator.schedule()),
    }
}

/// Calls `check` with the fault of `kernel` in each hostile order.
#[track_caller]
fn faults(kernel: impl Fn() + Sync, check: impl Fn(&Fault)) {
    for schedule in Schedule::HOSTILE {
        check(&fault_with(&checked().with_schedule(schedule), &kernel));
    }
}

#[track_caller]
fn line_of(fault: &Fault) -> u32 {
    fault.location.as_ref().map_or(0, |at| at.line)
}

#[test]
fn a_missing_barrier_between_the_accesses_is_a_race() {
    for schedule in Schedule::HOSTILE {
        let line = line!() + 4;
        let found = race_with(&checked().with_schedule(schedule), config(2, 2), || {
            let own = init();
            cluster::sync();
            cluster::store(next(), 1_u32);
            thread::sync_threads();
            shared::load::<u32>(own);
            cluster::sync();
        });
        let lines = lines(&found);
        assert!([(line, line + 2), (line + 2, line)].contains(&lines), "{lines:?}");
        let owner = if lines.1 == line { found.there.block } else { found.here.block };
        assert_eq!(
            (found.element.array, found.owner, found.remedy),
            (Some("tile"), Some(owner), Remedy::ClusterBarrier)
        );
        let text = found.to_string();
        assert!(text.contains(&format!("`tile[{}]` in shared memory of block {owner}", found.element.index)), "{text}");
    }
}

#[test]
fn a_relaxed_arrival_orders_nothing() {
    for schedule in Schedule::HOSTILE {
        let found = race_with(&checked().with_schedule(schedule), config(2, 2), || {
            let own = init();
            cluster::sync();
            cluster::store(next(), 1_u32);
            cluster::wait(cluster::arrive(true));
            shared::load::<u32>(own);
            cluster::sync();
        });
        assert_eq!(found.remedy, Remedy::ClusterBarrier);
    }
}

#[test]
fn two_blocks_may_race_on_the_memory_of_a_third() {
    for schedule in Schedule::HOSTILE {
        let found = race_with(&checked().with_schedule(schedule), config(3, 3), || {
            cluster::sync();
            if rank() > 0 {
                cluster::store(cluster::map(tile() + 4 * lane(), 0), 1_u32);
            }
            cluster::sync();
        });
        assert_eq!(found.owner, Some(Dim3::new(0, 0, 0)));
        assert_eq!(found.here.block.x + found.there.block.x, 3);
    }
}

#[test]
fn an_atomic_of_a_cluster_is_none_for_other_clusters() {
    for schedule in Schedule::HOSTILE {
        let counter = Array::new(&[0_u32]);
        // SAFETY: the counter outlives the launch.
        let add = || _ = unsafe { memory::update_scoped(counter.at(0), Scope::Cluster, |old: u32| old + 1) };
        let simulator = checked().with_schedule(schedule);
        accept_with(&simulator, config(4, 4), add);
        let found = race_with(&simulator, config(4, 2), add);
        assert_eq!((found.remedy, found.owner), (Remedy::WiderScope, None));
    }
}

#[track_caller]
fn remote(fault: &Fault) -> (Lifetime, Dim3, Option<&'static str>) {
    let FaultKind::RemoteAccess(access) = &fault.kind else { panic!("{fault}") };
    (access.problem, access.owner, access.element.array)
}

#[test]
fn an_access_before_the_other_block_has_begun_is_a_fault() {
    let line = line!() + 4;
    let kernel = || {
        shared::store(tile() + 4 * lane(), 1_u32);
        thread::sync_threads();
        cluster::store(next(), 1_u32);
        cluster::sync();
    };
    faults(kernel, |fault| {
        let (problem, owner, array) = remote(fault);
        assert_eq!((problem, array, line_of(fault)), (Lifetime::MayNotHaveBegun, Some("tile"), line));
        assert_ne!(Some(owner), fault.block);
        assert_eq!(fault.remedy(), Some(Remedy::ClusterBarrierBefore));
        assert!(fault.to_string().contains("which may not have begun: nothing orders this access after"), "{fault}");
    });
}

#[test]
fn an_access_that_the_other_block_does_not_wait_for_is_a_fault() {
    let line = line!() + 4;
    let kernel = || {
        shared::store(tile() + 4 * lane(), 1_u32);
        cluster::sync();
        cluster::load::<u32>(next());
    };
    faults(kernel, |fault| {
        let (problem, owner, array) = remote(fault);
        assert_eq!((array, line_of(fault)), (Some("tile"), line), "{fault}");
        assert_ne!(Some(owner), fault.block);
        assert_eq!(fault.remedy(), Some(Remedy::ClusterBarrierAfter));
        assert!(fault.to_string().contains("ended") && fault.to_string().contains("has exited"), "{fault}");
        assert!([Lifetime::HasEnded, Lifetime::MayHaveEnded].contains(&problem), "{fault}");
    });
}

#[test]
fn a_relaxed_arrival_does_not_protect_the_last_access() {
    let kernel = || {
        cluster::sync();
        cluster::store(next(), 1_u32);
        cluster::wait(cluster::arrive(true));
    };
    faults(kernel, |fault| assert_eq!(remote(fault).0, Lifetime::MayHaveEnded));
}

#[test]
fn an_access_to_an_ended_block_is_a_fault_without_checks_too() {
    let ended = Array::new(&[0_u32]);
    let kernel = || {
        cluster::sync();
        if rank() == 0 {
            ended.store_relaxed(0, 1);
        } else {
            while ended.load_relaxed(0) == 0 {}
            for _ in 0..100 {
                thread::poll();
            }
            cluster::load::<u32>(next());
        }
    };
    let fault = fault_with(&simulator(2, 0), kernel);
    assert_eq!(remote(&fault).0, Lifetime::HasEnded);
}

#[test]
fn a_rank_out_of_range_is_a_fault() {
    let line = line!() + 2;
    faults(
        || _ = cluster::map(tile(), 2),
        |fault| {
            assert_eq!(fault.kind, FaultKind::ClusterMisuse(ClusterMisuse::Rank { rank: 2, blocks: 2 }));
            assert!(
                fault.to_string().contains("no block of rank 2: it has 2 blocks, whose ranks are 0 to 1"),
                "{fault}"
            );
            assert_eq!(line_of(fault), line);
        },
    );
    let fault = checked().launch(&KERNEL, LaunchConfig::new(2, 32), || _ = cluster::map(tile(), 1)).unwrap_err();
    assert!(fault.to_string().contains("the launch has no clusters, add `.cluster(…)`"), "{fault}");
}

#[test]
fn a_barrier_that_not_all_threads_reach_is_a_fault() {
    let line = line!() + 3;
    let by_block = || {
        if rank() == 0 {
            cluster::sync();
        }
    };
    faults(by_block, |fault| {
        let FaultKind::ClusterBarrierNotReached { waiting, exited, block, missing } = &fault.kind else {
            panic!("{fault}")
        };
        assert_eq!((*waiting, *exited, block.x, missing.activity), (THREADS, THREADS, 1, Activity::Exited));
        assert_eq!((line_of(fault), fault.remedy()), (line, Some(Remedy::ClusterBarrierForAll)));
    });
    let by_thread = || {
        if lane() != 5 {
            cluster::wait(cluster::arrive(false));
        }
    };
    for simulator in all_simulators() {
        let fault = fault_with(&simulator, by_thread);
        let FaultKind::ClusterBarrierNotReached { waiting, exited: 2, missing, .. } = &fault.kind else {
            panic!("{fault}")
        };
        assert_eq!((*waiting, missing.thread.x), (2 * THREADS - 2, 5), "{fault}");
    }
    // The threads of one block wait at two kinds of barrier.
    let apart = || if lane() < 20 { thread::sync_threads() } else { cluster::sync() };
    faults(apart, |fault| {
        let FaultKind::ClusterBarrierNotReached { waiting: 56, missing, .. } = &fault.kind else { panic!("{fault}") };
        assert_eq!(missing.activity, Activity::AtBarrier);
        assert!(fault.to_string().contains("waits at a block barrier at"), "{fault}");
    });
}

#[test]
fn an_arrival_without_a_wait_before_is_a_fault() {
    let line = line!() + 2;
    let twice = || {
        cluster::arrive(false);
        cluster::sync();
    };
    faults(twice, |fault| {
        let FaultKind::ClusterMisuse(ClusterMisuse::ArrivedTwice(first)) = &fault.kind else { panic!("{fault}") };
        assert_eq!((first.line, line_of(fault)), (line, line + 1), "{fault}");
        assert!(fault.to_string().contains("call `cluster::wait` between the two"), "{fault}");
    });
    let unarrived = || {
        let phase = cluster::arrive(false);
        cluster::wait(phase);
        cluster::wait(phase);
    };
    faults(unarrived, |fault| {
        assert_eq!(fault.kind, FaultKind::ClusterMisuse(ClusterMisuse::WaitWithoutArrival), "{fault}");
    });
}

#[test]
fn an_access_out_of_bounds_is_a_fault() {
    let kernel = || {
        cluster::sync();
        cluster::load::<u32>(next() + 4 * THREADS);
        cluster::sync();
    };
    faults(kernel, |fault| assert!(matches!(fault.kind, FaultKind::OutOfBounds { .. }), "{fault}"));
    let uninitialised = || {
        tile();
        cluster::sync();
        cluster::load::<u32>(next());
        cluster::sync();
    };
    faults(uninitialised, |fault| {
        assert!(matches!(fault.kind, FaultKind::Uninitialised { array: Some("tile"), .. }), "{fault}");
    });
}

#[test]
fn every_barrier_that_is_left_out_is_noticed() {
    let kernel = || {
        shared::store(tile() + 4 * lane(), 1_u32);
        cluster::sync();
        cluster::store(next(), 2_u32);
        let written = cluster::arrive(false);
        cluster::wait(written);
        shared::load::<u32>(tile() + 4 * lane());
    };
    let reached = Synchronisations::new();
    let with = |synchronisations| checked().with_synchronisations(synchronisations);
    with(reached.clone()).launch(&KERNEL, config(4, 2), kernel).unwrap();
    let reached = reached.reached();
    assert_eq!(reached.iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), [SyncKind::Cluster; 2]);
    for (at, _) in reached {
        let fault = with(Synchronisations::without(at)).launch(&KERNEL, config(4, 2), kernel).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Race(_) | FaultKind::RemoteAccess(_)), "{fault}");
    }
}

#[test]
fn an_invalid_cluster_is_refused() {
    let reason = |config| match Simulator::new().launch(&KERNEL, config, || ()) {
        Err(Fault { kind: FaultKind::InvalidLaunch(reason), .. }) => reason,
        other => panic!("{other:?}"),
    };
    let grid = |grid: (u32, u32), cluster: (u32, u32)| LaunchConfig::new(grid, 32).cluster(cluster);
    assert!(reason(grid((6, 1), (4, 1))).contains("the grid's x is 6, which is not a multiple of the cluster's 4"));
    assert!(reason(grid((4, 3), (4, 2))).contains("the grid's y is 3"));
    assert!(reason(grid((20, 1), (20, 1))).contains("a cluster has 20 blocks, and this device allows 16"));
    assert!(reason(grid((4, 1), (0, 1))).contains("no block"));
    static FIXED: simt::KernelInfo = simt::KernelInfo::new("k", module_path!(), file!(), 1).cluster(Dim3::new(2, 1, 1));
    let run = |config, blocks| {
        Simulator::new().launch(&FIXED, config, || assert_eq!(cluster::dim().x, blocks)).map(|stats| stats.blocks)
    };
    assert_eq!(run(LaunchConfig::new(4, 32), 2), Ok(4));
    assert_eq!(run(LaunchConfig::new(4, 32).cluster(2), 2), Ok(4));
    let fault = run(LaunchConfig::new(4, 32).cluster(4), 4).unwrap_err().to_string();
    assert!(fault.contains("clusters of (4, 1, 1) blocks, and the kernel is compiled for (2, 1, 1)"), "{fault}");
}
