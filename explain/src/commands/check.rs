//! `check`: runs the cases under hostile orders of their threads.

use std::time::{Duration, Instant};

use launch::KernelInfo;
use reports::Finding;

use super::arguments::Names;
use super::case::{Case, SizedCase};
use super::{Commands, Refusal};
use crate::assembled::distinct;
use crate::check::{CaseFailure, KernelChecks, Report, Settings, notes, run_cases, thorough, warnings};

impl Commands {
    /// Runs the cases called `names`, or all without names, and reports on the kernels that they launch. Then searches
    /// more orders of the cases without faults, for the time `thorough` per kernel.
    pub(super) fn check(
        &self,
        names: &Names,
        settings: &Settings,
        thorough: Option<Duration>,
    ) -> Result<Report, Refusal> {
        let entries = if names.is_empty() { self.entries() } else { Vec::new() };
        Ok(check_cases(&self.chosen(names)?, settings, thorough, entries))
    }

    /// Returns the names of all kernels in the program's PTX.
    fn entries(&self) -> Vec<String> {
        let mut entries = Vec::new();
        for image in distinct(self.ptx).filter_map(|module| module.images.first()) {
            let text = image.text();
            let names = text.split(".entry ").skip(1).filter_map(|rest| rest.split(['(', '\n', ' ']).next());
            entries.extend(names.map(str::to_owned));
        }
        entries
    }
}

/// Runs `cases`, and reports on the kernels that they launch. Then searches more orders of the cases without faults,
/// for the time `thorough` per kernel. The report lists those of the kernels `entries` that no case launches.
pub(super) fn check_cases(
    cases: &[&Case],
    settings: &Settings,
    thorough: Option<Duration>,
    entries: Vec<String>,
) -> Report {
    let begun = Instant::now();
    let cases: Vec<SizedCase> = cases.iter().copied().flat_map(Case::sized).collect();
    let mut runs = run_cases(&cases.iter().collect::<Vec<_>>(), settings, &());
    let mut launched: Vec<&'static KernelInfo> = Vec::new();
    // The names of the kernels of each case. A kernel whose launches all end with a fault is known by its name in
    // the PTX alone.
    let mut kernels: Vec<Vec<&'static str>> = vec![Vec::new(); cases.len()];
    for run in &runs {
        for kernel in run.launches.iter().map(|launch| launch.kernel) {
            add_new(&mut launched, kernel);
            add_new(&mut kernels[run.case], kernel.family);
        }
    }
    let thorough = thorough.map(|time| {
        let is_right = |case: usize| !runs.iter().any(|run| run.case == case && run.error.is_some());
        let right: Vec<_> = cases.iter().enumerate().filter(|&(case, _)| is_right(case)).collect();
        let kernel = |case: usize| kernels[case].first().copied();
        let (found, tried) = thorough::search(&right, settings.checks, time, kernel, &());
        runs.extend(found);
        tried
    });
    // A wrong result counts against the first kernel of the case, or against the case itself if it has none.
    let first = kernels.iter().zip(&cases).map(|(kernels, case)| kernels.first().copied().unwrap_or(case.name()));
    let first: Vec<&'static str> = first.collect();
    let culprit = |case: usize, finding: &Finding| {
        let family = |entry| launched.iter().find(|kernel| kernel.name == entry).map_or(entry, |kernel| kernel.family);
        finding.kernel.map_or(first[case], family)
    };
    for run in &runs {
        if let Some(error) = &run.error {
            add_new(&mut kernels[run.case], culprit(run.case, &error.finding()));
        }
    }
    let mut rows: Vec<KernelChecks> = Vec::new();
    for &kernel in kernels.iter().flatten() {
        match rows.iter_mut().find(|row| row.kernel == kernel) {
            Some(row) => row.cases += 1,
            None => {
                let module = launched.iter().find(|info| info.family == kernel).map_or("", |info| info.module);
                rows.push(KernelChecks::new(kernel, module, 1));
            }
        }
    }
    KernelChecks::add_runs(
        &mut rows,
        &runs,
        |case| cases[case].to_string(),
        |case, finding| Some(culprit(case, finding)),
    );
    if let Some(tried) = &thorough {
        KernelChecks::add_tried(&mut rows, tried, |case| &kernels[case]);
    }
    let is_checked = |entry: &String| {
        launched.iter().any(|kernel| kernel.name == entry) || rows.iter().any(|row| row.kernel == entry)
    };
    let unchecked = entries.into_iter().filter(|entry| !is_checked(entry)).collect();
    let seconds = begun.elapsed().as_secs_f64();
    let (warnings, notes) = (warnings(&runs), notes(&runs));
    Report { seconds, thorough, warnings, notes, unchecked, ..Report::new(settings, rows) }
}

/// Adds `value` to `all` unless `all` has it.
fn add_new<T: PartialEq>(all: &mut Vec<T>, value: T) {
    if !all.contains(&value) {
        all.push(value);
    }
}
