//! Packs rows of a board on a device, to copy them to the host or to other devices, and unpacks rows that arrive.

use std::ops::Range;

use gpu::life::{self as kernels, CELLS_PER_WORD};
use launch::{Buffer, BufferPart, Error};

use super::grids::linear;
use super::two_bit_cells::{TwoBitCells, bits};
use super::{Cells, InterleavedCells, Simulation, for_buffers};
use crate::Board;
use crate::board::{CHUNK_WORDS, row_chunks};
use crate::error::LifeError;

/// The maximum size in bytes of the buffer for packed rows. A simulation needs this buffer in addition to its two
/// boards.
pub(super) const STAGING_BYTES: u64 = 8 * CHUNK_WORDS as u64;

impl Simulation {
    /// Returns the number of bits per cell.
    pub(crate) fn planes(&self) -> usize {
        if matches!(self.cells, Cells::TwoBit(_)) { 2 } else { 1 }
    }

    fn words_per_row(&self) -> usize {
        self.width.div_ceil(CELLS_PER_WORD)
    }

    /// Returns the number of words of a row, summed over all bit planes. The row is packed if `is_packed` is true, and
    /// in the device's layout otherwise.
    pub(crate) fn words_of_row(&self, is_packed: bool) -> usize {
        match self.row_layout().filter(|_| !is_packed) {
            Some((words, _)) => words,
            None => self.planes() * self.words_per_row(),
        }
    }

    /// Divides `rows` into ranges that are small enough for the buffer for packed rows.
    pub(super) fn chunks(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        row_chunks(rows, self.words_of_row(true))
    }

    /// Packs `rows` into `words`, one bit plane after the other. The first packed word is at index `at`.
    pub(crate) fn gather(&self, rows: Range<usize>, words: &mut Buffer<u32>, at: usize) -> Result<(), Error> {
        let (width, words_per_row) = (self.width, self.words_per_row());
        let len = rows.len() * words_per_row;
        let range = rows.start * words_per_row..rows.end * words_per_row;
        match &self.cells {
            Cells::Words { now, .. } => words.copy_range_from(at, now, range),
            Cells::TwoBit(cells) => {
                let mut planes = cells.now.iter().enumerate();
                planes.try_for_each(|(plane, now)| words.copy_range_from(at + plane * len, now, range.clone()))
            }
            Cells::Interleaved(cells) => cells.gather(rows.start, part(words, at, len).view_mut()),
            Cells::Bytes { now, .. } => {
                let mut some = None;
                if rows.len() < self.height {
                    let some = some.insert(self.device.alloc(rows.len() * width)?);
                    some.copy_range_from(0, now, rows.start * width..rows.end * width)?;
                }
                let cells = some.as_ref().unwrap_or(now).view();
                let call = kernels::life_pack(cells, part(words, at, len).view_mut(), width, rows.len());
                self.device.launch(linear(len, self.max_blocks), call)
            }
        }
    }

    /// Replaces `rows` by the rows that [`gather`](Self::gather) packed into `words`. Their first word is at index
    /// `at`.
    pub(crate) fn scatter(&mut self, rows: Range<usize>, words: &mut Buffer<u32>, at: usize) -> Result<(), Error> {
        let (width, words_per_row) = (self.width, self.words_per_row());
        let (first, len) = (rows.start * words_per_row, rows.len() * words_per_row);
        match &mut self.cells {
            Cells::Words { now, .. } => now.copy_range_from(first, words, at..at + len),
            Cells::TwoBit(cells) => {
                let mut planes = cells.now.iter_mut().enumerate();
                planes.try_for_each(|(plane, now)| {
                    let at = at + plane * len;
                    now.copy_range_from(first, words, at..at + len)
                })
            }
            Cells::Interleaved(cells) => cells.scatter(rows.start, part(words, at, len), words_per_row),
            Cells::Bytes { now, .. } => {
                let cells = part(now, rows.start * width, rows.len() * width).view_mut();
                let call = kernels::life_unpack(part(words, at, len).view(), cells, width, rows.len());
                self.device.launch(linear(len, self.max_blocks), call)
            }
        }
    }

    /// If the board is interleaved, returns the number of words of a row and the number of folds (parts of the board
    /// that share the same words). Otherwise returns `None`. Boards for which both numbers are equal can exchange rows
    /// without packing.
    pub fn row_layout(&self) -> Option<(usize, u32)> {
        if let Cells::Interleaved(cells) = &self.cells { Some(cells.row_layout()) } else { None }
    }

    /// Copies `rows` into `words`, packed or in the device's layout. The first word is written at index `at`. Returns
    /// the index after the last word written.
    ///
    /// # Errors
    /// If a copy or a launch fails.
    pub fn take(
        &self,
        rows: Range<usize>,
        words: &mut Buffer<u32>,
        at: usize,
        is_packed: bool,
    ) -> Result<usize, Error> {
        let len = rows.len() * self.words_of_row(is_packed);
        match &self.cells {
            Cells::Interleaved(cells) if !is_packed => cells.take(rows.start, part(words, at, len).view_mut())?,
            _ => self.gather(rows, words, at)?,
        }
        Ok(at + len)
    }

