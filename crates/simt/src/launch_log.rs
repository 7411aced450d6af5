//! What launches did, one after the other.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::geometry::{KernelInfo, LaunchConfig};

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchStats {
    /// Threads run.
    pub threads: u64,
    /// Blocks run.
    pub blocks: u64,
    /// Block barriers completed, counted once for each block.
    pub barriers: u64,
    /// Warp operations completed, counted once for each group of lanes that met.
    pub warp_operations: u64,
}

/// A launch that has ended without a fault.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LoggedLaunch {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// Its grid.
    pub config: LaunchConfig,
    /// What it did.
    pub stats: LaunchStats,
    /// How long the simulator took for it.
    pub duration: Duration,
}

/// Where a simulator notes its launches, in the order in which they end. Those that end with a fault are left out.
#[derive(Clone, Debug, Default)]
pub struct LaunchLog(Arc<Mutex<Vec<LoggedLaunch>>>);

impl LaunchLog {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all launches so far.
    pub fn take(&self) -> Vec<LoggedLaunch> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn push(&self, launch: LoggedLaunch) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(launch);
    }
}
