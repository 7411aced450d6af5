//! Tests clusters: their barriers and the shared memory of other blocks. The kernels here are correct.

use crate::common;

use common::clusters::{THREADS, all_simulators, config, init, is_first, lane, next, rank, tile};
use common::races::{accept_in_all_orders, accept_with, checked};
use common::{Array, KERNEL};
use simt::memory::Scope;
use simt::shared::Site;
use simt::{Dim3, LaunchConfig, Schedule, Simulator, cluster, shared, thread};

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
fn the_barrier_orders_a_block_without_a_cluster_that_runs_after_others() {
    accept_in_all_orders(LaunchConfig::new(64, THREADS), || {
        // The other blocks never use the barrier.
        if thread::block_idx().x % 2 == 1 {
            shared::store(tile() + 4 * lane(), lane());
            cluster::sync();
            assert_eq!(shared::load::<u32>(tile() + 4 * ((lane() + 1) % THREADS)), (lane() + 1) % THREADS);
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
