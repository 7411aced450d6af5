//! Runs cases in a checked simulator, on all cores.

use rayon::prelude::*;
use simt::{Checks, LaunchLog, LoggedLaunch, Note, NoteKind, Notes, Schedule, Simulator};

use super::Progress;
use crate::case::{Case, CaseError};

/// The checks and schedules with which cases are run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The checks that the simulator makes.
    pub checks: Checks,
    /// The schedules under which each case runs.
    pub schedules: Vec<Schedule>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { checks: Checks::default(), schedules: Schedule::HOSTILE.to_vec() }
    }
}

/// The outcome of running a case under one schedule.
#[derive(Debug)]
pub struct CaseRun {
    /// The index of the case among the cases that are run.
    pub case: usize,
    /// The schedule under which the case ran.
    pub schedule: Schedule,
    /// The launches of the case that ended without a fault.
    pub launches: Vec<LoggedLaunch>,
    /// The error, if the case failed.
    pub error: Option<CaseError>,
    /// Notes about behaviour that works on GPUs but that CUDA's documentation does not allow.
    pub warnings: Vec<Note>,
}

/// Runs every case under every schedule, on all cores in parallel. Returns the runs ordered by case, then by schedule.
/// `progress` receives the number of simulated threads of each run.
pub fn run_cases(cases: &[&Case], settings: &Settings, progress: &impl Progress) -> Vec<CaseRun> {
    let tasks: Vec<(usize, Schedule)> =
        (0..cases.len()).flat_map(|case| settings.schedules.iter().map(move |&schedule| (case, schedule))).collect();
    progress.begin(tasks.len());
    let run = |&(case, schedule): &(usize, Schedule)| {
        let run = run_case(cases[case], case, schedule, settings.checks);
        let threads = run.launches.iter().map(|launch| launch.stats.threads).sum();
        progress.step(threads);
        run
    };
    tasks.par_iter().map(run).collect()
}

fn run_case(case: &Case, index: usize, schedule: Schedule, checks: Checks) -> CaseRun {
    let log = LaunchLog::new();
    let notes = Notes::new();
    let simulator = Simulator::new().with_checks(checks).with_schedule(schedule).with_log(log.clone());
    let error = case.run(simulator.with_notes(notes.clone())).err();
    let is_warning = |note: &Note| matches!(note.kind, NoteKind::WarpsApart { .. });
    let (warnings, others): (Vec<_>, Vec<_>) = notes.take().into_iter().partition(is_warning);
    others.iter().for_each(|note| eprintln!("{note}"));
    CaseRun { case: index, schedule, launches: log.take(), error, warnings }
}
