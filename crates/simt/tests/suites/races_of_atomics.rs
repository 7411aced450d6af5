//! Tests races of atomics: release sequences, locks, and plain accesses to the same memory.

use crate::common;

use std::hint::black_box;

use common::Array;
use common::races::{accept, accept_in_all_orders, blocks, race};
use simt::{LaunchConfig, RaceAccess, memory, thread};

fn block() -> u32 {
    thread::block_idx().x
}

/// Returns the configuration of a launch of `blocks` blocks with one thread each.
fn single(blocks: u32) -> LaunchConfig {
    LaunchConfig::new(blocks, 1)
}

#[test]
fn a_release_goes_on_through_updates_and_is_ended_by_a_store() {
    #[derive(Clone, Copy, PartialEq)]
    enum Between {
        Update,
        Store,
        PlainStore,
        OwnStore,
    }
    for between in [Between::Update, Between::Store, Between::PlainStore, Between::OwnStore] {
        let (data, flag, order) = (Array::filled(1, 0_u32), Array::filled(1, 0_u32), Array::filled(1, 0_u32));
        let kernel = || match block() {
            0 => {
                data.store(0, 1);
                flag.release(0, 1);
                if between == Between::OwnStore {
                    flag.store_relaxed(0, 2);
                }
            }
            1 => match between {
                Between::Update => {
                    flag.update(0, |old| old + 1);
                }
                Between::Store => flag.store_relaxed(0, 2),
                Between::PlainStore => {
                    // The thread has seen the flag and may overwrite it, but has not acquired the data.
                    while flag.load_relaxed(0) == 0 {}
                    flag.store(0, 2);
                    order.release(0, 2);
                }
                Between::OwnStore => {}
            },
            _ => {
                if between == Between::PlainStore {
                    while order.acquire(0) < 2 {}
                }
                while flag.acquire(0) < 2 {}
                black_box(data.load(0));
            }
        };
        match between {
            Between::Update | Between::OwnStore => accept(single(3), kernel),
            Between::Store | Between::PlainStore => assert_eq!(blocks(&race(single(3), kernel)), (0, 2)),
        }
    }
}

#[test]
fn a_lock_needs_its_fences() {
    let lock_and_count = |count: &Array<u32>, lock: &Array<u32>, has_fences: [bool; 2]| {
        while lock.update(0, |old| if old == 0 { 1 } else { old }) != 0 {}
        if has_fences[0] {
            memory::fence();
        }
        count.store(0, count.load(0) + 1);
        if has_fences[1] {
            memory::fence();
        }
        lock.update(0, |_| 0);
    };
    for has_fences in [[true, true], [false, true], [true, false], [false, false]] {
        let (count, lock) = (Array::filled(1, 0_u32), Array::filled(1, 0_u32));
        let run = || lock_and_count(&count, &lock, has_fences);
        if has_fences == [true, true] {
            accept_in_all_orders(LaunchConfig::new(8, 32), run);
            assert_eq!(count.load(0), 8 * 256);
        } else {
            race(LaunchConfig::new(8, 1), run);
        }
    }
}

#[test]
fn atomics_race_with_plain_accesses_alone() {
    let data = Array::filled(1, 0_u32);
    let atomics: [&(dyn Fn() + Sync); 3] = [
        &|| {
            data.load_relaxed(0);
        },
        &|| data.store_relaxed(0, 1),
        &|| {
            data.update(0, |old| old + 1);
        },
    ];
    let read = || {
        black_box(data.load(0));
    };
    for (i, first) in atomics.iter().enumerate() {
        for second in atomics {
            accept(LaunchConfig::new(20, 64), || if block().is_multiple_of(2) { first() } else { second() });
        }
        // An atomic load and a plain one are both reads.
        let load = || if block() == 0 { first() } else { read() };
        let load_first = || if block() == 1 { first() } else { read() };
        if i == 0 {
            accept(single(2), load);
            accept(single(2), load_first);
        } else {
            let found = race(single(2), load);
            assert!(found.there.access.is_atomic() && !found.here.access.is_atomic());
            assert!(found.to_string().contains("only one of them is atomic"), "{found}");
            assert_eq!(race(single(2), load_first).there.access, RaceAccess::Load);
        }
        race(single(2), || if block() == 0 { first() } else { data.store(0, 1) });
        race(single(2), || if block() == 1 { first() } else { data.store(0, 1) });
    }
}

#[test]
fn a_thread_that_has_seen_an_atomic_write_may_access_plainly() {
    let (count, seen) = (Array::filled(1, 0_u32), Array::filled(1, 0_u32));
    // The thread that counts last has seen the counts of all others.
    accept(single(50), || {
        if count.update(0, |old| old + 1) == 49 {
            black_box(count.load(0));
            count.store(0, 0);
        }
    });
    // A thread that has seen only some counts is not ordered after all others.
    let found = race(single(50), || {
        if count.update(0, |old| old + 1) == 24 {
            while seen.load_relaxed(0) == 0 {}
            count.store(0, 0);
        } else if block() == 49 {
            seen.store_relaxed(0, 1);
        }
    });
    assert_eq!((found.there.access, found.here.access), (RaceAccess::AtomicUpdate, RaceAccess::Store));
    // No thread sees a store that another thread overwrote before.
    let flag = Array::filled(1, 0_u32);
    let found = race(single(3), || match block() {
        0 => flag.store_relaxed(0, 1),
        1 => flag.store_relaxed(0, 2),
        _ => {
            flag.load_relaxed(0);
            black_box(flag.load(0));
        }
    });
    assert_eq!(blocks(&found), (0, 2));
    flag.store(0, 0);
    accept(single(2), || {
        if block() == 0 {
            flag.store_relaxed(0, 1);
        } else {
            while flag.load_relaxed(0) == 0 {}
            black_box(flag.load(0));
            flag.store(0, 0);
        }
    });
}
