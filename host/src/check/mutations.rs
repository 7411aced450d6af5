//! Leaves out each synchronisation, one at a time: the checks have to notice the absence of every one that is needed.
//!
//! A barrier, warp synchronisation or fence whose deletion nothing reports is redundant, or the checks do not see what it
//! is for, or no case needs it. Shuffles and votes are not left out: they carry values. That no kernel relies on them for
//! the order of memory accesses is what a check with [`Checks::shuffles_order_memory`](simt::Checks) off shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use anyhow::{Context, Result};
use rayon::prelude::*;
use reports::Finding;
use simt::{Notes, Redundant, Schedule, Simulator, SourceLocation, SyncKind, Synchronisations, first_to_notice};

use super::finding;
use super::progress::Progress;
use super::runs::Settings;
use workbench::case::Case;

/// A synchronisation of a kernel, and whether it is missed.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Where it stands.
    pub location: SourceLocation,
    /// What it is.
    pub kind: SyncKind,
    /// The kernel's family. A function that several kernels call has an entry for each.
    pub kernel: &'static str,
    /// What reported that it was left out; `None` if nothing did.
    pub reported: Option<Reported>,
}

/// How a synchronisation was missed.
#[derive(Clone, Debug)]
pub struct Reported {
    /// The case that failed.
    pub case: String,
    /// Under which schedule.
    pub schedule: Schedule,
    /// With what.
    pub finding: Finding,
}

/// A place of the source, as it is ordered in a report.
type Place = (String, u32, u32);

/// What is left out of one kernel, and the cases that reach it.
struct Deletion<'a> {
    location: SourceLocation,
    kind: SyncKind,
    kernel: &'static str,
    cases: Vec<&'a Case>,
}

/// Leaves out each barrier, warp synchronisation and fence that `cases` reach, of each kernel one at a time, and runs
/// those cases under the schedules until one fails. By files and lines.
///
/// # Errors
/// When a case fails as it is.
pub fn mutate(cases: &[Case], settings: &Settings) -> Result<Vec<Mutation>> {
    let deletions = deletions(cases, settings)?;
    let progress = Mutex::new(Progress::new(deletions.len(), "deletions"));
    let mutation = |deletion: &Deletion<'_>| {
        let reported = deletion.reported(settings);
        Progress::add(&progress, 1, "deletions");
        let Deletion { location, kind, kernel, .. } = deletion;
        Mutation { location: location.clone(), kind: *kind, kernel, reported }
    };
    Ok(deletions.par_iter().map(mutation).collect())
}

/// What there is to leave out.
fn deletions<'a>(cases: &'a [Case], settings: &Settings) -> Result<Vec<Deletion<'a>>> {
    let met_by = |case: &'a Case| {
        let synchronisations = Synchronisations::new();
        let schedule = settings.schedules.first().copied().unwrap_or(Schedule::Natural);
        let simulator = Simulator::new().with_checks(settings.checks).with_schedule(schedule);
        case.run(simulator.with_synchronisations(synchronisations.clone()))
            .with_context(|| format!("with all synchronisations in their places, this fails: {case}"))?;
        Ok((case, synchronisations.met()))
    };
    let met: Vec<_> = cases.par_iter().map(met_by).collect::<Result<_>>()?;
    let mut deletions: BTreeMap<(Place, &'static str), Deletion<'a>> = BTreeMap::new();
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
    /// The hint that nothing misses it, if nothing does.
    pub(super) fn hint(&self) -> Option<Finding> {
        let Self { location, kind, kernel, reported } = self;
        let redundant = Redundant { location: location.clone(), kind: *kind };
        reported.is_none().then(|| Finding::of_redundant(&redundant, kernel))
    }
}

/// The places in files that begin with `folder`, of all kernels together: file and line.
pub fn places<'a>(mutations: impl IntoIterator<Item = &'a Mutation>, folder: &str) -> BTreeSet<(String, u32)> {
    let place = |mutation: &Mutation| (mutation.location.file.clone(), mutation.location.line);
    mutations.into_iter().map(place).filter(|(file, _)| file.starts_with(folder)).collect()
}
