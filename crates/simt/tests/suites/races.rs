//! Tests races within a block, and which accesses barriers and warp operations order.
#![expect(clippy::if_same_then_else, reason = "the same operation at different lines is what is tested")]

use crate::common;

use std::hint::black_box;

use common::races::{
    accept_in_all_orders as accept, accept_with, checked, first_index as me, lines, race, race_with, threads,
};
use simt::{Checks, LaunchConfig, RaceAccess, Remedy, Simulator, Space, shared, thread, warp};

const FULL: u32 = u32::MAX;

static TILE: shared::Site = shared::Site::new();

/// Returns a checking simulator for which shuffles and votes order nothing.
fn strict() -> Simulator {
    Simulator::new().with_checks(Checks::STRICT)
}

fn one_block(threads: u32) -> LaunchConfig {
    LaunchConfig::new(1, threads)
}

/// Returns the address of word `i` of a shared array.
fn word(i: u32) -> u32 {
    shared::allocate_static(&TILE, 8192) + 4 * i
}

/// Executes a warp synchronisation, which has the same source line for all callers.
fn sync(mask: u32) {
    warp::sync(mask);
}

#[track_caller]
fn put(i: u32) {
    shared::store(word(i), i);
}

/// Writes the thread's own word twice, with a barrier in between, so that no later read is of uninitialised memory.
fn put_again() {
    put(me());
    thread::sync_threads();
    put(me());
}

#[track_caller]
fn get(i: u32) {
    black_box(shared::load::<u32>(word(i)));
}

#[test]
fn a_barrier_orders_all_threads_of_a_block() {
    let shift = |has_barrier: bool, distance: u32| {
        move || {
            put(me());
            if has_barrier {
                thread::sync_threads();
            }
            if me() >= distance {
                get(me() - distance);
            }
        }
    };
    for distance in [1, 31, 32, 33, 63] {
        accept(LaunchConfig::new(3, 64), shift(true, distance));
        let found = race(LaunchConfig::new(3, 64), shift(false, distance));
        assert_eq!(found.space, Space::Shared);
        assert_eq!((found.there.access, found.here.access), (RaceAccess::Store, RaceAccess::Load));
        assert_eq!((threads(&found), found.element.index), ((0, distance), 0));
        let is_one_warp = distance < 32;
        assert_eq!(found.remedy, if is_one_warp { Remedy::WarpSynchronisation } else { Remedy::BlockBarrier });
    }
}

#[test]
fn a_report_has_both_lines_and_a_remedy() {
    let first = line!() + 3;
    let kernel = || {
        if me() == 7 {
            shared::store(word(9), 1_u32);
        } else if me() == 40 {
            shared::store(word(9), 1_u32);
        }
    };
    let fault = checked().launch(&common::KERNEL, one_block(64), kernel).unwrap_err();
    let text = fault.to_string();
    let (here, there) = (format!("races.rs:{}:", first + 2), format!("races.rs:{first}:"));
    for part in ["test_kernel", "thread (40, 0, 0)", "thread (7, 0, 0)", &here, &there, "byte 36", "sync_threads"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.find(&here) < text.find(&there) && !text.contains('\n'), "{text}");
    assert_eq!(lines(&race(one_block(64), kernel)), (first, first + 2));
}

#[test]
fn a_race_is_found_in_any_order_of_the_threads() {
    for seed in 0..20 {
        let found = race_with(&checked().with_seed(seed), one_block(64), || match me() {
            5 => put(3),
            50 => put(3),
            _ => {}
        });
        let mut both = [found.here.thread.x, found.there.thread.x];
        both.sort_unstable();
        assert_eq!(both, [5, 50]);
    }
}

