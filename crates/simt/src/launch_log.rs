//! A log of the launches of a simulator, with their counters and durations.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::geometry::{KernelInfo, LaunchConfig};

/// The numbers of threads, blocks, barriers and warp operations of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchStats {
    /// The number of threads that ran.
    pub threads: u64,
    /// The number of blocks that ran.
    pub blocks: u64,
    /// The number of completed block barriers, summed over all blocks.
    pub barriers: u64,
    /// The number of completed warp operations. Each group of lanes that completes an operation together counts once.
    pub warp_operations: u64,
}

/// A launch that ended without a fault.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LoggedLaunch {
    /// The kernel that was launched.
    pub kernel: &'static KernelInfo,
    /// The launch configuration.
    pub config: LaunchConfig,
    /// The numbers of threads, blocks, barriers and warp operations of the launch.
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

    /// Removes all entries from the list and returns them.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn push(&self, entry: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}
