//! `host check`: the kernels in a simulator that looks for data races, reads of what nobody wrote and the like, in
//! hostile orders of their threads.
//!
//! [`workbench::check`] runs the [cases](workbench::cases); here their findings are reported.

use std::time::Duration;

use clap::Args;
use simt::{Checks, Schedule};

use workbench::cases::{catalogue, faults};
use workbench::check::{Settings, mutations, sarif};

use crate::error::UsageError;
use crate::report;

mod progress;
mod report_of_kernels;
mod report_of_mutations;
mod selection;
mod thorough;

use progress::Bar;
use report_of_kernels::{Further, Report};
use selection::Selection;

/// Check kernels for races, barrier faults, reads of what nobody wrote, and wrong results, in the simulator
///
/// Runs small launches of each kernel, made as the commands make them, such that every barrier and branch is reached:
/// each under eight orders of the threads, most of them hostile to some mistake, in a simulator that follows every
/// access. A report names both source lines, both threads, the element, and what would order the two. Exits with 1 if
/// there is one.
#[derive(Args, Debug)]
pub struct CheckOptions {
    /// What to check: kernels (see `host list`), rungs, algorithms, or all; or faults, kernels that show what is found
    #[arg(value_name = "KERNEL", default_value = "all")]
    kernels: Vec<String>,

    /// Order of the threads: natural, last-first, or random, one-ahead, one-behind, every-access or interleaved with a
    /// seed, such as random:7, or held as --thorough names it. Several times for several [default: eight of them]
    #[arg(long = "schedule", value_name = "NAME:SEED")]
    schedules: Vec<Schedule>,

    /// Let shuffles and votes order no memory accesses, which CUDA's documentation does not promise, and warn of warps
    /// that come to a barrier by different calls
    #[arg(long)]
    strict: bool,

    /// Leave out each barrier, warp synchronisation and fence instead, one at a time, and show whether that is reported
    #[arg(long)]
    mutate_barriers: bool,

    /// Try more orders as well, for so many seconds per kernel [10 if it is not said] or until there is none worth
    /// trying: threads are held before atomic accesses by which they were seen to communicate
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10",
        value_parser = thorough::seconds,
        conflicts_with = "mutate_barriers"
    )]
    thorough: Option<Duration>,

    /// Show as well which barriers, warp synchronisations and fences no order misses when they are left out: hints,
    /// which do not change the exit code
    #[arg(long, conflicts_with = "mutate_barriers")]
    redundant: bool,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,

    /// Print the faults as SARIF, for editors and CI
    #[arg(long, conflicts_with_all = ["json", "mutate_barriers"])]
    sarif: bool,
}

impl CheckOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] for a name that nothing has; when something is at fault, or a barrier is not missed.
    pub fn run(self) -> anyhow::Result<()> {
        let cases = catalogue().into_iter().chain(faults()).collect::<Vec<_>>();
        let selection = Selection::new(&self.kernels, &cases).map_err(UsageError::of)?;
        let settings = self.settings();
        if self.mutate_barriers {
            let cases = selection.cases(cases);
            let report = mutations::mutate(&cases, &settings, &Bar::new("deletions", "deletions"))?;
            if self.json { report::print_json(&report) } else { report::print(&report_of_mutations::text(&report)) }?;
            return report_of_mutations::verdict(&report);
        }
        let report =
            Report::new(selection, cases, &settings, Further { redundant: self.redundant, thorough: self.thorough })?;
        match (self.json, self.sarif) {
            (true, _) => report::print_json(&report),
            (_, true) => report::print_json(&sarif("host check", report.findings())),
            _ => report::print(&report.text()),
        }?;
        report.verdict()
    }

    fn settings(&self) -> Settings {
        Settings {
            checks: if self.strict { Checks::STRICT } else { Checks::default() },
            schedules: if self.schedules.is_empty() { Schedule::HOSTILE.to_vec() } else { self.schedules.clone() },
        }
    }
}
