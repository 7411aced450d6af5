//! The option `--checkpoint`, which writes checkpoints of a run.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Context, anyhow};
use program::files::WholeFile;
use program::report::{self, grouped};

use super::Observer;
use crate::checkpoint::{Every, Header, RunFacts, saved_board, write_rows};
use crate::simulation::CopiedCells;
use crate::timed_run::TimedRun;

/// An observer that writes checkpoints of a run. The observer copies the board, and a separate thread writes the copy
/// while the run continues. If a checkpoint cannot be written, the run continues, too: the disk may be full only for a
/// while, and the previous checkpoint stays.
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
    /// The reason why the newest checkpoint could not be written, and the checkpoint that the file contains instead.
    pub failure: Option<anyhow::Error>,
}

impl Checkpoints {
    /// Returns an observer that writes checkpoints to `path`, for a run whose present generation is `generation`. The
    /// first rank must have a [`Claim`](crate::checkpoint::Claim) to the file.
    pub fn new(path: &Path, every: Every, facts: RunFacts, generation: u64) -> Self {
        let file = WholeFile::new(path);
        let last = Instant::now();
        let mut checkpoints =
            Self { file, every, facts, next: generation, last, newest: None, writing: None, failure: None };
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
        self.wait();
        let (generation, (left, top)) = (run.generation(), run.life.added());
        let origin = (self.facts.origin.0 - left as i64, self.facts.origin.1 - top as i64);
        let facts = RunFacts { origin, ..self.facts.clone() };
        let is_text = run.life.engine().plane().is_some();
        let header = Header { facts, size: run.life.size(), generation, is_text };
        self.newest = Some(generation);
        if run.life.is_in_bands() {
            let written = self.write_parts(&header, run)?;
            self.record(written);
            return Ok(());
        }
        let cells = match run.life.engine().copied() {
            Ok(cells) => cells,
            Err(error) => {
                self.record(Err(error.context(self.file.failed())));
                return Ok(());
            }
        };
        let file = self.file.clone();
        let write = move || {
            let mut out = file.create()?;
            let written = match &cells {
                CopiedCells::Plane(plane) => header.write_plane(plane.engine(), plane.area(), &mut out),
                CopiedCells::Whole(Some(board)) => {
                    header.write(board.hash(), &mut out).and_then(|()| write_rows(board, &mut out))
                }
                CopiedCells::Whole(None) | CopiedCells::Bands(_) => Err(io::ErrorKind::Unsupported.into()),
            };
            written.with_context(|| file.failed())?;
            file.keep_synced(out)
        };
        match thread::Builder::new().spawn(write) {
            Ok(writing) => self.writing = Some(writing),
            Err(error) => self.record(Err(anyhow!(error).context("cannot start a thread"))),
        }
        Ok(())
    }

    /// Writes a checkpoint of a board in bands, part by part. The first rank receives the parts and writes them. The
    /// run waits until the last part is written. The inner result is that of writing the file. All parts are received
    /// in any case, because the other ranks send them.
    fn write_parts(&self, header: &Header, run: &mut TimedRun) -> anyhow::Result<anyhow::Result<()>> {
        let hash = run.life.engine_mut().hash()?;
        let begin = || {
            let mut out = self.file.create()?;
            header.write(hash, &mut out).with_context(|| self.file.failed())?;
            Ok(out)
        };
        let mut out = run.life.ranks().is_first().then(begin).transpose();
        run.life.parts(|_, rows| {
            if let Ok(Some(draft)) = &mut out
                && let Err(error) = write_rows(rows, draft)
            {
                out = Err(anyhow!(error).context(self.file.failed()));
            }
            Ok(())
        })?;
        Ok(out.and_then(|out| out.map_or(Ok(()), |out| self.file.keep_synced(out))))
    }

    /// Waits until the previous checkpoint is written.
    fn wait(&mut self) {
        if let Some(writing) = self.writing.take() {
            let panicked = |_| Err(anyhow!("{}: the writing thread panicked", self.file.failed()));
            let written = writing.join().unwrap_or_else(panicked);
            self.record(written);
        }
    }

    /// Records if a checkpoint was written. Prints a warning at the first checkpoint that could not be written.
    fn record(&mut self, written: anyhow::Result<()>) {
        let Err(error) = written else {
            if self.failure.take().is_some() {
                report::note(&format!("the checkpoint {} is written again", self.file));
            }
            return;
        };
        let kept = match saved_board::open(self.file.path()) {
            Ok(saved) => format!("the checkpoint of generation {} is kept", grouped(saved.header.generation)),
            Err(_) => "there is no earlier checkpoint".into(),
        };
        let failure = anyhow!("{error:#}: {kept}");
        if self.failure.is_none() {
            report::note(&format!("warning: {failure}"));
        }
        self.failure = Some(failure);
    }
}

/// Waits until the writing thread ends, so that it writes nothing after the run's [`Claim`](crate::checkpoint::Claim)
/// ends.
impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wait();
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
        self.wait();
        if self.newest != Some(run.generation()) || self.failure.is_some() {
            self.begin(run)?;
        }
        self.wait();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::backend::Backend;
    use crate::first_board::{BoardSource, PlacedPattern};
    use crate::universe::Universe;
    use life::Board;

    /// Checks that a run continues if a checkpoint cannot be written. A read-only file stands for a full disk.
    #[test]
    fn the_run_goes_on_without_a_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let backend = Backend::Cpu(Universe::default());
        let source = BoardSource::Pattern(PlacedPattern::of(Board::random(64, 64, 0.4, 1).unwrap()));
        let mut run = TimedRun::begin(&backend, &source, 0).unwrap();
        let facts = RunFacts::of(&Universe::default(), (0, 0));
        let mut checkpoints = Checkpoints::new(&path, Every::Generations(5), facts, 0);
        let saved_at = |run: &mut TimedRun, checkpoints: &mut Checkpoints, is_last: bool| {
            run.advance(5, std::time::Duration::MAX).unwrap();
            match is_last {
                true => checkpoints.finish(run, false).unwrap(),
                false => drop(checkpoints.on_generation(run).unwrap()),
            }
            checkpoints.wait();
            saved_board::open(&path).unwrap().header.generation
        };
        let read_only = |is_read_only: bool| {
            let mut permissions = fs::metadata(&path).unwrap().permissions();
            permissions.set_readonly(is_read_only);
            fs::set_permissions(&path, permissions).unwrap();
        };
        assert_eq!((saved_at(&mut run, &mut checkpoints, false), checkpoints.failure.is_none()), (5, true));
        read_only(true);
        assert_eq!(saved_at(&mut run, &mut checkpoints, false), 5);
        let failure = checkpoints.failure.as_ref().unwrap().to_string();
        assert!(
            failure.contains("read-only") && failure.ends_with("the checkpoint of generation 5 is kept"),
            "{failure}"
        );
        read_only(false);
        assert_eq!((saved_at(&mut run, &mut checkpoints, false), checkpoints.failure.is_none()), (15, true));
        read_only(true);
        assert_eq!((saved_at(&mut run, &mut checkpoints, true), checkpoints.failure.is_some()), (15, true));
    }
}
