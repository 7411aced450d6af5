//! Tests the orders in which blocks, warps and lanes run under the schedules, particularly under the hostile ones.

use crate::common;

use std::sync::Mutex;

use common::{Array, KERNEL, global_index, hostile, simulator};
use simt::{LaunchConfig, Schedule, Simulator, memory, shared, thread, warp};

const FULL: u32 = u32::MAX;

fn scheduled(schedule: Schedule) -> Simulator {
    simulator(1, 0).with_schedule(schedule)
}

/// A list to which threads append without waiting for the block's turn.
#[derive(Default)]
struct Log(Mutex<Vec<usize>>);

impl Log {
    fn push(&self, event: usize) {
        self.0.lock().unwrap().push(event);
    }

    fn take(&self) -> Vec<usize> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Returns the threads of a launch in the order of their accesses. Each thread makes `accesses` accesses and is listed
/// once per access.
fn order_of_accesses(schedule: Schedule, config: LaunchConfig, accesses: usize) -> Vec<usize> {
    let (log, array) = (Log::default(), Array::<u32>::filled(1, 0));
    scheduled(schedule)
        .launch(&KERNEL, config, || {
            for _ in 0..accesses {
                array.load(0);
                log.push(global_index());
            }
        })
        .unwrap();
    log.take()
}

/// Returns the number of elements of `list` that differ from the next element.
fn changes<T: PartialEq>(list: &[T]) -> usize {
    list.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[test]
fn every_schedule_runs_every_thread_once() {
    for simulator in hostile() {
        for (blocks, threads) in [(1, 1), (1, 33), (3, 32), (20, 70), (5, 1024), (100, 7)] {
            let runs = Array::<u32>::filled((blocks * threads) as usize, 0);
            let stats = simulator
                .launch(&KERNEL, LaunchConfig::new(blocks, threads), || {
                    runs.store(global_index(), runs.load(global_index()) + 1);
                    thread::sync_threads();
                    runs.store(global_index(), runs.load(global_index()) + 1);
                })
                .unwrap();
            assert_eq!((stats.blocks, stats.threads), (blocks.into(), u64::from(blocks * threads)));
            assert_eq!(runs.to_vec(), vec![2; runs.len()], "{}", simulator.schedule());
        }
    }
}

#[test]
fn a_schedule_and_its_seed_determine_the_order() {
    let seeded: [fn(u64) -> Schedule; 6] = [
        Schedule::Random,
        Schedule::OneAhead,
        Schedule::OneBehind,
        Schedule::EveryAccess,
        Schedule::Interleaved,
        Schedule::BlocksInTurn,
    ];
    let trace = |schedule| {
        let (log, array) = (Log::default(), Array::<u32>::filled(1, 0));
        scheduled(schedule)
            .launch(&KERNEL, LaunchConfig::new(11, 70), || {
                for _ in 0..3 {
                    array.update(0, |value| value + 1);
                    log.push(global_index());
                    warp::sync(FULL);
                    array.acquire(0);
                    log.push(global_index());
                    thread::sync_threads();
                }
            })
            .unwrap();
        log.take()
    };
    let mut traces = vec![trace(Schedule::Natural), trace(Schedule::LastFirst)];
    for schedule in seeded {
        for seed in 0..5 {
            traces.push(trace(schedule(seed)));
            assert_eq!(traces.last(), Some(&trace(schedule(seed))), "{}", schedule(seed));
        }
    }
    for (i, trace) in traces.iter().enumerate() {
        assert!(!traces[..i].contains(trace), "number {i}");
    }
}

#[test]
fn the_last_comes_first() {
    let expected: Vec<_> = (0..5 * 70).rev().collect();
    assert_eq!(order_of_accesses(Schedule::LastFirst, LaunchConfig::new(5, 70), 1), expected);
    let log = Log::default();
    scheduled(Schedule::LastFirst)
        .launch(&KERNEL, LaunchConfig::new(1, 64), || {
            for _ in 0..3 {
                thread::sync_threads();
                log.push(global_index());
            }
        })
        .unwrap();
    let expected: Vec<_> = (0..3).flat_map(|_| (0..64).rev()).collect();
    assert_eq!(log.take(), expected, "the order must be the same after each barrier");
}

/// Returns the warps of a block of 256 threads in the order in which they pass three warp synchronisations. The first
/// lane of each warp records each pass.
fn order_of_warps(schedule: Schedule) -> Vec<usize> {
    let log = Log::default();
    scheduled(schedule)
        .launch(&KERNEL, LaunchConfig::new(1, 256), || {
            for _ in 0..3 {
                warp::sync(FULL);
                if thread::lane_id() == 0 {
                    log.push(global_index() / 32);
                }
            }
        })
        .unwrap();
    log.take()
}

#[test]
fn one_warp_and_one_lane_are_ahead() {
    let (mut warps, mut lanes) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        let order = order_of_warps(Schedule::OneAhead(seed));
        assert_eq!(order[..3], [order[0]; 3], "the warp must finish before any other warp begins");
        warps.push(order[0]);

        let order = order_of_accesses(Schedule::OneAhead(seed), LaunchConfig::new(1, 96), 4);
        assert_eq!(order[..4], [order[0]; 4]);
        assert!(order[..32 * 4].iter().all(|thread| thread / 32 == order[0] / 32), "its whole warp must follow");
        lanes.push(order[0] % 32);
    }
    assert!(changes(&warps) > 10 && changes(&lanes) > 10, "{warps:?}, {lanes:?}");
}

#[test]
fn the_same_warp_is_ahead_after_each_barrier() {
    for seed in 0..10 {
        let log = Log::default();
        scheduled(Schedule::OneAhead(seed))
            .launch(&KERNEL, LaunchConfig::new(1, 128), || {
                for _ in 0..4 {
                    log.push(global_index());
                    thread::sync_threads();
                }
            })
            .unwrap();
        let order = log.take();
        let firsts: Vec<_> = order.chunks(128).map(|round| round[0]).collect();
        assert_eq!(firsts, [firsts[0]; 4]);
    }
}

#[test]
fn one_warp_and_one_lane_are_behind() {
    let (mut warps, mut lanes) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        let order = order_of_warps(Schedule::OneBehind(seed));
        let last = order[order.len() - 1];
        assert_eq!(order[order.len() - 3..], [last; 3], "the warp must begin only when all others have finished");
        warps.push(last);

        let order = order_of_accesses(Schedule::OneBehind(seed), LaunchConfig::new(1, 96), 4);
        let last = order[order.len() - 1];
        assert_eq!(order[order.len() - 4..], [last; 4]);
        assert!(order[64 * 4..].iter().all(|thread| thread / 32 == last / 32));
        lanes.push(last % 32);
    }
    assert!(changes(&warps) > 10 && changes(&lanes) > 10, "{warps:?}, {lanes:?}");
}

