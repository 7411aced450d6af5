//! Checkpoints: the board of a long run, written to a file every so often while the run goes on, from which the run can be
//! resumed.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use life::Topology;

use super::duty::{Attended, Duty};
use super::run::Run;
use super::setting::Setting;
use program::files::WholeFile;
use program::options::parse_count;
use program::ranks;

mod claim;
mod format;
pub mod saved;

pub use claim::Claim;
pub use format::Header;

/// How often a checkpoint is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Every {
    /// Each time so many generations are done.
    Generations(u64),
    /// Each time so much time has passed.
    Time(Duration),
}

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "give generations, as 1000, or a time, as 30s, 5m or 1h";
        let units = [("s", 1), ("m", 60), ("h", 3600)];
        let found = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, Some(*seconds))));
        let (number, seconds) = found.unwrap_or((text, None));
        let number = parse_count(number).map_err(|_| form.to_owned())? as u64;
        match (number, seconds) {
            (0, _) => Err(form.into()),
            (number, None) => Ok(Self::Generations(number)),
            (number, Some(seconds)) => Ok(Self::Time(Duration::from_secs(number.saturating_mul(seconds)))),
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generations(number) => number.fmt(f),
            Self::Time(time) => write!(f, "{}s", time.as_secs()),
        }
    }
}

/// What all checkpoints of a run have in common.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The rule, as text.
    pub rule: String,
    /// What is beyond the board's edges, as text.
    pub topology: String,
    /// The generation that the run is to end at.
    pub until: Option<u64>,
    /// Of the soup that it began with.
    pub seed: Option<u64>,
    /// The generation that the run's first board was called in its file; later ones count from it.
    pub first: u64,
    /// Where the upper left corner of the board that this process began with is on the plane, as (column, row).
    pub origin: (i64, i64),
}

/// The rule and the topology that a run has.
const RULE: &str = "B3/S23";
const TOPOLOGY: &str = "T";

impl Default for Facts {
    fn default() -> Self {
        Self { rule: RULE.into(), topology: TOPOLOGY.into(), until: None, seed: None, first: 0, origin: (0, 0) }
    }
}

/// The topology of the unbounded plane.
const PLANE: &str = "plane";

impl From<Header> for Facts {
    fn from(header: Header) -> Self {
        let Header { rule, topology, until, seed, first, origin, .. } = header;
        Self { rule, topology, until, seed, first, origin }
    }
}

impl Facts {
    /// With the board's size and generation.
    pub fn header(self, size: (usize, usize), generation: u64) -> Header {
        let Self { rule, topology, until, seed, first, origin } = self;
        Header { rule, topology, size, generation, until, seed, first, origin }
    }

    /// Those of a run under `setting`, whose first board has its upper left corner at `origin`.
    pub fn of(setting: &Setting, origin: (i64, i64)) -> Self {
        let topology = match (setting.is_unbounded(), setting.topology) {
            (true, _) => PLANE.into(),
            (false, Topology::TORUS) => TOPOLOGY.into(),
            // Of an unbounded direction 0, else any: the board has its size.
            _ => setting.suffix((1 << 20, 1 << 20)),
        };
        Self { rule: setting.rule.to_string(), topology, first: setting.generation, origin, ..Self::default() }
    }

    /// What a run with this rule and topology is advanced by.
    ///
    /// # Errors
    /// What is not supported.
    pub fn setting(&self) -> anyhow::Result<Setting> {
        let suffix = match &self.topology[..] {
            TOPOLOGY | PLANE => "",
            suffix => suffix,
        };
        ensure!(suffix.is_empty() || suffix.starts_with(':'), "its topology is {}, which is none", self.topology);
        let (setting, _) = Setting::of(format!("{}{suffix}", self.rule).parse()?);
        Ok(if self.topology == TOPOLOGY { setting.bounded() } else { setting })
    }
}

