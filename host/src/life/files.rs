//! `--out`: the board as a file, whole or not at all.

use std::fmt;
use std::io::BufWriter;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use tempfile::NamedTempFile;

use super::format::{Format, plaintext, rle};
use super::picture::{self, Gif};
use crate::error::UsageError;
use crate::files::WholeFile;
use gridstride::life::Board;

/// A file to write a board to.
#[derive(Debug)]
pub struct BoardFile {
    file: WholeFile,
    format: Format,
}

impl BoardFile {
    /// A file at `path`, in the format that its extension names.
    ///
    /// # Errors
    /// [`UsageError`] for another extension.
    pub fn new(path: &Path) -> Result<Self, UsageError> {
        let format = Format::from_path(path).map_err(|error| UsageError(format!("--out: {error}")))?;
        Ok(Self { file: WholeFile::new(path), format })
    }

    /// Finds out whether the file can be written, before a long run rather than after it.
    ///
    /// # Errors
    /// What prevents it.
    pub fn check(&self) -> anyhow::Result<()> {
        self.file.check()
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
        let mut out = self.file.create()?;
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
        .with_context(|| self.file.failed())?;
        self.file.keep(out)
    }

    /// Starts an animated picture of boards of this size, each shown for `delay`.
    ///
    /// # Errors
    /// What prevents it.
    pub fn record(&self, (width, height): (usize, usize), delay: Duration) -> anyhow::Result<Recording<'_>> {
        let out = self.file.create()?;
        let gif = Gif::new(out, width, height, delay).with_context(|| self.file.failed())?;
        Ok(Recording { file: self, gif })
    }
}

/// A file that gets one picture per generation. It has its name once it is finished.
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
        self.gif.frame(board).with_context(|| self.file.file.failed())
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// What prevents it. Then the file is as it was before.
    pub fn finish(self) -> anyhow::Result<()> {
        let out = self.gif.finish().with_context(|| self.file.file.failed())?;
        self.file.file.keep(out)
    }
}

impl fmt::Display for BoardFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
}