#[test]
fn every_access_lets_another_thread_run() {
    for (threads, accesses) in [(2, 50), (32, 20), (100, 20), (1024, 5)] {
        let order = order_of_accesses(Schedule::EveryAccess(4), LaunchConfig::new(1, threads), accesses);
        // A thread runs twice in a row only if the others have exited, or if the next one has just begun and yields
        // before its first access.
        assert!(changes(&order) > order.len() - order.len() / 8, "{threads} threads: {}", changes(&order));
        let warps: Vec<_> = order[..order.len() / 2].iter().map(|thread| thread / 32).collect();
        assert!(threads <= 32 || changes(&warps) > warps.len() / 3, "{threads} threads, of any warp");
    }
}

#[test]
fn an_unprotected_counter_loses_updates() {
    for schedule in [Schedule::EveryAccess(1), Schedule::EveryAccess(2), Schedule::Interleaved(1)] {
        let count = |blocks, threads: u32, protect: bool| {
            let counter = Array::<u32>::filled(1, 0);
            scheduled(schedule)
                .launch(&KERNEL, LaunchConfig::new(blocks, threads), || {
                    if protect {
                        counter.update(0, |count| count + 1);
                    } else {
                        counter.store(0, counter.load(0) + 1);
                    }
                })
                .unwrap();
            counter.load(0)
        };
        assert!(count(1, 256, false) < 256, "{schedule}: between threads of a block");
        assert_eq!(count(8, 256, true), 8 * 256);
    }
    let counter = Array::<u32>::filled(1, 0);
    let count = || {
        for _ in 0..100 {
            counter.store(0, counter.load(0) + 1);
        }
    };
    scheduled(Schedule::Interleaved(3)).launch(&KERNEL, LaunchConfig::new(8, 1), count).unwrap();
    assert!((100..800).contains(&counter.load(0)), "between blocks: {}", counter.load(0));
}

#[test]
fn blocks_take_turns() {
    for seed in 0..10 {
        let order = order_of_accesses(Schedule::Interleaved(seed), LaunchConfig::new(30, 64), 20);
        let blocks: Vec<_> = order.iter().map(|thread| thread / 64).collect();
        let switches = changes(&blocks);
        assert!((order.len() / 400..order.len() / 40).contains(&switches), "{switches} of {} accesses", order.len());
        let first = |block| blocks.iter().position(|&other| other == block).unwrap();
        let last = |block| blocks.iter().rposition(|&other| other == block).unwrap();
        let overlaps = |block| (0..30).filter(|&other| other != block && first(other) < last(block)).count();
        assert!((0..30).all(|block| overlaps(block) > 2), "each block must run at the same time as others");
        let mut firsts: Vec<_> = (0..30).map(first).collect();
        assert!(!firsts.is_sorted(), "the blocks must not start in their natural order");
        firsts.sort_unstable();
        assert!(firsts[29] > order.len() / 2, "the blocks must not all start at once");

        let threads: Vec<_> = order.iter().filter(|&thread| thread / 64 == 7).collect();
        assert!(changes(&threads) > 64 + 20, "threads of a block must also take turns");
        let lengths: Vec<_> = order.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
        assert!(lengths.contains(&1) && lengths.contains(&20), "threads must run for short and for long stretches");
    }
}

