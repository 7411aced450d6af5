//! `--out`: the board as a file, whole or not at all.

use std::fmt;
use std::fs::{self, Permissions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use tempfile::NamedTempFile;

use super::{Board, plaintext, rle};
use crate::error::UsageError;
use crate::report::picture;

/// The formats that a board can be written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Rle,
    Plaintext,
    Png,
}

/// A file to write a board to.
///
/// The board goes to a new file beside it, which takes its name when all is written: what stood there before stays until
/// then.
#[derive(Debug)]
pub struct BoardFile {
    path: PathBuf,
    format: Format,
}

impl BoardFile {
    /// A file at `path`, in the format that its extension names.
    ///
    /// # Errors
    /// [`UsageError`] for another extension.
    pub fn new(path: &Path) -> Result<Self, UsageError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        let format = match extension.as_deref() {
            Some("rle") => Format::Rle,
            Some("cells") => Format::Plaintext,
            Some("png") => Format::Png,
            _ => {
                let text = format!("--out '{}': its name must end in .rle, .cells or .png", path.display());
                return Err(UsageError(text));
            }
        };
        Ok(Self { path: path.to_owned(), format })
    }

    /// Finds out whether the file can be written, before a long run rather than after it.
    ///
    /// # Errors
    /// What prevents it.
    pub fn check(&self) -> anyhow::Result<()> {
        self.create().map(drop)
    }

    /// Writes `board`.
    ///
    /// # Errors
    /// What prevents it. Then the file is as it was before.
    pub fn write(&self, board: &Board) -> anyhow::Result<()> {
        let file = self.create()?;
        let failed = || format!("cannot write '{}'", self.path.display());
        let mut out = BufWriter::new(file);
        match self.format {
            Format::Rle => rle::write(board, &mut out).with_context(failed)?,
            Format::Plaintext => plaintext::write(board, &mut out).with_context(failed)?,
            Format::Png => picture::write_png(board, &mut out).with_context(failed)?,
        }
        out.flush().with_context(failed)?;
        let file = out.into_inner().map_err(|error| error.into_error()).with_context(failed)?;
        file.persist(self.target()).map_err(|error| error.error).with_context(failed)?;
        Ok(())
    }

    /// The path that gets the new file: where `path` is a symbolic link, what it points to.
    fn target(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// A new file beside the target, gone when dropped.
    fn create(&self) -> anyhow::Result<NamedTempFile> {
        let failed = || format!("cannot write '{}'", self.path.display());
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
        builder.prefix(".life-").permissions(permissions);
        builder.tempfile_in(folder).with_context(failed)
    }
}

impl fmt::Display for BoardFile {
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

    fn blinker() -> Board {
        let mut board = Board::new(5, 5).unwrap();
        for x in 1..4 {
            board.set(x, 2, true);
        }
        board
    }

    #[test]
    fn a_board_is_written_in_the_format_of_the_extension() {
        let folder = tempfile::tempdir().unwrap();
        for (name, begins) in [("a.rle", &b"x = "[..]), ("a.CELLS", b"!"), ("a.png", b"\x89PNG")] {
            let path = folder.path().join(name);
            BoardFile::new(&path).unwrap().write(&blinker()).unwrap();
            let bytes = fs::read(&path).unwrap();
            let begins = bytes.starts_with(begins) || (name == "a.CELLS" && bytes.starts_with(b"."));
            assert!(begins || name == "a.rle" && bytes.starts_with(b"#"), "{name}: {bytes:?}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left over");
    }

    #[test]
    fn an_unknown_extension_is_a_usage_error() {
        for name in ["a", "a.gif", "rle", ""] {
            let UsageError(text) = BoardFile::new(Path::new(name)).unwrap_err();
            assert!(text.contains(".rle, .cells or .png"), "{text}");
        }
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
            let error = BoardFile::new(path).unwrap().check().unwrap_err();
            assert!(format!("{error:#}").contains(reason), "{error:#}");
        }
        assert_eq!(fs::read(&read_only).unwrap(), b"old");
    }

    #[test]
    #[cfg(unix)]
    fn permissions_are_those_of_any_new_file_and_links_are_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (plain, made, link) =
            (folder.path().join("plain"), folder.path().join("made.rle"), folder.path().join("link.rle"));
        fs::write(&plain, "").unwrap();
        BoardFile::new(&made).unwrap().write(&blinker()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&made), mode(&plain));
        symlink(&plain, &link).unwrap();
        BoardFile::new(&link).unwrap().write(&blinker()).unwrap();
        assert_eq!(fs::read(&plain).unwrap(), fs::read(&made).unwrap());
    }
}
