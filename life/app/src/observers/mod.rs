//! Observers of a run. They record pictures, count cells, write checkpoints, or search for a period.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::simulation::Outgrown;
use crate::timed_run::TimedRun;
use program::report::progress::Progress;
use program::signals::StopRequests;

pub mod checkpoints;
mod kept_hashes;
pub mod recording;
mod schedule;
pub mod stability;
pub mod stats;

/// The interval at which a run without an animation shows its progress and checks for signals.
const BATCH: Duration = Duration::from_millis(100);

/// An object that looks at some generations of a run.
pub trait Observer {
    /// Returns the next generation that the observer needs to look at. If the run has already passed that generation,
    /// the observer looks at the run's present generation.
    fn due(&self) -> u64;

    /// Looks at the run's present generation. Returns `Break` to end the run. After this call, [`due`](Self::due) must
    /// return a later generation than the run's present one. Only the last observer may advance the run.
    ///
    /// # Errors
    /// If a device fails, or a file cannot be written.
    fn on_generation(&mut self, run: &mut TimedRun) -> anyhow::Result<ControlFlow<()>>;

    /// Completes the observer's work. The run calls this method once: when it ends, or after a signal has stopped it.
    ///
    /// # Errors
    /// Fails in the same cases as [`on_generation`](Self::on_generation).
    fn finish(&mut self, _run: &mut TimedRun, _was_stopped: bool) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Runs until generation `last`, until an observer returns `Break`, or until a signal arrives. Returns the signal if
/// one arrived.
///
/// # Errors
/// If the device or an observer fails. [`Outgrown`] if the pattern outgrows its board. In that case the function first
/// calls [`finish`](Observer::finish) of each observer.
pub fn run_to_end(
    run: &mut TimedRun,
    last: u64,
    observers: &mut [&mut dyn Observer],
    stop: &StopRequests,
) -> anyhow::Result<Option<i32>> {
    let ended = run_on(run, last, observers, stop);
    if ended.as_ref().is_err_and(|error| !error.is::<Outgrown>()) {
        return ended;
    }
    for observer in observers {
        observer.finish(run, matches!(ended, Ok(Some(_))))?;
    }
    ended
}

fn run_on(
    run: &mut TimedRun,
    last: u64,
    observers: &mut [&mut dyn Observer],
    stop: &StopRequests,
) -> anyhow::Result<Option<i32>> {
    let ranks = run.life.ranks();
    let cells = run.life.size().0 as f64 * run.life.size().1 as f64;
    let begun = run.generation();
    let mut progress = match last {
        u64::MAX => Progress::endless("generations"),
        last => Progress::new(last.saturating_sub(begun), "generations"),
    };
    loop {
        for observer in observers.iter_mut() {
            let is_due = ranks.first((observer.due() <= run.generation()).into())? == 1;
            if is_due && observer.on_generation(run)?.is_break() {
                return Ok(None);
            }
        }
        // A signal may arrive at any rank.
        let signal = ranks.max(stop.received().map_or(0, i32::unsigned_abs).into())? as i32;
        let now = run.generation();
        if signal != 0 || now >= last {
            return Ok(Some(signal).filter(|&signal| signal != 0));
        }
        let due = ranks.first(observers.iter().map(|observer| observer.due()).min().unwrap_or(last).min(last))?;
        run.advance(due.saturating_sub(now), BATCH)?;
        let done = run.generation() - begun;
        progress.set(done, cells * done as f64 / run.computing.as_secs_f64(), "cell updates");
    }
}
