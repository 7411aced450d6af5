//! Helpers of the tests that launch kernels with checks for races.

use simt::{Checks, Fault, FaultKind, LaunchConfig, Race, Schedule, Simulator, thread};

use super::KERNEL;

/// Returns the calling thread's `x` index in its block.
pub fn first_index() -> u32 {
    thread::thread_idx().x
}

/// Returns a simulator that checks for races.
pub fn checked() -> Simulator {
    Simulator::new().with_checks(Checks::default())
}

/// Returns the race that a checked launch finds in `kernel`, and panics if it finds none.
#[track_caller]
pub fn race(config: LaunchConfig, kernel: impl Fn() + Sync) -> Box<Race> {
    race_with(&checked(), config, kernel)
}

/// Returns the race that `simulator` finds in `kernel`, and panics if it finds none.
#[track_caller]
pub fn race_with(simulator: &Simulator, config: LaunchConfig, kernel: impl Fn() + Sync) -> Box<Race> {
    match simulator.launch(&KERNEL, config, kernel) {
        Err(Fault { kind: FaultKind::Race(race), location, thread, .. }) => {
            assert_eq!((location.as_ref(), thread), (Some(&race.here.location), Some(race.here.thread)));
            race
        }
        Err(other) => panic!("a race was expected, but the fault is: {other}"),
        Ok(_) => panic!("a race was expected, but the launch had no fault"),
    }
}

/// Checks that a checked launch finds no race in `kernel`.
#[track_caller]
pub fn accept(config: LaunchConfig, kernel: impl Fn() + Sync) {
    accept_with(&checked(), config, kernel);
}

/// Checks that checked launches find no race in `kernel` under any of several schedules. The kernel must not depend on
/// values that an earlier launch has left in memory.
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

/// Returns the source lines of the race's accesses, the earlier access first.
pub fn lines(race: &Race) -> (u32, u32) {
    (race.there.location.line, race.here.location.line)
}

/// Returns the `x` indices of the race's threads, the thread of the earlier access first.
pub fn threads(race: &Race) -> (u32, u32) {
    (race.there.thread.x, race.here.thread.x)
}

/// Returns the `x` indices of the race's blocks, the block of the earlier access first.
pub fn blocks(race: &Race) -> (u32, u32) {
    (race.there.block.x, race.here.block.x)
}
