//! A learner's session in a project: checks, hints, and the loop that checks again after each edit.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::answers::Answers;
use crate::checker::{Check, Checked, write_picture};
use crate::command::LearnError;
use crate::outcome::Outcome;
use crate::progress::Progress;
use crate::show;
use crate::source::{SOURCES, Source};

/// The interval at which files are looked at.
const INTERVAL: Duration = Duration::from_millis(200);
/// The keys of the loop.
const KEYS: &str = "waiting for an edit; h hint, s solution, r reset, l list, q quit, each with Enter";

/// A session in a project.
#[derive(Debug)]
pub(crate) struct Session<C> {
    folder: PathBuf,
    progress: Progress,
    checker: C,
    is_coloured: bool,
}

/// The result of the check of an exercise, for a learner and for JSON.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) is_passed: bool,
    /// The text for the learner.
    pub(crate) text: String,
    /// The outcome, if the exercise compiles.
    pub(crate) outcome: Option<Outcome>,
}

impl<C: Check> Session<C> {
    /// Opens the project `folder`.
    ///
    /// # Errors
    /// If its progress cannot be read.
    pub(crate) fn open(folder: &Path, checker: C, is_coloured: bool) -> Result<Self, LearnError> {
        let progress = Progress::read(folder).map_err(|error| {
            LearnError::Failed(format!("cannot read progress.json: {error}; put `{{}}` in it to begin again"))
        })?;
        Ok(Self { folder: folder.to_owned(), progress, checker, is_coloured })
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    pub(crate) fn checker_mut(&mut self) -> &mut C {
        &mut self.checker
    }

    /// Returns the first exercise that is not done, or `None` if all are.
    pub(crate) fn current(&self) -> Option<&'static Source> {
        SOURCES.iter().find(|source| !self.progress.of(source.name).is_done)
    }

    /// Checks an exercise, and records the result.
    ///
    /// # Errors
    /// If `cargo` cannot be run, or a file not be read or written.
    pub(crate) fn check(&mut self, source: &Source) -> Result<Report, LearnError> {
        let answers = answers(source)?;
        let checked = self.checker.check(&self.folder, source)?;
        let kernel = self.read(source)?;
        let report = match checked {
            Checked::NotCompiled(text) => Report { is_passed: false, text: format!("\n{text}\n"), outcome: None },
            Checked::Outcome(outcome) => {
                let picture = write_picture(&self.folder, source, &outcome)?;
                let text = match outcome.is_passed {
                    true => {
                        let times = self.checker.times(&self.folder, source)?;
                        show::success(source, &answers, &kernel, outcome.score, times.as_deref())
                    }
                    false => show::failure(&outcome, self.is_coloured, picture.as_deref()),
                };
                Report { is_passed: outcome.is_passed, text, outcome: Some(*outcome) }
            }
        };
        let state = self.progress.of_mut(source.name);
        state.is_done = report.is_passed;
        state.tries += u32::from(!report.is_passed && kernel != source.kernel);
        self.progress.write(&self.folder)?;
        Ok(report)
    }

    /// Returns one more hint than before.
    ///
    /// # Errors
    /// If the progress cannot be written.
    pub(crate) fn hint(&mut self, source: &Source) -> Result<String, LearnError> {
        let answers = answers(source)?;
        let state = self.progress.of_mut(source.name);
        state.hints = (state.hints + 1).min(answers.hints.len());
        let text = show::hints(&answers, state.hints);
        self.progress.write(&self.folder)?;
        Ok(text)
    }

    /// Returns the solution.
    ///
    /// # Errors
    /// [`LearnError::Usage`] before a try.
    pub(crate) fn solution(&self, source: &Source) -> Result<String, LearnError> {
        let state = self.progress.of(source.name);
        if state.tries == 0 && !state.is_done {
            let name = source.name;
            return Err(LearnError::Usage(format!(
                "the solution of `{name}` is shown after a try: edit {} and check it, or ask for a --hint",
                source.kernel_path()
            )));
        }
        Ok(show::solution(&answers(source)?))
    }

    /// Writes the exercise as it was. Keeps an edited file beside it, and returns a line that says where.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn reset(&mut self, source: &Source) -> Result<String, LearnError> {
        let path = source.kernel_in(&self.folder);
        let mut text = format!("{} is as it was", source.kernel_path());
        let before = fs::read_to_string(&path).ok().filter(|before| before != source.kernel);
        if before.is_some() {
            fs::rename(&path, path.with_extension("rs.old"))?;
            text += &format!("; your file is {}.old", source.kernel_path());
        }
        for (path, original) in [(path, source.kernel), (self.folder.join(source.check_path()), source.check)] {
            fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
            fs::write(path, original)?;
        }
        *self.progress.of_mut(source.name) = Default::default();
        self.progress.write(&self.folder)?;
        Ok(text)
    }

    /// Checks exercises from `first` on, each again after each edit, until all are done or the learner quits. `keys`
    /// are the lines that the learner types.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), or of `out`.
    pub(crate) fn watch(
        &mut self,
        first: &'static Source,
        keys: &Receiver<String>,
        out: &mut impl Write,
    ) -> Result<(), LearnError> {
        let mut next = Some(first);
        while let Some(source) = next {
            let heading = show::heading(source, &answers(source)?, &self.progress);
            let before = self.modified(source);
            write!(out, "\n{heading}")?;
            let report = self.check(source)?;
            writeln!(out, "{}", report.text)?;
            if report.is_passed {
                next = self.current();
                continue;
            }
            writeln!(out, "{KEYS}")?;
            out.flush()?;
            if self.wait(source, before, keys, out)?.is_none() {
                return Ok(());
            }
        }
        Ok(writeln!(out, "\nall {} exercises are done", SOURCES.len())?)
    }

    /// Waits for an edit of `source`, and answers the learner's keys. Returns `None` if the learner quits.
    fn wait(
        &mut self,
        source: &Source,
        before: [Option<SystemTime>; 2],
        keys: &Receiver<String>,
        out: &mut impl Write,
    ) -> Result<Option<()>, LearnError> {
        while self.modified(source) == before {
            let answer = match keys.recv_timeout(INTERVAL) {
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    thread::sleep(INTERVAL);
                    continue;
                }
                Ok(key) => match key.trim() {
                    "q" => return Ok(None),
                    "h" => self.hint(source),
                    "s" => self.solution(source),
                    "r" => self.reset(source),
                    "l" => Ok(show::list(&self.progress)),
                    _ => Ok(KEYS.to_owned()),
                },
            };
            match answer {
                Ok(text) | Err(LearnError::Usage(text)) => writeln!(out, "{text}")?,
                Err(error) => return Err(error),
            }
            out.flush()?;
        }
        Ok(Some(()))
    }

    /// Returns the times at which the files of an exercise were modified.
    fn modified(&self, source: &Source) -> [Option<SystemTime>; 2] {
        [source.kernel_path(), source.check_path()]
            .map(|path| fs::metadata(self.folder.join(path)).and_then(|file| file.modified()).ok())
    }

    fn read(&self, source: &Source) -> Result<String, LearnError> {
        let path = source.kernel_path();
        fs::read_to_string(source.kernel_in(&self.folder)).map_err(|error| {
            LearnError::Failed(format!("cannot read {path}: {error}; `--reset {}` writes it again", source.name))
        })
    }
}

/// Returns the answers of an exercise.
pub(crate) fn answers(source: &Source) -> Result<Answers<'static>, LearnError> {
    Answers::parse(source.answers).map_err(|error| LearnError::Failed(format!("{}: {error}", source.name)))
}

impl From<io::Error> for LearnError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

#[cfg(test)]
mod tests;
