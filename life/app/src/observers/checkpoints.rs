//! The option `--checkpoint`, which writes checkpoints of a run.

use std::ops::ControlFlow;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Context, anyhow};
use program::files::WholeFile;

use super::Observer;
use crate::checkpoint::{Every, Header, RunFacts, write_rows};
use crate::timed_run::TimedRun;

/// An observer that writes checkpoints of a run. The observer copies the board, and a separate thread writes the copy
/// while the run continues.
pub struct Checkpoints {
    file: WholeFile,
    every: Every,
    facts: RunFacts,
    /// The next generation at which a checkpoint is due.
    next: u64,
    last: Instant,
    /// The generation of the newest checkpoint, or `None` before the first one.
    newest: Option<u64>,
    writing: Option<JoinHandle<anyhow::Result<()>>>,
}

impl Checkpoints {
    /// Returns an observer that writes checkpoints to `path`, for a run whose present generation is `generation`. The
    /// first rank must have a [`Claim`](crate::checkpoint::Claim) to the file.
    pub fn new(path: &Path, every: Every, facts: RunFacts, generation: u64) -> Self {
        let file = WholeFile::new(path);
        let mut checkpoints =
            Self { file, every, facts, next: generation, last: Instant::now(), newest: None, writing: None };
        checkpoints.plan(generation);
        checkpoints
    }

    fn plan(&mut self, generation: u64) {
        self.last = Instant::now();
        if let Every::Generations(every) = self.every {
            self.next = (generation / every).saturating_add(1).saturating_mul(every);
        }
    }

    /// Waits until the previous checkpoint is written. Then starts to write a new one.
    fn begin(&mut self, run: &mut TimedRun) -> anyhow::Result<()> {
        self.wait()?;
        let (generation, (left, top)) = (run.generation(), run.life.added());
        let origin = (self.facts.origin.0 - left as i64, self.facts.origin.1 - top as i64);
        let facts = RunFacts { origin, ..self.facts.clone() };
        let header = Header { facts, size: run.life.size(), generation };
        self.newest = Some(generation);
        if run.life.is_in_bands() {
            return self.write_parts(&header, run);
        }
        let (file, board) = (self.file.clone(), run.life.board()?);
        let write = move || {
            let mut out = file.create()?;
            let written = header.write(board.hash(), &mut out).and_then(|()| write_rows(&board, &mut out));
            written.with_context(|| file.failed())?;
            file.keep_synced(out)
        };
        self.writing = Some(thread::Builder::new().spawn(write).context("cannot start a thread")?);
        Ok(())
    }

    /// Writes a checkpoint of a board in bands, part by part. The first rank receives the parts and writes them. The
    /// run waits until the last part is written.
    fn write_parts(&self, header: &Header, run: &mut TimedRun) -> anyhow::Result<()> {
        let hash = run.life.engine_mut().hash()?;
        let mut out = if run.life.ranks().is_first() { Some(self.file.create()?) } else { None };
        if let Some(out) = &mut out {
            header.write(hash, out).with_context(|| self.file.failed())?;
        }
        run.life.parts(|_, rows| match &mut out {
            Some(out) => write_rows(rows, out).with_context(|| self.file.failed()),
            None => Ok(()),
        })?;
        out.map_or(Ok(()), |out| self.file.keep_synced(out))
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        match self.writing.take() {
            Some(writing) => {
                writing.join().map_err(|_| anyhow!("{}: the writing thread panicked", self.file.failed()))?
            }
            None => Ok(()),
        }
    }
}

/// Waits until the writing thread ends, so that it writes nothing after the run's [`Claim`](crate::checkpoint::Claim)
/// ends.
impl Drop for Checkpoints {
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

impl Observer for Checkpoints {
    fn due(&self) -> u64 {
        match self.every {
            Every::Generations(_) => self.next,
            Every::Time(time) if self.last.elapsed() >= time => 0,
            Every::Time(_) => u64::MAX,
        }
    }

    fn on_generation(&mut self, run: &mut TimedRun) -> anyhow::Result<ControlFlow<()>> {
        self.plan(run.generation());
        // The observer keeps only one copy of the board. While a slow disk writes the copy, checkpoints that are due
        // are skipped.
        if self.writing.as_ref().is_none_or(JoinHandle::is_finished) {
            self.begin(run)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(&mut self, run: &mut TimedRun, _was_stopped: bool) -> anyhow::Result<()> {
        if self.newest != Some(run.generation()) {
            self.begin(run)?;
        }
        self.wait()
    }
}
