//! Reads pattern files, and writes the files of `--out`. If a write fails, no partial file remains.

use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;

use life::Board;
use life::plane::{Bounds, Plane};
use life_formats::picture::{self, Gif};
use life_formats::{Contents, Format, FormatError, Metadata, apgcode, lif, macrocell, plaintext, read_contents, rle};
use program::error::UsageError;
use program::files::{Draft, WholeFile};

mod numbered_files;

/// Reads the pattern in `file`, or from standard input if `file` is `-`. The cells of a macrocell file stay a tree. If
/// there is no such file, `file` may be an apgcode (the canonical name of an object, such as `xq4_153`).
///
/// # Errors
/// If the file cannot be read, is malformed or not supported, or needs more memory than is free.
pub fn read(file: &Path) -> anyhow::Result<Contents> {
    let name = name_of(file);
    let code = file.to_str().filter(|code| apgcode::is_one(code) && !file.exists());
    let mut bytes = Vec::new();
    // Some systems do not report their free memory. Then the memory is not limited.
    let free = program::memory::available().unwrap_or(u64::MAX);
    if let Some(code) = code {
        bytes = code.into();
    } else {
        read_bytes(file, free, &mut bytes).with_context(|| format!("cannot read {name}"))?;
    }
    let what = || format!("cannot read the pattern in {name}");
    // If the name has no known extension, the content determines the format.
    let named = Format::from_path(file).ok();
    let free = free.saturating_sub(bytes.len() as u64);
    read_contents(&bytes, named, free).with_context(what)
}

/// Returns the name of `file`, for messages.
pub fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "standard input".into() } else { format!("'{}'", file.display()) }
}

fn read_bytes(file: &Path, free: u64, bytes: &mut Vec<u8>) -> anyhow::Result<()> {
    let take = |input: &mut dyn Read, bytes: &mut Vec<u8>| input.take(free / 3).read_to_end(bytes);
    if file == Path::new("-") {
        take(&mut io::stdin().lock(), bytes)?;
    } else {
        let mut input = fs::File::open(file)?;
        let needed = input.metadata()?.len();
        if needed > free {
            return Err(FormatError::TooLarge { needed, free }.into());
        }
        take(&mut input, bytes)?;
    }
    if bytes.len() as u64 >= free / 3 {
        let needed = (bytes.len() as u64).saturating_mul(3);
        return Err(FormatError::TooLarge { needed, free }.into());
    }
    Ok(())
}

/// A function that receives the next rows of a board.
pub type Take<'a> = &'a mut dyn FnMut(&Board) -> anyhow::Result<()>;

/// A file that `--out` names. A board or a recording is written to it.
#[derive(Debug)]
pub struct BoardFile {
    path: PathBuf,
    /// The file itself, or the first of several numbered pictures.
    pub file: WholeFile,
    format: Format,
    compressed: bool,
}

impl BoardFile {
    /// Returns the file at `path` in the format of its extension. If the name of a picture has a field such as `%d`,
    /// each generation is written to a separate file.
    ///
    /// # Errors
    /// [`UsageError`] for an unknown extension, and for a format that can only be read.
    pub fn new(path: &Path) -> Result<Self, UsageError> {
        let format = Format::from_path(path).map_err(|error| UsageError(format!("--out: {error}")))?;
        if format == Format::Mcell {
            reject!("--out: '{}': .mcl can only be read: use .rle, which also has rules and states", path.display());
        }
        let compressed = life_formats::is_compressed(path);
        let frames = numbered_files::name(path, 0).filter(|_| format == Format::Png);
        if format == Format::Png
            && frames.is_none()
            && path.file_name().is_some_and(|name| name.to_string_lossy().contains('%'))
        {
            let number = "% in a file name must be one field for the generation's number: use %d or %05d";
            reject!("--out: '{}': {number}, or leave out the %", path.display());
        }
        let file = WholeFile::new(frames.as_deref().unwrap_or(path));
        Ok(Self { path: path.to_owned(), file, format, compressed })
    }

