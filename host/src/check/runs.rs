//! Cases in a checked simulator, on all cores.

use std::sync::Mutex;
use std::time::Instant;

use rayon::prelude::*;
use simt::{Checks, LaunchLog, LoggedLaunch, Note, NoteKind, Notes, Schedule, Simulator};

use super::progress::Progress;
use workbench::case::{Case, CaseError};

/// How cases are run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What to look for.
    pub checks: Checks,
    /// Under which orders of the threads.
    pub schedules: Vec<Schedule>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { checks: Checks::default(), schedules: Schedule::HOSTILE.to_vec() }
    }
}

/// A case under one schedule.
#[derive(Debug)]
pub struct Run {
    /// The case's place among those that were run.
    pub case: usize,
    /// The schedule.
    pub schedule: Schedule,
    /// The launches that ended without a fault.
    pub launches: Vec<LoggedLaunch>,
    /// What is wrong, if anything.
    pub error: Option<CaseError>,
    /// What is allowed on GPUs and not by CUDA's documentation.
    pub warnings: Vec<Note>,
}

/// Runs every case under every schedule, as many at a time as there are cores: a checked launch keeps one busy. The runs
/// are in the order of the cases, then of the schedules.
pub fn run_cases(cases: &[&Case], settings: &Settings) -> Vec<Run> {
    let tasks: Vec<(usize, Schedule)> =
        (0..cases.len()).flat_map(|case| settings.schedules.iter().map(move |&schedule| (case, schedule))).collect();
    let progress = Mutex::new(Progress::new(tasks.len(), "runs"));
    let run = |&(case, schedule): &(usize, Schedule)| {
        let run = run_case(cases[case], case, schedule, settings.checks);
        let threads = run.launches.iter().map(|launch| launch.stats.threads).sum();
        Progress::add(&progress, threads, "threads");
        run
    };
    tasks.par_iter().map(run).collect()
}

fn run_case(case: &Case, index: usize, schedule: Schedule, checks: Checks) -> Run {
    let log = LaunchLog::new();
    let notes = Notes::new();
    let simulator = Simulator::new().with_checks(checks).with_schedule(schedule).with_log(log.clone());
    let error = case.run(simulator.with_notes(notes.clone())).err();
    let is_warning = |note: &Note| matches!(note.kind, NoteKind::WarpsApart { .. });
    let (warnings, others): (Vec<_>, Vec<_>) = notes.take().into_iter().partition(is_warning);
    others.iter().for_each(|note| eprintln!("{note}"));
    Run { case: index, schedule, launches: log.take(), error, warnings }
}

/// The seconds since `begun`.
pub(super) fn seconds_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64()
}
