//! `--out`: the board as a file, whole or not at all.

use std::fmt;
use std::fs::{self, Permissions};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use tempfile::NamedTempFile;

use super::format::Format;
use super::picture::{self, Gif};
use super::{Board, plaintext, rle};
use crate::error::UsageError;

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
        let format = Format::from_path(path).map_err(|error| UsageError(format!("--out: {error}")))?;
        Ok(Self { path: path.to_owned(), format })
    }

    /// Finds out whether the file can be written, before a long run rather than after it.
    ///
    /// # Errors
    /// What prevents it.
    pub fn check(&self) -> anyhow::Result<()> {
        self.create().map(drop)
    }

    /// Whether it is to hold every generation, by [`BoardFile::record`], and not only the last, by [`BoardFile::write`].
    pub fn is_recording(&self) -> bool {
        self.format == Format::Gif
    }

    /// Writes `board`.
    ///
    /// # Errors
    /// What prevents it. Then the file is as it was before.
    pub fn write(&self, board: &Board) -> anyhow::Result<()> {
        let mut out = BufWriter::new(self.create()?);
        match self.format {
            Format::Rle => rle::write(board, &mut out),
            Format::Cells => plaintext::write(board, &mut out),
            Format::Png => picture::write_png(board, &mut out),
            Format::Gif => {
                let mut recording = self.record((board.width(), board.height()), Duration::ZERO)?;
                recording.frame(board)?;
                return recording.finish();
            }
        }
        .with_context(|| self.failed())?;
        self.keep(out)
    }

    /// Starts an animated picture of boards of this size, each shown for `delay`.
    ///
    /// # Errors
    /// What prevents it.
    pub fn record(&self, (width, height): (usize, usize), delay: Duration) -> anyhow::Result<Recording<'_>> {
        let out = BufWriter::new(self.create()?);
        let gif = Gif::new(out, width, height, delay).with_context(|| self.failed())?;
        Ok(Recording { file: self, gif })
    }

    /// Gives a finished file its name.
    fn keep(&self, out: BufWriter<NamedTempFile>) -> anyhow::Result<()> {
        let file = out.into_inner().map_err(|error| error.into_error()).with_context(|| self.failed())?;
        file.persist(self.target()).map_err(|error| error.error).with_context(|| self.failed())?;
        Ok(())
    }

    fn failed(&self) -> String {
        format!("cannot write '{}'", self.path.display())
    }

    /// The path that gets the new file: where `path` is a symbolic link, what it points to.
    fn target(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// A new file beside the target, gone when dropped.
    fn create(&self) -> anyhow::Result<NamedTempFile> {
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
        builder.prefix(".life-").permissions(permissions);
        builder.tempfile_in(folder).with_context(failed)
    }
}

/// A file that gets a picture a generation. It has its name once it is finished.
pub struct Recording<'a> {
    file: &'a BoardFile,
    gif: Gif<BufWriter<NamedTempFile>>,
}

impl Recording<'_> {
    /// Adds a board.
    ///
    /// # Errors
    /// What prevents it.
    pub fn frame(&mut self, board: &Board) -> anyhow::Result<()> {
        self.gif.frame(board).with_context(|| self.file.failed())
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// What prevents it. Then the file is as it was before.
    pub fn finish(self) -> anyhow::Result<()> {
        let out = self.gif.finish().with_context(|| self.file.failed())?;
        self.file.keep(out)
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
        for (name, begins) in [("a.rle", &b"x = "[..]), ("a.CELLS", b"!"), ("a.png", b"\x89PNG"), ("a.gif", b"GIF89a")]
        {
            let path = folder.path().join(name);
            BoardFile::new(&path).unwrap().write(&blinker()).unwrap();
            let bytes = fs::read(&path).unwrap();
            let begins = bytes.starts_with(begins) || (name == "a.CELLS" && bytes.starts_with(b"."));
            assert!(begins || name == "a.rle" && bytes.starts_with(b"#"), "{name}: {bytes:?}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left over");
    }

    #[test]
    fn an_unknown_extension_is_a_usage_error() {
        for name in ["a", "a.bmp", "rle", ""] {
            let UsageError(text) = BoardFile::new(Path::new(name)).unwrap_err();
            assert!(text.contains(".rle, .cells, .png or .gif"), "{text}");
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
