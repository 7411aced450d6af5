//! Cases: small launches that together reach every barrier and branch of the kernels. Each case launches kernels as the
//! commands do, and compares the result with a reference.
//!
//! `host check` runs the cases in a checked simulator under hostile schedules. `cargo xtask mutate-barriers` also runs
//! the cases with one barrier left out at a time.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use launch::Device;
use simt::{Fault, Simulator};
use thiserror::Error;

use gridstride::error::AlgorithmError;
use life::LifeError;
use life::soup::SoupError;
use multi::MultiError;

use crate::deviation::Deviation;
use crate::error::WorkbenchError;

/// The number of multiprocessors of the device that cases run on. The number is the same on every machine, because
/// plans that fill a device depend on it.
const MULTIPROCESSORS: u32 = 2;

/// A case: a few launches of one or several kernels, and a check of their result.
pub struct Case {
    group: &'static str,
    rung: &'static str,
    what: String,
    kernels: &'static [&'static str],
    run: Box<RunOnStage>,
}

type RunOnStage = dyn Fn(&Stage) -> Result<(), CaseError> + Send + Sync;

/// The device that a case runs on, and the text that its kernels print.
pub struct Stage {
    /// The simulated device.
    pub device: Device,
    output: Arc<Mutex<Vec<u8>>>,
}

/// The error of a case that failed or could not run.
#[derive(Error)]
#[non_exhaustive]
pub enum CaseError {
    /// A launch of the case failed.
    #[error(transparent)]
    Launch(#[from] launch::Error),
    /// The result of a launch differs from the reference.
    #[error("the result is wrong: {0}")]
    Wrong(String),
    /// The case cannot run.
    #[error("the case cannot run: {0}")]
    Impossible(String),
}

gridstride::debug_as_displayed!(CaseError);

impl CaseError {
    /// Returns the fault that ended a launch, if a fault is the reason for the error.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Launch(launch::Error::Fault(fault)) => Some(fault),
            _ => None,
        }
    }

    /// Returns true if the case ended without a verdict on its kernels. Reasons are a limit of the simulator, too
    /// little memory, or no usable device.
    pub fn is_unfinished(&self) -> bool {
        match self {
            Self::Launch(error) => explain::check::is_unfinished(error),
            Self::Wrong(_) => false,
            Self::Impossible(_) => true,
        }
    }
}

/// Implements `From` for the errors of several layers. Each of these errors is first converted to a [`WorkbenchError`].
macro_rules! from {
    ($($error:ty),*) => {$(
        impl From<$error> for CaseError {
            fn from(error: $error) -> Self {
                match error.into() {
                    WorkbenchError::Algorithm(AlgorithmError::Launch(error)) => Self::Launch(error),
                    // Bits beyond the board's width can only come from a faulty kernel.
                    WorkbenchError::Life(LifeError::Words(error)) => Self::Wrong(error.to_string()),
                    other => Self::Impossible(other.to_string()),
                }
            }
        }
    )*};
}

from! { WorkbenchError, AlgorithmError, LifeError, MultiError, SoupError }

impl Case {
    /// Returns a case of `rung`. `kernels` are the names of the kernel functions that the case launches, the tested one
    /// first.
    pub fn new(
        group: &'static str,
        rung: &'static str,
        kernels: &'static [&'static str],
        what: impl Into<String>,
        run: impl Fn(&Stage) -> Result<(), CaseError> + Send + Sync + 'static,
    ) -> Self {
        Self { group, rung, what: what.into(), kernels, run: Box::new(run) }
    }

    /// Returns the group of the case: an algorithm, or a name such as `stream`.
    pub fn group(&self) -> &'static str {
        self.group
    }

    /// Returns the name of the tested rung, or of the kernel if the group has no rungs.
    pub fn rung(&self) -> &'static str {
        self.rung
    }

    /// Returns the names of the kernel functions that the case launches, the tested one first.
    pub fn kernels(&self) -> &'static [&'static str] {
        self.kernels
    }

    /// Runs the case in `simulator`, with two multiprocessors, and checks the result.
    ///
    /// # Errors
    /// [`CaseError`] if a launch fails or the result is wrong.
    pub fn run(&self, simulator: Simulator) -> Result<(), CaseError> {
        let output = Arc::new(Mutex::new(Vec::new()));
        let simulator = simulator.with_multiprocessors(MULTIPROCESSORS).with_output(output.clone());
        (self.run)(&Stage { device: Device::simulated(simulator), output })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.group, self.rung, self.what)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Case({self})")
    }
}

impl Stage {
    /// Returns the lines that the kernels have printed, in alphabetical order.
    pub fn printed(&self) -> Vec<String> {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<String> = String::from_utf8_lossy(&output).lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    }
}

/// Checks that `found` equals `expected`. `what` names the vector in messages.
pub fn equal<T: PartialEq + fmt::Debug>(what: &str, found: &[T], expected: &[T]) -> Result<(), CaseError> {
    if found.len() != expected.len() {
        return Err(CaseError::Wrong(format!("{what} has {} elements instead of {}", found.len(), expected.len())));
    }
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(i) => Err(CaseError::Wrong(format!("{what}[{i}] is {:?} instead of {:?}", found[i], expected[i]))),
    }
}

/// Checks that no element is wrong.
pub fn right(deviation: Deviation) -> Result<(), CaseError> {
    deviation.wrong.map_or(Ok(()), |wrong| Err(CaseError::Wrong(wrong.to_string())))
}

/// Returns 64 random bits that depend only on `index`.
pub fn bits(index: usize) -> u64 {
    crate::inputs::RandomVector::<u64>::new(20, 0).bits(index)
}
