//! The cases of a program: launches that the commands run on several devices.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use launch::{Device, Simulator};
use reports::Finding;
use simt::{LastWrites, Notes};
use thiserror::Error;

use super::check::check_cases;
use super::expect::Wrong;
use crate::check::{CaseFailure, CheckedCase, Report, STREAM_RACE, Settings, WRONG_RESULT, is_unfinished};
use crate::explainer::Explainer;
use crate::profile::Profile;
use crate::times::Times;

/// The result of a case. Any error can be returned with `?`, also a text.
pub type CaseResult = Result<(), Box<dyn Error + Send + Sync>>;

/// The sizes that `check` runs. They are small, and around the sizes of warps and blocks.
const CHECK_SIZES: [usize; 7] = [0, 1, 31, 33, 255, 257, 3000];
/// The size that `explain` runs: large enough that a last block with less work hardly changes the figures.
const EXPLAIN_SIZE: usize = 1 << 18;
/// The size that `bench` runs, which is larger than the caches of a GPU.
const BENCH_SIZE: usize = 1 << 26;
/// The number of multiprocessors of the device that `check` runs on, the same on every machine.
const MULTIPROCESSORS: u32 = 2;

/// A case: a closure that makes inputs of some size and launches kernels on them. The commands run it on a device that
/// counts, on devices that check, and on a GPU.
pub struct Case {
    pub(super) name: &'static str,
    run: Box<RunCase>,
    check_sizes: Vec<usize>,
    pub(super) explain_size: usize,
    pub(super) bench_size: usize,
}

type RunCase = dyn Fn(&Run<'_>) -> CaseResult + Send + Sync;

impl Case {
    /// Returns the case `name`, which `run` runs. `check` runs it with n = 0, 1, 31, 33, 255, 257 and 3000, `explain`
    /// with 2¹⁸, and `bench` with 2²⁶.
    pub fn new(name: &'static str, run: impl Fn(&Run<'_>) -> CaseResult + Send + Sync + 'static) -> Self {
        Self {
            name,
            run: Box::new(run),
            check_sizes: CHECK_SIZES.to_vec(),
            explain_size: EXPLAIN_SIZE,
            bench_size: BENCH_SIZE,
        }
    }

    /// Sets the sizes that `check` runs.
    pub fn check_sizes(self, sizes: &[usize]) -> Self {
        Self { check_sizes: sizes.to_vec(), ..self }
    }

    /// Sets the size that `explain` runs.
    pub fn explain_size(self, n: usize) -> Self {
        Self { explain_size: n, ..self }
    }

    /// Sets the size that `bench` runs.
    pub fn bench_size(self, n: usize) -> Self {
        Self { bench_size: n, ..self }
    }

    /// Asserts that `check` finds nothing in the case: runs it at each of its sizes under eight hostile orders of the
    /// threads, on devices that look for data races and other faults. It is for tests.
    ///
    /// # Panics
    /// If a kernel has a fault, or the case returns an error. The message is the report of `check`.
    #[track_caller]
    pub fn assert_passes(self) {
        let report = self.report(&Settings::default(), None);
        assert!(report.verdict().is_ok(), "{}", report.text());
    }

    /// Runs the case at each of its sizes that `check` runs, under the schedules of `settings`. Then searches more
    /// orders for the time `thorough` per kernel, unless a kernel has a fault.
    pub fn report(&self, settings: &Settings, thorough: Option<Duration>) -> Report {
        check_cases(&[self], settings, thorough, Vec::new())
    }

    /// Runs the case at the size that `explain` runs, and returns the figures of its kernels and the number of useful
    /// bytes that it passed to [`Run::measure`]. Results are not compared.
    ///
    /// # Errors
    /// The error that the case returns.
    pub fn profile(&self, explainer: &Explainer<'_>) -> Result<(Profile, u64), Box<dyn Error + Send + Sync>> {
        self.profile_at(self.explain_size, explainer)
    }

    /// Profiles like [`profile`](Self::profile), but at the size at which `report`, a report of this case, has its
    /// first fault.
    ///
    /// # Errors
    /// The error that the case returns.
    pub fn profile_of_fault(
        &self,
        report: &Report,
        explainer: &Explainer<'_>,
    ) -> Result<(Profile, u64), Box<dyn Error + Send + Sync>> {
        let first = report.kernels.iter().find_map(|row| row.faults.first());
        let sized = first.and_then(|first| self.sized().find(|sized| sized.to_string() == first.case));
        self.profile_at(sized.map_or(self.explain_size, |sized| sized.n), explainer)
    }

    fn profile_at(&self, n: usize, explainer: &Explainer<'_>) -> Result<(Profile, u64), Box<dyn Error + Send + Sync>> {
        let useful = Cell::new(0);
        let run =
            |device: &Device| (self.run)(&Run { device, n, purpose: Purpose::Count, useful: &useful, writes: None });
        let ((), kernels) = explainer.profile(run)?;
        Ok((Profile::new(explainer.gpu(), kernels), useful.get()))
    }

    /// Runs the case on the GPU `device` at the size that `bench` runs, and returns the times of its launches and the
    /// number of useful bytes.
    ///
    /// # Errors
    /// The error that the case returns, or a text if it calls no [`Run::measure`].
    pub fn times(&self, device: &Device) -> Result<(Times, u64), Box<dyn Error + Send + Sync>> {
        self.run_timed(device, self.bench_size)
    }

    /// Runs the case on `device`, such as a GPU, at each of its sizes that `check` runs, and compares the results.
    ///
    /// # Errors
    /// A text with the size and the error that the case returns there.
    pub fn compare(&self, device: &Device) -> CaseResult {
        self.sized().try_for_each(|sized| {
            self.run_once(device, sized.n, None).map_err(|error| format!("{sized}: {error}").into())
        })
    }

    /// Returns the name of the case.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs the case once, and compares the results. The device may record the last writes of the kernels.
    pub(super) fn run_once(&self, device: &Device, n: usize, writes: Option<&LastWrites>) -> CaseResult {
        (self.run)(&Run { device, n, purpose: Purpose::Compare, useful: &Cell::new(0), writes })
    }

    /// Runs the case on a GPU, and returns the times of its launches and the number of its useful bytes.
    pub(super) fn run_timed(&self, device: &Device, n: usize) -> Result<(Times, u64), Box<dyn Error + Send + Sync>> {
        let (timed, useful) = (RefCell::new(None), Cell::new(0));
        (self.run)(&Run { device, n, purpose: Purpose::Time(&timed), useful: &useful, writes: None })?;
        let times = timed.into_inner();
        let times = times.ok_or_else(|| format!("the case `{}` times nothing: let it call `Run::measure`", self.name));
        Ok((times?, useful.get()))
    }

    /// Returns the case at each size that `check` runs.
    pub(super) fn sized(&self) -> impl Iterator<Item = SizedCase<'_>> {
        self.check_sizes.iter().map(|&n| SizedCase { case: self, n })
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A run of a case on a device.
#[derive(Debug)]
pub struct Run<'a> {
    pub(super) device: &'a Device,
    n: usize,
    pub(super) purpose: Purpose<'a>,
    /// The number of useful bytes.
    useful: &'a Cell<u64>,
    /// The last writes of the kernels, if they are recorded.
    pub(super) writes: Option<&'a LastWrites>,
}

