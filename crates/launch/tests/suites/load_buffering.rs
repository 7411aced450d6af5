//! Load buffering: a load reads a store that is executed later, as PTX's memory model allows.

use std::time::Duration;

use cuda_std::{GlobalMut, kernel, thread};
use launch::{Checks, Device, LaunchConfig, Remedy, Simulator, check_thoroughly, checked_devices};

/// The faulty variant of the kernel, and two that apply the alternatives of the remedy.
const FAULTY: u32 = 0;
const FENCES: u32 = 1;
const ACQUIRES_AND_RELEASES: u32 = 2;

/// Two blocks pass on a token, of which there is none: each takes what the other has put, and then puts one itself.
/// Both may take the other's, unless each block takes before it puts.
#[kernel]
fn tokens(variant: u32, words: GlobalMut<u32>, taken: GlobalMut<u32>) {
    if thread::index_in_block() != 0 {
        return;
    }
    let me = thread::block_idx_x() as usize;
    let found = if variant == ACQUIRES_AND_RELEASES { words.load_acquire(me) } else { words.load_relaxed(me) };
    if variant == FENCES {
        cuda_std::fence();
    }
    if variant == ACQUIRES_AND_RELEASES {
        words.store_release(1 - me, 1);
    } else {
        words.store_relaxed(1 - me, 1);
    }
    taken.store(me, found);
}

fn taken(variant: u32, device: &Device) -> Result<Vec<u32>, launch::Error> {
    let (mut words, mut taken) = (device.zeroed::<u32>(2)?, device.zeroed::<u32>(2)?);
    device.launch(LaunchConfig::new(2, 32), tokens(variant, words.view_mut(), taken.view_mut()))?;
    taken.download()
}

fn run(device: &Device) -> Result<(), String> {
    let taken = taken(FAULTY, device).map_err(|error| error.to_string())?;
    if taken == [1, 1] { Err(format!("wrong: {taken:?}")) } else { Ok(()) }
}

#[test]
fn a_thorough_check_finds_load_buffering_and_the_order_shows_it_again() {
    for device in checked_devices() {
        run(&device).unwrap();
    }
    let failed = check_thoroughly(Duration::from_secs(60), run).unwrap_err();
    let message = failed.to_string();
    for part in [
        "wrong: [1, 1]",
        "the atomic store of `words[",
        "took effect before the atomic load by block",
        "put a fence between the read and the write in every thread",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(failed.older.last().map(|older| older.remedy), Some(Remedy::LoadsBeforeStores), "{message}");
    let again = |schedule: &str| {
        let simulator = Simulator::new().with_checks(Checks::default());
        run(&Device::simulated(simulator.with_schedule(schedule.parse().unwrap()))).unwrap_err()
    };
    let schedule = failed.schedule.to_string();
    assert_eq!(again(&schedule), failed.error, "{schedule}");
    // The store has another value than this order says.
    let other = schedule.strip_suffix(".1").map(|rest| format!("{rest}.7")).unwrap();
    assert!(again(&other).contains("a load has read a store that was not executed later"), "{other}");
}

#[test]
fn the_alternatives_of_the_remedy_forbid_it() {
    for variant in [FENCES, ACQUIRES_AND_RELEASES] {
        // The search also tries what the model forbids. Such a launch fails, and the panic here does not count.
        let all = check_thoroughly(Duration::from_secs(60), |device| {
            let taken = taken(variant, device).unwrap();
            if taken == [1, 1] { Err(format!("{taken:?}")) } else { Ok(()) }
        });
        let all = all.unwrap();
        assert!(all.has_all_choices && all.is_exhausted, "{all}");
    }
}