    /// Returns true if the file must contain every generation, which [`BoardFile::record`] writes. Returns false if the
    /// file contains only the last generation, which [`BoardFile::write`] writes.
    pub fn is_recording(&self) -> bool {
        self.format == Format::Gif || self.is_frames()
    }

    /// Returns true if each generation is a separate file.
    fn is_frames(&self) -> bool {
        self.format == Format::Png && numbered_files::name(&self.path, 0).is_some()
    }

    /// Returns true if this file's format allows [`write`](Self::write) to receive a board in several parts.
    pub fn takes_parts(&self) -> bool {
        self.format != Format::Macrocell && !self.is_recording()
    }

    /// Writes a board of `size` (columns, rows) cells. `write` calls `parts` with a function as argument. `parts` must
    /// pass all rows of the board to this function, in order. If [`takes_parts`](Self::takes_parts) is false, `parts`
    /// must pass the board as one part. `has_states` is true if the cells have more than two states.
    ///
    /// # Errors
    /// If the file cannot be written, or if `parts` fails. An existing file is then unchanged.
    pub fn write(
        &self,
        size: (usize, usize),
        has_states: bool,
        metadata: &Metadata,
        parts: impl FnOnce(Take<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.write_by(|out| match self.format {
            Format::Cells | Format::Life | Format::Macrocell if has_states => Err(self.no_states()),
            Format::Rle => {
                let mut writer = rle::Writer::new(size, has_states, metadata, out)?;
                parts(&mut |board| Ok(writer.rows(board)?))?;
                Ok(writer.finish()?)
            }
            Format::Cells => {
                plaintext::write_name(metadata, out)?;
                parts(&mut |board| Ok(plaintext::write_rows(board, out)?))
            }
            Format::Life => {
                lif::write_heading(out)?;
                let mut first = 0;
                parts(&mut |board| {
                    lif::write_rows(board, first, metadata, out)?;
                    first += board.height();
                    Ok(())
                })
            }
            Format::Macrocell => parts(&mut |board| Ok(macrocell::write(board, metadata, out)?)),
            Format::Png => picture::write_png_in_parts(size, out, |take| parts(take)),
            _ => Err(io::Error::from(io::ErrorKind::Unsupported).into()),
        })
    }

    /// Returns true if this file's format allows [`write_plane`](Self::write_plane).
    pub fn takes_plane(&self) -> bool {
        matches!(self.format, Format::Rle | Format::Life | Format::Macrocell)
    }

    /// Writes the cells of a plane without a board, so that the time follows the cells. `area` is a rectangle that
    /// contains all cells. The position of `metadata` is that of (0, 0).
    ///
    /// # Errors
    /// Fails in the same cases as [`write`](Self::write), and if [`takes_plane`](Self::takes_plane) is false.
    pub fn write_plane(&self, plane: &Plane, area: Bounds, metadata: &Metadata) -> anyhow::Result<()> {
        self.write_by(|out| match self.format {
            Format::Rle => Ok(rle::write_plane(plane, area, metadata, out)?),
            _ if plane.rule().states > 2 => Err(self.no_states()),
            Format::Life => {
                lif::write_heading(out)?;
                Ok(lif::write_cells(plane.cells(), metadata, out)?)
            }
            Format::Macrocell => Ok(macrocell::write_plane(plane, metadata, out)?),
            _ => Err(io::Error::from(io::ErrorKind::Unsupported).into()),
        })
    }

    fn no_states(&self) -> anyhow::Error {
        let message = format!("{} has two states per cell, but the board has more: use .rle", self.format);
        io::Error::new(io::ErrorKind::Unsupported, message).into()
    }

    /// Calls `write` with the output of a new file. When the new file is complete, it replaces the file at the path.
    fn write_by(&self, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut out = self.file.create()?;
        let written = if self.compressed {
            let mut gzip = GzEncoder::new(&mut out, Compression::default());
            write(&mut gzip).and_then(|()| Ok(gzip.finish().map(drop)?))
        } else {
            write(&mut out)
        };
        written.with_context(|| self.file.failed())?;
        self.file.keep(out)
    }

    /// Starts a recording of boards of this size. The recording is an animated picture that shows each board for
    /// `delay`, or a series of pictures numbered from 0.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record(&self, (width, height): (usize, usize), delay: Duration) -> anyhow::Result<Recording<'_>> {
        let kind = if self.is_frames() {
            RecordingKind::Frames(0)
        } else {
            let out = self.file.create()?;
            RecordingKind::Gif(Box::new(Gif::new(out, width, height, delay).with_context(|| self.file.failed())?))
        };
        Ok(Recording { file: self, kind })
    }
}

