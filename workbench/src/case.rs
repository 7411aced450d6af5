//! What to run of each kernel, so that every barrier and branch of it is reached: small launches, as the commands make
//! them, whose results are compared with the reference.
//!
//! `host check` runs them in a checked simulator under hostile schedules, and once more with each barrier left out.

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

/// Multiprocessors of the device that cases run on, for plans that fill a device: the same on every machine.
const MULTIPROCESSORS: u32 = 2;

/// A few launches of one or several kernels, and what they must give.
pub struct Case {
    group: &'static str,
    rung: &'static str,
    what: String,
    kernels: &'static [&'static str],
    work: Box<Work>,
}

type Work = dyn Fn(&Stage) -> Result<(), CaseError> + Send + Sync;

/// What a case runs on.
pub struct Stage {
    /// The simulated device.
    pub device: Device,
    output: Arc<Mutex<Vec<u8>>>,
}

/// Why a case is not right.
#[derive(Error)]
#[non_exhaustive]
pub enum CaseError {
    /// A launch failed.
    #[error(transparent)]
    Launch(#[from] launch::Error),
    /// The result is not the reference's.
    #[error("the result is wrong: {0}")]
    Wrong(String),
    /// The case itself cannot be.
    #[error("the case cannot run: {0}")]
    Impossible(String),
}

gridstride::debug_as_displayed!(CaseError);

impl CaseError {
    /// The fault that ended a launch, if that is the reason.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Launch(launch::Error::Fault(fault)) => Some(fault),
            _ => None,
        }
    }
}

impl CaseError {
    /// Whether the case came to no end that says whether its kernels are right: at a limit of the simulator, without
    /// memory, or without a device that could run it.
    pub fn is_unfinished(&self) -> bool {
        use launch::Error as E;
        match self {
            Self::Launch(E::Fault(fault)) => fault.kind.is_limit_of_simulator(),
            Self::Launch(E::OutOfMemory { .. } | E::OutOfHostMemory { .. } | E::OutOfPageLockedMemory { .. }) => true,
            Self::Launch(E::NoDevice { .. } | E::NotSupported { .. } | E::Driver { .. }) => true,
            Self::Impossible(_) => true,
            _ => false,
        }
    }
}

/// Each layer's error, as the workbench has it.
macro_rules! from {
    ($($error:ty),*) => {$(
        impl From<$error> for CaseError {
            fn from(error: $error) -> Self {
                match error.into() {
                    WorkbenchError::Algorithm(AlgorithmError::Launch(error)) => Self::Launch(error),
                    // Bits beyond a board's width come from a kernel.
                    WorkbenchError::Life(LifeError::Words(error)) => Self::Wrong(error.to_string()),
                    other => Self::Impossible(other.to_string()),
                }
            }
        }
    )*};
}

from! { WorkbenchError, AlgorithmError, LifeError, MultiError, SoupError }

impl Case {
    /// A case of `rung` that launches the kernels of these families, the one that it is about first.
    pub fn new(
        group: &'static str,
        rung: &'static str,
        kernels: &'static [&'static str],
        what: impl Into<String>,
        work: impl Fn(&Stage) -> Result<(), CaseError> + Send + Sync + 'static,
    ) -> Self {
        Self { group, rung, what: what.into(), kernels, work: Box::new(work) }
    }

    /// The folder that it belongs to: an algorithm, or `stream`.
    pub fn group(&self) -> &'static str {
        self.group
    }

    /// The rung that it is about, by its name on the command line; of what has no rungs, the kernel.
    pub fn rung(&self) -> &'static str {
        self.rung
    }

    /// The families of the kernels that it launches, the one that it is about first.
    pub fn kernels(&self) -> &'static [&'static str] {
        self.kernels
    }

    /// Runs it in `simulator`, as on a device of two multiprocessors, and compares the result.
    ///
    /// # Errors
    /// What is wrong.
    pub fn run(&self, simulator: Simulator) -> Result<(), CaseError> {
        let output = Arc::new(Mutex::new(Vec::new()));
        let simulator = simulator.with_multiprocessors(MULTIPROCESSORS).with_output(output.clone());
        (self.work)(&Stage { device: Device::simulated(simulator), output })
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
    /// What the kernels have printed, its lines in alphabetical order.
    pub fn printed(&self) -> Vec<String> {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<String> = String::from_utf8_lossy(&output).lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    }
}

/// Compares `found`, called `what`, with what it should be.
pub fn equal<T: PartialEq + fmt::Debug>(what: &str, found: &[T], expected: &[T]) -> Result<(), CaseError> {
    if found.len() != expected.len() {
        return Err(CaseError::Wrong(format!("{what} has {} elements instead of {}", found.len(), expected.len())));
    }
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(i) => Err(CaseError::Wrong(format!("{what}[{i}] is {:?} instead of {:?}", found[i], expected[i]))),
    }
}

/// Fails if an element is wrong.
pub fn right(deviation: Deviation) -> Result<(), CaseError> {
    deviation.wrong.map_or(Ok(()), |wrong| Err(CaseError::Wrong(wrong.to_string())))
}

/// 64 random bits, the same for the same index.
pub fn bits(index: usize) -> u64 {
    crate::inputs::RandomVector::<u64>::new(20, 0).bits(index)
}
