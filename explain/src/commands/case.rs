//! The cases of a program: launches that the commands run on several devices.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};

use launch::{Buffer, Device, DeviceCopy, Simulator};
use reports::Finding;
use thiserror::Error;

use super::Commands;
use crate::check::{CaseFailure, CheckedCase, Settings, is_unfinished};
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
        match Commands::new(&[]).case(self).check(&Vec::new(), &Settings::default(), None) {
            Ok(report) => assert!(report.verdict().is_ok(), "{}", report.text()),
            Err(refusal) => unreachable!("no case is named: {refusal:?}"),
        }
    }

    /// Runs the case once on a device that counts or checks.
    pub(super) fn run_once(&self, device: &Device, n: usize) -> CaseResult {
        (self.run)(&Run { device, n, timed: None })
    }

    /// Runs the case on a GPU, and returns the times of its launches and the number of its useful bytes.
    pub(super) fn run_timed(&self, device: &Device, n: usize) -> Result<(Times, u64), Box<dyn Error + Send + Sync>> {
        let timed = RefCell::new(None);
        (self.run)(&Run { device, n, timed: Some(&timed) })?;
        timed
            .into_inner()
            .ok_or_else(|| format!("the case `{}` times nothing: let it call `Run::measure`", self.name).into())
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
    /// The place for the times and the number of useful bytes, if the run is timed.
    timed: Option<&'a RefCell<Option<(Times, u64)>>>,
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

    /// Returns true if `bench` runs the case. The launches are then repeated, so that results are not to be compared.
    pub fn is_timed(&self) -> bool {
        self.timed.is_some()
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
        match self.timed {
            None => launch(),
            Some(timed) => {
                *timed.borrow_mut() = Some((Times::measure(self.device, launch)?, useful_bytes as u64));
                Ok(())
            }
        }
    }

    /// Compares `buffer`, called `name` in messages, with the elements that `expected` returns. Does nothing if the run
    /// is [timed](Self::is_timed).
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
        if self.is_timed() {
            return Ok(());
        }
        let (found, expected) = (buffer.download()?, expected());
        if found.len() != expected.len() {
            let (found, expected) = (found.len(), expected.len());
            return Err(Wrong(format!("`{name}` has {found} elements instead of {expected}")).into());
        }
        match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
            None => Ok(()),
            Some(i) => Err(Wrong(format!("{name}[{i}] is {:?} instead of {:?}", found[i], expected[i])).into()),
        }
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
            _ if self.0.is::<Wrong>() => Finding::new("wrong result", self.to_string()),
            _ => Finding::new("failure", self.to_string()),
        }
    }

    fn is_unfinished(&self) -> bool {
        self.0.downcast_ref::<launch::Error>().is_some_and(is_unfinished)
    }
}