/// A recording with one picture per generation: an animated picture or numbered files. The file of an animated picture
/// appears at its path only when the picture is complete.
pub struct Recording<'a> {
    file: &'a BoardFile,
    kind: RecordingKind,
}

enum RecordingKind {
    Gif(Box<Gif<BufWriter<Draft>>>),
    /// A series of numbered files, with the number of the next file.
    Frames(u64),
}

impl Recording<'_> {
    /// Adds a picture of `board` to the recording.
    ///
    /// # Errors
    /// If the picture cannot be written.
    pub fn frame(&mut self, board: &Board) -> anyhow::Result<()> {
        match &mut self.kind {
            RecordingKind::Gif(gif) => gif.frame(board).with_context(|| self.file.file.failed()),
            RecordingKind::Frames(number) => {
                let path = numbered_files::name(&self.file.path, *number).unwrap_or_else(|| self.file.path.clone());
                *number += 1;
                let file = WholeFile::new(&path);
                let mut out = file.create()?;
                picture::write_png(board, &mut out).with_context(|| file.failed())?;
                file.keep(out)
            }
        }
    }

    /// Completes the recording. An animated picture replaces the file at its path.
    ///
    /// # Errors
    /// If the file cannot be written. An existing file is then unchanged.
    pub fn finish(self) -> anyhow::Result<()> {
        match self.kind {
            RecordingKind::Gif(gif) => {
                let out = gif.finish().with_context(|| self.file.file.failed())?;
                self.file.file.keep(out)
            }
            RecordingKind::Frames(_) => Ok(()),
        }
    }
}

