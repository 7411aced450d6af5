//! A temporary folder, which the next run removes if its process was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::abandoned;

/// An empty folder beside the files that its content becomes. Dropping it removes the folder and what is left in it.
///
/// A locked draft beside the folder shows other processes that the folder is in use.
#[derive(Debug)]
pub struct DraftFolder {
    path: PathBuf,
    /// It is dropped after the folder was removed.
    _draft: NamedTempFile,
}

impl DraftFolder {
    /// Creates a folder in `parent`.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn new(parent: &Path) -> io::Result<Self> {
        let draft = abandoned::create(parent, |_| {})?;
        let path = abandoned::folder_of_draft(draft.path());
        fs::create_dir(&path)?;
        Ok(Self { path, _draft: draft })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DraftFolder {
    fn drop(&mut self) {
        // If the folder cannot be removed, it stays with its draft's name. Nothing else can be done here.
        let _ = fs::remove_dir_all(&self.path);
    }
}
