//! Tests the checker on families of kernels: the well-known algorithms and mistakes of each kind. PTX's memory model
//! and CUDA's rules decide which kernels are faulty, not the checker. The comment before each kernel has the reason.
//!
//! A faulty kernel marks the lines of its report with `// fault`. If nothing is at fault but the results are wrong, it
//! marks the accesses that see older values. [`By`] says which orders must show the fault. In every other order, the
//! kernel must either succeed or have the same report.

use std::num::NonZeroUsize;
use std::time::Duration;

use launch::{Device, Error, LaunchConfig};
use simt::{Checks, Dim3, Schedule, Search, Simulator};
use tests::STRICT;
use tests::reports::{Kind, Marked, Report, report};

use self::Verdict::{Faulty, Sound, Wrong};

/// Uploads the two arrays, launches the kernel on views of them, and returns the new contents of the second one.
macro_rules! run {
    ($device:ident, $config:expr, $kernel:path, $x:expr, $y:expr) => {{
        let (mut x, mut y) = ($device.upload(&$x)?, $device.upload(&$y)?);
        $device.launch($config, $kernel(x.view_mut(), y.view_mut()))?;
        y.download()
    }};
}

/// Declares the kernels of a file by families: the verdict, the launch, and whether the results are right. After `of`
/// stand the configuration of the launch and the two arrays, after `by` a function that launches the kernel.
macro_rules! families {
    (@run $kernel:ident, of $config:expr, $x:expr, $y:expr) => {
        |device| run!(device, $config, $kernel, $x, $y)
    };
    (@run $kernel:ident, by $run:expr) => {
        $run
    };
    ($file:literal; $($family:literal {
        $($kernel:ident: $verdict:expr,
            $(of $config:expr, $x:expr, $array:expr,)? $(by $run:expr,)? |$y:ident| $right:expr;)+
    })+) => {
        pub const CASES: &[super::Case] = &[$($(super::Case {
            family: $family,
            name: stringify!($kernel),
            source: tests::reports::Marked { file: $file, text: include_str!($file) },
            verdict: $verdict,
            run: families!(@run $kernel, $(of $config, $x, $array)? $(by $run)?),
            is_right: |$y| $right,
        }),+),+];
    };
}

mod blocks_in_turn;
mod graphs;
mod matrices;
mod mixed;
mod pipelines;
mod products;
mod queues;
mod reductions;
mod rules;
mod simulations;
mod warpgroups;
mod weak;

/// The orders that must show a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Each of the eight default orders.
    Every,
    /// At least one of the eight default orders.
    Some,
    /// Each of the eight orders under strict checks, and none without them.
    Strict,
    /// Orders of a thorough check, and none of the eight.
    Thorough,
}

/// The verdict of the memory model and of CUDA's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// In every execution, the kernel has no fault and its results are right.
    Sound,
    /// The kernel has a fault of this kind. The text is the array of the report, or empty if the report has none.
    Faulty(Kind, &'static str, By),
    /// Some executions have wrong results but no fault.
    Wrong(By),
}

/// The verdict of a race on `array` that each of the eight orders reports.
const fn race(array: &'static str) -> Verdict {
    Faulty(Kind::Race, array, By::Every)
}

impl Verdict {
    /// Returns the orders that must show the fault, or `None` if the kernel is sound.
    fn by(self) -> Option<By> {
        match self {
            Sound => None,
            Faulty(_, _, by) | Wrong(by) => Some(by),
        }
    }
}

/// The orders for slow kernels.
const FEW: [Schedule; 3] = [Schedule::Natural, Schedule::OneAhead(2), Schedule::BlocksInTurn(6)];

/// Launches a kernel and returns the contents of its second array.
pub type Run = fn(&Device) -> Result<Vec<u32>, Error>;

/// A kernel, its verdict and its launch.
pub struct Case {
    family: &'static str,
    name: &'static str,
    source: Marked,
    verdict: Verdict,
    run: Run,
    is_right: fn(&[u32]) -> bool,
}

