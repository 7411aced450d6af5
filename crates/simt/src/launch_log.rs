//! A log of launches.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::geometry::{KernelInfo, LaunchConfig};

/// Counters of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchStats {
    /// The number of threads that ran.
    pub threads: u64,
    /// The number of blocks that ran.
    pub blocks: u64,
    /// The number of completed block barriers, summed over blocks.
    pub barriers: u64,
    /// The number of completed warp operations, summed over groups of lanes.
    pub warp_operations: u64,
}

/// A launch that ended without a fault.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LoggedLaunch {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// The launch configuration.
    pub config: LaunchConfig,
    /// The launch's counters.
    pub stats: LaunchStats,
    /// The time that the simulator took for the launch.
    pub duration: Duration,
}

/// The launches of a simulator, in the order in which they end. Launches that end with a fault are left out.
#[derive(Clone, Debug, Default)]
pub struct LaunchLog(Arc<Mutex<Vec<LoggedLaunch>>>);

impl LaunchLog {
    /// Makes an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all launches recorded so far.
    pub fn take(&self) -> Vec<LoggedLaunch> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn push(&self, launch: LoggedLaunch) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(launch);
    }
}