    /// Replaces `rows` by the rows in `words`, which [`take`](Self::take) copied from a board with the same
    /// [`row_layout`](Self::row_layout). Returns the index in `words` after the last word read.
    ///
    /// # Errors
    /// If a copy or a launch fails.
    pub fn put(
        &mut self,
        rows: Range<usize>,
        words: &mut Buffer<u32>,
        at: usize,
        is_packed: bool,
    ) -> Result<usize, Error> {
        let len = rows.len() * self.words_of_row(is_packed);
        match &mut self.cells {
            Cells::Interleaved(cells) if !is_packed => cells.put(rows.start, part(words, at, len))?,
            _ => self.scatter(rows, words, at)?,
        }
        Ok(at + len)
    }

    /// Calls `work` with the buffer for packed rows, which has at least `len` words.
    pub(super) fn with_staging<R>(
        &mut self,
        len: usize,
        work: impl FnOnce(&mut Self, &mut Buffer<u32>) -> Result<R, LifeError>,
    ) -> Result<R, LifeError> {
        let mut staging = match self.staging.take() {
            Some(staging) if staging.len() >= len => staging,
            _ => self.device.alloc(len)?,
        };
        let done = work(self, &mut staging);
        self.staging = Some(staging);
        done
    }

    /// Returns `rows` of the present board.
    ///
    /// # Errors
    /// [`LifeError`] if the board lacks one of the rows, if the device fails, or if the host has too little memory.
    pub fn rows(&self, rows: Range<usize>) -> Result<Board, LifeError> {
        LifeError::check_rows(&rows, self.height)?;
        let width = self.width;
        let dead = |_| Ok(Board::new(width, rows.len())?.into_words());
        let mut planes = (0..self.planes()).map(dead).collect::<Result<Vec<_>, LifeError>>()?;
        let mut staging: Option<Buffer<u32>> = None;
        for chunk in self.chunks(rows.clone()) {
            let part = chunk.len() * self.words_per_row();
            let at = (chunk.start - rows.start) * self.words_per_row();
            // No later chunk is larger than the first one.
            let staging = match &mut staging {
                Some(staging) => staging,
                none => none.insert(self.device.alloc(self.planes() * part)?),
            };
            self.gather(chunk, staging, 0)?;
            for (i, plane) in planes.iter_mut().enumerate() {
                staging.download_range(i * part, &mut plane[at..at + part])?;
            }
        }
        match &self.cells {
            Cells::TwoBit(cells) => cells.board(width, [&planes[0], &planes[1]]),
            _ => Ok(Board::from_words(width, rows.len(), planes.swap_remove(0))?),
        }
    }

    /// Replaces the rows from `first` on by the rows of `board`.
    ///
    /// # Errors
    /// Fails in the same cases as [`rows`](Self::rows), and if `board` has another width.
    pub fn put_rows(&mut self, first: usize, board: &Board) -> Result<(), LifeError> {
        LifeError::check_rows(&(first..first.saturating_add(board.height())), self.height)?;
        LifeError::check_size(board, (self.width, board.height()))?;
        let of_ages = matches!(self.cells, Cells::TwoBit(_)).then(|| bits(board));
        let planes: Vec<&[u32]> = match &of_ages {
            Some(planes) => planes.iter().map(|plane| &plane[..]).collect(),
            None => vec![board.words()],
        };
        for chunk in self.chunks(0..board.height()) {
            let words = chunk.start * self.words_per_row()..chunk.end * self.words_per_row();
            self.with_staging(chunk.len() * self.words_of_row(true), |life, staging| {
                for (i, plane) in planes.iter().enumerate() {
                    staging.upload_range(i * words.len(), &plane[words.clone()])?;
                }
                Ok(life.scatter(first + chunk.start..first + chunk.end, staging, 0)?)
            })?;
        }
        Ok(())
    }

    /// Replaces the present board by `board`, which must have the same size as the present board.
    pub(super) fn fill(&mut self, board: &Board) -> Result<(), LifeError> {
        LifeError::check_size(board, (self.width, self.height))?;
        match &mut self.cells {
            Cells::Words { now, .. } => Ok(now.upload(board.words())?),
            _ => self.put_rows(0, board),
        }
    }

    /// Swaps the present board and the previous one.
    pub(super) fn exchange_boards(&mut self) {
        for_buffers!(&mut self.cells, |now, next| std::mem::swap(now, next));
    }
}

/// Returns the `len` elements of `buffer` that begin at index `at`.
pub(super) fn part<T: launch::DeviceCopy>(buffer: &mut Buffer<T>, at: usize, len: usize) -> BufferPart<'_, T> {
    buffer.as_part_mut().split_at(at).1.split_at(len).0
}
