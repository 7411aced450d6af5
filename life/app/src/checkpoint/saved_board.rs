//! Reads checkpoint files.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use life::{Board, Pattern};
use life_formats::{FormatError, rle};
use program::memory::available;

use super::format::{self, Body, Header};
use crate::backend::memory;

/// Returns true if the file at `path` can be read and begins like a checkpoint file.
pub fn is_checkpoint(path: &Path) -> bool {
    begins_as_one(path).unwrap_or(false)
}

/// Returns true if the file at `path` begins like a checkpoint file. Returns false for a pipe, because bytes that are
/// read from a pipe are lost.
///
/// # Errors
/// If the file cannot be read.
pub fn begins_as_one(path: &Path) -> io::Result<bool> {
    if !fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut begin = Vec::new();
    File::open(path)?.take(format::NAME.len() as u64).read_to_end(&mut begin)?;
    Ok(begin == format::NAME.as_bytes())
}

/// A checkpoint file whose header has been read.
#[derive(Debug)]
pub struct SavedBoard {
    path: PathBuf,
    file: File,
    /// The header of the checkpoint.
    pub header: Header,
    /// The offset of the board's rows in the file, in bytes.
    at: u64,
    hash: u64,
}

/// Opens a checkpoint and reads its header.
///
/// # Errors
/// If the file cannot be read or is not a checkpoint.
pub fn open(path: &Path) -> anyhow::Result<SavedBoard> {
    let file = File::open(path).with_context(|| failed(path))?;
    let length = file.metadata().with_context(|| failed(path))?.len();
    let (header, at, hash) = format::read_header(&mut BufReader::new(&file), length).with_context(|| failed(path))?;
    Ok(SavedBoard { path: path.to_owned(), file, header, at, hash })
}

fn failed(path: &Path) -> String {
    format!("cannot read the checkpoint '{}'", path.display())
}

impl SavedBoard {
    /// Returns the text that introduces an error that occurs while the file is read.
    pub fn failed(&self) -> String {
        failed(&self.path)
    }

    /// Returns a reader for the board's rows. Only one reader may be in use at any time, because all readers share the
    /// position in the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn body(&self) -> anyhow::Result<Body<BufReader<&File>>> {
        (&self.file).seek(SeekFrom::Start(self.at)).with_context(|| failed(&self.path))?;
        let input = BufReader::with_capacity(1 << 20, &self.file);
        Ok(Body::new(input, self.header.size.0, self.header.planes()?, self.hash))
    }

    /// Reads the cells of a checkpoint whose header says [`is_text`](Header::is_text), and compares them with their
    /// checksum. The upper left cell of the board is at (0, 0).
    ///
    /// # Errors
    /// If the file cannot be read or is damaged, or memory is too small.
    pub fn pattern(&self) -> anyhow::Result<Pattern> {
        let read = || {
            (&self.file).seek(SeekFrom::Start(self.at))?;
            let (needed, free) = (self.file.metadata()?.len(), available().unwrap_or(u64::MAX));
            if needed > free {
                return Err(FormatError::TooLarge { needed, free }.into());
            }
            let mut text = String::new();
            (&self.file).read_to_string(&mut text).context("its cells are not text: it is damaged")?;
            ensure!(format::hash_of_text(text.as_bytes()) == self.hash, "its checksum is wrong: it is damaged");
            anyhow::Ok(rle::parse(&text, free.saturating_sub(needed))?)
        };
        read().with_context(|| failed(&self.path))
    }

    /// Reads the whole board and compares it with its checksum.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged, or memory is too small.
    pub fn board(&self) -> anyhow::Result<Board> {
        let read = || {
            memory::check_host(self.header.size, self.header.bytes()?)?;
            let mut body = self.body()?;
            let board = body.rows(self.header.size.1)?;
            body.finish()?;
            anyhow::Ok(board)
        };
        read().with_context(|| failed(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use life::Rule;
    use life::plane::{self, LIMIT};

    use super::*;
    use crate::checkpoint::RunFacts;
    use crate::universe::Universe;

    #[test]
    fn a_checkpoint_of_the_plane_is_as_large_as_its_cells() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        for rule in ["B3/S23", "345/2/40"] {
            let (rule, end) = (rule.parse::<Rule>().unwrap(), LIMIT - 2);
            let states = |i: i64| (1 + i % i64::from(rule.states() - 1)) as u8;
            let mut cells = plane::dead(&rule, 0);
            let places = [(-end, -end), (3, 5), (4, 5), (5, 5), (end, end)];
            for (i, (x, y)) in (0..).zip(places) {
                cells.set_state(x, y, states(20 * i)).unwrap();
            }
            let area = cells.bounds().unwrap();
            let facts = RunFacts::of(&Universe { rule, ..Universe::default() }, (-end, -end));
            let size = (area.width as usize, area.height as usize);
            let header = Header { facts, size, generation: 7, is_text: true };
            let mut bytes = Vec::new();
            header.write_plane(&cells, area, &mut bytes).unwrap();
            assert!(bytes.len() < 500, "{}", String::from_utf8_lossy(&bytes));
            fs::write(&path, &bytes).unwrap();
            let saved = open(&path).unwrap();
            assert_eq!(saved.header, header);
            let pattern = saved.pattern().unwrap();
            let read: Vec<_> =
                pattern.cells().chain(pattern.others().iter().flat_map(|(run, _)| run.cells())).collect();
            assert_eq!(read.len(), places.len());
            for (x, y) in places {
                assert!(read.contains(&((x - area.x) as usize, (y - area.y) as usize)), "{x}, {y}");
            }
            for at in (0..bytes.len()).step_by(3) {
                let mut changed = bytes.clone();
                changed[at] ^= 1;
                fs::write(&path, changed).unwrap();
                assert!(open(&path).and_then(|saved| saved.pattern()).is_err(), "byte {at} changed");
                fs::write(&path, &bytes[..at]).unwrap();
                assert!(open(&path).and_then(|saved| saved.pattern()).is_err(), "cut at byte {at}");
            }
        }
    }
}
