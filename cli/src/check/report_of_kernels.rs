//! The report of a check: a line per kernel, and each fault in full.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use reports::Finding;
use serde::Serialize;
use simt::Schedule;

use super::progress::Bar;
use super::selection::{Family, Selection};
use super::thorough::{self, Tried};
use crate::report::{self, Seconds};
use workbench::case::Case;
use workbench::check::{self, CaseRun, Settings, mutations, run_cases};

/// The report of a check.
#[derive(Serialize, Debug)]
pub(super) struct Report {
    schedules: Vec<String>,
    strict: bool,
    seconds: f64,
    kernels: Vec<KernelChecks>,
    /// The extent of the search of `--thorough`, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    thorough: Option<Tried>,
    /// The hints of `--redundant`, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    redundant: Option<Vec<Finding>>,
    /// The warnings. A warning is not a fault. It says that the kernel relies on behaviour that GPUs have, but that
    /// CUDA's documentation does not promise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Finding>,
}

/// The optional work that a check does after it has run the cases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Further {
    /// True to list the synchronisations whose deletion is never reported. Only cases without faults are searched.
    pub(super) redundant: bool,
    /// The maximum time per kernel to search more orders of cases without faults; `None` for no search.
    pub(super) thorough: Option<Duration>,
}

/// The checks of one kernel.
#[derive(Serialize, Debug)]
struct KernelChecks {
    kernel: &'static str,
    algorithm: &'static str,
    cases: usize,
    launches: usize,
    threads: u64,
    /// The time of all launches together on one core, in seconds.
    seconds: f64,
    faults: Vec<Found>,
    /// Cases that could not be finished, for reasons outside the kernel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfinished: Vec<Found>,
}

/// A fault, or the reason why a case could not be finished.
#[derive(Serialize, Debug)]
struct Found {
    /// The name of the case.
    case: String,
    /// The schedules under which the fault was found.
    schedules: Vec<String>,
    #[serde(flatten)]
    finding: Finding,
}

impl Report {
    /// Runs the selected cases, and then the optional work of `further`.
    ///
    /// # Errors
    /// If a case that had no fault before fails during the further work.
    pub(super) fn new(
        selection: Selection,
        cases: Vec<Case>,
        settings: &Settings,
        further: Further,
    ) -> anyhow::Result<Self> {
        let begun = Instant::now();
        let families = selection.kernels.clone();
        let cases = selection.cases(cases);
        let mut runs = run_cases(&cases.iter().collect::<Vec<_>>(), settings, &Bar::new("runs", "threads"));
        let is_right = |runs: &[CaseRun], case: usize| !runs.iter().any(|run| run.case == case && run.error.is_some());
        let thorough = further.thorough.map(|time| {
            let right: Vec<_> = cases.iter().enumerate().filter(|&(case, _)| is_right(&runs, case)).collect();
            let (found, tried) = thorough::search(&right, settings.checks, time);
            runs.extend(found);
            tried
        });
        let (kernels, warnings) = (rows(&families, &cases, &runs), warnings(&runs));
        let right = cases.into_iter().enumerate().filter(|&(case, _)| is_right(&runs, case)).map(|(_, case)| case);
        let redundant = further.redundant.then(|| redundant(&right.collect::<Vec<_>>(), settings)).transpose()?;
        Ok(Self {
            schedules: settings.schedules.iter().map(Schedule::to_string).collect(),
            strict: !settings.checks.shuffles_order_memory,
            seconds: begun.elapsed().as_secs_f64(),
            kernels,
            thorough,
            redundant,
            warnings,
        })
    }

    fn at_fault(&self) -> usize {
        self.kernels.iter().filter(|row| !row.faults.is_empty()).count()
    }

    fn unfinished(&self) -> usize {
        self.kernels.iter().filter(|row| !row.unfinished.is_empty()).count()
    }

    /// Returns all faults, unfinished cases, warnings and hints, each with its level in SARIF.
    pub(super) fn findings(&self) -> impl Iterator<Item = (&'static str, &Finding)> {
        let faults = self.kernels.iter().flat_map(|row| &row.faults).map(|found| ("error", &found.finding));
        let unfinished = self.kernels.iter().flat_map(|row| &row.unfinished).map(|found| &found.finding);
        let warnings = unfinished.chain(&self.warnings).map(|warning| ("warning", warning));
        faults.chain(warnings).chain(self.redundant.iter().flatten().map(|hint| ("note", hint)))
    }

    /// Fails if a kernel has a fault or could not be checked to the end.
    pub(super) fn verdict(&self) -> anyhow::Result<()> {
        let all = self.kernels.len();
        let at_fault = match self.at_fault() {
            0 => None,
            1 => Some(format!("1 of {all} kernels is at fault")),
            many => Some(format!("{many} of {all} kernels are at fault")),
        };
        let first = self.kernels.iter().find_map(|row| row.unfinished.first());
        let unfinished = first.map(|first| {
            let (many, why) = (self.unfinished(), &first.finding.message);
            format!("the check of {many} of {all} kernels could not be finished: {why}")
        });
        match (at_fault, unfinished) {
            (None, None) => Ok(()),
            (Some(text), None) | (None, Some(text)) => Err(anyhow!(text)),
            (Some(at_fault), Some(unfinished)) => Err(anyhow!("{at_fault}; {unfinished}")),
        }
    }

