//! `--thorough`: runs cases under many orders, each derived from the accesses seen under earlier orders.

use std::time::Duration;

use launch::Failed;
use rayon::prelude::*;
use simt::{Checks, LaunchLog, Notes, Schedule, Simulator};

use workbench::case::Case;
use workbench::check::{CaseRun, Progress, Tried};

use super::progress::Bar;
/// Searches for an order in which one of `cases` fails. Each case comes with its index. The cases of one kernel share
/// the time `per_kernel`.
pub(super) fn search(cases: &[(usize, &Case)], checks: Checks, per_kernel: Duration) -> (Vec<CaseRun>, Tried) {
    let progress = Bar::new("cases", "orders");
    progress.begin(cases.len());
    let about = |case: &Case| case.kernels().first().copied();
    let search = |&(index, case): &(usize, &Case)| {
        let of_kernel = cases.iter().filter(|(_, other)| about(other) == about(case)).count();
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
        (run, tried)
    };
    let found: Vec<_> = cases.par_iter().map(search).collect();
    let tried = Tried {
        seconds_per_kernel: per_kernel.as_secs_f64(),
        cases: cases.len(),
        orders: found.iter().map(|(_, tried)| tried.orders).sum(),
        exhausted: found.iter().filter(|(_, tried)| tried.is_exhausted).count(),
        choices: found.iter().map(|(_, tried)| tried.choices).sum(),
        all_choices: found.iter().filter(|(_, tried)| tried.has_all_choices).count(),
    };
    (found.into_iter().map(|(run, _)| run).collect(), tried)
}

/// Parses a number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "it must be a number of seconds, such as 10 or 0.5".to_owned())
}