impl fmt::Display for BoardFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use life::Pattern;

    fn read(file: &Path) -> anyhow::Result<Pattern> {
        Ok(super::read(file)?.into_pattern(u64::MAX)?)
    }

    fn blinker() -> Board {
        let mut board = Board::new(5, 5).unwrap();
        for x in 1..4 {
            board.set(x, 2, true);
        }
        board
    }

    fn write(file: &BoardFile, board: &Board, metadata: &Metadata) -> anyhow::Result<()> {
        let size = (board.width(), board.height());
        if file.is_recording() {
            let mut recording = file.record(size, Duration::ZERO)?;
            recording.frame(board)?;
            return recording.finish();
        }
        file.write(size, !board.ages().is_empty(), metadata, |take| take(board))
    }

    #[test]
    fn a_board_is_written_in_the_format_of_the_extension() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = Metadata { name: None, rule: "B3/S23:P5,5".into(), generation: 7, origin: (-9, 4) };
        let files: [(&str, &[u8]); 9] = [
            ("a.rle", b"#CXRLE Pos=-9,4 Gen=7\nx = 5, y = 5, rule = B3/S23:P5,5\n2$b3o!\n"),
            ("a.CELLS", b".....\n.....\n.OOO."),
            ("a.lif", b"#Life 1.06\n-8 6\n-7 6\n-6 6\n"),
            ("a.mc", b"[M2] (gridstride "),
            ("a.png", b"\x89PNG"),
            ("a.gif", b"GIF89a"),
            ("a.rle.gz", b"\x1f\x8b"),
            ("a.mc.GZ", b"\x1f\x8b"),
            ("a.life.gz", b"\x1f\x8b"),
        ];
        for (name, begins) in files {
            let path = folder.path().join(name);
            write(&BoardFile::new(&path).unwrap(), &blinker(), &metadata).unwrap();
            let bytes = fs::read(&path).unwrap();
            assert!(bytes.starts_with(begins), "{name}: {}", String::from_utf8_lossy(&bytes));
            if name == "a.gif" {
                assert!(format!("{:#}", read(&path).unwrap_err()).contains("a GIF"));
                continue;
            }
            let pattern = read(&path).unwrap();
            assert_eq!(pattern.population(), 3, "{name}");
            if name.contains(".rle") || name.contains(".mc") {
                assert_eq!((pattern.rule.as_deref(), pattern.generation), (Some("B3/S23:P5,5"), 7), "{name}");
            }
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), files.len(), "no temporary file remains");
    }

    #[test]
    fn a_board_in_parts_is_written_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = Metadata { name: Some("parts".into()), rule: "345/2/4".into(), generation: 7, origin: (-9, 4) };
        for states in [2, 4] {
            let mut board = Board::with_states(70, 30, states).unwrap();
            for (i, (x, y)) in
                Board::random(70, 30, 0.2, 1).unwrap().cells().filter(|(_, y)| !(8..21).contains(y)).enumerate()
            {
                board.set_state(x, y, (1 + i % usize::from(states - 1)) as u8);
            }
            for name in ["a.rle", "a.cells", "a.lif", "a.png", "a.rle.gz"] {
                let path = folder.path().join(name);
                let file = BoardFile::new(&path).unwrap();
                let parts = |take: Take<'_>| {
                    [0..1, 1..13, 13..14, 14..30].into_iter().try_for_each(|rows| take(&board.part(rows).unwrap()))
                };
                let in_parts = file.write((70, 30), states > 2, &metadata, parts);
                let whole = file.takes_parts().then(|| in_parts.map(|()| fs::read(&path).unwrap()));
                let written = write(&file, &board, &metadata).map(|()| fs::read(&path).unwrap());
                assert_eq!(whole.unwrap().ok(), written.ok(), "{name}, {states} states");
            }
        }
        assert!(!BoardFile::new(Path::new("a.mc")).unwrap().takes_parts());
    }

    #[test]
    fn each_generation_has_a_picture_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = BoardFile::new(&folder.path().join("blinker-%03d.png")).unwrap();
        file.file.check().unwrap();
        assert!(file.is_recording());
        let mut recording = file.record((5, 5), Duration::ZERO).unwrap();
        (0..3).for_each(|_| recording.frame(&blinker()).unwrap());
        recording.finish().unwrap();
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["blinker-000.png", "blinker-001.png", "blinker-002.png"]);
        assert_eq!(read(&folder.path().join(&names[2])).unwrap(), Pattern::from_board(blinker()));
    }

    #[test]
    fn an_apgcode_needs_no_file() {
        let glider = read(Path::new("xq4_153")).unwrap();
        assert_eq!((glider.population(), glider.width, glider.height), (5, 3, 3));
        assert!(format!("{:#}", read(Path::new("xs5_33")).unwrap_err()).contains("still life of 5 cells"));
        assert!(format!("{:#}", read(Path::new("zz_linear")).unwrap_err()).contains("begin with zz"));
    }

    #[test]
    fn an_unknown_extension_is_a_usage_error() {
        for name in ["a", "a.bmp", "rle", "", "a.png.gz"] {
            let UsageError(text) = BoardFile::new(Path::new(name)).unwrap_err();
            assert!(text.contains(".rle, .cells, .lif") && text.contains(".png or .gif"), "{text}");
            assert!(!text.contains(".mcl"), "{text}");
        }
    }
}
