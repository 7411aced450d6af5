//! Progress of work that several threads do.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::report::progress;

/// Counts what is done, and shows it on a terminal.
pub(super) struct Progress {
    bar: progress::Progress,
    begun: Instant,
    done: u64,
    worked: u64,
}

impl Progress {
    /// Begins with `length` steps to do, counted in `unit`.
    pub(super) fn new(length: usize, unit: &'static str) -> Self {
        Self { bar: progress::Progress::new(length as u64, unit), begun: Instant::now(), done: 0, worked: 0 }
    }

    /// One more step is done, which was `work` of the `unit`.
    pub(super) fn add(this: &Mutex<Self>, work: u64, unit: &str) {
        let mut this = this.lock().unwrap_or_else(PoisonError::into_inner);
        this.done += 1;
        this.worked += work;
        let (done, rate) = (this.done, this.worked as f64 / this.begun.elapsed().as_secs_f64());
        this.bar.set(done, rate, unit);
    }
}
