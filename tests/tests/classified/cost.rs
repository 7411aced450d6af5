//! Measures the cost of checking: the time of a checked launch divided by the time of an unchecked launch, both on one
//! worker.
//!
//! `cargo test -p tests --test classified -- --ignored --nocapture cost::cost` prints three ratios for each shape and
//! each classified kernel without a race: for the natural order, the mean of all hostile orders, and the slowest order.
//! If the environment variable `COST_OF` is set, only kernels whose names contain its value are measured.

use std::num::NonZeroUsize;
use std::time::Instant;

use launch::{Device, Error};
use simt::{Checks, Schedule, Simulator};

use crate::{What, cases, shapes, stealing};

/// A kernel that runs long enough to be timed.
pub struct Shape {
    pub name: &'static str,
    pub launch: fn(&Device) -> Result<(), Error>,
}

fn shapes() -> impl Iterator<Item = &'static Shape> {
    shapes::SHAPES.iter().chain(stealing::SHAPES)
}

const RUNS: usize = 3;
/// The minimum duration of a run in nanoseconds. A run repeats the launch for at least this time, because the system's
/// clock has a resolution of a few milliseconds.
const LEAST: f64 = 40e6;

/// Returns the CPU time of this OS thread in nanoseconds. Unlike the elapsed time, it excludes the time of other
/// processes. On a system that does not report CPU time, returns the time since `clock` was created.
fn now(clock: Instant) -> f64 {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let time = schedule.and_then(|text| text.split_whitespace().next()?.parse().ok());
    time.unwrap_or_else(|| clock.elapsed().as_secs_f64() * 1e9)
}

fn on_one_worker() -> Simulator {
    Simulator::new().with_workers(NonZeroUsize::MIN)
}

/// Returns the median time of a launch over `runs` runs, in nanoseconds.
fn time(device: &Device, launch: fn(&Device) -> Result<(), Error>, runs: usize) -> f64 {
    let clock = Instant::now();
    let run = |launches: u32| {
        let start = now(clock);
        (0..launches).for_each(|_| launch(device).unwrap());
        now(clock) - start
    };
    let mut launches = 1;
    while run(launches) < LEAST {
        launches *= 2;
    }
    let mut times: Vec<f64> = (0..runs).map(|_| run(launches) / f64::from(launches)).collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

/// Tests that each shape is race-free, and that checking it is not too slow. The limit is far above the measured
/// ratios, because other processes may load the machine.
#[test]
fn shapes_are_race_free_and_not_too_slow_to_check() {
    let clock = Instant::now();
    for Shape { name, launch } in shapes() {
        let [plain, checked] = [None, Some(Checks::default())].map(|checks| {
            let simulator = checks.into_iter().fold(on_one_worker(), Simulator::with_checks);
            let device = Device::simulated(simulator);
            let start = now(clock);
            if let Err(error) = launch(&device) {
                panic!("{name}: {error}");
            }
            now(clock) - start
        });
        assert!(checked < 30.0 * plain.max(5e6), "{name}: {:.0} ms, unchecked {:.0} ms", checked / 1e6, plain / 1e6);
    }
}

#[test]
#[ignore = "takes minutes, and is for reading"]
pub fn cost() {
    let only = std::env::var("COST_OF").unwrap_or_default();
    let shapes = shapes().map(|shape| (shape.name, shape.launch));
    let cases = cases().filter(|case| case.what == What::RaceFree).map(|case| (case.name, case.launch));
    println!("{:44}{:>12}{:>10}{:>10}{:>10}", "", "unchecked/us", "natural", "mean", "worst");
    let plain = Device::simulated(on_one_worker());
    for (name, launch) in shapes.chain(cases).filter(|(name, _)| name.contains(&only)) {
        let unchecked = time(&plain, launch, RUNS);
        let factors = Schedule::HOSTILE.map(|schedule| {
            let checked = Device::simulated(on_one_worker().with_schedule(schedule).with_checks(Checks::default()));
            (time(&checked, launch, RUNS) / unchecked, schedule)
        });
        let (worst, at) = factors.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or(factors[0]);
        let mean = factors.iter().map(|(factor, _)| factor).sum::<f64>() / factors.len() as f64;
        println!("{name:44}{:>12.1}{:>10.1}{mean:>10.1}{worst:>10.1}  {at}", unchecked / 1e3, factors[0].0);
    }
}
