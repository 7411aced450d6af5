//! Runs cases with one synchronisation left out at a time. The checks must report the absence of each synchronisation
//! that is needed.
//!
//! Some barriers, warp synchronisations and fences can be left out without a report. Such a synchronisation is
//! redundant, or the checks do not see its purpose, or no case needs it. Shuffles and votes are never left out, because
//! they pass values between lanes. A run in which [`Checks::shuffles_order_memory`](simt::Checks) is false shows that
//! no kernel relies on shuffles or votes to order memory accesses. A synchronisation beside a shuffle may be needed
//! only in such a run, so the cases also run so before it counts as not reported.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use reports::Finding;
use serde::Serialize;
use simt::{
    Checks, Notes, Redundant, Schedule, Simulator, SourceLocation, SyncKind, Synchronisations, first_to_notice,
};
use thiserror::Error;

use super::{Progress, Settings, finding};
use crate::case::{Case, CaseError};

/// The key by which reports are sorted: the file, line and column of a site.
type SiteKey = (String, u32, u32);

/// The error of a case that fails with all synchronisations in place.
#[derive(Debug, Error)]
#[error("this case fails with all synchronisations in place: {case}")]
pub struct FailingCase {
    case: String,
    source: CaseError,
}

/// A synchronisation that is left out of one kernel, and the cases that reach it.
struct Deletion<'a> {
    location: SourceLocation,
    kind: SyncKind,
    kernel: &'static str,
    cases: Vec<&'a Case>,
}

/// Leaves out each barrier, warp synchronisation and fence that `cases` reach, one at a time. For each synchronisation,
/// runs the cases that reach it under the schedules until a case fails. Returns the synchronisations sorted by file and
/// line.
///
/// # Errors
/// [`FailingCase`] if a case fails with all synchronisations in place.
pub fn mutate(cases: &[Case], settings: &Settings, progress: &impl Progress) -> Result<MutationReport, FailingCase> {
    let entry = |(Deletion { location, kind, kernel, .. }, reported)| {
        let SourceLocation { file, line, column } = location;
        MutationEntry { file, line, column, kind: kind.name(), kernel, reported }
    };
    Ok(MutationReport { synchronisations: run(cases, settings, progress)?.into_iter().map(entry).collect() })
}

/// Like [`mutate`], but returns a hint for each synchronisation whose absence no check reported.
///
/// # Errors
/// The errors of [`mutate`].
pub fn redundant(cases: &[Case], settings: &Settings, progress: &impl Progress) -> Result<Vec<Finding>, FailingCase> {
    let hint = |(Deletion { location, kind, kernel, .. }, reported): (_, Option<ReportedBy>)| {
        reported.is_none().then(|| Finding::of_redundant(&Redundant { location, kind }, kernel))
    };
    Ok(run(cases, settings, progress)?.into_iter().filter_map(hint).collect())
}

/// Returns each synchronisation that was left out, with the report of its absence if a check reported it.
fn run<'a>(
    cases: &'a [Case],
    settings: &Settings,
    progress: &impl Progress,
) -> Result<Vec<(Deletion<'a>, Option<ReportedBy>)>, FailingCase> {
    let deletions = deletions(cases, settings)?;
    progress.begin(deletions.len());
    let report = |deletion: Deletion<'a>| {
        let reported = deletion.reported(settings).or_else(|| deletion.reported_strictly(settings));
        progress.step(1);
        (deletion, reported)
    };
    Ok(deletions.into_par_iter().map(report).collect())
}

/// Returns the synchronisations that `cases` reach. Each of these synchronisations is left out once.
fn deletions<'a>(cases: &'a [Case], settings: &Settings) -> Result<Vec<Deletion<'a>>, FailingCase> {
    let met_by = |case: &'a Case| {
        let synchronisations = Synchronisations::new();
        let schedule = settings.schedules.first().copied().unwrap_or(Schedule::Natural);
        let simulator = Simulator::new().with_checks(settings.checks).with_schedule(schedule);
        case.run(simulator.with_synchronisations(synchronisations.clone()))
            .map_err(|source| FailingCase { case: case.to_string(), source })?;
        Ok((case, synchronisations.reached()))
    };
    let met: Vec<_> = cases.par_iter().map(met_by).collect::<Result<_, FailingCase>>()?;
    let mut deletions: BTreeMap<(SiteKey, &'static str), Deletion<'a>> = BTreeMap::new();
    for (case, met) in met {
        // Only the first kernel of a case, the tested one, synchronises.
        let Some(&kernel) = case.kernels().first() else { continue };
        for (location, kind) in met.into_iter().filter(|(_, kind)| kind.is_for_order()) {
            let place = (location.file.clone(), location.line, location.column);
            let new = || Deletion { location, kind, kernel, cases: Vec::new() };
            deletions.entry((place, kernel)).or_insert_with(new).cases.push(case);
        }
    }
    Ok(deletions.into_values().collect())
}

