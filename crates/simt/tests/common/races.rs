//! Launches with checks for races.

use simt::{Checks, Fault, FaultKind, LaunchConfig, Race, Schedule, Simulator, thread};

use super::KERNEL;

/// Returns the thread's index in x.
pub fn first_index() -> u32 {
    thread::thread_idx().x
}

/// Returns a simulator that checks for races.
pub fn checked() -> Simulator {
    Simulator::new().with_checks(Checks::default())
}

/// Returns the race that `kernel` has.
#[track_caller]
pub fn race(config: LaunchConfig, kernel: impl Fn() + Sync) -> Box<Race> {
    race_with(&checked(), config, kernel)
}

/// Returns the race that `simulator` finds in `kernel`.
#[track_caller]
pub fn race_with(simulator: &Simulator, config: LaunchConfig, kernel: impl Fn() + Sync) -> Box<Race> {
    match simulator.launch(&KERNEL, config, kernel) {
        Err(Fault { kind: FaultKind::Race(race), location, thread, .. }) => {
            assert_eq!((location.as_ref(), thread), (Some(&race.here.location), Some(race.here.thread)));
            race
        }
        Err(other) => panic!("not a race: {other}"),
        Ok(_) => panic!("no race was found"),
    }
}

/// Checks that `kernel` has no race.
#[track_caller]
pub fn accept(config: LaunchConfig, kernel: impl Fn() + Sync) {
    accept_with(&checked(), config, kernel);
}

/// Checks that `kernel` has no race in any schedule. It must not depend on the values that an earlier launch left in
/// memory.
#[track_caller]
pub fn accept_in_all_orders(config: LaunchConfig, kernel: impl Fn() + Sync) {
    for schedule in Schedule::HOSTILE {
        accept_with(&checked().with_schedule(schedule), config, &kernel);
    }
}

/// Checks that `simulator` finds no race in `kernel`.
#[track_caller]
pub fn accept_with(simulator: &Simulator, config: LaunchConfig, kernel: impl Fn() + Sync) {
    if let Err(fault) = simulator.launch(&KERNEL, config, kernel) {
        panic!("{fault}");
    }
}

/// Returns the lines of both accesses, the earlier one first.
pub fn lines(race: &Race) -> (u32, u32) {
    (race.there.location.line, race.here.location.line)
}

/// Returns the x indices of both threads, the earlier access's first.
pub fn threads(race: &Race) -> (u32, u32) {
    (race.there.thread.x, race.here.thread.x)
}

/// Returns the x indices of both blocks, the earlier access's first.
pub fn blocks(race: &Race) -> (u32, u32) {
    (race.there.block.x, race.here.block.x)
}
