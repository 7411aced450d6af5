//! The cases of a program: launches that the commands run on several devices.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use launch::{Buffer, Device, DeviceCopy, Simulator};
use reports::Finding;
use thiserror::Error;

use super::check::check_cases;
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

    /// Profiles like [`profile`](Self::profile), but at the largest size that `check` runs. It is for kernels with a
    /// fault, which may do far more than they should.
    ///
    /// # Errors
    /// The error that the case returns.
    pub fn profile_small(&self, explainer: &Explainer<'_>) -> Result<(Profile, u64), Box<dyn Error + Send + Sync>> {
        self.profile_at(self.check_sizes.iter().copied().max().unwrap_or(self.explain_size), explainer)
    }

    fn profile_at(&self, n: usize, explainer: &Explainer<'_>) -> Result<(Profile, u64), Box<dyn Error + Send + Sync>> {
        let useful = Cell::new(0);
        let run = |device: &Device| (self.run)(&Run { device, n, purpose: Purpose::Count, useful: &useful });
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

    /// Returns the name of the case.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs the case once on a device that counts or checks.
    pub(super) fn run_once(&self, device: &Device, n: usize) -> CaseResult {
        (self.run)(&Run { device, n, purpose: Purpose::Compare, useful: &Cell::new(0) })
    }

    /// Runs the case on a GPU, and returns the times of its launches and the number of its useful bytes.
    pub(super) fn run_timed(&self, device: &Device, n: usize) -> Result<(Times, u64), Box<dyn Error + Send + Sync>> {
        let (timed, useful) = (RefCell::new(None), Cell::new(0));
        (self.run)(&Run { device, n, purpose: Purpose::Time(&timed), useful: &useful })?;
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
    device: &'a Device,
    n: usize,
    purpose: Purpose<'a>,
    /// The number of useful bytes.
    useful: &'a Cell<u64>,
}

/// The purpose of a run.
#[derive(Clone, Copy, Debug)]
enum Purpose<'a> {
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

    /// Returns true if `check` runs the case. The device then looks for races, and results are to be compared.
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

    /// Compares `buffer`, called `name` in messages, with the elements that `expected` returns. Does nothing if the run
    /// is [timed](Self::is_timed) or part of [`Case::profile`].
    ///
    /// # Errors
    /// An error that names the first wrong element, which `check` reports as a wrong result; or the error of the
    /// device.
    pub fn expect<T: DeviceCopy + PartialEq + fmt::Debug>(
        &self,
        name: &str,
        buffer: &Buffer<T>,
        expected: impl FnOnce() -> Vec<T>,
    ) -> CaseResult {
        self.expect_or_explain(name, buffer, expected, &[])
    }

    /// Compares like [`expect`](Self::expect). Each of `mistakes` is a text and the elements that a common mistake
    /// computes: if the buffer has just these, the error ends with the text.
    ///
    /// # Errors
    /// As for [`expect`](Self::expect).
    pub fn expect_or_explain<T: DeviceCopy + PartialEq + fmt::Debug>(
        &self,
        name: &str,
        buffer: &Buffer<T>,
        expected: impl FnOnce() -> Vec<T>,
        mistakes: &[(&str, Vec<T>)],
    ) -> CaseResult {
        if !matches!(self.purpose, Purpose::Compare) {
            return Ok(());
        }
        let (found, expected) = (buffer.download()?, expected());
        if found.len() != expected.len() {
            let (found, expected) = (found.len(), expected.len());
            return Err(Wrong(format!("`{name}` has {found} elements instead of {expected}")).into());
        }
        let Some(text) = self.difference(name, &found, &expected) else { return Ok(()) };
        let mistake = mistakes.iter().find(|(_, elements)| *elements == found);
        Err(Wrong(text + &mistake.map_or_else(String::new, |(why, _)| format!(": {why}"))).into())
    }

    /// Returns a text on the first element that differs and on the number of such elements, or `None` if all are equal.
    fn difference<T: DeviceCopy + PartialEq + fmt::Debug>(
        &self,
        name: &str,
        found: &[T],
        expected: &[T],
    ) -> Option<String> {
        let mut wrong = (0..found.len()).filter(|&i| found[i] != expected[i]);
        let i = wrong.next()?;
        let mut places = (0..found.len()).filter(|&place| expected[place] == found[i]);
        let why = match (places.next(), places.next()) {
            _ if self.is_unwritten(&found[i]) => ", as memory that nothing has written,".to_owned(),
            (Some(place), None) => format!(", which is the expected value of {name}[{place}],"),
            _ => String::new(),
        };
        let of_all = match wrong.count() + 1 {
            1 => String::new(),
            count => format!("; {count} of {} elements are wrong", found.len()),
        };
        Some(format!("{name}[{i}] is {:?}{why} instead of {:?}{of_all}", found[i], expected[i]))
    }

    /// Returns true if `found` has the bits of memory that nothing has written.
    fn is_unwritten<T: DeviceCopy + PartialEq>(&self, found: &T) -> bool {
        let unwritten = self.device.alloc::<T>(1).and_then(|unwritten| unwritten.download());
        unwritten.is_ok_and(|unwritten| unwritten.first() == Some(found))
    }
}

/// The error of a case whose result differs from the expected one.
#[derive(Debug, Error)]
#[error("the result is wrong: {0}")]
struct Wrong(String);

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
        let simulator = simulator.with_multiprocessors(MULTIPROCESSORS).with_output(Arc::new(Mutex::new(io::sink())));
        self.case.run_once(&Device::simulated(simulator), self.n).map_err(FailedCase)
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
            _ if self.0.is::<Wrong>() => Finding::new(WRONG_RESULT, self.to_string()),
            _ => Finding::new("failure", self.to_string()),
        }
    }

    fn is_unfinished(&self) -> bool {
        self.0.downcast_ref::<launch::Error>().is_some_and(is_unfinished)
    }
}