impl Deletion<'_> {
    /// Returns the report under strict checks. Returns `None` if a case is at fault under strict checks with all
    /// synchronisations in place.
    fn reported_strictly(&self, settings: &Settings) -> Option<ReportedBy> {
        let strict = Settings { checks: Checks::STRICT, schedules: settings.schedules.clone() };
        let is_clean = |case: &&Case| {
            let simulator = Simulator::new().with_checks(strict.checks);
            strict.schedules.iter().all(|&schedule| case.run(simulator.clone().with_schedule(schedule)).is_ok())
        };
        if !self.cases.iter().all(is_clean) {
            return None;
        }
        self.reported(&strict)
    }

    fn reported(&self, settings: &Settings) -> Option<ReportedBy> {
        let run = |simulator: Simulator| {
            // A run that ended without a verdict counts as no report.
            let error = |case: &Case| case.run(simulator.clone()).err().filter(|error| !error.is_unfinished());
            let fails = |case: &&Case| Some((case.to_string(), error(case)?));
            self.cases.iter().find_map(fails)
        };
        let simulator = Simulator::new().with_checks(settings.checks).with_notes(Notes::new());
        let (schedule, (case, error)) = first_to_notice(&simulator, &settings.schedules, &self.location, run)?;
        Some(ReportedBy { case, schedule: schedule.to_string(), finding: finding::of_error(&error) })
    }
}

/// Selects the entries of `mutations` in files whose path begins with `folder`. Returns the file and line of each such
/// entry.
pub fn places<'a>(mutations: impl IntoIterator<Item = &'a MutationEntry>, folder: &str) -> BTreeSet<(String, u32)> {
    let place = |mutation: &MutationEntry| (mutation.file.clone(), mutation.line);
    mutations.into_iter().map(place).filter(|(file, _)| file.starts_with(folder)).collect()
}

/// A synchronisation whose deletion no case reports: its file, the kernel, and the reason why the kernel does not need
/// it.
#[derive(Clone, Copy, Debug)]
pub struct RedundantSync {
    /// The path of the source file from the root of the workspace.
    pub file: &'static str,
    /// The name of the kernel function.
    pub kernel: &'static str,
    /// The reason why the kernel does not need the synchronisation.
    pub argument: &'static str,
}

/// The synchronisations whose deletion need not be reported. The list should be empty.
pub const REDUNDANT: &[RedundantSync] = &[RedundantSync {
    file: "gpu/src/matmul_warpgroup/wgmma.rs",
    kernel: "matmul_wgmma",
    argument: "a thread that waits for a product waits for the parts of all warps of its warpgroup",
}];

impl RedundantSync {
    /// Returns true if `mutation` is the deletion of a synchronisation of this file and kernel.
    pub fn is_of(&self, mutation: &MutationEntry) -> bool {
        self.file == mutation.file && self.kernel == mutation.kernel
    }
}

/// The report on all synchronisations, in its JSON form.
#[derive(Serialize, Debug)]
pub struct MutationReport {
    /// The synchronisations, sorted by file and line.
    pub synchronisations: Vec<MutationEntry>,
}

/// The report on one synchronisation of a kernel, in its JSON form.
#[derive(Serialize, Debug)]
pub struct MutationEntry {
    /// The path of the source file, relative to the workspace's root.
    pub file: String,
    /// The number of the line, from 1.
    pub line: u32,
    /// The number of the column, from 1.
    pub column: u32,
    /// The kind of the synchronisation, such as "barrier".
    pub kind: &'static str,
    /// The name of the kernel's function.
    pub kernel: &'static str,
    /// The check that reported the missing synchronisation, or `None` if no check did.
    pub reported: Option<ReportedBy>,
}

/// The report of a synchronisation's absence, in its JSON form.
#[derive(Serialize, Debug)]
pub struct ReportedBy {
    /// The title of the case that failed.
    pub case: String,
    /// The schedule under which the case failed.
    pub schedule: String,
    /// The finding that reports the absence.
    #[serde(flatten)]
    pub finding: Finding,
}
