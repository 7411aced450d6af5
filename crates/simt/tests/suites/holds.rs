//! Tests that schedules with holds make the right threads wait, for the right time, and nowhere else.

use crate::common;

use common::{Array, KERNEL, simulator};
use simt::{LaunchConfig, Search, Simulator, thread};

/// Makes the first thread of each warp draw two numbers from a counter, under `schedule`. Returns the drawn numbers in
/// the order of the warps.
fn draws(config: LaunchConfig, schedule: &str) -> Vec<u32> {
    let simulator = simulator(2, 0).with_schedule(schedule.parse().unwrap());
    let counter = Array::filled(1, 0_u32);
    let drawn = Array::filled(2 * 4, 0);
    let draw = || {
        let first = (thread::block_idx().x * thread::block_dim().x + thread::thread_idx().x) as usize;
        if first.is_multiple_of(32) {
            drawn.store(first / 16, counter.update(0, |n| n + 1));
            drawn.store(first / 16 + 1, counter.update(0, |n| n + 1));
        }
    };
    simulator.launch(&KERNEL, config, draw).unwrap_or_else(|fault| panic!("{schedule}: {fault}"));
    drawn.to_vec()
}

#[test]
fn a_held_thread_waits_until_no_other_can_continue() {
    let (blocks, warps) = (LaunchConfig::new(4, 32), LaunchConfig::new(1, 128));
    for config in [blocks, blocks.cooperative()] {
        assert_eq!(draws(config, "held:0:"), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(draws(config, "held:0:0.0.1"), [6, 7, 0, 1, 2, 3, 4, 5]);
        assert_eq!(draws(config, "held:0:1.0.2"), [0, 1, 2, 7, 3, 4, 5, 6]);
        // The threads finish in the order of this list.
        assert_eq!(draws(config, "held:0:1.0.1,0.0.1"), [6, 7, 4, 5, 0, 1, 2, 3]);
        assert_eq!(draws(config, "held:0:0.0.1,1.0.1"), [4, 5, 6, 7, 0, 1, 2, 3]);
        assert_eq!(draws(config, "held:0:2.0.1,2.0.2,0.0.2"), [0, 7, 1, 2, 5, 6, 3, 4]);
    }
    assert_eq!(draws(blocks, "held:1:"), [6, 7, 4, 5, 2, 3, 0, 1]);
    assert_eq!(draws(blocks, "held:1:3.0.2"), [5, 6, 3, 4, 1, 2, 0, 7]);
    assert_eq!(draws(warps, "held:0:0.0.1"), [6, 7, 0, 1, 2, 3, 4, 5]);
    assert_eq!(draws(warps, "held:0:0.32.2,0.0.2"), [0, 7, 1, 6, 2, 3, 4, 5]);
    // No thread reaches these positions.
    assert_eq!(draws(blocks, "held:0:0.0.3,9.0.1,1.5.1"), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_thread_that_polls_makes_one_access() {
    // Block 0 polls for block 1, which is held before it answers. Then block 0 is held before its next access.
    let flags = Array::filled(3, 0_u32);
    let simulator = simulator(1, 0).with_schedule("held:0:1.0.2,0.0.2".parse().unwrap());
    let seen = Array::filled(1, 0_u32);
    let exchange = || {
        if thread::block_idx().x == 0 {
            while flags.load_relaxed(0) == 0 {}
            seen.store(0, flags.load_relaxed(1));
        } else {
            flags.store_relaxed(0, 1);
            flags.store_relaxed(1, 1);
        }
    };
    simulator.launch(&KERNEL, LaunchConfig::new(2, 1), exchange).unwrap();
    assert_eq!(seen.load(0), 1);
    flags.store(0, 0);
    flags.store(1, 0);
    let other = simulator.with_schedule("held:0:0.0.2,1.0.2".parse().unwrap());
    other.launch(&KERNEL, LaunchConfig::new(2, 1), exchange).unwrap();
    assert_eq!(seen.load(0), 0);
}

/// Returns the number of schedules that a search tries for a launch of `body`.
fn orders_of(config: LaunchConfig, body: impl Fn() + Sync) -> usize {
    let mut search = Search::new();
    let simulator = Simulator::new().with_checks(simt::Checks::default());
    while search.tried() < 1000
        && search.try_next(&simulator, |one| one.launch(&KERNEL, config, &body).unwrap()).is_some()
    {}
    search.tried()
}

#[test]
fn a_search_continues_only_if_threads_communicate() {
    let mine = Array::filled(8, 0_u32);
    let index = || thread::block_idx().x as usize;
    assert_eq!(orders_of(LaunchConfig::new(8, 1), || _ = mine.update(index(), |n| n + 1)), 8);
    // Blocks do not communicate by memory that they only read.
    assert_eq!(orders_of(LaunchConfig::new(8, 1), || _ = mine.load_relaxed(0)), 8);
    // Two blocks that communicate need only a few more schedules.
    let orders = orders_of(LaunchConfig::new(2, 1), || _ = mine.update(0, |n| n + 1));
    assert!((10..40).contains(&orders), "{orders}");
    assert_eq!(orders_of(LaunchConfig::new(8, 1), || _ = mine.update(0, |n| n + 1)), 1000);
}
