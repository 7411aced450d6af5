//! Tests the order in which blocks and threads run.

use crate::common;

use common::{Array, KERNEL, Trace, global_index, simulator};
use simt::{LaunchConfig, thread, warp};

/// Returns the order in which the threads of a launch reach three points. Between these points the threads wait for
/// each other.
fn trace(workers: usize, seed: u64) -> Vec<usize> {
    let trace = Trace::default();
    simulator(workers, seed)
        .launch(&KERNEL, LaunchConfig::new(7, 70), || {
            trace.push(global_index());
            thread::sync_threads();
            trace.push(global_index());
            warp::sync(u32::MAX);
            trace.push(global_index());
        })
        .unwrap();
    trace.into_vec()
}

#[test]
fn seed_zero_is_the_natural_order() {
    let trace = trace(1, 0);
    let mut expected: Vec<usize> = Vec::new();
    for block in (0..490).collect::<Vec<_>>().chunks(70) {
        expected.extend(block);
        for warp in block.chunks(32) {
            expected.extend(warp);
            expected.extend(warp);
        }
    }
    assert_eq!(trace, expected);
}

#[test]
fn the_order_depends_on_the_seed_alone() {
    for seed in [0, 1, 2, u64::MAX] {
        let expected = trace(1, seed);
        assert_eq!(trace(1, seed), expected);
        for workers in [2, 3, 8] {
            for _ in 0..5 {
                assert_eq!(trace(workers, seed), expected, "seed {seed}, {workers} workers");
            }
        }
    }
}

#[test]
fn another_seed_gives_another_order() {
    let traces: Vec<_> = (0..20).map(|seed| trace(1, seed)).collect();
    for (seed, trace) in traces.iter().enumerate() {
        for other in &traces[..seed] {
            assert_ne!(trace, other, "seed {seed}");
        }
    }
}

#[test]
fn seeds_permute_blocks_warps_and_lanes() {
    let (mut blocks, mut warps, mut lanes) = (0, 0, 0);
    for seed in 1..=100 {
        let trace = &trace(1, seed)[..70];
        let block = trace[0] / 70;
        assert!(trace.iter().all(|thread| thread / 70 == block), "the blocks must start one after the other");
        let warp = |thread: &usize| thread % 70 / 32;
        blocks += usize::from(block != 0);
        warps += usize::from(!trace.iter().map(warp).is_sorted());
        lanes += usize::from(!trace.iter().filter(|thread| warp(thread) == 2).is_sorted());
        let mut sorted = trace.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (block * 70..block * 70 + 70).collect::<Vec<_>>());
    }
    assert!(blocks > 60 && warps > 60 && lanes > 90, "of 100 seeds: {blocks}, {warps}, {lanes}");
}

#[test]
fn updates_that_do_not_commute_follow_the_order_of_the_seed() {
    let run = |workers, seed| {
        let sum = Array::<f32>::filled(1, 0.0);
        let hash = Array::<u64>::filled(1, 1);
        simulator(workers, seed)
            .launch(&KERNEL, LaunchConfig::new(200, 40), || {
                let i = global_index();
                sum.update(0, |sum| sum + 1.0 / (1.0 + i as f32));
                if i.is_multiple_of(3) {
                    thread::poll();
                }
                hash.update(0, |hash| hash.wrapping_mul(0x100_0000_01b3).wrapping_add(i as u64));
            })
            .unwrap();
        (sum.load(0).to_bits(), hash.load(0))
    };
    for seed in [0, 5] {
        let expected = run(1, seed);
        for workers in [2, 4, 7] {
            assert_eq!(run(workers, seed), expected, "seed {seed}, {workers} workers");
        }
    }
    assert_ne!(run(1, 0).1, run(1, 5).1);
}

#[test]
fn tickets_are_drawn_in_order() {
    for workers in [1, 4] {
        let (next, tickets) = (Array::<u32>::filled(1, 0), Array::<u32>::filled(500, 0));
        simulator(workers, 0)
            .launch(&KERNEL, LaunchConfig::new(500, 1), || {
                tickets.store(global_index(), next.update(0, |next| next + 1));
            })
            .unwrap();
        assert_eq!(tickets.to_vec(), (0..500).collect::<Vec<_>>());
    }
}
