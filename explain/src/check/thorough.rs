//! `--thorough`: runs cases under many orders, each derived from the accesses seen under earlier ones.

use std::time::Duration;

use launch::{Failed, Thorough};
use rayon::prelude::*;
use serde::Serialize;
use simt::{Checks, LaunchLog, Notes, Schedule, Simulator};
use units::grouped;

use super::{CaseRun, CheckedCase, KernelChecks, Progress};

/// The time of a search per kernel, in seconds, if the user names none.
pub const DEFAULT_SECONDS: &str = "10";

/// The extent of a search for further orders.
#[derive(Serialize, Debug)]
pub struct Tried {
    /// The maximum time of the search per kernel.
    pub seconds_per_kernel: f64,
    /// The number of cases.
    pub cases: usize,
    /// The number of orders that were tried, of all cases together.
    pub orders: usize,
    /// The number of cases for which no order is left to try.
    pub exhausted: usize,
    /// The number of those orders that explore weak memory by choices of values.
    pub choices: usize,
    /// The number of cases for which all choices of values were tried.
    pub all_choices: usize,
    /// The number of further orders that did not finish, because threads updated a value for ever while they waited.
    pub unfinished: usize,
    /// The extent for each case, with the index of the case.
    #[serde(skip)]
    pub per_case: Vec<(usize, Thorough)>,
}

/// The extent of a search for further orders of one kernel: of all cases that launch it.
#[derive(Clone, Copy, Serialize, PartialEq, Eq, Debug)]
pub struct KernelTried {
    /// The number of orders that were tried.
    pub orders: usize,
    /// True if no order is left to try.
    pub exhausted: bool,
    /// The number of those orders that explore weak memory by choices of values.
    pub choices: usize,
    /// True if all choices of values were tried.
    pub all_choices: bool,
    /// The number of further orders that did not finish.
    pub unfinished: usize,
}

/// Searches for an order in which one of `cases` fails, on all cores. Each case comes with its index. The cases of one
/// kernel share the time `per_kernel`; `kernel` returns the kernel of the case with an index. `progress` receives the
/// number of orders of each case.
pub fn search<C: CheckedCase>(
    cases: &[(usize, &C)],
    checks: Checks,
    per_kernel: Duration,
    kernel: impl Fn(usize) -> Option<&'static str> + Sync,
    progress: &impl Progress,
) -> (Vec<CaseRun<C::Error>>, Tried) {
    progress.begin(cases.len());
    let search = |&(index, case): &(usize, &C)| {
        let of_kernel = cases.iter().filter(|&&(other, _)| kernel(other) == kernel(index)).count();
        let log = LaunchLog::new();
        // The runs before this search have already collected the notes of these cases.
        let simulator = Simulator::new().with_checks(checks).with_log(log.clone()).with_notes(Notes::new());
        let found = launch::search(&simulator, per_kernel / of_kernel as u32, |simulator| case.run(simulator));
        let (schedule, error, older, tried) = match found {
            Ok(tried) => (Schedule::Natural, None, Vec::new(), tried),
            Err(Failed { schedule, error, older, tried, .. }) => (schedule, Some(error), older, tried),
        };
        progress.step(tried.orders as u64);
        let run = CaseRun { case: index, schedule, launches: log.take(), error, older, warnings: Vec::new() };
        (run, (index, tried))
    };
    let (runs, per_case) = cases.par_iter().map(search).unzip();
    (runs, Tried::new(per_kernel, per_case))
}

/// Parses the time of a search, a number of seconds.
///
/// # Errors
/// A text that says what is allowed.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "it must be a number of seconds, such as 10 or 0.5".to_owned())
}

impl Tried {
    fn new(per_kernel: Duration, per_case: Vec<(usize, Thorough)>) -> Self {
        let sum = |of: &dyn Fn(&Thorough) -> usize| per_case.iter().map(|(_, tried)| of(tried)).sum();
        Self {
            seconds_per_kernel: per_kernel.as_secs_f64(),
            cases: per_case.len(),
            orders: sum(&|tried| tried.orders),
            exhausted: sum(&|tried| tried.is_exhausted.into()),
            choices: sum(&|tried| tried.choices),
            all_choices: sum(&|tried| tried.has_all_choices.into()),
            unfinished: sum(&|tried| tried.unfinished),
            per_case,
        }
    }

    /// Returns the lines for the terminal.
    pub(super) fn text(&self) -> String {
        let unfinished = match self.unfinished {
            0 => String::new(),
            orders => format!(
                "unfinished: {} further orders, in which threads update a value for ever while they wait\n",
                grouped(orders as u64)
            ),
        };
        format!(
            "thorough: {} orders of {} cases, up to {} s per kernel; {} cases have no further order worth trying\n\
            weak memory: {} of these orders choose other values for atomic reads; in {} cases these are all values\n{unfinished}",
            grouped(self.orders as u64),
            self.cases,
            self.seconds_per_kernel,
            self.exhausted,
            grouped(self.choices as u64),
            self.all_choices
        )
    }
}

impl KernelTried {
    /// Returns the two cells of the table: the numbers of orders and of choices, and whether these are all there are.
    pub(super) fn cells(tried: Option<&Self>) -> [String; 2] {
        let cell = |count: usize, is_all: bool| match (count, is_all) {
            (0, true) => "none".to_owned(),
            (_, true) => format!("all {}", grouped(count as u64)),
            (_, false) => grouped(count as u64),
        };
        match tried {
            Some(tried) => [cell(tried.orders, tried.exhausted), cell(tried.choices, tried.all_choices)],
            None => [String::new(), String::new()],
        }
    }
}

impl KernelChecks {
    /// Adds to `rows` what a search has tried of each kernel. `kernels` returns the kernels that the case with an index
    /// launches.
    pub fn add_tried<'a>(rows: &mut [Self], tried: &Tried, kernels: impl Fn(usize) -> &'a [&'static str]) {
        for &(case, Thorough { orders, is_exhausted, choices, has_all_choices, unfinished, .. }) in &tried.per_case {
            for row in rows.iter_mut().filter(|row| kernels(case).contains(&row.kernel)) {
                let nothing = KernelTried { orders: 0, exhausted: true, choices: 0, all_choices: true, unfinished: 0 };
                let all = row.thorough.get_or_insert(nothing);
                all.orders += orders;
                all.exhausted &= is_exhausted;
                all.choices += choices;
                all.all_choices &= has_all_choices;
                all.unfinished += unfinished;
            }
        }
    }
}