#[test]
fn a_warp_synchronisation_orders_the_lanes_that_it_names() {
    let reverse = |has_sync: bool| {
        move || {
            put_again();
            if has_sync {
                warp::sync(FULL);
            }
            get(me() ^ 31);
        }
    };
    accept(one_block(128), reverse(true));
    assert_eq!(race(one_block(128), reverse(false)).remedy, Remedy::WarpSynchronisation);
    // This operation does not order the threads of another warp.
    let found = race(one_block(64), || {
        put_again();
        warp::sync(FULL);
        get((me() + 32) % 64);
    });
    assert_eq!(found.remedy, Remedy::BlockBarrier);
    // A last warp that is not full has only the lanes of its threads.
    accept(one_block(40), || {
        let mask = if me() < 32 { FULL } else { 0xFF };
        put_again();
        warp::sync(mask);
        get(if me() < 32 { me() ^ 31 } else { 32 + ((me() - 32) ^ 7) });
    });
}

#[test]
fn a_warp_operation_orders_no_lane_that_its_mask_leaves_out() {
    let pairs = |partner: u32| {
        move || {
            put_again();
            warp::sync(0b11 << ((me() % 32) & !1));
            get(me() ^ partner);
        }
    };
    accept(one_block(64), pairs(1));
    assert_eq!(race(one_block(64), pairs(2)).remedy, Remedy::WarpSynchronisation);
}

#[test]
fn a_lane_passes_its_knowledge_on() {
    // Lane 0 synchronises with lane 1, which synchronises with lane 2.
    let chain = |second: u32| {
        move || match me() {
            0 => {
                put(0);
                sync(0b011);
            }
            1 => {
                sync(0b011);
                sync(second);
            }
            2 => {
                sync(0b110);
                get(0);
            }
            _ => {}
        }
    };
    accept(one_block(32), chain(0b110));
    // In the opposite order, lane 1 synchronises too late.
    race(one_block(32), || match me() {
        0 => {
            put(0);
            sync(0b011);
        }
        1 => {
            sync(0b110);
            sync(0b011);
        }
        2 => {
            sync(0b110);
            put(0);
        }
        _ => {}
    });
}

#[test]
fn accesses_after_an_operation_are_not_ordered_by_it() {
    let found = race(one_block(32), || {
        warp::sync(FULL);
        put(0);
    });
    assert_eq!(threads(&found), (0, 1));
    race(one_block(32), || {
        warp::sync(0xFFFF << (me() & 16));
        put(me() & 16);
    });
    race(one_block(32), || {
        thread::sync_threads();
        put(0);
    });
}

#[test]
fn lanes_that_have_exited_are_ordered_by_nothing() {
    let found = race(one_block(32), || {
        put(me());
        if me() == 4 {
            return;
        }
        warp::sync(FULL);
        get(4);
    });
    assert_eq!(found.there.thread.x, 4);
    accept(one_block(32), || {
        put(me());
        if me() == 4 {
            return;
        }
        warp::sync(FULL);
        get(((me() + 8) % 32) | 8);
    });
}

#[test]
fn shuffles_and_votes_order_memory_unless_the_check_is_strict() {
    let shuffle = || {
        put_again();
        black_box(warp::exchange(FULL, 1, 0));
        get(me() ^ 1);
    };
    let vote = || {
        put_again();
        black_box(warp::ballot(FULL, true));
        get(me() ^ 1);
    };
    accept(one_block(64), shuffle);
    accept(one_block(64), vote);
    assert_eq!(race_with(&strict(), one_block(64), shuffle).remedy, Remedy::WarpSynchronisation);
    assert_eq!(race_with(&strict(), one_block(64), vote).remedy, Remedy::WarpSynchronisation);
    accept_with(&strict(), one_block(64), || {
        put(me());
        warp::sync(FULL);
        get(me() ^ 1);
        thread::sync_threads_count(true);
        put(me() ^ 1);
    });
}

