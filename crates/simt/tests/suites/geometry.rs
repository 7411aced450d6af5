//! Tests the dimensions and indices that the functions of `thread` return.

use crate::common;

use common::{Array, KERNEL, global_index, simulator, simulators};
use simt::{Dim3, LaunchConfig, thread};

const SHAPES: [(Dim3, Dim3); 9] = [
    (Dim3::new(1, 1, 1), Dim3::new(1, 1, 1)),
    (Dim3::new(5, 1, 1), Dim3::new(33, 1, 1)),
    (Dim3::new(3, 2, 1), Dim3::new(31, 3, 1)),
    (Dim3::new(2, 3, 4), Dim3::new(7, 5, 3)),
    (Dim3::new(1, 1, 7), Dim3::new(1, 1, 64)),
    (Dim3::new(1, 9, 1), Dim3::new(1, 1024, 1)),
    (Dim3::new(2, 2, 2), Dim3::new(32, 32, 1)),
    (Dim3::new(2, 1, 1), Dim3::new(1024, 1, 1)),
    (Dim3::new(65, 1, 2), Dim3::new(3, 7, 48)),
];

#[test]
fn every_thread_runs_once_and_knows_its_index() {
    for simulator in simulators() {
        for (grid, block) in SHAPES {
            let threads = (grid.count() * block.count()) as usize;
            let runs = Array::<u32>::filled(threads, 0);
            let stats = simulator
                .launch(&KERNEL, LaunchConfig::new(grid, block), || {
                    assert_eq!((thread::grid_dim(), thread::block_dim()), (grid, block));
                    let i = global_index();
                    runs.store(i, runs.load(i) + 1);
                })
                .unwrap();
            assert_eq!(runs.to_vec(), vec![1; threads], "grid {grid}, block {block}");
            assert_eq!((stats.threads, stats.blocks), (threads as u64, grid.count() as u64));
        }
    }
}

#[test]
fn threads_are_numbered_with_x_fastest_and_grouped_into_warps() {
    for (_, block) in SHAPES {
        let seen = Array::<u32>::filled(block.count() as usize, u32::MAX);
        simulator(1, 3)
            .launch(&KERNEL, LaunchConfig::new(1, block), || {
                let linear = thread::warp_id() * 32 + thread::lane_id();
                assert!(thread::lane_id() < 32);
                assert_eq!(thread::thread_idx(), block.index(linear.into()));
                assert_eq!(global_index(), linear as usize);
                seen.store(linear as usize, linear);
            })
            .unwrap();
        assert_eq!(seen.to_vec(), (0..block.count() as u32).collect::<Vec<_>>());
    }
}

#[test]
fn a_thread_keeps_its_index_over_a_barrier() {
    for (grid, block) in SHAPES {
        simulator(2, 5)
            .launch(&KERNEL, LaunchConfig::new(grid, block), || {
                let before = (thread::thread_idx(), thread::block_idx(), thread::lane_id(), thread::warp_id());
                for _ in 0..3 {
                    thread::sync_threads();
                }
                let after = (thread::thread_idx(), thread::block_idx(), thread::lane_id(), thread::warp_id());
                assert_eq!(before, after);
            })
            .unwrap();
    }
}

#[test]
fn the_host_is_no_simulated_thread() {
    assert!(!thread::is_simulated());
    simulator(2, 0).launch(&KERNEL, LaunchConfig::new(4, 4), || assert!(thread::is_simulated())).unwrap();
    assert!(!thread::is_simulated());
    let outside = std::panic::catch_unwind(thread::thread_idx).unwrap_err();
    let message = outside.downcast_ref::<String>().unwrap();
    assert!(message.contains("thread::thread_idx called outside of a kernel"), "{message}");
}
