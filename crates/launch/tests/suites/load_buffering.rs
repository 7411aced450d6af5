//! Load buffering: a load reads a store that is executed later, as PTX's memory model allows.

use std::time::Duration;

use cuda_std::{GlobalMut, kernel, thread};
use launch::{Checks, Device, LaunchConfig, Remedy, Schedule, Simulator, check_thoroughly, checked_devices};

/// Two blocks pass on a token, of which there is none: each takes what the other has put, and then puts one itself. Both
/// may take the other's, unless a fence lets each block take before it puts.
#[kernel]
fn tokens(is_sound: bool, words: GlobalMut<u32>, taken: GlobalMut<u32>) {
    if thread::index_in_block() == 0 {
        let me = thread::block_idx_x() as usize;
        let found = words.load_relaxed(me);
        if is_sound {
            cuda_std::fence();
        }
        words.store_relaxed(1 - me, 1);
        taken.store(me, found);
    }
}

fn run(is_sound: bool, device: &Device) -> Result<(), String> {
    let error = |error: launch::Error| error.to_string();
    let mut words = device.zeroed::<u32>(2).map_err(error)?;
    let mut taken = device.zeroed::<u32>(2).map_err(error)?;
    let call = tokens(is_sound, words.view_mut(), taken.view_mut());
    device.launch(LaunchConfig::new(2, 32), call).map_err(error)?;
    let taken = taken.download().map_err(error)?;
    // A caller may panic because of a value that the checker tries and then rejects.
    assert!(is_sound || taken.len() == 2 && (taken != [1, 1] || device.summary().contains('=')), "{taken:?}");
    if taken == [1, 1] { Err(format!("wrong: {taken:?}")) } else { Ok(()) }
}

#[test]
fn a_thorough_check_finds_load_buffering_and_the_order_shows_it_again() {
    for device in checked_devices() {
        run(false, &device).unwrap();
    }
    let failed = check_thoroughly(Duration::from_secs(60), |device| run(false, device)).unwrap_err();
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
    let schedule: Schedule = failed.schedule.to_string().parse().unwrap();
    let simulator = || Simulator::new().with_checks(Checks::default());
    let again = run(false, &Device::simulated(simulator().with_schedule(schedule)));
    assert_eq!(again.as_ref().unwrap_err(), &failed.error, "{schedule}");
    // The promised value is another one than the store has.
    let other = schedule.to_string().replace(".1", ".7");
    let error = run(false, &Device::simulated(simulator().with_schedule(other.parse().unwrap())));
    println!("{schedule} {other} {error:?}");
}

#[test]
fn fences_forbid_it() {
    let all = check_thoroughly(Duration::from_secs(60), |device| run(true, device)).unwrap();
    assert!(all.has_all_choices && all.is_exhausted, "{all}");
}
