//! `host check`: runs the kernels in the simulator under hostile orders of their threads, and reports data races,
//! uninitialised reads and other faults.
//!
//! [`workbench::check`] runs the [cases](workbench::cases); this module reports their findings.

use std::time::Duration;

use clap::Args;
use simt::Schedule;

use workbench::cases::{catalogue, faults};
use workbench::check::{Settings, mutations, sarif, thorough};

use crate::error::UsageError;
use crate::report;

mod progress;
mod report_of_kernels;
mod report_of_mutations;
mod selection;

use progress::Bar;
use report_of_kernels::Further;
use selection::Selection;

/// Check kernels in the simulator for races, barrier faults, uninitialised reads and wrong results
///
/// Runs small launches of each kernel that reach all its barriers and branches, each under eight orders of the threads.
/// Most of these orders are chosen to expose one kind of mistake. The simulator follows every memory access. A report
/// names both source lines, both threads, the element, and what would order the two accesses.
///
/// Exit code: 0 if nothing is found, 1 if something is, 2 if the command line is wrong.
#[derive(Args, Debug)]
pub struct CheckOptions {
    /// What to check: kernels (see `list ALGORITHM`), rungs, algorithms, or all; faults selects kernels that are
    /// wrong on purpose
    #[arg(value_name = "KERNEL", default_value = "all")]
    kernels: Vec<String>,

    /// Order of the threads: natural or last-first; random, one-ahead, one-behind, every-access, interleaved or
    /// blocks-in-turn with a seed, such as random:7; or an order that --thorough printed. It may be given several times
    /// [default: eight orders]
    #[arg(long = "schedule", value_name = "NAME:SEED")]
    schedules: Vec<Schedule>,

    /// Assume that shuffles and votes order no memory accesses, and that a fence before a barrier releases no accesses
    /// of other threads for other blocks, since CUDA's documentation does not promise it; and warn of warps that reach
    /// a barrier by different calls
    #[arg(long)]
    strict: bool,

    /// Instead of the check, delete each barrier, warp synchronisation and fence, one at a time, and show whether the
    /// checker reports the deletion
    #[arg(long)]
    mutate_barriers: bool,

    /// Also search more orders, for up to SECONDS per kernel (10 without a value): the search delays threads before the
    /// atomic accesses by which they communicate
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = thorough::DEFAULT_SECONDS,
        value_parser = thorough::parse_seconds,
        conflicts_with = "mutate_barriers"
    )]
    thorough: Option<Duration>,

    /// Also list the barriers, warp synchronisations and fences whose deletion is reported in no order. These hints do
    /// not change the exit code
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
    /// [`UsageError`] for an unknown name; another error if a kernel has a fault, or the deletion of a synchronisation
    /// is not reported.
    pub fn run(self) -> anyhow::Result<()> {
        let cases = catalogue().into_iter().chain(faults()).collect::<Vec<_>>();
        let selection = Selection::new(&self.kernels, &cases).map_err(UsageError::of)?;
        let settings = Settings::new(self.strict, &self.schedules);
        if self.mutate_barriers || self.thorough.is_some() {
            program::threads::start(None)?;
        }
        if self.mutate_barriers {
            let cases = selection.cases(cases);
            let report = mutations::mutate(&cases, &settings, &Bar::new("deletions", "deletions"))?;
            if self.json { report::print_json(&report) } else { report::print(&report_of_mutations::text(&report)) }?;
            return report_of_mutations::verdict(&report);
        }
        let further = Further { redundant: self.redundant, thorough: self.thorough };
        let report = report_of_kernels::report(selection, cases, &settings, further)?;
        match (self.json, self.sarif) {
            (true, _) => report::print_json(&report),
            (_, true) => report::print_json(&sarif("host check", report.findings())),
            _ => report::print(&report.text()),
        }?;
        Ok(report.verdict()?)
    }
}
