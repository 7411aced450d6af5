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
pub type LaunchLog = Log<LoggedLaunch>;

/// A list to which a simulator and its clones append.
#[derive(Clone, Debug)]
pub struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Log<T> {
    /// Makes an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all entries so far.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn push(&self, entry: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}
