//! Tests races between blocks, and which accesses atomics, fences and launches order.

use crate::common;

use std::hint::black_box;

use common::races::{accept, accept_with, blocks, checked, first_index as me, lines, race, race_with, threads};
use common::{Array, KERNEL};
use simt::{LaunchConfig, RaceAccess, Region, Remedy, Schedule, Space, memory, shared, thread};

fn block() -> u32 {
    thread::block_idx().x
}

/// Returns the configuration of a launch of `blocks` blocks with one thread each.
fn single(blocks: u32) -> LaunchConfig {
    LaunchConfig::new(blocks, 1)
}

/// The operations by which one thread publishes its writes and another thread waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Synchronising,
    FenceAndRelaxed,
    FenceAndUpdate,
    Relaxed,
    Update,
}

impl Means {
    const ALL: [Self; 5] =
        [Self::Synchronising, Self::FenceAndRelaxed, Self::FenceAndUpdate, Self::Relaxed, Self::Update];

    fn orders(self) -> bool {
        matches!(self, Self::Synchronising | Self::FenceAndRelaxed | Self::FenceAndUpdate)
    }

    fn publish(self, flags: &Array<u32>, i: usize) {
        if matches!(self, Self::FenceAndRelaxed | Self::FenceAndUpdate) {
            memory::fence();
        }
        match self {
            Self::Synchronising => flags.release(i, 1),
            Self::FenceAndRelaxed | Self::Relaxed => flags.store_relaxed(i, 1),
            Self::FenceAndUpdate | Self::Update => {
                flags.update(i, |_| 1);
            }
        }
    }

    fn wait(self, flags: &Array<u32>, i: usize) {
        loop {
            let value = match self {
                Self::Synchronising => flags.acquire(i),
                Self::FenceAndRelaxed | Self::Relaxed => flags.load_relaxed(i),
                Self::FenceAndUpdate | Self::Update => flags.update(i, |old| old),
            };
            if value == 1 {
                break;
            }
        }
        if matches!(self, Self::FenceAndRelaxed | Self::FenceAndUpdate) {
            memory::fence();
        }
    }
}

#[test]
fn blocks_that_access_one_element_race_unless_all_read() {
    let data = Array::filled(64, 0_u32);
    accept(LaunchConfig::new(100, 64), || {
        black_box(data.load(5));
    });
    let line = line!() + 2;
    let found = race(LaunchConfig::new(2, 64), || {
        data.store(me() as usize, block());
    });
    assert_eq!((found.space, found.remedy), (Space::Global, Remedy::OneThread));
    assert_eq!((blocks(&found), threads(&found), lines(&found)), ((0, 1), (0, 0), (line, line)));
    // There are a thousand readers, and one writer at the end.
    let found = race(LaunchConfig::new(1000, 32), || {
        black_box(data.load(7));
        if block() == 999 && me() == 31 {
            data.store(7, 1);
        }
    });
    assert_eq!((found.there.access, found.here.access), (RaceAccess::Load, RaceAccess::Store));
    assert_eq!((found.here.block.x, found.here.thread.x), (999, 31));
}

#[test]
fn a_barrier_orders_no_other_block() {
    let data = Array::filled(64, 0_u32);
    race(LaunchConfig::new(2, 32), || {
        data.store(me() as usize, block());
        thread::sync_threads();
        black_box(data.load(31 - me() as usize));
    });
}

#[test]
fn a_launch_orders_everything() {
    let data = Array::filled(64, 0_u32);
    for _ in 0..3 {
        accept(LaunchConfig::new(2, 32), || {
            let i = 32 * block() + me();
            data.store(63 - i as usize, i);
        });
        accept(LaunchConfig::new(1, 64), || data.store(me() as usize, data.load(me() as usize)));
    }
}

#[test]
fn a_published_value_may_be_read_if_both_sides_order_it() {
    for publish in Means::ALL {
        for wait in Means::ALL {
            let (data, flags) = (Array::filled(1, 0_u32), Array::filled(1, 0_u32));
            let kernel = || {
                if block() == 0 {
                    data.store(0, 1);
                    publish.publish(&flags, 0);
                } else {
                    wait.wait(&flags, 0);
                    data.store(0, data.load(0) + 1);
                }
            };
            if publish.orders() && wait.orders() {
                accept(single(2), kernel);
            } else {
                let found = race(single(2), kernel);
                let remedy = match (publish.orders(), wait.orders()) {
                    (true, _) => Remedy::Acquire,
                    (false, true) => Remedy::Release,
                    (false, false) => Remedy::ReleaseAndAcquire,
                };
                assert_eq!(found.remedy, remedy, "{publish:?} {wait:?}");
                assert_eq!((found.there.access, found.here.access), (RaceAccess::Store, RaceAccess::Load));
            }
        }
    }
}