#[test]
fn blocks_in_turn_alternate_at_each_atomic_access() {
    for (blocks, threads, seed) in [(2, 1, 0), (4, 1, 1), (20, 1, 2)] {
        let (log, array) = (Log::default(), Array::<u32>::filled(1, 0));
        scheduled(Schedule::BlocksInTurn(seed))
            .launch(&KERNEL, LaunchConfig::new(blocks, threads), || {
                for _ in 0..8 {
                    array.load(0);
                    array.load_relaxed(0);
                    log.push(global_index() / threads as usize);
                }
            })
            .unwrap();
        let order = log.take();
        // One turn in eight goes to a random block, and the last blocks have fewer others to alternate with.
        assert!(changes(&order) * 10 > order.len() * 7, "{order:?}");
    }
}

#[test]
fn blocks_that_take_turns_see_each_other_at_every_stage() {
    // As in a scan with look-back, each block counts to 3 between its other accesses, and reads the previous block's
    // count.
    let (blocks, mut seen) = (60, [0; 4]);
    let stages = Array::<u32>::filled(blocks, 0);
    let looks = Array::<u32>::filled(blocks, 0);
    let data = Array::<u32>::filled(blocks * 64, 1);
    let tickets = Array::<u32>::filled(1, 0);
    scheduled(Schedule::Interleaved(1))
        .launch(&KERNEL, LaunchConfig::new(blocks as u32, 64).shared_bytes(4), || {
            let (base, _) = shared::dynamic();
            let is_first = thread::thread_idx().x == 0;
            if is_first {
                shared::store(base, tickets.update(0, |next| next + 1));
            }
            thread::sync_threads();
            let own = shared::load::<u32>(base) as usize;
            for stage in 0..=3 {
                for _ in 0..4 {
                    data.load(own * 64 + thread::thread_idx().x as usize);
                }
                thread::sync_threads();
                if is_first {
                    stages.release(own, stage);
                    if own > 0 && stage == 1 {
                        looks.store(own, stages.acquire(own - 1));
                    }
                }
            }
        })
        .unwrap();
    for look in looks.to_vec() {
        seen[look as usize] += 1;
    }
    assert!(seen.iter().all(|&count| count > 3), "{seen:?}");
}

#[test]
fn a_schedule_that_preempts_needs_no_checks_and_keeps_results() {
    for schedule in [Schedule::EveryAccess(9), Schedule::Interleaved(9)] {
        for workers in [1, 4] {
            let sums = Array::<u32>::filled(20, 0);
            simulator(workers, 0)
                .with_schedule(schedule)
                .launch(&KERNEL, LaunchConfig::new(20, 96).shared_bytes(4 * 96), || {
                    let (base, i) = (shared::dynamic().0, thread::thread_idx().x);
                    shared::store(base + 4 * i, i);
                    let mut width = 96_u32;
                    while width > 1 {
                        thread::sync_threads();
                        let half = width.div_ceil(2);
                        if i < width / 2 {
                            let other: u32 = shared::load(base + 4 * (i + half));
                            shared::store(base + 4 * i, shared::load::<u32>(base + 4 * i) + other);
                        }
                        width = half;
                    }
                    if i == 0 {
                        sums.store(thread::block_idx().x as usize, shared::load(base));
                    }
                })
                .unwrap();
            assert_eq!(sums.to_vec(), [95 * 96 / 2; 20]);
        }
    }
}

#[test]
fn threads_that_poll_let_others_run() {
    // All threads except one poll, each with accesses in between. All others wait for the last block.
    for simulator in hostile() {
        let flag = Array::<u32>::filled(1, 0);
        let noise = Array::<u32>::filled(1, 0);
        simulator
            .launch(&KERNEL, LaunchConfig::new(40, 40), || {
                if global_index() == 40 * 40 - 1 {
                    memory::fence();
                    flag.release(0, 1);
                }
                while flag.acquire(0) == 0 {
                    noise.load(0);
                }
            })
            .unwrap();
    }
}

#[test]
fn names_say_schedule_and_seed() {
    let names = Schedule::HOSTILE.map(|schedule| schedule.to_string());
    for (i, name) in names.iter().enumerate() {
        assert!(!names[..i].contains(name), "{name} occurs twice");
    }
    assert_eq!((Schedule::OneBehind(3).to_string(), Schedule::LastFirst.seed()), ("one-behind:3".to_owned(), 0));
}
