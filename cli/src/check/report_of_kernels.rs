//! Runs the selected cases and makes the report.

use std::time::{Duration, Instant};

use workbench::case::Case;
use workbench::check::{
    self, CaseRun, Finding, KernelChecks, Report, Settings, mutations, notes, run_cases, thorough, warnings,
};

use super::progress::Bar;
use super::selection::{Family, Selection};

/// The optional work that a check does after it has run the cases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Further {
    /// True to list the synchronisations whose deletion is never reported. Only cases without faults are searched.
    pub(super) redundant: bool,
    /// The maximum time per kernel to search more orders of cases without faults; `None` for no search.
    pub(super) thorough: Option<Duration>,
}

/// Runs the selected cases, and then the optional work of `further`.
///
/// # Errors
/// If a case that had no fault before fails during the further work.
pub(super) fn report(
    selection: Selection,
    cases: Vec<Case>,
    settings: &Settings,
    further: Further,
) -> anyhow::Result<Report> {
    let begun = Instant::now();
    let families = selection.kernels.clone();
    let cases = selection.cases(cases);
    let mut runs = run_cases(&cases.iter().collect::<Vec<_>>(), settings, &Bar::new("runs", "threads"));
    let is_right = |runs: &[CaseRun], case: usize| !runs.iter().any(|run| run.case == case && run.error.is_some());
    let thorough = further.thorough.map(|time| {
        let right: Vec<_> = cases.iter().enumerate().filter(|&(case, _)| is_right(&runs, case)).collect();
        let kernel = |case: usize| cases[case].kernels().first().copied();
        let progress = Bar::new("cases", "orders");
        let (found, tried) = thorough::search(&right, settings.checks, time, kernel, &progress);
        runs.extend(found);
        tried
    });
    let (mut kernels, warnings, notes) = (rows(&families, &cases, &runs), warnings(&runs), notes(&runs));
    if let Some(tried) = &thorough {
        KernelChecks::add_tried(&mut kernels, tried, |case| cases[case].kernels());
    }
    let right = cases.into_iter().enumerate().filter(|&(case, _)| is_right(&runs, case)).map(|(_, case)| case);
    let redundant = further.redundant.then(|| redundant(&right.collect::<Vec<_>>(), settings)).transpose()?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Report { seconds, thorough, redundant, warnings, notes, ..Report::new(settings, kernels) })
}

fn redundant(cases: &[Case], settings: &Settings) -> anyhow::Result<Vec<Finding>> {
    Ok(mutations::redundant(cases, settings, &Bar::new("deletions", "deletions"))?)
}

fn rows(families: &[Family], cases: &[Case], runs: &[CaseRun]) -> Vec<KernelChecks> {
    let row = |Family { name, algorithm }| {
        KernelChecks::new(name, algorithm, cases.iter().filter(|case| case.kernels().contains(&name)).count())
    };
    let mut rows: Vec<KernelChecks> = Family::all().into_iter().map(row).collect();
    // A wrong result counts against the first kernel of the case.
    let culprit = |case: usize, finding: &Finding| check::family(finding).or(cases[case].kernels().first().copied());
    KernelChecks::add_runs(&mut rows, runs, |case| cases[case].to_string(), culprit);
    // Kernels of several modules may have the same name.
    let is_launched = |row: &KernelChecks| {
        row.launches > 0
            || !Family::all().iter().any(|family| family.name == row.kernel && family.algorithm != row.algorithm)
    };
    let is_asked_for = |row: &KernelChecks| families.iter().any(|family| family.name == row.kernel) && is_launched(row);
    rows.retain(|row| is_asked_for(row) || !row.faults.is_empty() || !row.unfinished.is_empty());
    rows
}

#[cfg(test)]
mod tests;
