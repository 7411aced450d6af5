//! Runs cases in a checked simulator under several orders of their threads, and reports the faults.
//!
//! A [`CheckedCase`] launches kernels and checks their results. [`run_cases`] runs cases on all cores. A [`Report`] has
//! a row per kernel and each fault in full, as text, JSON or [SARIF](reports::sarif).

mod report;
pub mod thorough;

use std::error::Error as _;
use std::fmt;
use std::sync::LazyLock;

use rayon::prelude::*;
use reports::Finding;
use simt::{Checks, LaunchLog, LoggedLaunch, Note, NoteKind, Notes, OlderValue, Schedule, Simulator};

pub(crate) use report::WRONG_RESULT;
pub use report::{Found, KernelChecks, Report, Verdict, notes, warnings};
pub use thorough::{KernelTried, Tried};

/// The kind of a finding that reports a race between streams ([`launch::StreamRace`]).
pub const STREAM_RACE: &str = "race of streams";

/// A case: a few launches of one or several kernels, and a check of their result. `Display` writes its title.
pub trait CheckedCase: fmt::Display + Sync {
    /// The error of a case that failed or could not run.
    type Error: CaseFailure;

    /// Runs the case in `simulator`.
    ///
    /// # Errors
    /// If a launch fails or the result is wrong.
    fn run(&self, simulator: Simulator) -> Result<(), Self::Error>;
}

/// The error of a case.
pub trait CaseFailure: fmt::Display + Send {
    /// Returns the finding that reports the error.
    fn finding(&self) -> Finding;

    /// Returns true if the case ended without a verdict on its kernels. Reasons are a limit of the simulator, too
    /// little memory, or no usable device.
    fn is_unfinished(&self) -> bool;
}

/// Returns true if a launch ended with `error` for a reason outside the kernel: a limit of the simulator, too little
/// memory, or no usable device.
pub fn is_unfinished(error: &launch::Error) -> bool {
    use launch::Error as E;
    match error {
        E::Fault(fault) => fault.kind.is_limit_of_simulator(),
        E::OutOfMemory { .. } | E::OutOfHostMemory { .. } | E::OutOfPageLockedMemory { .. } => true,
        E::NoDevice { .. } | E::NotSupported { .. } | E::Driver { .. } => true,
        _ => false,
    }
}

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

impl Settings {
    /// Returns settings with the checks of [`Checks::STRICT`] if `strict` is true, else with the default checks.
    /// Without `schedules`, cases run under [`Schedule::HOSTILE`].
    pub fn new(strict: bool, schedules: &[Schedule]) -> Self {
        Self {
            checks: if strict { Checks::STRICT } else { Checks::default() },
            schedules: if schedules.is_empty() { Schedule::HOSTILE.to_vec() } else { schedules.to_vec() },
        }
    }
}

/// The outcome of running a case under one schedule.
#[derive(Debug)]
pub struct CaseRun<E> {
    /// The index of the case among the cases that are run.
    pub case: usize,
    /// The schedule under which the case ran.
    pub schedule: Schedule,
    /// The launches of the case that ended without a fault.
    pub launches: Vec<LoggedLaunch>,
    /// The error, if the case failed.
    pub error: Option<E>,
    /// If the case failed, the last atomic accesses that did not see the newest write. PTX's memory model allows this.
    pub older: Vec<OlderValue>,
    /// Notes about behaviour that works on GPUs but that CUDA's documentation does not allow, and about weak memory
    /// that was explored in part only.
    pub warnings: Vec<Note>,
}

/// Receives reports of progress from work on several threads.
pub trait Progress: Sync {
    /// Called once, before the first step, with the number of steps.
    fn begin(&self, steps: usize);

    /// Called after each step, with the amount of work in the step.
    fn step(&self, work: u64);
}

/// Ignores all reports of progress.
impl Progress for () {
    fn begin(&self, _steps: usize) {}

    fn step(&self, _work: u64) {}
}

/// Runs every case under every schedule, one run per core at a time. If no threads can be started, the runs follow each
/// other. Returns the runs ordered by case, then by schedule. `progress` receives the number of simulated threads of
/// each run.
pub fn run_cases<C: CheckedCase>(
    cases: &[&C],
    settings: &Settings,
    progress: &impl Progress,
) -> Vec<CaseRun<C::Error>> {
    let tasks: Vec<(usize, Schedule)> =
        (0..cases.len()).flat_map(|case| settings.schedules.iter().map(move |&schedule| (case, schedule))).collect();
    progress.begin(tasks.len());
    let run = |&(case, schedule): &(usize, Schedule)| {
        let run = run_case(cases[case], case, schedule, settings.checks);
        let threads = run.launches.iter().map(|launch| launch.stats.threads).sum();
        progress.step(threads);
        run
    };
    if can_start_threads() { tasks.par_iter().map(run).collect() } else { tasks.iter().map(run).collect() }
}

/// Returns false if the system refuses to start the threads that share the runs.
fn can_start_threads() -> bool {
    // The error has a source if the system caused it. Otherwise the threads are running already. Only the first attempt
    // returns that error.
    static CAN_START: LazyLock<bool> = LazyLock::new(|| {
        let started = rayon::ThreadPoolBuilder::new().build_global();
        started.err().is_none_or(|error| error.source().is_none())
    });
    *CAN_START
}

fn run_case<C: CheckedCase>(case: &C, index: usize, schedule: Schedule, checks: Checks) -> CaseRun<C::Error> {
    let log = LaunchLog::new();
    let notes = Notes::new();
    let simulator = Simulator::new().with_checks(checks).with_schedule(schedule).with_log(log.clone());
    let simulator = simulator.with_notes(notes.clone());
    let error = case.run(simulator.clone()).err();
    let older = error.as_ref().map_or_else(Vec::new, |_| simulator.older_values());
    let is_reported = |note: &Note| note.kind.is_warning() || matches!(note.kind, NoteKind::WeakMemoryInPart(_));
    let (warnings, others): (Vec<_>, Vec<_>) = notes.take().into_iter().partition(is_reported);
    others.iter().for_each(|note| eprintln!("{note}"));
    CaseRun { case: index, schedule, launches: log.take(), error, older, warnings }
}
