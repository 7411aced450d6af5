//! Records all generations of a run, for `--out` with a format that shows every generation.

use std::ops::ControlFlow;

use super::Observer;
use crate::board_file::Recording;
use crate::timed_run::TimedRun;

/// An observer that adds every generation of a run to a recording.
pub struct Frames<'a> {
    recording: Option<Recording<'a>>,
    due: u64,
}

impl<'a> Frames<'a> {
    /// Returns an observer that records from generation `begin` on. The first rank must pass the `recording`, and the
    /// other ranks must pass `None`.
    pub fn new(recording: Option<Recording<'a>>, begin: u64) -> Self {
        Self { recording, due: begin }
    }
}

impl Observer for Frames<'_> {
    fn due(&self) -> u64 {
        self.due
    }

    fn on_generation(&mut self, run: &mut TimedRun) -> anyhow::Result<ControlFlow<()>> {
        let board = run.life.first_window()?;
        if let Some((recording, board)) = self.recording.as_mut().zip(board) {
            recording.frame(&board)?;
        }
        self.due = run.generation().saturating_add(1);
        Ok(ControlFlow::Continue(()))
    }

    fn finish(&mut self, _run: &mut TimedRun, was_stopped: bool) -> anyhow::Result<()> {
        match self.recording.take() {
            Some(recording) if !was_stopped => recording.finish(),
            _ => Ok(()),
        }
    }
}