#[test]
fn writes_after_the_release_are_not_published() {
    let (data, flags) = (Array::filled(2, 0_u32), Array::filled(1, 0_u32));
    let found = race(single(2), || {
        if block() == 0 {
            flags.release(0, 1);
            data.store(0, 1);
        } else {
            while flags.acquire(0) == 0 {}
            black_box(data.load(0));
        }
    });
    assert_eq!(blocks(&found), (0, 1));
    // A write after the fence and before the store is not ordered.
    flags.store(0, 0);
    race(single(2), || {
        if block() == 0 {
            memory::fence();
            data.store(0, 1);
            flags.store_relaxed(0, 1);
        } else {
            while flags.acquire(0) == 0 {}
            black_box(data.load(0));
        }
    });
    // A read before the wait is not ordered either.
    flags.store(0, 0);
    race(single(2), || {
        if block() == 0 {
            data.store(0, 1);
            flags.release(0, 1);
        } else {
            black_box(data.load(0));
            while flags.acquire(0) == 0 {}
        }
    });
}

#[test]
fn knowledge_goes_through_chains_of_blocks() {
    for means in Means::ALL.into_iter().filter(|means| means.orders()) {
        for missing in [None, Some(1), Some(2), Some(5)] {
            let (data, flags) = (Array::filled(1, 0_u32), Array::filled(8, 0_u32));
            let kernel = || {
                let i = block() as usize;
                if i == 0 {
                    data.store(0, 1);
                } else if missing == Some(i) {
                    Means::Relaxed.wait(&flags, i - 1);
                } else {
                    means.wait(&flags, i - 1);
                }
                means.publish(&flags, i);
                if i == 7 {
                    black_box(data.load(0));
                }
            };
            match (missing, means) {
                // The block's own fence follows its read, and publishes the writes that the read saw.
                (None, _) | (Some(_), Means::FenceAndRelaxed | Means::FenceAndUpdate) => accept(single(8), kernel),
                _ => assert_eq!(blocks(&race(single(8), kernel)), (0, 7)),
            }
        }
    }
}

