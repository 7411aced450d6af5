//! The flags of a run's observers: checkpoints, statistics, the search for the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use crate::checkpoint::{Claim, Every, Facts, saved};
use crate::observers::checkpoints::Checkpoints;
use crate::observers::stats::{Spacing, Stats, StatsFile};
use crate::ranks::Ranks;
use program::error::UsageError;
use program::files::are_the_same;
use program::report::plot;

/// How often a checkpoint is written, when nobody says how often.
const EVERY: Every = Every::Time(Duration::from_secs(60));

/// The condition that ends a run.
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

/// The options of a run's observers.
#[derive(Args, Debug)]
pub struct ObserverOptions {
    /// Run until the board repeats itself, and print from which generation on, and the period; at most --generations
    #[arg(long, value_name = "stable")]
    pub until: Option<Until>,

    /// Write the board to FILE every so often and at the end; `host life FILE` goes on from there to the same end. A
    /// file that is there already is replaced only if the run is resumed from it, or by --overwrite
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// How often: generations, as 1000, or a time, as 30s, 5m or 1h [default: 60s]
    #[arg(long, value_name = "N|TIME", requires = "checkpoint")]
    every: Option<Every>,

    /// Replace the checkpoint of another run in --checkpoint's FILE, and, in a run that is resumed, what it wrote
    /// before to --stats, --plot or a recording; a --checkpoint's FILE that is no checkpoint is refused all the same
    #[arg(long)]
    pub overwrite: bool,

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

impl ObserverOptions {
    /// True if an option excludes an animation.
    pub fn is_asked_for(&self) -> bool {
        self.until.is_some() || self.checkpoint.is_some() || self.stats.is_some() || self.plot.is_some()
    }

    /// Finds out whether the files can be written, before anything is done.
    ///
    /// # Errors
    /// [`UsageError`] for what was typed, otherwise what prevents it.
    pub fn check(&self, ranks: Ranks) -> anyhow::Result<()> {
        if self.stats_every.is_some() && self.stats.is_none() && self.plot.is_none() {
            return Err(UsageError("--stats-every says what --stats or --plot counts: give one of them".into()).into());
        }
        let stats = self.stats.as_deref().map(StatsFile::new).transpose()?;
        if ranks.is_first() {
            stats.map_or(Ok(()), |stats| stats.check())?;
            self.plot.as_deref().map_or(Ok(()), plot::check)?;
        }
        Ok(())
    }

    /// Refuses to write two of a run's files, `out` among them, to the same place, or one in place of the `input`; only
    /// a checkpoint is resumed into itself.
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

    /// Refuses to replace the work of an earlier run without --overwrite: another run's checkpoint, and, where the
    /// `input` is a checkpoint, the statistics and the `recording` of what was before it. Reserves the checkpoint's
    /// file.
    ///
    /// # Errors
    /// [`UsageError`] for what was typed; when the file cannot be written, or another run writes it.
    pub fn claim(&self, input: Option<&Path>, recording: Option<&Path>) -> anyhow::Result<Option<Claim>> {
        let is_resumed = input.is_some_and(saved::is_checkpoint);
        if self.overwrite && self.checkpoint.is_none() && !is_resumed {
            let text =
                "--overwrite says what --checkpoint or a run that is resumed may replace: give --checkpoint FILE";
            return Err(UsageError(text.into()).into());
        }
        if is_resumed && !self.overwrite {
            let outputs = [("--out", recording), ("--stats", self.stats.as_deref()), ("--plot", self.plot.as_deref())];
            for (flag, path) in outputs.into_iter().filter_map(|(flag, path)| Some((flag, path?))) {
                if fs::metadata(path).is_ok_and(|present| present.is_file() && present.len() > 0) {
                    let text = format!(
                        "{flag}: '{}' is there already, and a run that is resumed writes only what follows its checkpoint: name \
                         another file, or replace it by --overwrite",
                        path.display()
                    );
                    return Err(UsageError(text).into());
                }
            }
        }
        self.checkpoint.as_deref().map(|file| Claim::new(file, input, self.overwrite)).transpose()
    }

    /// The checkpoints of a run that is at `generation`, if they are asked for.
    pub fn checkpoints(&self, facts: Facts, generation: u64) -> Option<Checkpoints> {
        let file = self.checkpoint.as_deref()?;
        Some(Checkpoints::new(file, self.every.unwrap_or(EVERY), facts, generation))
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

    /// Packed boards that the host keeps for all this, beside that of the run, at most. A census searches for the end,
    /// too.
    pub fn boards(&self, census: bool) -> u64 {
        // A search has the run's first board, and compares two on another one; a checkpoint is a copy.
        8 * u64::from(self.until.is_some() || census) + u64::from(self.checkpoint.is_some())
    }
}
