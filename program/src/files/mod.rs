//! Writes files whole or not at all.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::{NamedTempFile, SpooledTempFile};

use crate::error::OutputClosed;

mod abandoned;
mod draft_folder;
mod target;

pub use abandoned::{is_at, lock_path, remove as remove_abandoned};
pub use draft_folder::DraftFolder;
use target::{Target, folder_of, follow};

/// The maximum number of bytes of a stream's text that are held in memory. Longer texts wait in a temporary file.
const MAX_BYTES_IN_MEMORY: usize = 16 << 20;

/// Returns true if two paths lead to the same file. The file need not exist.
pub fn are_the_same(one: &Path, other: &Path) -> bool {
    followed(one) == followed(other)
}

/// Returns the absolute path of a file, with symbolic links resolved.
pub fn followed(path: &Path) -> PathBuf {
    follow(path).unwrap_or_else(|_| path.to_owned())
}

/// A file that is written whole or not at all.
///
/// The text goes to a new file in the same folder. When the text is complete, the new file is renamed and replaces the
/// old file. Until then the old file stays. If the path is a symbolic link, the link stays and its target is replaced
/// or created.
///
/// FIFOs, character devices and open descriptors such as `/dev/stdout` are written in place once the text is complete.
#[derive(Clone, Debug)]
pub struct WholeFile {
    path: PathBuf,
}

/// The text of a file while it is written. Dropping the draft removes the text.
#[derive(Debug)]
pub struct Draft {
    target: Target,
    text: Text,
}

#[derive(Debug)]
enum Text {
    /// The text is in a new file. The new file is in the same folder as the file that it will replace.
    Beside(NamedTempFile),
    /// The text is in memory or in a temporary file until it is written to a stream.
    HeldBack(SpooledTempFile),
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.text {
            Text::Beside(file) => file.write(bytes),
            Text::HeldBack(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.text {
            Text::Beside(file) => file.flush(),
            Text::HeldBack(file) => file.flush(),
        }
    }
}

impl WholeFile {
    /// Returns the file at `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Returns the path as the user wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if the file cannot be written. Commands call this before long work. Also removes the temporary files that
    /// killed processes left in the same folder.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        let draft = self.create()?;
        let target = &draft.get_ref().target;
        if let Target::Regular(path) = target {
            abandoned::remove(folder_of(path));
        }
        target.check_stream().with_context(|| self.failed())
    }

    /// Creates the draft of the file's new text. Dropping the draft removes the text.
    ///
    /// # Errors
    /// If a folder, a socket, a block device or a read-only file has this name; if symbolic links form a loop; if there
    /// is no folder for the file.
    pub fn create(&self) -> anyhow::Result<BufWriter<Draft>> {
        let target = Target::of(&self.path).with_context(|| self.failed())?;
        let text = match &target {
            Target::Regular(path) => {
                let draft = abandoned::create(folder_of(path), |_builder| {
                    #[cfg(unix)]
                    _builder.permissions(permissions(path));
                });
                Text::Beside(draft.with_context(|| self.failed())?)
            }
            _ => Text::HeldBack(SpooledTempFile::new(MAX_BYTES_IN_MEMORY)),
        };
        Ok(BufWriter::new(Draft { target, text }))
    }

    /// Renames the finished draft to the file's name, or writes its text to the stream.
    ///
    /// # Errors
    /// If the file cannot be written. A regular file is then unchanged, and a stream may have received a part of the
    /// text. [`OutputClosed`] if the reader of standard output has closed it.
    pub fn keep(&self, out: BufWriter<Draft>) -> anyhow::Result<()> {
        let draft = out.into_inner().map_err(|error| error.into_error()).with_context(|| self.failed())?;
        let written = match (draft.text, &draft.target) {
            (Text::Beside(file), Target::Regular(path)) => file.persist(path).map(drop).map_err(|error| error.error),
            (Text::Beside(mut file), target) => file.rewind().and_then(|()| target.write_stream(&mut file)),
            (Text::HeldBack(mut file), target) => file.rewind().and_then(|()| target.write_stream(&mut file)),
        };
        match written {
            Err(error) if draft.target == Target::StandardOutput && error.kind() == ErrorKind::BrokenPipe => {
                Err(OutputClosed.into())
            }
            written => written.with_context(|| self.failed()),
        }
    }

    /// Keeps the draft like [`keep`](Self::keep), after the text of a regular file has reached the disk. The file then
    /// survives a crash of the machine.
    ///
    /// # Errors
    /// As for [`keep`](Self::keep).
    pub fn keep_synced(&self, mut out: BufWriter<Draft>) -> anyhow::Result<()> {
        out.flush().with_context(|| self.failed())?;
        if let Text::Beside(file) = &out.get_ref().text {
            file.as_file().sync_all().with_context(|| self.failed())?;
        }
        self.keep(out)
    }

    /// Returns the text that precedes an error message, such as `cannot write 'FILE'`.
    pub fn failed(&self) -> String {
        format!("cannot write {self}")
    }
}

impl fmt::Display for WholeFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.path.display())
    }
}