#[test]
fn a_store_after_many_loads_races_with_each_of_them() {
    for threads in [2, 32, 64, 1024] {
        let read_then_write = |barriers: u32| {
            move || {
                if me() == 0 {
                    put(5);
                }
                thread::sync_threads();
                get(5);
                for _ in 0..barriers {
                    thread::sync_threads();
                }
                if me() == threads - 1 {
                    put(5);
                }
            }
        };
        accept(one_block(threads), read_then_write(1));
        accept(one_block(threads), read_then_write(2));
        let found = race(one_block(threads), read_then_write(0));
        assert_eq!((found.there.access, found.here.access), (RaceAccess::Load, RaceAccess::Store));
        assert_eq!(found.here.thread.x, threads - 1);
    }
}

#[test]
fn one_reader_that_has_not_synchronised_is_enough() {
    // All lanes except one synchronise with the writer.
    let kernel = |mask: u32| {
        move || {
            if me() == 0 {
                put(0);
            }
            warp::sync(FULL);
            get(0);
            if mask & (1 << me()) != 0 {
                warp::sync(mask);
                if me() == 0 {
                    put(0);
                }
            }
        }
    };
    accept(one_block(32), kernel(FULL));
    let found = race(one_block(32), kernel(!(1 << 13)));
    assert_eq!(threads(&found), (13, 0));
}

#[test]
fn a_scan_needs_two_buffers_or_two_barriers() {
    let scan = |has_two_buffers: bool, has_two_barriers: bool| {
        move || {
            let (mut from, mut to) = (0, if has_two_buffers { 256 } else { 0 });
            put(me());
            thread::sync_threads();
            let mut distance = 1;
            while distance < 256 {
                let own: u32 = shared::load(word(from + me()));
                let other = if me() >= distance { shared::load(word(from + me() - distance)) } else { 0 };
                if has_two_barriers {
                    thread::sync_threads();
                }
                shared::store(word(to + me()), own.wrapping_add(other));
                thread::sync_threads();
                (from, to) = (to, from);
                distance *= 2;
            }
        }
    };
    accept(LaunchConfig::new(2, 256), scan(true, false));
    accept(LaunchConfig::new(2, 256), scan(false, true));
    race(LaunchConfig::new(2, 256), scan(false, false));
}

#[test]
fn neighbouring_bytes_do_not_race() {
    accept(one_block(64), || {
        let byte = word(0) + me();
        shared::store(byte, me() as u8);
        black_box(shared::load::<u8>(byte));
        shared::store(word(64) + 2 * me(), me() as u16);
    });
}

#[test]
fn accesses_of_different_widths_race_where_they_overlap() {
    // Either the wide access or the narrow access comes first.
    for is_reversed in [false, true] {
        for offset in 0..20 {
            let kernel = move || {
                let (wide, narrow) = (word(0), word(0) + offset);
                if me() == if is_reversed { 1 } else { 0 } {
                    shared::store(wide, [0_u64; 2]);
                } else if me() < 2 {
                    shared::store(narrow, 1_u8);
                }
            };
            if offset < 16 {
                let found = race(one_block(32), kernel);
                assert_eq!(found.element.index, offset as usize);
            } else {
                accept(one_block(32), kernel);
            }
        }
    }
}

#[test]
fn a_divided_cell_keeps_its_history() {
    // Thread 40 stores a byte to the page, which divides the page's cells, and then a byte to word `i`.
    let kernel = |i: u32| {
        move || match me() {
            0 => (0..8).for_each(put),
            40 => {
                shared::store(word(100), 1_u8);
                shared::store(word(i), 1_u8);
            }
            _ => {}
        }
    };
    accept(one_block(64), kernel(8));
    let found = race(one_block(64), kernel(7));
    assert_eq!((threads(&found), found.element.index), ((0, 40), 28));
    // The same kernel has a race with many readers.
    let found = race(one_block(64), || {
        if me() == 0 {
            put(0);
        }
        thread::sync_threads();
        get(0);
        if me() == 63 {
            shared::store(word(0) + 3, 1_u8);
        }
    });
    assert_eq!(found.there.access, RaceAccess::Load);
}

#[test]
fn blocks_do_not_share_shared_memory() {
    accept(LaunchConfig::new(50, 1), || put(0));
}
