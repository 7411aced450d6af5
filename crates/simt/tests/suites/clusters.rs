//! Tests clusters: their barriers, the shared memory of other blocks, and the faults that the simulator reports.

use crate::common;

use common::races::{accept_in_all_orders, accept_with, checked, lines, race_with};
use common::{Array, KERNEL, simulator, simulators};
use simt::memory::Scope;
use simt::shared::Site;
use simt::{
    Activity, ClusterMisuse, Dim3, Fault, FaultKind, LaunchConfig, Lifetime, Remedy, Schedule, Simulator, SyncKind,
    Synchronisations, cluster, memory, shared, thread,
};

const THREADS: u32 = 48;

fn config(blocks: u32, size: u32) -> LaunchConfig {
    LaunchConfig::new(blocks, THREADS).cluster(size)
}

fn all_simulators() -> impl Iterator<Item = Simulator> {
    let checked = Schedule::HOSTILE.into_iter().map(|schedule| checked().with_schedule(schedule));
    simulators().into_iter().chain(checked)
}

fn lane() -> u32 {
    thread::thread_idx().x
}

fn is_first() -> bool {
    lane() == 0
}

fn rank() -> u32 {
    cluster::block_rank()
}

/// Returns the address of this block's array of one word per thread.
fn tile() -> u32 {
    static TILE: Site = Site::named("tile");
    shared::allocate_array(&TILE, 4, THREADS as usize)
}

/// Sets this thread's word of the tile to 0 and returns its address.
#[track_caller]
fn init() -> u32 {
    let own = tile() + 4 * lane();
    shared::store(own, 0_u32);
    own
}

/// Returns the address of this thread's word of the tile in the next block of the cluster.
#[track_caller]
fn next() -> u32 {
    cluster::map(tile() + 4 * lane(), (rank() + 1) % cluster::dim().x)
}

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
fn each_round_sees_what_the_other_blocks_wrote_before() {
    for simulator in all_simulators() {
        let out = Array::new(&[0_u32; 12 * THREADS as usize]);
        let run = simulator.launch(&KERNEL, config(12, 4), || {
            let i = thread::block_idx().x * THREADS + lane();
            shared::store(tile() + 4 * lane(), i);
            let mut value = 0;
            for _ in 0..3 {
                cluster::sync();
                value = cluster::load(next());
                cluster::sync();
                shared::store(tile() + 4 * lane(), value);
            }
            out.store(i as usize, value);
        });
        run.unwrap_or_else(|fault| panic!("{}: {fault}", simulator.schedule()));
        let expected = |i| {
            let (block, thread) = (i / THREADS, i % THREADS);
            (block / 4 * 4 + (block + 3) % 4) * THREADS + thread
        };
        assert_eq!(out.to_vec(), (0..12 * THREADS).map(expected).collect::<Vec<_>>(), "{}", simulator.schedule());
    }
}

#[test]
fn clusters_may_wait_for_others_and_arrays_may_have_other_addresses() {
    static OTHERS: Site = Site::named("others");
    for simulator in all_simulators() {
        let flags = Array::new(&[0_u32; 6]);
        let run = simulator.launch(&KERNEL, config(6, 2), || {
            if rank() == 1 {
                shared::allocate_array(&OTHERS, 8, 5);
            }
            cluster::sync();
            // Each cluster waits for the next one, except the last.
            let index = cluster::cluster_idx().x as usize;
            if is_first() && rank() == 0 {
                while index < 2 && flags.acquire(index + 1) == 0 {}
                cluster::store(cluster::map(tile(), 1), index as u32);
                flags.release(index, 1);
            }
            cluster::sync();
            assert!(rank() == 0 || shared::load::<u32>(tile()) == index as u32);
        });
        run.unwrap_or_else(|fault| panic!("{}: {fault}", simulator.schedule()));
    }
}

