//! A progress bar that several threads advance.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use workbench::check::Progress;

use crate::report::progress;

/// Counts steps and work, and shows them on a terminal.
pub(super) struct Bar {
    steps: &'static str,
    work: &'static str,
    begun: Mutex<Option<Begun>>,
}

struct Begun {
    bar: progress::Progress,
    at: Instant,
    done: u64,
    worked: u64,
}

impl Bar {
    /// Returns a bar that counts in these units.
    pub(super) fn new(steps: &'static str, work: &'static str) -> Self {
        Self { steps, work, begun: Mutex::new(None) }
    }
}

impl Progress for Bar {
    fn begin(&self, steps: usize) {
        let bar = progress::Progress::new(steps as u64, self.steps);
        let begun = Begun { bar, at: Instant::now(), done: 0, worked: 0 };
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
    }

    fn step(&self, work: u64) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(begun) = &mut *begun else { return };
        begun.done += 1;
        begun.worked += work;
        begun.bar.set(begun.done, begun.worked as f64 / begun.at.elapsed().as_secs_f64(), self.work);
    }
}
