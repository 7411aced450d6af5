//! The learner's progress, which the project keeps in a file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::project::PROGRESS;

/// The progress of all exercises that the learner has begun.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Progress(BTreeMap<String, State>);

/// The progress of one exercise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    /// True if the last check of the exercise passed.
    pub(crate) is_done: bool,
    /// The number of checks of a file that the learner has edited and that failed.
    pub(crate) tries: u32,
    /// The number of hints that were shown.
    pub(crate) hints: usize,
}

impl Progress {
    /// Reads the progress of the project `folder`.
    ///
    /// # Errors
    /// If the file cannot be read, or is not what [`write`](Self::write) wrote.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(folder.join(PROGRESS))?)?)
    }

    /// Writes the progress of the project `folder`, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let draft = folder.join(format!("{PROGRESS}.new"));
        fs::write(&draft, serde_json::to_string_pretty(self)? + "\n")?;
        fs::rename(draft, folder.join(PROGRESS))
    }

    /// Returns the state of the exercise `name`.
    pub(crate) fn of(&self, name: &str) -> State {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Returns the state of the exercise `name`, to be changed.
    pub(crate) fn of_mut(&mut self, name: &str) -> &mut State {
        self.0.entry(name.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(PROGRESS), "{}\n").unwrap();
        let mut progress = Progress::read(folder.path()).unwrap();
        assert_eq!(progress.of("index"), State::default());
        *progress.of_mut("index") = State { is_done: true, tries: 2, hints: 1 };
        progress.write(folder.path()).unwrap();
        assert_eq!(Progress::read(folder.path()).unwrap(), progress);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
        fs::write(folder.path().join(PROGRESS), "{\"index\": 7}").unwrap();
        assert!(Progress::read(folder.path()).is_err());
    }
}
