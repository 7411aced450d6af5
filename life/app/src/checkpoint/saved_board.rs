//! Reads checkpoint files.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Context;
use life::Board;

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