fn cases() -> impl Iterator<Item = &'static Case> {
    let files = [
        blocks_in_turn::CASES,
        graphs::CASES,
        matrices::CASES,
        mixed::CASES,
        pipelines::CASES,
        products::CASES,
        queues::CASES,
        reductions::CASES,
        rules::CASES,
        simulations::CASES,
        weak::CASES,
    ];
    files.into_iter().chain(warpgroups::CASES).flatten()
}

/// Returns the names and launches of the sound kernels.
pub fn sound() -> impl Iterator<Item = (&'static str, Run)> {
    cases().filter(|case| case.verdict == Sound).map(|case| (case.name, case.run))
}

/// Launches the kernel `name` of tensor cores or warpgroups on `device` and describes its results.
pub fn outcome(name: &str, device: &Device) -> String {
    let case = warpgroups::CASES.into_iter().chain([products::CASES]).flatten().find(|case| case.name == name).unwrap();
    match (case.run)(device) {
        Ok(y) if (case.is_right)(&y) => "right".to_owned(),
        Ok(y) => format!("wrong values: {y:?}"),
        Err(error) => format!("error: {error}"),
    }
}

/// Returns the configuration of a launch of `blocks` blocks of `threads` threads.
fn grid(blocks: u32, threads: impl Into<Dim3>) -> LaunchConfig {
    LaunchConfig::new(blocks, threads)
}

impl Case {
    /// Returns a simulator with these checks. Faulty loops without accesses end early.
    fn simulator(&self, checks: Checks) -> Simulator {
        let simulator = Simulator::new().with_workers(NonZeroUsize::MIN).with_checks(checks);
        if matches!(self.verdict, Faulty(Kind::EndlessLoop, ..)) {
            return simulator.with_loop_limit(Duration::from_millis(20));
        }
        simulator
    }

    /// Returns true if the run on `device` shows the fault, and false if it succeeds.
    ///
    /// # Errors
    /// If the run shows anything that the verdict does not allow.
    fn shows_its_fault(&self, device: &Device) -> Result<bool, String> {
        let result = (self.run)(device);
        let marked = self.source.lines_of(self.name, "fault");
        match (self.verdict, result) {
            (_, Ok(y)) if (self.is_right)(&y) => Ok(false),
            (Wrong(_), Ok(_)) => {
                let summary = device.summary();
                let unnamed = marked.iter().find(|line| !summary.contains(&format!("{line}:")));
                unnamed.map_or(Ok(true), |line| Err(format!("wrong results, but {line} is not in: {summary}")))
            }
            (_, Ok(y)) => Err(format!("wrong results: {y:?}")),
            (Faulty(kind, array, _), Err(error)) => {
                let (text, found) = (error.to_string(), report(&Err(error)));
                let expected = expected(kind, array, marked);
                if found.as_ref() == Some(&expected) { Ok(true) } else { Err(format!("{text}; expected {expected}")) }
            }
            (Sound | Wrong(_), Err(error)) => Err(error.to_string()),
        }
    }

    /// Returns true if each order in which the kernel fails takes long, because its threads wait or loop.
    fn is_slow(&self) -> bool {
        matches!(self.verdict, Faulty(Kind::NoProgress | Kind::EndlessLoop, ..))
    }

