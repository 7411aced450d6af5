//! Creates drafts, and removes the drafts that killed processes left behind.
//!
//! # Design
//!
//! A process holds a lock on each of its drafts, and the operating system releases the lock when the process ends. A
//! draft that can be locked therefore belongs to no process. On a file system without locks nothing is removed.
//!
//! A [`DraftFolder`](super::DraftFolder) exists only while there is a draft of its name. It is removed before the
//! draft.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use same_file::Handle;
use tempfile::{Builder, NamedTempFile};

/// The start of the names of drafts and of lock files.
const PREFIX: &str = ".gridstride-";

/// The end of a draft's name.
const DRAFT: &str = ".draft";

/// The extension of a folder that belongs to the draft of the same name.
const FOLDER: &str = "folder";

/// The end of the name of a lock file, which protects another file.
const LOCK: &str = ".lock";

/// Creates a locked draft in `folder`. `configure` receives the builder of the new file.
///
/// # Errors
/// If the file cannot be created.
pub(super) fn create(folder: &Path, configure: impl FnOnce(&mut Builder)) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(DRAFT);
    configure(&mut builder);
    loop {
        let draft = builder.tempfile_in(folder)?;
        match draft.as_file().try_lock() {
            // Another process has seen the draft before it was locked, and removes it.
            Err(TryLockError::WouldBlock) => {}
            Ok(()) if is_removed(draft.path()) => {}
            _ => return Ok(draft),
        }
    }
}

fn is_removed(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Returns the path of the folder that belongs to the draft at `path`.
pub(super) fn folder_of_draft(path: &Path) -> PathBuf {
    path.with_extension(FOLDER)
}

/// Removes the drafts, with their folders, and the lock files in `folder` that belong to no process.
pub fn remove(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(&entry.file_name())) {
        let path = entry.path();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let Some(file) = is_file.then(|| OpenOptions::new().write(true).open(&path).ok()).flatten() else { continue };
        // While this process holds the lock of the file at the path, no other process removes or replaces that file.
        if file.try_lock().is_ok() && is_at(&file, &path) {
            // If something cannot be removed, a later run tries again.
            let is_draft = path.extension().is_some_and(|extension| extension == &DRAFT[1..]);
            let folder = if is_draft { fs::remove_dir_all(folder_of_draft(&path)) } else { Ok(()) };
            if folder.is_ok() || folder.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// Returns true if `path` still refers to the open `file`.
pub fn is_at(file: &File, path: &Path) -> bool {
    let open = file.try_clone().and_then(Handle::from_file);
    open.is_ok_and(|open| Handle::from_path(path).is_ok_and(|present| present == open))
}

fn is_temporary(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    rest.is_some_and(|rest| rest.ends_with(DRAFT) || rest.ends_with(LOCK))
}

/// Returns the path of the lock file that protects the file at `path`, in the same folder. The next run that uses the
/// folder removes the lock file if the process that locked it was killed.
pub fn lock_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(PREFIX);
    name.push(path.file_name().unwrap_or_default());
    name.push(LOCK);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::files::{DraftFolder, WholeFile};

    #[test]
    fn drafts_of_ended_processes_are_removed_and_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let abandoned = [".gridstride-aB3dEf.draft", ".gridstride-run.lock"];
        let others = [".gridstride-notes", "gridstride-a.draft", ".gridstride-a.draft.rle", "a.lock"];
        abandoned.iter().chain(&others).for_each(|name| fs::write(path(name), "text").unwrap());
        fs::create_dir(path(".gridstride-folder.draft")).unwrap();
        let file = WholeFile::new(&path("result"));
        let (mut live, held) = (file.create().unwrap(), File::create(path(".gridstride-other.lock")).unwrap());
        held.lock().unwrap();
        file.check().unwrap();
        for name in abandoned {
            assert!(!path(name).exists(), "{name}");
        }
        for name in others.into_iter().chain([".gridstride-folder.draft", ".gridstride-other.lock"]) {
            assert!(path(name).exists(), "{name}");
        }
        io::Write::write_all(&mut live, b"whole").unwrap();
        file.keep(live).unwrap();
        assert_eq!(fs::read(path("result")).unwrap(), b"whole");
    }

    #[test]
    fn folders_of_ended_processes_are_removed_with_what_is_in_them() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        let live = DraftFolder::new(parent.path()).unwrap();
        for folder in [&path(".gridstride-ab.folder"), live.path()] {
            fs::create_dir_all(folder.join("project")).unwrap();
            fs::write(folder.join("project/file"), "text").unwrap();
        }
        fs::write(path(".gridstride-ab.draft"), "").unwrap();
        fs::create_dir(path(".gridstride-own.folder")).unwrap();
        remove(parent.path());
        assert!(!path(".gridstride-ab.folder").exists() && !path(".gridstride-ab.draft").exists());
        assert!(live.path().join("project/file").exists() && path(".gridstride-own.folder").exists());
        drop(live);
        let left: Vec<_> = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".gridstride-own.folder"]);
    }

    #[test]
    fn a_draft_that_is_made_while_others_are_removed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    remove(folder.path());
                }
            });
            for _ in 0..1000 {
                let draft = create(folder.path(), |_| {}).unwrap();
                assert!(draft.path().exists());
                draft.close().unwrap();
            }
            is_done.store(true, Ordering::Relaxed);
        });
    }
}
