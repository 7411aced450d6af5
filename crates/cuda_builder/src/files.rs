//! Paths and files.

use std::path::{Path, PathBuf};

use crate::error::BuildError;

/// The path from the root, which need not exist.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, BuildError> {
    std::path::absolute(path).map_err(BuildError::io("find", path))
}

/// Writes a file so that a reader sees the old text or the new one, and nothing changes where both are equal: a build
/// script's output must not look new each time.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), BuildError> {
    if std::fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(BuildError::io("create", folder))?;
    }
    let mut partial = path.to_owned().into_os_string();
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(partial);
    let written = std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, path));
    written.map_err(|source| {
        let _ = std::fs::remove_file(&partial);
        BuildError::Io { action: "write", path: path.to_owned(), source }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_whole_text_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/kernels.ptx");
        write_whole(&path, "one").unwrap();
        write_whole(&path, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn an_equal_text_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernels.ptx");
        write_whole(&path, "same").unwrap();
        let before = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        write_whole(&path, "same").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_whole(folder.path(), "text").unwrap_err().to_string();
        assert!(error.contains(&*folder.path().to_string_lossy()), "{error}");
    }
}
