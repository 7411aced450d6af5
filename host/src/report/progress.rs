//! A progress bar on standard error, for runs that take long enough to wonder about.

use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Rate;

/// A run shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Progress towards a known number of steps. It shows itself on a terminal alone, and removes itself when dropped.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    length: u64,
    unit: &'static str,
}

impl Progress {
    /// Of `length` steps, called `unit`, none is done.
    pub fn new(length: u64, unit: &'static str) -> Self {
        Self { bar: None, begun: Instant::now(), length, unit }
    }

    /// `done` steps are done, at `rate` of the `rate_unit` a second.
    pub fn set(&mut self, done: u64, rate: f64, rate_unit: &str) {
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(self.length), ProgressDrawTarget::stderr());
            let template = "{wide_bar} {human_pos}/{human_len} {prefix}, {msg}";
            bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_prefix(self.unit)
        });
        let left = self.begun.elapsed().as_secs_f64() / done.max(1) as f64 * self.length.saturating_sub(done) as f64;
        let left = HumanDuration(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
        bar.set_message(format!("{} {rate_unit}/s, {left:#} left", Rate(rate)));
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
