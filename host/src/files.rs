//! Files that are written whole or not at all.

use std::fmt;
use std::fs::{self, Permissions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use tempfile::NamedTempFile;

/// Whether two paths lead to the same file, be there one yet or not.
pub fn are_the_same(one: &Path, other: &Path) -> bool {
    whole(one) == whole(other)
}

/// The path of a file from the root on, without links.
fn whole(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        path.file_name().map_or(folder.clone(), |name| folder.join(name))
    })
}

/// A file to write.
///
/// What is written goes to a new file beside it, which takes its name when all is there: what stood there before stays
/// until then.
#[derive(Clone, Debug)]
pub struct WholeFile {
    path: PathBuf,
}

impl WholeFile {
    /// The file at `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Finds out whether the file can be written, before long work rather than after it.
    ///
    /// # Errors
    /// What prevents it.
    pub fn check(&self) -> anyhow::Result<()> {
        self.create().map(drop)
    }

    /// Starts the new file, gone when dropped.
    ///
    /// # Errors
    /// What prevents it.
    pub fn create(&self) -> anyhow::Result<BufWriter<NamedTempFile>> {
        let failed = || self.failed();
        let target = self.target();
        let permissions = match fs::metadata(&target) {
            Ok(present) if present.is_dir() => bail!("{}: it is a folder", failed()),
            Ok(present) if present.permissions().readonly() => bail!("{}: the file is read-only", failed()),
            Ok(present) => present.permissions(),
            Err(_) => new_file_permissions(),
        };
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(anyhow!("there is no folder '{}'", folder.display()).context(failed()));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".gridstride-").permissions(permissions);
        Ok(BufWriter::new(builder.tempfile_in(folder).with_context(failed)?))
    }

    /// Gives the finished file its name.
    ///
    /// # Errors
    /// What prevents it. Then the file is as it was before.
    pub fn keep(&self, out: BufWriter<NamedTempFile>) -> anyhow::Result<()> {
        let file = out.into_inner().map_err(|error| error.into_error()).with_context(|| self.failed())?;
        file.persist(self.target()).map_err(|error| error.error).with_context(|| self.failed())?;
        Ok(())
    }

    /// As [`keep`](Self::keep), when what was written is on the disk, so that it is there even if the machine stops.
    ///
    /// # Errors
    /// What prevents it. Then the file is as it was before.
    pub fn keep_synced(&self, mut out: BufWriter<NamedTempFile>) -> anyhow::Result<()> {
        let synced = out.flush().and_then(|()| out.get_ref().as_file().sync_all());
        synced.with_context(|| self.failed())?;
        self.keep(out)
    }

    /// What to say of an error while it is written.
    pub fn failed(&self) -> String {
        format!("cannot write {self}")
    }

    /// The path that gets the new file: where `path` is a symbolic link, what it points to.
    fn target(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }
}

impl fmt::Display for WholeFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.path.display())
    }
}

/// What a newly created file gets, before the user's mask takes its part.
#[cfg(unix)]
fn new_file_permissions() -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(0o666)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    #[cfg(unix)]
    fn permissions_are_those_of_any_new_file_and_links_are_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (plain, made, link) = (folder.path().join("plain"), folder.path().join("made"), folder.path().join("link"));
        let write = |path: &Path| {
            let file = WholeFile::new(path);
            let mut out = file.create().unwrap();
            out.write_all(b"text").unwrap();
            file.keep(out).unwrap();
        };
        fs::write(&plain, "").unwrap();
        write(&made);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&made), mode(&plain));
        symlink(&plain, &link).unwrap();
        write(&link);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&plain).unwrap(), b"text");
    }
}
