//! Reserves the file of a checkpoint for one run, so that no other run replaces it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::saved_board;
use program::files::{self, WholeFile, are_the_same, followed, is_at};
use program::report;

/// A reservation of a checkpoint's file for this run. Dropping the claim ends the reservation.
#[derive(Debug)]
pub struct Claim {
    /// The lock of the checkpoint, or `None` if the file system has no locks.
    _lock: Option<Lock>,
}

impl Claim {
    /// Reserves the file at `path` for a run that begins with `input`. If the file exists, it must be the checkpoint
    /// from which the run resumes. If `may_overwrite` is true, the file may be any checkpoint.
    ///
    /// # Errors
    /// [`UsageError`](program::error::UsageError) if the file exists and is not such a checkpoint. Another error if the
    /// file cannot be written, or another run is writing it.
    pub fn new(path: &Path, input: Option<&Path>, may_overwrite: bool) -> anyhow::Result<Self> {
        WholeFile::new(path).check()?;
        let shown = path.display();
        if fs::metadata(path).is_ok_and(|present| !present.is_file()) {
            reject!("--checkpoint: '{shown}' is not a regular file: use the path of a file");
        }
        // The file is locked before it is examined, because the run that holds the lock may be about to write it.
        let lock = Lock::new(path)?;
        let is_resumed = input.is_some_and(|input| are_the_same(input, path));
        match saved_board::begins_as_one(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("cannot read '{shown}', which the checkpoint would replace"));
            }
            Ok(false) => {
                reject!("--checkpoint: '{shown}' exists and is not a checkpoint: use another file");
            }
            Ok(true) if is_resumed || may_overwrite => {}
            Ok(true) => {
                let at = saved_board::open(path).map(|saved| format!(" at generation {}", saved.header.generation));
                let at = at.unwrap_or_default();
                reject!(
                    "--checkpoint: '{shown}' is the checkpoint of another run{at}: \
                     `{} life {shown} --checkpoint {shown}` resumes that run; for a new run use another file, or \
                     replace this one with --overwrite",
                    units::program()
                );
            }
        }
        Ok(Self { _lock: lock })
    }
}

/// A locked file next to the checkpoint. The checkpoint itself cannot be locked, because each write replaces it by a
/// new file. When the process ends, the operating system releases the lock. If the lock file remains, the next run
/// reuses or removes it.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

/// The time after which a lock that another process holds belongs to a run.
const LOOK: Duration = Duration::from_millis(100);

impl Lock {
    /// Locks the checkpoint at `path`. Returns `None` if the file system has no locks.
    ///
    /// # Errors
    /// If another process has locked the checkpoint, or the lock file cannot be created.
    fn new(path: &Path) -> anyhow::Result<Option<Self>> {
        let lock = lock_path(path);
        let begun = Instant::now();
        loop {
            let file = open(&lock).with_context(|| format!("cannot create the lock file '{}'", lock.display()))?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &lock) => return Ok(Some(Self { path: lock, _file: file })),
                // The process that held the lock removed the file after this process opened it.
                Ok(()) => {}
                // A process that looks for abandoned lock files holds each lock for a moment.
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOOK => thread::sleep(LOOK / 100),
                Err(TryLockError::WouldBlock) => bail!(
                    "cannot write '{}': another run writes its checkpoints there: wait for its end or use another file",
                    path.display()
                ),
                Err(TryLockError::Error(error)) => {
                    let _ = fs::remove_file(&lock);
                    let shown = path.display();
                    report::note(&format!(
                        "'{shown}' cannot be locked ({error}): do not start another run with this checkpoint"
                    ));
                    return Ok(None);
                }
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file is still locked at this point, so no other run uses it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the path of the lock file of the checkpoint at `path`. All links to a checkpoint have the same lock file.
fn lock_path(path: &Path) -> PathBuf {
    files::lock_path(&followed(path))
}

/// Opens or creates the lock file. If another user owns the file and only reading is permitted, opens it for reading.
fn open(lock: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(lock).or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => File::open(lock),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use program::error::UsageError;

    #[test]
    fn a_file_is_claimed_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("run"), folder.path().join("link"));
        symlink("run", &link).unwrap();
        let first = Claim::new(&path, None, false).unwrap();
        for other in [&path, &link] {
            let error = Claim::new(other, None, true).unwrap_err();
            assert!(!error.is::<UsageError>(), "{error:#}");
            assert!(format!("{error:#}").contains("another run writes its checkpoints there"), "{error:#}");
        }
        drop(first);
        assert!(!lock_path(&path).exists(), "no lock file remains");
        // A process that was killed leaves this lock file behind.
        fs::write(lock_path(&path), "").unwrap();
        let second = Claim::new(&link, None, false).unwrap();
        assert!(Claim::new(&path, None, false).is_err());
        drop(second);
        drop(Claim::new(&path, None, false).unwrap());
    }

    #[test]
    fn a_lock_file_that_was_removed_locks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let opened = open(&path).unwrap();
        assert!(is_at(&opened, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_at(&opened, &path));
        let _other = open(&path).unwrap();
        assert!(!is_at(&opened, &path));
    }

    /// Checks a race: after a thread opens a lock file and before it locks the file, another thread may remove the
    /// file.
    #[test]
    fn no_two_threads_hold_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let (holders, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let Ok(lock) = Lock::new(&path) else { continue };
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two threads hold the lock");
                        taken.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(std::time::Duration::from_micros(20));
                        holders.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(taken.into_inner() >= 4);
    }

    #[test]
    fn only_checkpoints_are_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("saved"), "gridstride life checkpoint 1\n").unwrap();
        fs::write(path("thesis"), "It is known that").unwrap();
        fs::write(path("empty"), "").unwrap();
        let refused = |name: &str, input: Option<&Path>, may_overwrite| {
            let claim = Claim::new(&path(name), input, may_overwrite);
            claim.err().map(|error| error.downcast::<UsageError>().unwrap().0)
        };
        assert_eq!(refused("none", None, false), None);
        for may_overwrite in [false, true] {
            for name in ["thesis", "empty"] {
                let text = refused(name, None, may_overwrite).unwrap();
                assert!(text.contains("is not a checkpoint: use another file"), "{text}");
            }
        }
        let text = refused("saved", Some(&path("thesis")), false).unwrap();
        assert!(text.contains("of another run") && text.contains("--overwrite"), "{text}");
        assert_eq!(refused("saved", None, true), None);
        assert_eq!(refused("saved", Some(&path("saved")), false), None);
    }
}
