//! Resolves the symbolic links of a path, and writes to the stream that it leads to.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

/// The kinds of files that only Unix has.
#[cfg(not(unix))]
trait FileTypeExt {
    fn is_socket(&self) -> bool {
        false
    }

    fn is_block_device(&self) -> bool {
        false
    }

    fn is_fifo(&self) -> bool {
        false
    }
}

#[cfg(not(unix))]
impl FileTypeExt for fs::FileType {}

/// The maximum number of symbolic links that are followed. Linux has the same limit.
const MAX_LINKS: usize = 40;

/// The kind of file that a path leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// A regular file, or a path where no file exists yet. A new file takes this name.
    Regular(PathBuf),
    /// A character device, a FIFO, or an open descriptor other than 1 and 2 of this process. Its text is written in
    /// place.
    Stream(PathBuf),
    /// Descriptor 1 of this process, which `/dev/stdout` names.
    StandardOutput,
    /// Descriptor 2 of this process, which `/dev/stderr` names.
    StandardError,
}

impl Target {
    /// Follows the symbolic links of `path`.
    ///
    /// # Errors
    /// If the links form a loop, or if their target is read-only or neither a regular file nor a stream.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let path = follow(path)?;
        let folder = folder_of(&path);
        if is_of_descriptors(folder) {
            let number = path.file_name().and_then(OsStr::to_str);
            match number {
                Some("1") if is_of_this_process(folder) => return Ok(Self::StandardOutput),
                Some("2") if is_of_this_process(folder) => return Ok(Self::StandardError),
                _ => ensure!(path.exists(), "no such descriptor is open: open it, as by `3>FILE`, or name a file"),
            }
        }
        let Ok(present) = fs::metadata(&path) else {
            ensure!(folder.is_dir(), "there is no folder '{}'", folder.display());
            return Ok(Self::Regular(path));
        };
        let kind = present.file_type();
        let other = match kind {
            _ if kind.is_dir() => "it is a folder",
            _ if kind.is_socket() => "it is a socket",
            _ if kind.is_block_device() => "it is a block device",
            _ if present.permissions().readonly() => "the file is read-only",
            _ if kind.is_file() && !is_of_descriptors(folder) => return Ok(Self::Regular(path)),
            _ => return Ok(Self::Stream(path)),
        };
        bail!("{other}: name a file that can be written, a FIFO or a character device")
    }

    /// Fails if a stream cannot be opened. A FIFO is not opened, because its reader would see an end of the file.
    ///
    /// # Errors
    /// The system's error.
    pub fn check_stream(&self) -> io::Result<()> {
        match self {
            Self::Stream(path) if !fs::metadata(path)?.file_type().is_fifo() => open(path).map(drop),
            _ => Ok(()),
        }
    }

    /// Writes all of `text` to a stream.
    ///
    /// # Errors
    /// The system's error.
    pub fn write_stream(&self, text: &mut impl io::Read) -> io::Result<()> {
        let mut write = |out: &mut dyn Write| {
            io::copy(text, out)?;
            out.flush()
        };
        match self {
            Self::StandardOutput => write(&mut io::stdout().lock()),
            Self::StandardError => write(&mut io::stderr().lock()),
            Self::Stream(path) | Self::Regular(path) => write(&mut open(path)?),
        }
    }
}

/// Opens an existing file for appending, so that text which a shell wrote before is not overwritten.
fn open(path: &Path) -> io::Result<fs::File> {
    OpenOptions::new().append(true).open(path)
}

/// Returns the folder of a path that [`follow`] returned.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Returns the absolute path, with symbolic links resolved. The file need not exist. A link to an open descriptor, such
/// as `/proc/self/fd/1`, is not followed.
///
/// # Errors
/// If the links form a loop, or the path has no file name.
pub(super) fn follow(path: &Path) -> anyhow::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..=MAX_LINKS {
        let Some(name) = path.file_name() else {
            return fs::canonicalize(&path).context("no file has this name: name another one");
        };
        let folder = fs::canonicalize(folder_of(&path)).unwrap_or_else(|_| folder_of(&path).to_owned());
        let full = folder.join(name);
        match fs::read_link(&full) {
            Ok(to) if !is_of_descriptors(&folder) => path = folder.join(to),
            _ => return Ok(full),
        }
    }
    bail!("its symbolic links form a loop: remove the link, or name another file")
}

/// Returns true if a folder contains the open descriptors of a process. The folder's path must have no links.
fn is_of_descriptors(folder: &Path) -> bool {
    folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.ends_with("fd"))
}

/// Returns true if a folder of descriptors belongs to this process.
fn is_of_this_process(folder: &Path) -> bool {
    folder == Path::new("/dev/fd") || fs::canonicalize("/proc/self").is_ok_and(|own| folder.starts_with(own))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_to_files_that_are_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(root.join("in")).unwrap();
        symlink("in/second", root.join("first")).unwrap();
        symlink("../third", root.join("in/second")).unwrap();
        assert_eq!(Target::of(&folder.path().join("first")).unwrap(), Target::Regular(root.join("third")));
        symlink(root.join("none/file"), root.join("lost")).unwrap();
        let error = Target::of(&root.join("lost")).unwrap_err().to_string();
        assert!(error.contains("there is no folder") && error.contains("none"), "{error}");
    }

    #[test]
    fn descriptors_are_not_files() {
        for (path, target) in [
            ("/dev/stdout", Target::StandardOutput),
            ("/dev/fd/1", Target::StandardOutput),
            ("/proc/self/fd/1", Target::StandardOutput),
            ("/proc/thread-self/fd/2", Target::StandardError),
            ("/dev/stderr", Target::StandardError),
        ] {
            assert_eq!(Target::of(Path::new(path)).unwrap(), target, "{path}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(file.as_file());
        let path = format!("/dev/fd/{number}");
        assert!(matches!(Target::of(Path::new(&path)).unwrap(), Target::Stream(_)));
        let error = Target::of(Path::new("/dev/fd/987654")).unwrap_err().to_string();
        assert!(error.contains("no such descriptor"), "{error}");
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("b", path("a")).unwrap();
        symlink("a", path("b")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for (path, part) in [
            (path("a"), "form a loop"),
            (path("socket"), "it is a socket"),
            (path(""), "it is a folder"),
            (path(".."), "it is a folder"),
            (PathBuf::new(), "no file has this name"),
            (path("none/.."), "no file has this name"),
        ] {
            let error = Target::of(&path).unwrap_err().to_string();
            assert!(error.contains(part), "{}: {error}", path.display());
        }
    }
}
