//! A progress bar that several threads advance.

use std::sync::{Mutex, PoisonError};

use workbench::check::Progress;

use crate::report::progress;

/// A progress bar that counts steps and work, and shows them on a terminal.
pub(super) struct Bar {
    steps: &'static str,
    work: &'static str,
    begun: Mutex<Option<Begun>>,
}

/// The bar on the terminal, with the number of finished steps and the amount of finished work.
struct Begun(progress::Progress, u64, u64);

impl Bar {
    /// Returns a bar that counts in the units `steps` and `work`.
    pub(super) fn new(steps: &'static str, work: &'static str) -> Self {
        Self { steps, work, begun: Mutex::new(None) }
    }
}

impl Progress for Bar {
    fn begin(&self, steps: usize) {
        let begun = Begun(progress::Progress::new(steps as u64, self.steps), 0, 0);
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
    }

    fn step(&self, work: u64) {
        if let Some(Begun(bar, done, worked)) = &mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner) {
            (*done, *worked) = (*done + 1, *worked + work);
            bar.set(*done, *worked as f64 / bar.elapsed().as_secs_f64(), self.work);
        }
    }
}
