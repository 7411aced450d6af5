//! Leaves out each synchronisation, one at a time: the checks have to notice the absence of every one that is needed.
//!
//! A barrier, warp synchronisation or fence whose deletion nothing reports is redundant, or the checks do not see what
//! it is for, or no case needs it. Shuffles and votes are not left out: they carry values. That no kernel relies on
//! them for the order of memory accesses is what a check with [`Checks::shuffles_order_memory`](simt::Checks) off
//! shows.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use reports::Finding;
use serde::Serialize;
use simt::{Notes, Redundant, Schedule, Simulator, SourceLocation, SyncKind, Synchronisations, first_to_notice};
use thiserror::Error;

use super::runs::Settings;
use super::{Progress, finding};
use crate::case::{Case, CaseError};

/// A synchronisation of a kernel, and how it was missed.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Its site.
    pub location: SourceLocation,
    /// Its kind.
    pub kind: SyncKind,
    /// The kernel's family. A function that several kernels call has an entry for each.
    pub kernel: &'static str,
    /// The report that it was left out; `None` if nothing reported it.
    pub reported: Option<Reported>,
}

/// How a synchronisation was missed.
#[derive(Clone, Debug)]
pub struct Reported {
    /// The case that failed.
    pub case: String,
    /// The schedule under which it failed.
    pub schedule: Schedule,
    /// The finding.
    pub finding: Finding,
}

/// File, line and column of a site, by which reports are ordered.
type SiteKey = (String, u32, u32);

/// A case fails with all synchronisations in their places.
#[derive(Debug, Error)]
#[error("with all synchronisations in their places, this fails: {case}")]
pub struct FailingCase {
    case: String,
    source: CaseError,
}

/// What is left out of one kernel, and the cases that reach it.
struct Deletion<'a> {
    location: SourceLocation,
    kind: SyncKind,
    kernel: &'static str,
    cases: Vec<&'a Case>,
}

/// Leaves out each barrier, warp synchronisation and fence that `cases` reach, of each kernel one at a time, and runs
/// those cases under the schedules until one fails. Returns the synchronisations by files and lines.
///
/// # Errors
/// When a case fails as it is.
pub fn mutate(cases: &[Case], settings: &Settings, progress: &impl Progress) -> Result<Vec<Mutation>, FailingCase> {
    let deletions = deletions(cases, settings)?;
    progress.begin(deletions.len());
    let mutation = |deletion: &Deletion<'_>| {
        let reported = deletion.reported(settings);
        progress.step(1);
        let Deletion { location, kind, kernel, .. } = deletion;
        Mutation { location: location.clone(), kind: *kind, kernel, reported }
    };
    Ok(deletions.par_iter().map(mutation).collect())
}

/// Returns what there is to leave out.
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
        // The kernel that the case is about is the one of its kernels that synchronises.
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
    fn reported(&self, settings: &Settings) -> Option<Reported> {
        let run = |simulator: Simulator| {
            // A run that comes to no end notices nothing.
            let error = |case: &Case| case.run(simulator.clone()).err().filter(|error| !error.is_unfinished());
            let fails = |case: &&Case| Some((case.to_string(), error(case)?));
            self.cases.iter().find_map(fails)
        };
        let simulator = Simulator::new().with_checks(settings.checks).with_notes(Notes::new());
        let (schedule, (case, error)) = first_to_notice(&simulator, &settings.schedules, &self.location, run)?;
        Some(Reported { case, schedule, finding: finding::of_error(&error) })
    }
}

impl Mutation {
    /// Returns the hint that nothing misses it, if nothing does.
    pub fn hint(&self) -> Option<Finding> {
        let Self { location, kind, kernel, reported } = self;
        let redundant = Redundant { location: location.clone(), kind: *kind };
        reported.is_none().then(|| Finding::of_redundant(&redundant, kernel))
    }
}

/// Returns the file and line of each synchronisation in files that begin with `folder`, of all kernels together.
pub fn places<'a>(mutations: impl IntoIterator<Item = &'a Mutation>, folder: &str) -> BTreeSet<(String, u32)> {
    let place = |mutation: &Mutation| (mutation.location.file.clone(), mutation.location.line);
    mutations.into_iter().map(place).filter(|(file, _)| file.starts_with(folder)).collect()
}

/// Synchronisations, as they are written to JSON.
#[derive(Serialize, Debug)]
pub struct MutationReport {
    /// The synchronisations by files and lines.
    pub synchronisations: Vec<MutationEntry>,
}

/// A synchronisation of a kernel.
#[derive(Serialize, Debug)]
pub struct MutationEntry {
    /// The source file, from the workspace's root.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// Its kind: "barrier".
    pub kind: &'static str,
    /// The kernel's function.
    pub kernel: &'static str,
    /// The report of its deletion; `None` if nothing reported it.
    pub reported: Option<ReportedBy>,
}

/// The report of a deletion.
#[derive(Serialize, Debug)]
pub struct ReportedBy {
    /// The case that failed.
    pub case: String,
    /// The schedule under which it failed.
    pub schedule: String,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

impl MutationReport {
    /// Returns the report of the mutations that [`mutate`] returns.
    pub fn new(mutations: Vec<Mutation>) -> Self {
        let by = |Reported { case, schedule, finding }| ReportedBy { case, schedule: schedule.to_string(), finding };
        let entry = |Mutation { location, kind, kernel, reported }: Mutation| MutationEntry {
            file: location.file,
            line: location.line,
            column: location.column,
            kind: kind.name(),
            kernel,
            reported: reported.map(by),
        };
        Self { synchronisations: mutations.into_iter().map(entry).collect() }
    }
}
