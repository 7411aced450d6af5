//! The options of a run's observers: checkpoints, statistics, and the search for a period.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::checkpoint::{Claim, Every, RunFacts, saved_board};
use crate::observers::checkpoints::Checkpoints;
use crate::observers::stats::{Spacing, Stats, StatsFile};
use crate::ranks::Ranks;
use program::error::UsageError;
use program::files::are_the_same;
use program::options::number_in;
use program::report::plot;

/// The default of `--every`.
const EVERY: Every = Every::Time(Duration::from_secs(60));

/// The condition that ends a run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Until {
    /// The run ends when the board is periodic.
    Stable,
}

/// The command-line options of a run's observers.
#[derive(Args, Debug)]
pub struct ObserverOptions {
    /// Run until the board is periodic, at most to --generations, and print the period and its first generation
    #[arg(long, value_name = "stable", hide_possible_values = true)]
    pub until: Option<Until>,

    /// Write the board to FILE regularly and at the end; `life FILE` resumes the run. An existing file is replaced
    /// only if the run resumes from it, or with --overwrite
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Interval of --checkpoint: generations, such as 1000, or a time, such as 30s, 5m or 1h [default: 60s]
    #[arg(long, value_name = "N|TIME", requires = "checkpoint")]
    every: Option<Every>,

    /// Let --checkpoint replace the checkpoint of another run, and let a resumed run replace its earlier --stats,
    /// --plot or recording. A file that is not a checkpoint is never replaced
    #[arg(long)]
    pub overwrite: bool,

    /// Write population, births and deaths per generation to a .csv or .json file
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,

    /// Plot population, births and deaths to a .svg or .png file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Count every Nth generation for --stats and --plot [default: the first 128 generations, then 64 per doubling]
    #[arg(long, value_name = "N", value_parser = number_in::<u64>(1..=u64::MAX))]
    stats_every: Option<u64>,
}

impl ObserverOptions {
    /// Returns true if the user has given an option that excludes an animation.
    pub fn is_asked_for(&self) -> bool {
        self.until.is_some() || self.checkpoint.is_some() || self.stats.is_some() || self.plot.is_some()
    }

    /// Checks the files of `--stats` and `--plot` before the run: they must be writable.
    ///
    /// # Errors
    /// [`UsageError`] for invalid options. Another error if a file cannot be written.
    pub fn check(&self, ranks: Ranks) -> anyhow::Result<()> {
        if self.stats_every.is_some() && self.stats.is_none() && self.plot.is_none() {
            reject!("--stats-every needs --stats or --plot: add one of them");
        }
        let stats = self.stats.as_deref().map(StatsFile::new).transpose()?;
        if ranks.is_first() {
            stats.map_or(Ok(()), |stats| stats.file.check())?;
            self.plot.as_deref().map_or(Ok(()), plot::check)?;
        }
        Ok(())
    }

    /// Checks that all outputs of the run, including `out`, are different files, and that no output is the `input`. As
    /// an exception, the checkpoint may be the input if the input is a checkpoint.
    ///
    /// # Errors
    /// [`UsageError`] with the path and the options that conflict.
    pub fn check_paths(&self, input: Option<&Path>, out: Option<&Path>) -> Result<(), UsageError> {
        let input = input.filter(|input| *input != Path::new("-"));
        let outputs = self.outputs(out);
        for (i, &(flag, path)) in outputs.iter().enumerate() {
            let is_resumed = |input: &Path| flag == "--checkpoint" && saved_board::is_checkpoint(input);
            if input.is_some_and(|input| are_the_same(input, path) && !is_resumed(input)) {
                reject!("{flag}: '{}' is also the input: use another file", path.display());
            }
            if let Some((other, _)) = outputs[..i].iter().find(|(_, other)| are_the_same(other, path)) {
                reject!("{flag}: '{}' is also the file of {other}: use another file", path.display());
            }
        }
        Ok(())
    }

    /// Returns the options that name output files, and their paths. `out` is the path of `--out`.
    fn outputs<'a>(&'a self, out: Option<&'a Path>) -> Vec<(&'static str, &'a Path)> {
        let paths = [out, self.checkpoint.as_deref(), self.stats.as_deref(), self.plot.as_deref()];
        let flags = ["--out", "--checkpoint", "--stats", "--plot"];
        flags.into_iter().zip(paths).filter_map(|(flag, path)| Some((flag, path?))).collect()
    }

    /// Reserves the checkpoint's file. Without `--overwrite`, the run must not replace the checkpoint of another run.
    /// If `input` is a checkpoint, the run must not replace existing statistics or the existing `recording` either.
    ///
    /// # Errors
    /// [`UsageError`] if the run would replace such a file, or for invalid options. Another error if the file cannot be
    /// written, or another run is writing it.
    pub fn claim(&self, input: Option<&Path>, recording: Option<&Path>) -> anyhow::Result<Option<Claim>> {
        let is_resumed = input.is_some_and(saved_board::is_checkpoint);
        if self.overwrite && self.checkpoint.is_none() && !is_resumed {
            reject!(
                "--overwrite needs --checkpoint FILE, or a checkpoint to resume from: add one of them, or leave it out"
            );
        }
        if is_resumed && !self.overwrite {
            for (flag, path) in self.outputs(recording).into_iter().filter(|(flag, _)| *flag != "--checkpoint") {
                if fs::metadata(path).is_ok_and(|present| present.is_file() && present.len() > 0) {
                    reject!(
                        "{flag}: '{}' exists, and a resumed run would write only what follows its checkpoint: use \
                         another file, or replace this one with --overwrite",
                        path.display()
                    );
                }
            }
        }
        self.checkpoint.as_deref().map(|file| Claim::new(file, input, self.overwrite)).transpose()
    }

    /// Returns the observer that writes checkpoints, or `None` without `--checkpoint`. `generation` is the run's
    /// present generation.
    pub fn checkpoints(&self, facts: RunFacts, generation: u64) -> Option<Checkpoints> {
        let file = self.checkpoint.as_deref()?;
        Some(Checkpoints::new(file, self.every.unwrap_or(EVERY), facts, generation))
    }

    /// Returns the observer that counts cells, or `None` without `--stats` and `--plot`. `generations` are the first
    /// and the last generation of the run.
    ///
    /// # Errors
    /// If the extension of a file is unknown.
    pub fn stats(&self, title: String, generations: (u64, u64)) -> anyhow::Result<Option<Stats>> {
        if self.stats.is_none() && self.plot.is_none() {
            return Ok(None);
        }
        let file = self.stats.as_deref().map(StatsFile::new).transpose()?;
        let spacing = self.stats_every.map_or(Spacing::Doubling, Spacing::Every);
        Ok(Some(Stats::new(file, self.plot.clone(), title, spacing, generations)))
    }

    /// Returns the last part of the message about a stopped run. This part tells the user how to resume the run.
    /// `unsaved` is the error of the last checkpoint, if it could not be written.
    pub fn resume(&self, unsaved: Option<anyhow::Error>) -> String {
        match (self.checkpoint.as_deref(), unsaved) {
            (Some(file), None) => format!("; `{} life {}` resumes from there", units::program(), file.display()),
            (_, unsaved) => unsaved.map_or(String::new(), |error| format!("; {error}")),
        }
    }

    /// Returns the maximum number of packed boards that the host keeps for the observers. `census` is true if the run
    /// makes a census, because a census also searches for a period.
    pub fn boards(&self, census: bool) -> u64 {
        // A search for a period keeps copies of several boards. The writer of checkpoints keeps one copy.
        8 * u64::from(self.until.is_some() || census) + u64::from(self.checkpoint.is_some())
    }
}