    /// Returns what is wrong with the reports of the default orders under these checks. Slow kernels run in three of
    /// the eight orders.
    fn findings(&self, checks: Checks) -> Vec<String> {
        let is_tried = |schedule: &Schedule| !self.is_slow() || FEW.contains(schedule);
        let show = |schedule| {
            let device = Device::simulated(self.simulator(checks).with_schedule(schedule));
            (schedule, self.shows_its_fault(&device))
        };
        let runs: Vec<_> = Schedule::HOSTILE.into_iter().filter(is_tried).map(show).collect();
        let shown = runs.iter().filter(|(_, run)| *run == Ok(true)).count();
        let is_strict = !checks.shuffles_order_memory;
        let is_right = match self.verdict.by() {
            None | Some(By::Thorough) => shown == 0,
            Some(By::Every) => shown == runs.len(),
            Some(By::Some) => shown > 0,
            Some(By::Strict) => shown == if is_strict { runs.len() } else { 0 },
        };
        let name = format!("{}{}", self.name, if is_strict { ", strict" } else { "" });
        let errors = runs.iter().filter_map(|(schedule, run)| Some((schedule, run.as_ref().err()?)));
        let mut wrong: Vec<String> = errors.map(|(schedule, error)| format!("{name}, {schedule}: {error}")).collect();
        if !is_right && wrong.is_empty() {
            wrong.push(format!("{name}: {shown} orders show the fault; expected: {:?}", self.verdict.by()));
        }
        wrong
    }

    /// Searches for the fault in at most `orders` further orders. Returns what is wrong with the search.
    fn findings_of_search(&self, orders: usize) -> Option<String> {
        let simulator = self.simulator(Checks::default());
        let mut search = Search::new();
        while search.tried() < orders {
            let run = |simulator| self.shows_its_fault(&Device::simulated(simulator));
            let (schedule, found) = search.try_next(&simulator, run)?;
            match found {
                Ok(false) => {}
                Ok(true) => return None,
                Err(error) => return Some(format!("{}, {schedule}: {error}", self.name)),
            }
        }
        (self.verdict != Sound).then(|| format!("{}: not found in {orders} orders", self.name))
    }
}

/// Returns the report of a fault of this kind whose lines are marked. A race within one line reports the line twice.
fn expected(kind: Kind, array: &str, mut places: Vec<String>) -> Report {
    if matches!((kind, places.len()), (Kind::Race | Kind::EarlyRead | Kind::WrittenReadOnly, 1)) {
        places.extend_from_within(..);
    }
    Report::new(kind, array, &places)
}

fn all_are_judged_right(cases: impl Iterator<Item = &'static Case>, checks: Checks) {
    let wrong: Vec<String> = cases.flat_map(|case| case.findings(checks)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_kernel_of_each_family_is_judged_right() {
    all_are_judged_right(cases(), Checks::default());
}

#[test]
fn each_kernel_is_judged_right_under_strict_checks() {
    all_are_judged_right(cases().filter(|case| !case.is_slow()), STRICT);
}

/// Sound kernels must pass further orders, too, and a thorough check must find the faults that the eight orders miss.
#[test]
fn a_search_judges_sound_and_rare_kernels_right() {
    let is_searched = |case: &&Case| matches!(case.verdict.by(), None | Some(By::Thorough));
    let orders = |case: &Case| if case.verdict == Sound { 24 } else { 1000 };
    let wrong: Vec<String> =
        cases().filter(is_searched).filter_map(|case| case.findings_of_search(orders(case))).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_family_has_faulty_and_sound_kernels() {
    let families: std::collections::BTreeSet<&str> = cases().map(|case| case.family).collect();
    let count = |family: &str, is_sound| {
        cases().filter(|case| case.family == family && (case.verdict == Sound) == is_sound).count()
    };
    for family in &families {
        let [sound, faulty] = [true, false].map(|is_sound| count(family, is_sound));
        println!("{family}: {faulty} faulty, {sound} sound");
        assert!(faulty > 0 && sound > 0, "{family}: {faulty} faulty, {sound} sound");
    }
    let (all, sound) = (cases().count(), cases().filter(|case| case.verdict == Sound).count());
    println!("{all} kernels of {} families, {} faulty", families.len(), all - sound);
    assert!(all >= 60 && (all - sound) * 2 + 8 >= all, "{all} kernels, {sound} sound");
    let names: std::collections::BTreeSet<&str> = cases().map(|case| case.name).collect();
    assert_eq!(names.len(), all);
}
