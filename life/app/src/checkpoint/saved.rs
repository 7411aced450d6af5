//! Reading a checkpoint.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Context;
use life::Board;

use super::format::{self, Body, Header};
use crate::backend::memory;

/// True if the file can be read and begins as a checkpoint does.
pub fn is_checkpoint(path: &Path) -> bool {
    begins_as_one(path).unwrap_or(false)
}

/// Returns true if the file begins as a checkpoint does. Only regular files are read, because a pipe would lose its
/// bytes.
///
/// # Errors
/// When the file cannot be read.
pub fn begins_as_one(path: &Path) -> io::Result<bool> {
    if !fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut begin = Vec::new();
    File::open(path)?.take(format::NAME.len() as u64).read_to_end(&mut begin)?;
    Ok(begin == format::NAME.as_bytes())
}

/// A checkpoint in a file, of which the header is read.
#[derive(Debug)]
pub struct Saved {
    path: PathBuf,
    file: File,
    /// The header of the board.
    pub header: Header,
    /// Where the board begins.
    at: u64,
    hash: u64,
}

/// Opens a checkpoint.
///
/// # Errors
/// When the file cannot be read or is none.
pub fn open(path: &Path) -> anyhow::Result<Saved> {
    let file = File::open(path).with_context(|| failed(path))?;
    let length = file.metadata().with_context(|| failed(path))?.len();
    let (header, at, hash) = format::read_header(&mut BufReader::new(&file), length).with_context(|| failed(path))?;
    Ok(Saved { path: path.to_owned(), file, header, at, hash })
}

fn failed(path: &Path) -> String {
    format!("cannot read the checkpoint '{}'", path.display())
}

impl Saved {
    /// Columns and rows of the board.
    pub fn size(&self) -> (usize, usize) {
        self.header.size
    }

    /// Returns the context of an error while it is read.
    pub fn failed(&self) -> String {
        failed(&self.path)
    }

    /// Its rows, from the first on. Only one reads them at a time.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn body(&self) -> anyhow::Result<Body<BufReader<&File>>> {
        (&self.file).seek(SeekFrom::Start(self.at)).with_context(|| failed(&self.path))?;
        let input = BufReader::with_capacity(1 << 20, &self.file);
        Ok(Body::new(input, self.header.size.0, self.header.planes()?, self.hash))
    }

    /// Its board.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or there is too little memory.
    pub fn board(&self) -> anyhow::Result<Board> {
        let read = || {
            memory::check_host(self.size(), self.header.bytes()?)?;
            let mut body = self.body()?;
            let board = body.rows(self.size().1)?;
            body.finish()?;
            anyhow::Ok(board)
        };
        read().with_context(|| failed(&self.path))
    }
}
