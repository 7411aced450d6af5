//! Operations on paths and files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::BuildError;

/// Returns the absolute form of a path, which need not exist.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, BuildError> {
    std::path::absolute(path).map_err(BuildError::io("find", path))
}

/// Writes a file atomically: a reader sees either the old text or the new one. If the texts are equal, the file is not
/// changed, so that a build script's output does not look new each time. If `path` is a symbolic link, its target is
/// written. A FIFO, a device or a descriptor such as `/dev/stdout` is written in place.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), BuildError> {
    write_followed(path, text).map_err(BuildError::io("write", path))
}

fn write_followed(path: &Path, text: &str) -> io::Result<()> {
    let path = &follow(path)?;
    let folder = folder_of(path);
    if is_of_descriptors(folder) || std::fs::metadata(path).is_ok_and(|present| !present.is_file() && !present.is_dir())
    {
        // Uses the same buffer and file offset as the program's other output.
        if path.ends_with("fd/1") && is_of_this_process(folder) {
            let mut out = io::stdout().lock();
            return out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
        return std::fs::OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes());
    }
    if std::fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    let mut partial = path.to_owned().into_os_string();
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(partial);
    let written = std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, path));
    written.inspect_err(|_| drop(std::fs::remove_file(&partial)))
}

/// Follows the symbolic links of a path, even if no file exists there, but not links to open descriptors.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // The maximum number of links that Linux follows.
    for _ in 0..=40 {
        let Some(name) = path.file_name() else { return Ok(path) };
        let folder = std::fs::canonicalize(folder_of(&path)).unwrap_or_else(|_| folder_of(&path).to_owned());
        let full = folder.join(name);
        match std::fs::read_link(&full) {
            Ok(to) if !is_of_descriptors(&folder) => path = folder.join(to),
            _ => return Ok(full),
        }
    }
    Err(io::Error::other("its symbolic links form a loop: remove the link, or name another file"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns true if `folder`, a path without links, contains the open descriptors of a process.
fn is_of_descriptors(folder: &Path) -> bool {
    folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.ends_with("fd"))
}

/// Returns true if `folder` contains the open descriptors of this process.
fn is_of_this_process(folder: &Path) -> bool {
    folder == Path::new("/dev/fd") || std::fs::canonicalize("/proc/self").is_ok_and(|own| folder.starts_with(own))
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

    #[test]
    #[cfg(unix)]
    fn a_link_stays_and_its_file_is_made_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("new/kernels.ptx", path("link")).unwrap();
        for text in ["one", "two"] {
            write_whole(&path("link"), text).unwrap();
            assert_eq!(std::fs::read_to_string(path("new/kernels.ptx")).unwrap(), text);
            assert!(path("link").is_symlink());
        }
        std::os::unix::fs::symlink("loop", path("loop")).unwrap();
        let error = write_whole(&path("loop"), "text").unwrap_err().to_string();
        assert!(error.contains("/loop`") && error.contains("form a loop"), "{error}");
        assert!(path("loop").is_symlink());
    }

    #[test]
    #[cfg(unix)]
    fn a_fifo_and_a_descriptor_are_written_in_place() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || std::fs::read_to_string(fifo).unwrap()
        });
        write_whole(&fifo, "text").unwrap();
        assert!(std::fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo(), "the FIFO is replaced by a file");
        assert_eq!(reader.join().unwrap(), "text");

        let path = folder.path().join("open");
        let mut open = std::fs::File::create(&path).unwrap();
        let descriptor = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
        write_whole(Path::new(&descriptor), "text").unwrap();
        io::Seek::seek(&mut open, io::SeekFrom::End(0)).unwrap();
        open.write_all(b" and more").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "text and more");
    }
}