    pub(super) fn text(&self) -> String {
        let row = |row: &KernelChecks| {
            [
                row.kernel.to_owned(),
                row.cases.to_string(),
                row.launches.to_string(),
                report::grouped(row.threads),
                Seconds(row.seconds).to_string(),
                match row.faults.len() {
                    0 if !row.unfinished.is_empty() => "not finished".to_owned(),
                    0 => "ok".to_owned(),
                    1 => "1 fault".to_owned(),
                    many => format!("{many} faults"),
                },
            ]
        };
        let heading = ["kernel", "cases", "launches", "threads", "time", "result"];
        let rows = self.kernels.iter().map(row);
        let orders = match self.schedules.len() {
            1 => "order of the threads",
            _ => "orders of the threads",
        };
        let mut text = format!("check in {} {orders}: {}\n", self.schedules.len(), self.schedules.join(", "));
        if self.strict {
            text += "strict: shuffles and votes order no memory accesses\n";
        }
        text += &self.thorough.as_ref().map_or_else(String::new, Tried::text);
        text += &format!("{}\n", report::table(heading, rows));
        for row in &self.kernels {
            let all = row.faults.iter().map(|found| ("", found));
            for (not, Found { case, schedules, finding }) in
                all.chain(row.unfinished.iter().map(|found| ("check not finished: ", found)))
            {
                text += &format!("\n{}: {not}{}\n", row.kernel, finding.name);
                let is_of_these = schedules.iter().all(|schedule| self.schedules.contains(schedule));
                let found = match &schedules[..] {
                    [schedule] if !is_of_these => format!("in a further order; repeat it with --schedule {schedule}"),
                    _ => {
                        format!("in {} of {} orders: {}", schedules.len(), self.schedules.len(), schedules.join(", "))
                    }
                };
                text += &format!("  {case}; found {found}\n");
                text += &finding.text("  ");
            }
        }
        let full = |finding: &Finding| {
            format!("\n{}: {}\n{}", finding.kernel.unwrap_or_default(), finding.name, finding.text("  "))
        };
        text.extend(self.warnings.iter().map(full));
        if let Some(redundant) = &self.redundant {
            text += &match redundant.len() {
                0 => "\nhints: none; if any one synchronisation is deleted, the check reports it\n".to_owned(),
                many => format!("\nhints: synchronisations whose deletion no order reports: {many}\n"),
            };
            text.extend(redundant.iter().map(full));
        }
        let summary = match (self.at_fault(), self.unfinished()) {
            (0, 0) => "nothing found".to_owned(),
            (faulty, 0) => format!("{faulty} at fault"),
            (faulty, unfinished) => format!("{faulty} at fault, {unfinished} not checked to the end"),
        };
        text + &format!("\n{} kernels: {summary}, in {}\n", self.kernels.len(), Seconds(self.seconds))
    }
}

fn redundant(cases: &[Case], settings: &Settings) -> anyhow::Result<Vec<Finding>> {
    Ok(mutations::redundant(cases, settings, &Bar::new("deletions", "deletions"))?)
}

/// Returns the warnings of the runs, each once.
fn warnings(runs: &[CaseRun]) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for warning in runs.iter().flat_map(|run| &run.warnings).map(Finding::of_note) {
        if !all.iter().any(|other| other.kernel == warning.kernel && other.is_like(&warning)) {
            all.push(warning);
        }
    }
    all
}

fn rows(families: &[Family], cases: &[Case], runs: &[CaseRun]) -> Vec<KernelChecks> {
    let mut rows: Vec<KernelChecks> = Family::all()
        .into_iter()
        .map(|Family { name, algorithm }| KernelChecks {
            kernel: name,
            algorithm,
            cases: cases.iter().filter(|case| case.kernels().contains(&name)).count(),
            launches: 0,
            threads: 0,
            seconds: 0.0,
            faults: Vec::new(),
            unfinished: Vec::new(),
        })
        .collect();
    for run in runs {
        let case = &cases[run.case];
        for launch in &run.launches {
            if let Some(row) = rows.iter_mut().find(|row| row.kernel == launch.kernel.family) {
                row.launches += 1;
                row.threads += launch.stats.threads;
                row.seconds += launch.duration.as_secs_f64();
            }
        }
        if let Some(error) = &run.error {
            let finding = check::of_error(error);
            // A wrong result counts against the first kernel of the case.
            let culprit = check::family(&finding).or(case.kernels().first().copied());
            if let Some(row) = rows.iter_mut().find(|row| Some(row.kernel) == culprit) {
                let found = if error.is_unfinished() { &mut row.unfinished } else { &mut row.faults };
                add(found, case, run.schedule, finding);
            }
        }
    }
    let is_asked_for = |row: &KernelChecks| families.iter().any(|family| family.name == row.kernel);
    rows.retain(|row| is_asked_for(row) || !row.faults.is_empty() || !row.unfinished.is_empty());
    rows
}

/// Adds `finding` to `all`. If `all` has a similar finding, adds only the schedule to it.
fn add(all: &mut Vec<Found>, case: &Case, schedule: Schedule, finding: Finding) {
    let schedule = schedule.to_string();
    match all.iter_mut().find(|found| found.finding.is_like(&finding)) {
        Some(found) if found.schedules.contains(&schedule) => {}
        Some(found) => found.schedules.push(schedule),
        None => all.push(Found { case: case.to_string(), schedules: vec![schedule], finding }),
    }
}

#[cfg(test)]
mod tests;