/// Returns the permissions of a file, or those of a new file before the umask applies. Without them, the draft has the
/// private permissions of a temporary file.
#[cfg(unix)]
fn permissions(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).map_or_else(|_| PermissionsExt::from_mode(0o666), |present| present.permissions())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::process::Command;
    use std::thread;

    use super::*;

    fn write(path: &Path, text: &str) -> anyhow::Result<()> {
        let file = WholeFile::new(path);
        file.check()?;
        let mut out = file.create()?;
        out.write_all(text.as_bytes())?;
        file.keep_synced(out)
    }

    #[test]
    fn a_file_is_there_once_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        fs::write(&path, "old").unwrap();
        let file = WholeFile::new(&path);
        let mut out = file.create().unwrap();
        out.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.keep(out).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        drop(file.create().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
    }

    #[test]
    fn a_file_has_many_paths() {
        let folder = tempfile::tempdir().unwrap();
        let (file, none) = (folder.path().join("a"), folder.path().join("none"));
        fs::write(&file, "").unwrap();
        for path in [&file, &none] {
            let other =
                folder.path().join("..").join(folder.path().file_name().unwrap()).join(path.file_name().unwrap());
            assert!(are_the_same(path, &other) && are_the_same(path, path), "{}", path.display());
        }
        assert!(!are_the_same(&file, &none) && !are_the_same(Path::new("a"), &file));
        assert!(are_the_same(Path::new("none"), Path::new("./none")));
    }

    #[test]
    fn what_cannot_be_written_is_told_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("folder.rle");
        fs::create_dir(&there).unwrap();
        let read_only = folder.path().join("old.rle");
        fs::write(&read_only, "old").unwrap();
        let mut permissions = fs::metadata(&read_only).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&read_only, permissions).unwrap();
        for (path, reason) in [
            (&there, "it is a folder"),
            (&read_only, "read-only"),
            (&folder.path().join("none/a.rle"), "there is no folder"),
        ] {
            let error = WholeFile::new(path).check().unwrap_err();
            assert!(format!("{error:#}").contains(reason), "{error:#}");
        }
        assert_eq!(fs::read(&read_only).unwrap(), b"old");
    }

    #[test]
    fn permissions_are_those_of_any_new_file_and_links_are_followed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (plain, made, link) = (folder.path().join("plain"), folder.path().join("made"), folder.path().join("link"));
        fs::write(&plain, "").unwrap();
        write(&made, "text").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&made), mode(&plain));
        symlink(&plain, &link).unwrap();
        write(&link, "text").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&plain).unwrap(), b"text");
    }

    #[test]
    fn a_link_stays_and_its_file_is_made_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("second", path("first")).unwrap();
        symlink(path("file"), path("second")).unwrap();
        assert!(are_the_same(&path("first"), &path("file")), "also while there is no file");
        for text in ["made", "replaced"] {
            write(&path("first"), text).unwrap();
            assert_eq!(fs::read_to_string(path("file")).unwrap(), text);
            assert!(fs::symlink_metadata(path("file")).unwrap().is_file());
            assert!(["first", "second"].iter().all(|name| path(name).is_symlink()));
        }
        symlink("loop", path("loop")).unwrap();
        let error = format!("{:#}", write(&path("loop"), "text").unwrap_err());
        assert!(error.contains("/loop'") && error.contains("remove the link"), "{error}");
        assert!(path("loop").is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left over");
    }

    #[test]
    fn the_reader_of_a_fifo_gets_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let (fifo, link) = (folder.path().join("fifo"), folder.path().join("link"));
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        symlink(&fifo, &link).unwrap();
        // The first text is longer than a pipe's buffer, and the second is longer than the part held in memory.
        for (path, length) in [(&fifo, 100_000), (&link, MAX_BYTES_IN_MEMORY + 1)] {
            let text = "x".repeat(length);
            // A draft that is dropped does not open the FIFO, so that its reader waits for the next one.
            let mut out = WholeFile::new(path).create().unwrap();
            out.write_all(b"given up").unwrap();
            drop(out);
            let reader = thread::spawn({
                let fifo = fifo.clone();
                move || fs::read_to_string(fifo)
            });
            write(path, &text).unwrap();
            assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo(), "it is replaced");
            assert!(reader.join().unwrap().unwrap() == text);
        }
    }

    /// Tests devices on nodes that the test creates, so that a failure leaves the machine's devices unchanged. Only
    /// root may create nodes.
    #[test]
    fn a_device_is_written_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let node = |name: &str, minor: &str| {
            let path = folder.path().join(name);
            let made = Command::new("mknod").arg(&path).args(["c", "1", minor]).output();
            made.is_ok_and(|made| made.status.success()).then_some(path)
        };
        let Some((null, full)) = node("null", "3").zip(node("full", "7")) else { return };
        let result = write(&null, "text");
        // On some systems such a node cannot be opened.
        if fs::File::open(&null).is_ok() {
            result.unwrap();
            let error = format!("{:#}", write(&full, "text").unwrap_err());
            assert!(error.contains("cannot write") && error.contains("No space left"), "{error}");
        }
        for path in [null, full] {
            assert!(fs::symlink_metadata(&path).unwrap().file_type().is_char_device(), "{}", path.display());
        }
    }
}
