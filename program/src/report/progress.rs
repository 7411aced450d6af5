//! Shows progress bars on standard error.

use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Rate;
use cuda_std::Rung;

/// A progress bar appears only after the run has taken this time.
const PATIENCE: Duration = Duration::from_millis(500);

/// A progress bar that counts steps, whose total number may be unknown. It appears only on a terminal, and disappears
/// when it is dropped.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    length: Option<u64>,
    unit: &'static str,
}

impl Progress {
    /// Returns a bar for `length` steps, counted in `unit`.
    pub fn new(length: u64, unit: &'static str) -> Self {
        Self { bar: None, begun: Instant::now(), length: Some(length), unit }
    }

    /// Returns a bar for an unknown number of steps, counted in `unit`.
    pub fn endless(unit: &'static str) -> Self {
        Self { bar: None, begun: Instant::now(), length: None, unit }
    }

    /// Returns the time since the bar began.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Shows that `done` steps are done, and a speed of `rate` `rate_unit` per second.
    pub fn set(&mut self, done: u64, rate: f64, rate_unit: &str) {
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(self.length, ProgressDrawTarget::stderr());
            let template = match self.length {
                Some(_) => "{wide_bar} {human_pos}/{human_len} {prefix}, {msg}",
                None => "{spinner} {human_pos} {prefix}, {msg}",
            };
            bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_prefix(self.unit)
        });
        let speed = format!("{} {rate_unit}/s", Rate(rate));
        bar.set_message(match self.length {
            Some(length) => {
                let per_step = self.begun.elapsed().as_secs_f64() / done.max(1) as f64;
                let left = Duration::try_from_secs_f64(per_step * length.saturating_sub(done) as f64);
                format!("{speed}, {:#} left", HumanDuration(left.unwrap_or(Duration::MAX)))
            }
            None => speed,
        });
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Iterates over the rungs, and shows on a terminal which rung runs.
pub fn rungs(rungs: Vec<&Rung>) -> impl Iterator<Item = &Rung> {
    let work = AtWork::begin();
    let count = rungs.len();
    rungs.into_iter().enumerate().map(move |(index, rung)| {
        work.set_message(format!("{} of {count}: {}", index + 1, rung.name));
        rung
    })
}

/// A spinner that shows on a terminal which kernel runs, until it is dropped.
pub struct AtWork(ProgressBar);

impl AtWork {
    /// Returns a spinner that shows no kernel yet.
    pub fn begin() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} kernel {msg}, {elapsed}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = bar.with_style(style);
        bar.enable_steady_tick(PATIENCE);
        Self(bar)
    }

    /// Shows the name `kernel`.
    pub fn set_message(&self, kernel: String) {
        self.0.set_message(kernel);
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
