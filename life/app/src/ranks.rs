//! The ranks (processes) that share a run. The first rank makes each decision that depends on a clock or a file, so
//! that all ranks call the same functions.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use anyhow::Context;
use multi::ranks::{Alone, Communicator, alone};
use program::threads;

/// All ranks that share a run, including this process.
#[derive(Clone, Copy)]
pub struct Ranks {
    communicator: &'static dyn Communicator,
}

static ALONE: LazyLock<Alone> = LazyLock::new(alone);

impl Ranks {
    /// Returns the ranks of `communicator`.
    pub fn new(communicator: &'static dyn Communicator) -> Self {
        Self { communicator }
    }

    /// Returns the ranks of a run in which this process is the only rank.
    pub fn alone() -> Self {
        Self::new(&*ALONE)
    }

    /// Returns the communicator of the ranks.
    pub fn communicator(self) -> &'static dyn Communicator {
        self.communicator
    }

    /// Returns the number of ranks.
    pub fn size(self) -> usize {
        self.communicator.size()
    }

    /// Returns true if this process is the first rank, which prints the results and writes the files.
    pub fn is_first(self) -> bool {
        self.communicator.rank() == 0
    }

    /// Returns the `number` that the first rank passes. The other ranks' numbers are ignored. All ranks must call this
    /// function.
    ///
    /// # Errors
    /// If a rank fails.
    pub fn first(self, number: u64) -> anyhow::Result<u64> {
        Ok(self.all(number)?[0])
    }

    /// Returns the largest `number` that a rank passes. All ranks must call this function.
    ///
    /// # Errors
    /// If a rank fails.
    pub fn max(self, number: u64) -> anyhow::Result<u64> {
        Ok(self.all(number)?.into_iter().max().unwrap_or(number))
    }

    fn all(self, number: u64) -> anyhow::Result<Vec<u64>> {
        if self.size() == 1 {
            return Ok(vec![number]);
        }
        let of_ranks = self.communicator.all_gather(&number.to_le_bytes())?;
        let number = |bytes: Vec<u8>| Some(u64::from_le_bytes(bytes.try_into().ok()?));
        of_ranks.into_iter().map(number).collect::<Option<_>>().context("the ranks disagree: give all the same options")
    }

    /// Calls `make` on the first rank, and returns the resulting text on every rank.
    ///
    /// # Errors
    /// If a rank or `make` fails.
    pub fn text(self, make: impl FnOnce() -> anyhow::Result<String>) -> anyhow::Result<String> {
        let made = if self.is_first() { make()? } else { String::new() };
        if self.size() == 1 {
            return Ok(made);
        }
        let first = self.communicator.all_gather(made.as_bytes())?.into_iter().next().unwrap_or_default();
        String::from_utf8(first).context("the ranks disagree: give all the same options")
    }

    /// Divides the host's cores among the ranks on the host, and starts as many worker threads. `RAYON_NUM_THREADS`
    /// takes precedence. This function must be called before any computation.
    ///
    /// # Errors
    /// If a rank fails, or if the threads cannot be started.
    pub fn share_cores(self) -> anyhow::Result<()> {
        if self.size() == 1 {
            return threads::start(None);
        }
        let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let status = file("/proc/self/status");
        let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).unwrap_or_default();
        let own = format!("{} {allowed}", file("/proc/sys/kernel/hostname"));
        let peers = self.communicator.all_gather(own.as_bytes())?;
        let peers = peers.iter().filter(|other| **other == own.as_bytes()).count();
        threads::start(Some((available_parallelism().map_or(1, usize::from) / peers.max(1)).max(1)))
    }
}
