//! Measures the cost of checking: the time of a checked launch divided by the time of an unchecked launch, both on one
//! worker.
//!
//! `cargo test -p tests --test classified -- --ignored --nocapture cost::cost` prints three ratios for each shape and
//! each sound kernel: for the natural order, the mean of all hostile orders, and the slowest order. The rows of the
//! tables in docs/check.md follow. With `--config 'profile.dev.package.tests.opt-level=1'` after `cargo test`, the
//! kernels are optimised. If the environment variable `COST_OF` is set, only kernels whose names contain its value are
//! measured.

use std::num::NonZeroUsize;
use std::time::Instant;

use launch::{Device, Error};
use simt::{Checks, Schedule, Simulator};

use crate::{What, cases, families, shapes, stealing};

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
fn time(device: &Device, launch: &dyn Fn(&Device) -> Result<(), Error>, runs: usize) -> f64 {
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

/// The kernels that have a row in docs/check.md even if they are not among the slowest, with their descriptions there.
const ROWS: &[(&str, &str)] = &[
    ("product_tile_locks", "a product, a lock per tile"),
    ("product_element_locks", "a product, a lock per element"),
    ("reduction_by_fences", "a reduction whose last block uses fences"),
    ("fences_of_all_threads", "a fence by every thread in each round"),
    ("rule_110", "rule 110, blocks wait for their neighbours"),
    ("convolution_stealing", "convolution with work stealing"),
    ("graph_connectivity", "connectivity of a graph, pieces distributed under locks"),
    ("graph_colouring", "colouring of a graph, a lock per vertex"),
    ("unbalanced_tree", "an unbalanced tree, stacks under locks"),
    ("a_lock_with_fences", "a small classified kernel, a lock with fences"),
];

/// The number of slowest kernels that have a row in docs/check.md, too.
const SLOWEST: usize = 3;

/// How many times longer checked launches of a kernel take than unchecked ones.
struct Factors {
    name: &'static str,
    natural: f64,
    mean: f64,
    worst: f64,
}

impl Factors {
    fn row(&self, label: &str) -> String {
        format!("| {label} | {:.1} | {:.1} | {:.1} |", self.natural, self.mean, self.worst)
    }
}

#[test]
#[ignore = "takes minutes, and is for reading"]
pub fn cost() {
    let only = std::env::var("COST_OF").unwrap_or_default();
    type Launch = Box<dyn Fn(&Device) -> Result<(), Error>>;
    let shapes = shapes().map(|shape| (shape.name, Box::new(shape.launch) as Launch));
    let cases = cases().filter(|case| case.what == What::RaceFree);
    let cases = cases.map(|case| (case.name, Box::new(move |device: &Device| case.launch(device)) as Launch));
    let sound = families::sound();
    let sound = sound.map(|(name, run)| (name, Box::new(move |device: &Device| run(device).map(drop)) as Launch));
    println!("{:44}{:>12}{:>10}{:>10}{:>10}", "", "unchecked/us", "natural", "mean", "worst");
    let plain = Device::simulated(on_one_worker());
    let mut all = Vec::new();
    for (name, launch) in shapes.chain(cases).chain(sound).filter(|(name, _)| name.contains(&only)) {
        let unchecked = time(&plain, &launch, RUNS);
        let factors = Schedule::HOSTILE.map(|schedule| {
            let checked = Device::simulated(on_one_worker().with_schedule(schedule).with_checks(Checks::default()));
            (time(&checked, &launch, RUNS) / unchecked, schedule)
        });
        let (worst, at) = factors.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or(factors[0]);
        let mean = factors.iter().map(|(factor, _)| factor).sum::<f64>() / factors.len() as f64;
        let natural = factors[0].0;
        println!("{name:44}{:>12.1}{natural:>10.1}{mean:>10.1}{worst:>10.1}  {at}", unchecked / 1e3);
        all.push(Factors { name, natural, mean, worst });
    }
    print_rows(&mut all);
}

/// Prints the rows of the table in docs/check.md, and the figures below it.
fn print_rows(all: &mut [Factors]) {
    println!("\n| | natural | mean | worst |\n|---|---|---|---|");
    for (name, label) in ROWS {
        all.iter().filter(|one| one.name == *name).for_each(|one| println!("{}", one.row(label)));
    }
    all.sort_by(|a, b| b.worst.total_cmp(&a.worst));
    let others = all.iter().filter(|one| ROWS.iter().all(|(name, _)| one.name != *name));
    others.take(SLOWEST).for_each(|one| println!("{}", one.row(&format!("`{}`", one.name))));
    let above: Vec<&str> = all.iter().filter(|one| one.worst > 15.0).map(|one| one.name).collect();
    all.sort_by(|a, b| a.natural.total_cmp(&b.natural));
    let median = all.get(all.len() / 2).map_or(0.0, |one| one.natural);
    println!("{} kernels, half of them below {median:.1} in the natural order; above 15: {above:?}", all.len());
}
