//! The flags of what is done beside a long run: checkpoints, statistics, the search for its end.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::checkpoint::{Checkpoints, Every, Facts, saved};
use super::stats::{Spacing, Stats, StatsFile};
use crate::error::UsageError;
use crate::files::are_the_same;
use crate::ranks;
use crate::report::plot;

/// How often a checkpoint is written, when nobody says how often.
const EVERY: Every = Every::Time(Duration::from_secs(60));

/// What a run goes on until.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// The board repeats itself.
    Stable,
}

impl FromStr for Until {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "stable" { Ok(Self::Stable) } else { Err("it can be: stable") }
    }
}

/// What is done beside a run's generations.
#[derive(Args, Debug)]
pub struct LongRun {
    /// Run until the board repeats itself, and print from which generation on, and the period; at most --generations
    #[arg(long, value_name = "stable")]
    pub until: Option<Until>,

    /// Write the board to FILE every so often and at the end; `host life FILE` goes on from there to the same end
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// How often: generations, as 1000, or a time, as 30s, 5m or 1h [default: 60s]
    #[arg(long, value_name = "N|TIME", requires = "checkpoint")]
    every: Option<Every>,

    /// Write population, births and deaths of the generations to a .csv or .json file
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,

    /// Draw them, into a .svg or .png file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Count every Nth generation for --stats and --plot [default: the first 128, and 64 of each doubling]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    stats_every: Option<u64>,
}

impl LongRun {
    /// Whether there is something that keeps a run from being animated.
    pub fn is_asked_for(&self) -> bool {
        self.until.is_some() || self.checkpoint.is_some() || self.stats.is_some() || self.plot.is_some()
    }

    /// Finds out whether the files can be written, before anything is done.
    ///
    /// # Errors
    /// [`UsageError`] for what was typed, otherwise what prevents it.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.stats_every.is_some() && self.stats.is_none() && self.plot.is_none() {
            return Err(UsageError("--stats-every says what --stats or --plot counts: give one of them".into()).into());
        }
        self.stats.as_deref().map(StatsFile::new).transpose()?;
        self.plot.as_deref().filter(|_| ranks::is_first()).map_or(Ok(()), plot::check)
    }

    /// Refuses to write two of a run's files, `out` among them, to the same place, or one in place of the `input`; only a checkpoint
    /// is resumed into itself.
    ///
    /// # Errors
    /// [`UsageError`] with the two.
    pub fn check_paths(&self, input: Option<&Path>, out: Option<&Path>) -> Result<(), UsageError> {
        let input = input.filter(|input| *input != Path::new("-"));
        let outputs = [
            ("--out", out),
            ("--checkpoint", self.checkpoint.as_deref()),
            ("--stats", self.stats.as_deref()),
            ("--plot", self.plot.as_deref()),
        ];
        let outputs: Vec<_> = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path?))).collect();
        for (i, &(flag, path)) in outputs.iter().enumerate() {
            let is_resumed = |input: &Path| flag == "--checkpoint" && saved::is_checkpoint(input);
            if input.is_some_and(|input| are_the_same(input, path) && !is_resumed(input)) {
                let text = format!("{flag}: '{}' is what is read: give another file", path.display());
                return Err(UsageError(text));
            }
            if let Some((other, _)) = outputs[..i].iter().find(|(_, other)| are_the_same(other, path)) {
                let text = format!("{flag}: '{}' is also the file of {other}: give another one", path.display());
                return Err(UsageError(text));
            }
        }
        Ok(())
    }

    /// The checkpoints of a run that is at `generation`, if they are asked for.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn checkpoints(&self, facts: Facts, generation: u64) -> anyhow::Result<Option<Checkpoints>> {
        let file = self.checkpoint.as_deref();
        file.map(|file| Checkpoints::new(file, self.every.unwrap_or(EVERY), facts, generation)).transpose()
    }

    /// The statistics of a run over these generations, if they are asked for.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn stats(&self, title: String, generations: (u64, u64)) -> anyhow::Result<Option<Stats>> {
        if self.stats.is_none() && self.plot.is_none() {
            return Ok(None);
        }
        let file = self.stats.as_deref().map(StatsFile::new).transpose()?;
        let spacing = self.stats_every.map_or(Spacing::Doubling, Spacing::Every);
        Ok(Some(Stats::new(file, self.plot.clone(), title, spacing, generations)))
    }

    /// How to go on with a run that was stopped, for the end of a sentence.
    pub fn resume(&self) -> String {
        let file = self.checkpoint.as_deref();
        file.map_or(String::new(), |file| format!("; `host life {}` goes on from there", file.display()))
    }

    /// Packed boards that the host keeps for all this, beside that of the run, at most. A census searches for the end, too.
    pub fn boards(&self, census: bool) -> u64 {
        // A search has the run's first board, and compares two on another one; a checkpoint is a copy.
        8 * u64::from(self.until.is_some() || census) + u64::from(self.checkpoint.is_some())
    }
}
