//! Shows progress bars on standard error.

use std::io::{self, IsTerminal};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Rate, grouped};
use cuda_std::Rung;

/// A progress bar appears only after the run has taken this time.
const PATIENCE: Duration = Duration::from_millis(500);

/// The interval of the lines that report the progress of a run without a terminal.
const REPORTS: Duration = Duration::from_secs(60);

/// A progress bar that counts steps, whose total number may be unknown. It appears only on a terminal, and disappears
/// when it is dropped. If standard error is not a terminal, a line per minute reports the progress instead.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    /// The time of the last line.
    reported: Instant,
    /// The interval of the lines.
    reports: Duration,
    length: Option<u64>,
    unit: &'static str,
}

impl Progress {
    /// Returns a bar for `length` steps, counted in `unit`.
    pub fn new(length: u64, unit: &'static str) -> Self {
        let mut progress = Self::endless(unit);
        progress.length = Some(length);
        progress
    }

    /// Returns a bar for an unknown number of steps, counted in `unit`.
    pub fn endless(unit: &'static str) -> Self {
        let begun = Instant::now();
        // A test sets a shorter interval.
        let seconds = std::env::var("GRIDSTRIDE_TEST_REPORTS_MS").ok().and_then(|text| text.parse().ok());
        let reports = seconds.map_or(REPORTS, Duration::from_millis);
        Self { bar: None, begun, reported: begun, reports, length: None, unit }
    }

    /// Returns the time since the bar began.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Shows that `done` steps are done, and a speed of `rate` `rate_unit` per second.
    pub fn set(&mut self, done: u64, rate: f64, rate_unit: &str) {
        if !io::stderr().is_terminal() {
            if self.reported.elapsed() >= self.reports {
                self.reported = Instant::now();
                super::note(&self.line(done, rate, rate_unit));
            }
            return;
        }
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(self.length, ProgressDrawTarget::stderr());
            let template = match self.length {
                Some(_) => "{wide_bar} {human_pos}/{human_len} {prefix}, {msg}",
                None => "{spinner} {human_pos} {prefix}, {msg}",
            };
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.with_style(for_locale(style)).with_prefix(self.unit)
        });
        let message = Self::message(self.begun, self.length, done, rate, rate_unit);
        bar.set_message(message);
        bar.set_position(done);
    }

    /// Returns the line that reports the progress without a terminal.
    fn line(&self, done: u64, rate: f64, rate_unit: &str) -> String {
        let of = self.length.map_or(String::new(), |length| format!(" of {}", grouped(length)));
        let message = Self::message(self.begun, self.length, done, rate, rate_unit);
        format!("{}{of} {}, {message}", grouped(done), self.unit)
    }

    /// Returns the speed, and the remaining time if the number of steps is known.
    fn message(begun: Instant, length: Option<u64>, done: u64, rate: f64, rate_unit: &str) -> String {
        let speed = format!("{} {rate_unit}/s", Rate(rate));
        let Some(length) = length else { return speed };
        let per_step = begun.elapsed().as_secs_f64() / done.max(1) as f64;
        let left = Duration::try_from_secs_f64(per_step * length.saturating_sub(done) as f64);
        format!("{speed}, {:#} left", HumanDuration(left.unwrap_or(Duration::MAX)))
    }
}

/// Returns `style` with ASCII characters if the locale needs them.
fn for_locale(style: ProgressStyle) -> ProgressStyle {
    if units::ascii::is_locale() { style.progress_chars("#>-").tick_chars("|/-\\ ") } else { style }
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
        let bar = bar.with_style(for_locale(style));
        // The bar's thread panics if it cannot be started.
        if io::stderr().is_terminal() && thread::Builder::new().spawn(|| {}).is_ok() {
            bar.enable_steady_tick(PATIENCE);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_a_run_is() {
        let mut progress = Progress::new(4000, "generations");
        progress.begun = Instant::now() - Duration::from_secs(600);
        assert_eq!(
            progress.line(1000, 1.5e9, "cell updates"),
            "1,000 of 4,000 generations, 1.50e9 cell updates/s, 30m left"
        );
        assert_eq!(Progress::endless("soups").line(1000, 2.0, "soups"), "1,000 soups, 2.00 soups/s");
    }
}