/// The purpose of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose<'a> {
    /// The results are compared.
    Compare,
    /// The accesses are counted.
    Count,
    /// The launches are timed, and their times put here.
    Time(&'a RefCell<Option<Times>>),
}

impl<'a> Run<'a> {
    /// Returns the device to launch on.
    pub fn device(&self) -> &'a Device {
        self.device
    }

    /// Returns the size: a number of elements, or whatever the case takes it for.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns true if results are to be compared: if `check` runs the case in the simulator, or [`Case::compare`] runs
    /// it on any device.
    pub fn is_checked(&self) -> bool {
        matches!(self.purpose, Purpose::Compare)
    }

    /// Returns true if `bench` runs the case. The launches are then repeated, so that results are not to be compared.
    pub fn is_timed(&self) -> bool {
        matches!(self.purpose, Purpose::Time(_))
    }

    /// Calls `launch`, which launches the kernels to measure. `bench` calls it many times and takes the median time.
    /// `useful_bytes` is the number of bytes that any solution must read and write; `bench` divides it by that time.
    ///
    /// # Errors
    /// The error of `launch`, or of the device.
    pub fn measure(
        &self,
        useful_bytes: usize,
        mut launch: impl FnMut() -> Result<(), launch::Error>,
    ) -> Result<(), launch::Error> {
        self.useful.set(useful_bytes as u64);
        match self.purpose {
            Purpose::Compare | Purpose::Count => launch(),
            Purpose::Time(times) => {
                *times.borrow_mut() = Some(Times::measure(self.device, launch)?);
                Ok(())
            }
        }
    }
}

/// A case at a size that `check` runs.
pub(super) struct SizedCase<'a> {
    case: &'a Case,
    n: usize,
}

impl SizedCase<'_> {
    /// Returns the name of the case.
    pub(super) fn name(&self) -> &'static str {
        self.case.name
    }
}

impl fmt::Display for SizedCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, n = {}", self.case.name, self.n)
    }
}

impl CheckedCase for SizedCase<'_> {
    type Error = FailedCase;

    fn run(&self, simulator: Simulator) -> Result<(), FailedCase> {
        let run = |simulator: Simulator, writes: Option<&LastWrites>| {
            let output = Arc::new(Mutex::new(io::sink()));
            let simulator = simulator.with_multiprocessors(MULTIPROCESSORS).with_output(output);
            self.case.run_once(&Device::simulated(simulator), self.n, writes).map_err(FailedCase)
        };
        let (checks, schedule) = (simulator.checks(), simulator.schedule());
        let result = run(simulator, None);
        // Only a wrong result is worth the time of recording the stores. The same order has the same result.
        let (Err(error), Some(checks)) = (&result, checks) else { return result };
        if !error.0.is::<Wrong>() {
            return result;
        }
        let writes = LastWrites::new();
        let again = Simulator::new().with_checks(checks).with_schedule(schedule).with_notes(Notes::new());
        match run(again.with_last_writes(writes.clone()), Some(&writes)) {
            Err(again) if again.0.to_string().starts_with(&error.0.to_string()) => Err(again),
            _ => result,
        }
    }
}

/// The error of a case under `check`.
#[derive(Debug, Error)]
#[error("{0}")]
pub(super) struct FailedCase(Box<dyn Error + Send + Sync>);

impl CaseFailure for FailedCase {
    fn finding(&self) -> Finding {
        match self.0.downcast_ref::<launch::Error>() {
            Some(launch::Error::Fault(fault)) => Finding { message: self.to_string(), ..Finding::of_fault(fault) },
            Some(launch::Error::StreamRace(_)) => Finding::new(STREAM_RACE, self.to_string()),
            _ => match self.0.downcast_ref::<Wrong>() {
                Some(Wrong { store: Some((store, does)), .. }) => {
                    Finding::new(WRONG_RESULT, self.to_string()).at(store, does.clone())
                }
                Some(_) => Finding::new(WRONG_RESULT, self.to_string()),
                None => Finding::new("failure", self.to_string()),
            },
        }
    }

    fn is_unfinished(&self) -> bool {
        self.0.downcast_ref::<launch::Error>().is_some_and(is_unfinished)
    }
}