/// Writes checkpoints of a run. The board is copied at once; a thread writes the copy while the run goes on.
pub struct Checkpoints {
    file: WholeFile,
    every: Every,
    facts: Facts,
    /// The next generation, or the time, that one is due at.
    next: u64,
    last: Instant,
    /// The generation of the newest that was begun.
    newest: Option<u64>,
    writing: Option<JoinHandle<anyhow::Result<()>>>,
}

impl Checkpoints {
    /// Those of a run that is at `generation`, in the file at `path`.
    /// The first rank has a [`Claim`] to it.
    pub fn new(path: &Path, every: Every, facts: Facts, generation: u64) -> Self {
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

    /// Begins to write one, when the one before is written.
    fn begin(&mut self, run: &mut Run) -> anyhow::Result<()> {
        self.wait()?;
        let (generation, (left, top)) = (run.generation(), run.life().added());
        let origin = (self.facts.origin.0 - left as i64, self.facts.origin.1 - top as i64);
        let header = Facts { origin, ..self.facts.clone() }.header(run.life().size(), generation);
        self.newest = Some(generation);
        if run.life().is_in_bands() {
            return self.write_parts(&header, run);
        }
        let (file, board) = (self.file.clone(), run.life().board()?);
        let write = move || {
            let mut out = file.create()?;
            let written = header.write(board.hash(), &mut out).and_then(|()| format::write_rows(&board, &mut out));
            written.with_context(|| file.failed())?;
            file.keep_synced(out)
        };
        self.writing = Some(thread::Builder::new().spawn(write).context("cannot start a thread")?);
        Ok(())
    }

    /// Writes one of a board in bands, part by part, on the first rank. The run waits.
    fn write_parts(&self, header: &Header, run: &mut Run) -> anyhow::Result<()> {
        let hash = run.hash()?;
        let mut out = if ranks::is_first() { Some(self.file.create()?) } else { None };
        if let Some(out) = &mut out {
            header.write(hash, out).with_context(|| self.file.failed())?;
        }
        run.life().parts(|_, rows| match &mut out {
            Some(out) => format::write_rows(rows, out).with_context(|| self.file.failed()),
            None => Ok(()),
        })?;
        out.map_or(Ok(()), |out| self.file.keep_synced(out))
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        match self.writing.take() {
            Some(writing) => writing.join().map_err(|_| anyhow!("{}: its thread failed", self.file.failed()))?,
            None => Ok(()),
        }
    }
}

/// Nothing is written any more when the run's [`Claim`] ends.
impl Drop for Checkpoints {
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

impl Duty for Checkpoints {
    fn due(&self) -> u64 {
        match self.every {
            Every::Generations(_) => self.next,
            Every::Time(time) if self.last.elapsed() >= time => 0,
            Every::Time(_) => u64::MAX,
        }
    }

    fn attend(&mut self, run: &mut Run) -> anyhow::Result<Attended> {
        self.plan(run.generation());
        // One copy of the board at a time: while a slow disk still writes the last one, the next is left out.
        if self.writing.as_ref().is_none_or(JoinHandle::is_finished) {
            self.begin(run)?;
        }
        Ok(Attended::GoOn)
    }

    fn finish(&mut self, run: &mut Run, _was_stopped: bool) -> anyhow::Result<()> {
        if self.newest != Some(run.generation()) {
            self.begin(run)?;
        }
        self.wait()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_they_are_written() {
        for (text, every) in [
            ("1000", Every::Generations(1000)),
            ("2^10", Every::Generations(1024)),
            ("90s", Every::Time(Duration::from_secs(90))),
            ("5m", Every::Time(Duration::from_secs(300))),
            ("1h", Every::Time(Duration::from_secs(3600))),
        ] {
            assert_eq!(text.parse(), Ok(every));
            assert_eq!(every.to_string().parse(), Ok(every));
        }
        for text in ["", "0", "0s", "s", "-1", "1d", "1.5m"] {
            let message = text.parse::<Every>().unwrap_err();
            assert!(message.contains("30s"), "{text}: {message}");
        }
    }
}
