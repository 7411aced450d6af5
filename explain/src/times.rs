//! The times of several runs of the same work, and their quartiles.

use std::time::{Duration, Instant};

use launch::{Device, Error};
use serde::Serialize;

/// The smallest and the largest number of timed runs.
const RUNS: (usize, usize) = (11, 401);

/// The time after which no further run begins, once there are enough.
const TIME: Duration = Duration::from_millis(300);

/// The quartiles of the times of several runs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Times {
    /// The number of timed runs.
    pub runs: usize,
    /// The first quartile of the times, in seconds.
    pub low: f64,
    /// The median time, in seconds.
    pub median: f64,
    /// The third quartile of the times, in seconds.
    pub high: f64,
}

impl Times {
    /// Returns the quartiles of `times`.
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |index: usize| times.get(index).map_or(0.0, Duration::as_secs_f64);
        Self { runs: times.len(), low: at(times.len() / 4), median: at(times.len() / 2), high: at(times.len() * 3 / 4) }
    }

    /// Times `work` on a GPU by device events, at least 11 and at most 401 times in about a third of a second. The
    /// first two runs are not timed. Each timed run follows one that is not: while that runs, the host enqueues the
    /// next, so that its own time is not measured. The caches are warm.
    ///
    /// # Errors
    /// The first error of `work`, or of the device.
    pub(crate) fn measure(device: &Device, mut work: impl FnMut() -> Result<(), Error>) -> Result<Self, Error> {
        work()?;
        device.synchronize()?;
        let begun = Instant::now();
        let mut times = Vec::new();
        while times.len() < RUNS.0 || (times.len() < RUNS.1 && begun.elapsed() < TIME) {
            work()?;
            times.push(device.time(&mut work)?.1);
        }
        Ok(Self::of(times))
    }

    /// Returns the rate of a run that moves `bytes`, in GB/s of 10⁹ bytes; 0 if the run takes no time.
    pub fn gbps(&self, bytes: f64) -> f64 {
        if self.median > 0.0 { bytes / self.median / 1e9 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_of_the_sorted_times() {
        let millis = |all: &[u64]| Times::of(all.iter().copied().map(Duration::from_millis).collect());
        let times = millis(&[5, 1, 4, 2, 3]);
        assert_eq!([times.low, times.median, times.high], [0.002, 0.003, 0.004]);
        assert_eq!(times.runs, 5);
        let one = millis(&[7]);
        assert_eq!([one.low, one.median, one.high], [0.007; 3]);
    }
}
