//! Tests the block barrier: its effect, its results and its faults.
#![expect(clippy::if_same_then_else, reason = "the same operation at different lines is what is tested")]

use crate::common;

use common::{Array, KERNEL, global_index, simulator, simulators};
use simt::{Checks, Fault, FaultKind, LaunchConfig, Note, NoteKind, Notes, Step, shared, thread};

/// Returns the sum of `0..threads`, which a kernel computes by a tree in shared memory with one barrier per step.
fn tree_sum(threads: u32) -> u32 {
    let (base, _) = shared::dynamic();
    let i = thread::thread_idx().x;
    shared::store(base + 4 * i, i + thread::block_idx().x);
    thread::sync_threads();
    let mut width = threads;
    while width > 1 {
        let half = width.div_ceil(2);
        if i < width / 2 {
            let other: u32 = shared::load(base + 4 * (i + half));
            shared::store(base + 4 * i, shared::load::<u32>(base + 4 * i) + other);
        }
        thread::sync_threads();
        width = half;
    }
    shared::load(base)
}

#[test]
fn a_tree_sum_over_any_number_of_threads() {
    let simulators = [simulator(2, 0), simulator(2, 9)];
    for threads in 1..=1024 {
        let sums = Array::<u32>::filled(3 * threads as usize, 0);
        let config = LaunchConfig::new(3, threads).shared_bytes(4 * threads);
        let simulator = &simulators[threads as usize % 2];
        simulator.launch(&KERNEL, config, || sums.store(global_index(), tree_sum(threads))).unwrap();
        for (block, sums) in (0..3).zip(sums.to_vec().chunks(threads as usize)) {
            let expected = threads * (threads - 1) / 2 + block * threads;
            assert!(sums.iter().all(|&sum| sum == expected), "{threads} threads, block {block}: {sums:?}");
        }
    }
}

#[test]
fn writes_before_a_barrier_are_seen_after_it() {
    for simulator in simulators() {
        let cells = Array::<u32>::filled(4 * 96, 0);
        simulator
            .launch(&KERNEL, LaunchConfig::new(4, 96), || {
                let i = global_index();
                let neighbour = i / 96 * 96 + (i + 1) % 96;
                for round in 0..20 {
                    cells.store(i, round);
                    thread::sync_threads();
                    assert_eq!(cells.load(neighbour), round);
                    thread::sync_threads();
                }
            })
            .unwrap();
    }
}

#[test]
fn predicates_are_counted_for_each_barrier() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(2, (20, 5)), || {
                let i = global_index() as u32 % 100;
                for round in 0..100 {
                    assert_eq!(thread::sync_threads_count(i < round), round);
                }
                assert_eq!(thread::sync_threads_count(true), 100);
                assert_eq!(thread::sync_threads_count(false), 0);
            })
            .unwrap();
    }
}

#[test]
fn barriers_are_counted_once_a_block() {
    let stats = simulator(2, 0)
        .launch(&KERNEL, LaunchConfig::new(5, 64), || {
            for _ in 0..7 {
                thread::sync_threads();
            }
        })
        .unwrap();
    assert_eq!(stats.barriers, 35);
}

#[test]
fn one_barrier_may_be_reached_through_different_callers() {
    fn synchronize() {
        thread::sync_threads();
    }
    simulator(1, 0)
        .launch(&KERNEL, LaunchConfig::new(1, 64), || {
            if thread::lane_id().is_multiple_of(2) {
                synchronize();
            } else {
                synchronize();
            }
        })
        .unwrap();
}

/// Returns the fault and notes of a launch whose threads reach a barrier through two calls. The threads for which
/// `is_other` is true reach the first call, all other threads the second.
#[track_caller]
fn apart(checks: Checks, is_other: impl Fn(u32) -> bool + Sync) -> (Option<Fault>, Vec<Note>) {
    let meet = || thread::sync_threads_count(true);
    let kernel = || {
        let outer = Step::new();
        outer.enter();
        for _ in 0..2 {
            outer.again();
            if is_other(thread::thread_idx().x) {
                Step::new().enter().leave(meet());
            } else {
                Step::new().enter().leave(meet());
            }
        }
    };
    let notes = Notes::new();
    let simulator = simulator(1, 0).with_checks(checks).with_notes(notes.clone());
    let fault = simulator.launch(&KERNEL, LaunchConfig::new(2, 64), kernel).err();
    (fault, notes.take())
}

#[test]
fn lanes_of_a_warp_must_reach_a_barrier_by_one_call() {
    assert_eq!(apart(Checks::STRICT, |_| true), (None, vec![]));
    assert_eq!(apart(Checks::default(), |thread| thread < 32), (None, vec![]));
    for (found, thread) in
        [(apart(Checks::default(), |thread| thread == 40), 40), (apart(Checks::STRICT, |thread| thread == 0), 1)]
    {
        let (Some(fault), notes) = found else { panic!("{found:?}") };
        assert_eq!(notes, []);
        let FaultKind::BarrierApart { paths, .. } = &fault.kind else { panic!("{fault}") };
        assert_eq!(fault.thread.unwrap().x, thread, "{fault}");
        assert_eq!(paths[0].0[0], paths[1].0[0], "{fault}");
        assert_ne!(paths[0].0[1], paths[1].0[1], "{fault}");
        let text = fault.to_string();
        assert!(text.contains("in iteration 1 of the loop at") && text.contains(", by the call at"), "{text}");
    }
}

#[test]
fn whole_warps_that_reach_a_barrier_by_different_calls_are_a_strict_warning() {
    let (fault, notes) = apart(Checks::STRICT, |thread| thread < 32);
    assert_eq!(fault, None);
    // There is one note, for two blocks and two iterations.
    let [note] = &notes[..] else { panic!("{notes:?}") };
    let NoteKind::WarpsApart { block, threads, paths } = &note.kind else { panic!("{note}") };
    assert_eq!((block.x, threads.map(|thread| thread.x / 32)), (0, [1, 0]), "{note}");
    assert_eq!(paths[0].0[0], paths[1].0[0], "{note}");
    assert_ne!(paths[0].0[1], paths[1].0[1], "{note}");
    let text = note.to_string();
    for part in
        ["barriers.rs", "warning", "in iteration 1 of the loop at", ", by the call at", "one call of the barrier"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_call_path_ends_with_its_thread() {
    let simulator = simulator(1, 0).with_checks(Checks::default());
    let panics = || {
        Step::new().enter().leave(10 / thread::thread_idx().x.abs_diff(1));
        thread::sync_threads();
    };
    assert!(simulator.launch(&KERNEL, LaunchConfig::new(1, 32), panics).is_err());
    simulator.launch(&KERNEL, LaunchConfig::new(1, 32), thread::sync_threads).unwrap();
}