#[test]
fn a_long_chain_is_cheap() {
    let blocks = 20_000;
    let (data, flags) = (Array::filled(1, 0_u32), Array::filled(blocks as usize, 0_u32));
    let start = std::time::Instant::now();
    accept(single(blocks), || {
        let i = block() as usize;
        if i > 0 {
            while flags.acquire(i - 1) == 0 {}
        }
        data.store(0, data.load(0) + 1);
        flags.release(i, 1);
    });
    assert_eq!(data.load(0), blocks);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// A kernel in which each block stores its part, and the block that draws the last ticket adds all parts.
fn last_block(
    parts: &Array<u32>,
    ticket: &Array<u32>,
    has_fences: [bool; 2],
    has_barrier: bool,
    is_reset_plainly: bool,
) {
    static IS_LAST: shared::Site = shared::Site::new();
    let is_last = shared::allocate_static(&IS_LAST, 4);
    let blocks = thread::grid_dim().x;
    if me() == 0 {
        parts.store(block() as usize, 1);
        if has_fences[0] {
            memory::fence();
        }
        let drawn = ticket.update(0, |old| old + 1);
        if has_fences[1] {
            memory::fence();
        }
        shared::store(is_last, u32::from(drawn == blocks - 1));
    }
    if has_barrier {
        thread::sync_threads();
    }
    if shared::load::<u32>(is_last) != 0 {
        let mut i = me();
        while i < blocks {
            black_box(parts.load(i as usize));
            i += thread::block_dim().x;
        }
        if me() == 0 {
            if is_reset_plainly {
                ticket.store(0, 0);
            } else {
                ticket.update(0, |_| 0);
            }
        }
    }
}

#[test]
fn the_last_block_may_read_the_values_of_all_blocks() {
    let blocks = 300;
    for schedule in Schedule::HOSTILE {
        let simulator = checked().with_schedule(schedule);
        let (parts, ticket) = (Array::filled(blocks as usize, 0_u32), Array::filled(1, 0_u32));
        let config = LaunchConfig::new(blocks, 64);
        for is_reset_plainly in [false, true] {
            accept_with(&simulator, config, || last_block(&parts, &ticket, [true, true], true, is_reset_plainly));
            assert_eq!(ticket.load(0), 0);
        }
        for has_fences in [[false, true], [true, false], [false, false]] {
            let (parts, ticket) = (Array::filled(blocks as usize, 0_u32), Array::filled(1, 0_u32));
            let found = race_with(&simulator, config, || last_block(&parts, &ticket, has_fences, true, false));
            assert_eq!(found.remedy, Remedy::BetweenBlocks, "{has_fences:?}");
            assert_eq!((found.there.access, found.here.access), (RaceAccess::Store, RaceAccess::Load));
        }
    }
    // Without the barrier, the block's other threads do not know if their block is the last.
    let (parts, ticket) = (Array::filled(1, 0_u32), Array::filled(1, 0_u32));
    let found = race(LaunchConfig::new(1, 64), || last_block(&parts, &ticket, [true, true], false, false));
    assert_eq!(found.space, Space::Shared);
}

#[test]
fn fences_count_on_either_side_of_a_barrier() {
    // All threads write and execute a fence, and one of them sets the flag; one waits, and all execute a fence and
    // read.
    let kernel = |data: &Array<u32>, flag: &Array<u32>, has_fences: [bool; 2]| {
        if block() == 0 {
            data.store(me() as usize, 1);
            if has_fences[0] {
                memory::fence();
            }
            thread::sync_threads();
            if me() == 0 {
                flag.store_relaxed(0, 1);
            }
        } else {
            if me() == 0 {
                while flag.load_relaxed(0) == 0 {}
            }
            thread::sync_threads();
            if has_fences[1] {
                memory::fence();
            }
            black_box(data.load(63 - me() as usize));
        }
    };
    for has_fences in [[true, true], [false, true], [true, false]] {
        let (data, flag) = (Array::filled(64, 0_u32), Array::filled(1, 0_u32));
        let run = || kernel(&data, &flag, has_fences);
        if has_fences == [true, true] {
            accept(LaunchConfig::new(2, 64), run);
        } else {
            race(LaunchConfig::new(2, 64), run);
        }
    }
}

#[test]
fn a_barrier_passes_an_acquire_on_to_all_threads() {
    let kernel = |data: &Array<u32>, flag: &Array<u32>, has_barrier: bool| {
        if block() == 0 {
            data.store(me() as usize, 1);
            thread::sync_threads();
            if me() == 0 {
                flag.release(0, 1);
            }
        } else {
            if me() == 0 {
                while flag.acquire(0) == 0 {}
            }
            if has_barrier {
                thread::sync_threads();
            }
            black_box(data.load(63 - me() as usize));
        }
    };
    let (data, flag) = (Array::filled(64, 0_u32), Array::filled(1, 0_u32));
    accept(LaunchConfig::new(2, 64), || kernel(&data, &flag, true));
    flag.store(0, 0);
    let found = race(LaunchConfig::new(2, 64), || kernel(&data, &flag, false));
    // The thread that waited may read.
    assert_eq!((threads(&found).1, blocks(&found)), (1, (0, 1)));
}

#[test]
fn read_only_memory_is_not_tracked_and_arrays_are_named() {
    let (input, output) = (Array::<f32>::filled(64, 1.0), Array::<u64>::filled(64, 0));
    let region =
        |name, start: usize, element, is_writable| Region { name, start, bytes: 64 * element, element, is_writable };
    let regions = [region("x", input.at(0) as usize, 4, false), region("out", output.at(0) as usize, 8, true)];
    let launch = |output: &Array<u64>, blocks: u32| {
        checked().launch_on(&KERNEL, LaunchConfig::new(blocks, 32), &regions, || {
            let i = 32 * (block() as usize % 2) + me() as usize;
            output.store(i, input.load(i).to_bits().into());
        })
    };
    assert!(launch(&output, 2).is_ok());
    let text = launch(&output, 4).unwrap_err().to_string();
    assert!(text.contains("`out[0]` in global memory"), "{text}");
    // The checker assumes that no thread writes memory outside of the writable regions. If threads write it
    // nevertheless, the checker compares the stores.
    let other = Array::<u64>::filled(64, 0);
    let text = launch(&other, 4).unwrap_err().to_string();
    assert!(text.contains(&format!("global memory at address {:#x}", other.at(0) as usize)), "{text}");
}
