//! What is done beside a run's generations: pictures, statistics, checkpoints, and the search for its end.

use std::time::Duration;

use super::agree;
use super::engine::Outgrown;
use super::run::Run;
use program::report::progress::Progress;
use program::signals::StopRequests;

/// How often a run that is not animated shows its progress and looks for signals.
const BATCH: Duration = Duration::from_millis(100);

/// Whether the run is to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attended {
    /// It is.
    GoOn,
    /// What it was for is done.
    Done,
}

/// Something that is to be done at some generations of a run.
pub trait Duty {
    /// The next generation that it is to be attended to at; at once if that has passed.
    fn due(&self) -> u64;

    /// Does it. Afterwards it is due at a later generation than the run is at. Where it advances the run, it is the last of
    /// a run's duties.
    ///
    /// # Errors
    /// When the device fails, or a file cannot be written.
    fn attend(&mut self, run: &mut Run) -> anyhow::Result<Attended>;

    /// Ends it, because the run is at its end, or before that because it was stopped.
    ///
    /// # Errors
    /// As [`attend`](Self::attend).
    fn finish(&mut self, run: &mut Run, was_stopped: bool) -> anyhow::Result<()>;
}

/// Runs until generation `last` with a progress bar, or until a duty says that it is done, or a signal comes, which it gives.
///
/// # Errors
/// When the device fails, and those of the duties; [`Outgrown`] when these are done for the last board that there was.
pub fn run_to_end(
    run: &mut Run,
    last: u64,
    size: (usize, usize),
    duties: &mut [&mut dyn Duty],
    stop: &StopRequests,
) -> anyhow::Result<Option<i32>> {
    let ended = run_on(run, last, size, duties, stop);
    if ended.as_ref().is_err_and(|error| !error.is::<Outgrown>()) {
        return ended;
    }
    for duty in duties {
        duty.finish(run, matches!(ended, Ok(Some(_))))?;
    }
    ended
}

fn run_on(
    run: &mut Run,
    last: u64,
    (width, height): (usize, usize),
    duties: &mut [&mut dyn Duty],
    stop: &StopRequests,
) -> anyhow::Result<Option<i32>> {
    let cells = width as f64 * height as f64;
    let begun = run.generation();
    let mut progress = match last {
        u64::MAX => Progress::endless("generations"),
        last => Progress::new(last.saturating_sub(begun), "generations"),
    };
    loop {
        for duty in duties.iter_mut() {
            let is_due = agree::first((duty.due() <= run.generation()).into())? == 1;
            if is_due && duty.attend(run)? == Attended::Done {
                return Ok(None);
            }
        }
        // Whichever rank a signal comes to.
        let signal = agree::most(stop.received().map_or(0, i32::unsigned_abs).into())? as i32;
        let now = run.generation();
        if signal != 0 || now >= last {
            return Ok(Some(signal).filter(|&signal| signal != 0));
        }
        let due = agree::first(duties.iter().map(|duty| duty.due()).min().unwrap_or(last).min(last))?;
        run.advance(due.saturating_sub(now), BATCH)?;
        let done = run.generation() - begun;
        progress.set(done, cells * done as f64 / run.computing().as_secs_f64(), "cell updates");
    }
}