#[test]
fn arrivals_order_what_precedes_them() {
    let out = Array::new(&[0_u32; 4 * THREADS as usize]);
    accept_in_all_orders(config(4, 2), || {
        let begun = cluster::arrive(true);
        cluster::wait(begun);
        cluster::store(next(), thread::block_idx().x);
        let written = cluster::arrive(false);
        let i = (thread::block_idx().x * THREADS + lane()) as usize;
        out.store(i, 7);
        cluster::wait(written);
        out.store(i, shared::load(tile() + 4 * lane()));
    });
    assert_eq!(out.to_vec()[..THREADS as usize], [1; THREADS as usize]);
}

#[test]
fn some_threads_may_leave_after_their_arrival() {
    accept_in_all_orders(config(6, 3), || {
        cluster::sync();
        if rank() > 0 && lane() % 2 == rank() - 1 {
            cluster::store(cluster::map(tile() + 4 * lane(), 0), rank());
        }
        // The blocks that only write end early. The first one keeps its memory until they have arrived.
        let phase = cluster::arrive(false);
        if rank() == 0 && lane() < 7 {
            cluster::wait(phase);
        }
    });
}

#[test]
fn atomics_of_a_cluster_order_its_blocks() {
    let sum = Array::new(&[0_u32; 8]);
    for schedule in Schedule::HOSTILE {
        accept_with(&checked().with_schedule(schedule), config(8, 4), || {
            init();
            cluster::sync();
            let flag = cluster::map(tile(), 0);
            let block = thread::block_idx().x as usize;
            if is_first() && rank() == 3 {
                sum.store(block, 5);
                cluster::store_scoped(flag, 1_u32, true, Scope::Cluster);
            }
            if is_first() && rank() == 1 {
                while cluster::load_scoped::<u32>(flag, true, Scope::Cluster) == 0 {}
                assert_eq!(sum.load(block + 2), 5);
            }
            cluster::update_scoped(flag + 4, Scope::Cluster, |_: u32| 9);
            cluster::sync();
        });
    }
}

#[test]
fn a_launch_without_clusters_has_clusters_of_one_block() {
    for simulator in all_simulators() {
        let run = simulator.launch(&KERNEL, LaunchConfig::new(5, THREADS), || {
            assert_eq!((rank(), cluster::dim(), cluster::grid_dim().x), (0, Dim3::from(1), 5));
            cluster::store(cluster::map(tile() + 4 * lane(), 0), lane());
            cluster::sync();
            cluster::wait(cluster::arrive(false));
            assert_eq!(shared::load::<u32>(tile() + 4 * (THREADS - 1 - lane())), THREADS - 1 - lane());
        });
        run.unwrap_or_else(|fault| panic!("{}: {fault}", simulator.schedule()));
    }
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

#[test]
fn a_profile_counts_requests_to_other_blocks() {
    let profiles = simt::Profiles::default();
    let run =
        Simulator::new().with_profiles(profiles.clone()).launch(&KERNEL, LaunchConfig::new(4, 64).cluster(2), || {
            shared::store(tile64() + 4 * lane(), 1_u32);
            cluster::sync();
            for offset in 0..2 {
                cluster::store(cluster::map(tile64() + 4 * lane(), (rank() + offset) % 2), offset);
                cluster::sync();
            }
            cluster::load::<u32>(cluster::map(tile64() + 8 * (lane() % 32), 1 - rank()));
            cluster::wait(cluster::arrive(false));
        });
    run.unwrap();
    let profile = profiles.take().pop().unwrap();
    assert_eq!(profile.barriers, 4 * 3, "the split barrier counts in the launch's statistics only");
    let counts = |access: &simt::AccessProfile| (access.requests, access.remote_requests, access.wavefronts);
    assert_eq!(profile.accesses.iter().map(counts).collect::<Vec<_>>(), [(8, 0, 8), (16, 8, 16), (8, 8, 16)]);
    assert!(profile.accesses.iter().all(|access| access.arrays == ["tile64"]));
}

/// Returns the address of this block's array of 64 words.
fn tile64() -> u32 {
    static TILE: Site = Site::named("tile64");
    shared::allocate_array(&TILE, 4, 64)
}
