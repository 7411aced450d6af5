//! Tests that loops that never end and access no memory are reported.

use std::time::{Duration, Instant};

use cuda_std::{GlobalMut, kernel, thread};
use launch::{Checks, Device, Error, Fault, FaultKind, LaunchConfig, Schedule, Simulator};

use crate::cured::line_of;

const LIMIT: Duration = Duration::from_millis(200);

/// Doubles a number until it is `end`.
#[kernel]
fn doubled(y: GlobalMut<u32>, end: u32) {
    let mut x = 1_u32;
    // The line of the loop.
    while x != end {
        x = x.wrapping_mul(2);
    }
    y.store(thread::index_1d(), x);
}

#[cuda_std::device]
fn steps_of(mut x: u32) -> u32 {
    let mut steps = 0;
    loop {
        if x == 1 {
            break steps;
        }
        x = if x.is_multiple_of(2) { x / 2 } else { x.wrapping_mul(3).wrapping_add(1) };
        steps += 1;
    }
}

/// Loops in a device function.
#[kernel]
fn collatz(y: GlobalMut<u32>, first: u32) {
    y.store(thread::index_1d(), steps_of(first));
}

fn devices() -> impl Iterator<Item = Device> {
    let simulator = || Simulator::new().with_loop_limit(LIMIT);
    let checked = Schedule::HOSTILE
        .into_iter()
        .map(move |schedule| simulator().with_checks(Checks::default()).with_schedule(schedule));
    checked.chain([Simulator::new().with_loop_limit(LIMIT / 6)]).map(Device::simulated)
}

fn endless(result: Result<(), Error>) -> Box<Fault> {
    match result {
        Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::EndlessLoop { .. }) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_loop_that_never_ends() {
    let line = line_of(include_str!("endless_loops.rs"), "// The line of the loop.") + 1;
    for device in devices() {
        let (mut y, begun) = (device.zeroed::<u32>(4).unwrap(), Instant::now());
        let fault = endless(device.launch(LaunchConfig::new(2, 2), doubled(y.view_mut(), 7)));
        assert!(begun.elapsed() >= LIMIT);
        assert_eq!(fault.location.as_ref().unwrap().line, line, "{fault}");
        device.launch(LaunchConfig::new(2, 2), doubled(y.view_mut(), 8)).unwrap();
        assert_eq!(y.download().unwrap(), [8; 4]);
    }
}

#[test]
fn a_loop_of_a_device_function() {
    let line = line_of(include_str!("endless_loops.rs"), "    loop {");
    let device = devices().next().unwrap();
    let mut y = device.zeroed::<u32>(1).unwrap();
    let fault = endless(device.launch(LaunchConfig::new(1, 1), collatz(y.view_mut(), 0)));
    assert_eq!(fault.location.as_ref().unwrap().line, line, "{fault}");
    device.launch(LaunchConfig::new(1, 1), collatz(y.view_mut(), 6)).unwrap();
    assert_eq!(y.download().unwrap(), [8]);
}

/// Counts in memory for longer than the limit.
#[kernel]
fn counted(y: GlobalMut<u32>, end: u32) {
    while y.load(0) < end {
        y.store(0, y.load(0) + 1);
    }
}

#[test]
fn a_long_loop_that_accesses_memory() {
    let limit = Duration::from_millis(1);
    let device = Device::simulated(Simulator::new().with_checks(Checks::default()).with_loop_limit(limit));
    let (mut y, begun) = (device.zeroed::<u32>(1).unwrap(), Instant::now());
    device.launch(LaunchConfig::new(1, 1), counted(y.view_mut(), 300_000)).unwrap();
    assert!(begun.elapsed() > limit);
    assert_eq!(y.download().unwrap(), [300_000]);
}
