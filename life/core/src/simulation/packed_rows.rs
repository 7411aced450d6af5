//! Packed rows of a board on a device, to be copied to or from the host or other devices.

use std::ops::Range;

use gpu::life::{self as kernels, CELLS_PER_WORD};
use launch::{Buffer, BufferPart, Error};

use super::grids::linear;
use super::two_bit_cells::{TwoBitCells, bits};
use super::{Cells, InterleavedCells, Simulation, for_buffers};
use crate::Board;
use crate::error::LifeError;

/// The maximum number of words that are packed at once: 64 MiB.
const CHUNK: usize = 1 << 24;

/// The maximum bytes of packed rows, in addition to the two boards.
pub(super) const STAGING_BYTES: u64 = 8 * CHUNK as u64;

impl Simulation {
    /// Returns the bits per cell.
    pub(crate) fn planes(&self) -> usize {
        if matches!(self.cells, Cells::TwoBit(_)) { 2 } else { 1 }
    }

    fn words_per_row(&self) -> usize {
        self.width.div_ceil(CELLS_PER_WORD)
    }

    /// Returns the words of a row in all planes.
    pub(crate) fn words_of_row(&self) -> usize {
        self.planes() * self.words_per_row()
    }

    /// Divides `rows` into parts that are packed at once.
    pub(super) fn chunks(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let most = (CHUNK / self.words_of_row()).max(1);
        let (start, end) = (rows.start, rows.end);
        (start..end).step_by(most).map(move |first| first..(first + most).min(end))
    }

    /// Packs `rows` into `words` from `at` on, plane by plane.
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

    /// Replaces `rows` by the words that [`gather`](Self::gather) packed.
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

    /// Returns the words of a row and the number of folds if the board is not packed. Boards that agree in both can
    /// exchange rows without packing.
    pub fn row_layout(&self) -> Option<(usize, u32)> {
        if let Cells::Interleaved(cells) = &self.cells { Some(cells.row_layout()) } else { None }
    }

    /// Copies `rows` without packing into `words` from `at` on.
    pub fn take(&self, rows: Range<usize>, words: &mut Buffer<u32>, at: usize) -> Result<(), Error> {
        let Cells::Interleaved(cells) = &self.cells else { return self.gather(rows, words, at) };
        let words = part(words, at, rows.len() * cells.row_layout().0).view_mut();
        cells.take(rows.start, words)
    }

    /// Replaces `rows` by rows that [`take`](Self::take) copied from a board with the same
    /// [`row_layout`](Self::row_layout).
    pub fn put(&mut self, rows: Range<usize>, words: &mut Buffer<u32>, at: usize) -> Result<(), Error> {
        let Cells::Interleaved(cells) = &mut self.cells else { return self.scatter(rows, words, at) };
        let words = part(words, at, rows.len() * cells.row_layout().0);
        cells.put(rows.start, words)
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

    /// Returns these rows of the present board.
    ///
    /// # Errors
    /// [`LifeError`] if the board lacks one of the rows, if the device fails, or if the host has too little memory.
    pub fn rows(&self, rows: Range<usize>) -> Result<Board, LifeError> {
        LifeError::check_rows(&rows, self.height)?;
        let (width, plane) = (self.width, rows.len() * self.words_per_row());
        let mut words = vec_of(self.planes() * plane)?;
        let mut staging: Option<Buffer<u32>> = None;
        for chunk in self.chunks(rows.clone()) {
            let part = chunk.len() * self.words_per_row();
            let at = (chunk.start - rows.start) * self.words_per_row();
            // The first chunk is the largest.
            let staging = match &mut staging {
                Some(staging) => staging,
                none => none.insert(self.device.alloc(self.planes() * part)?),
            };
            self.gather(chunk, staging, 0)?;
            for (i, plane) in words.chunks_exact_mut(plane).enumerate() {
                staging.download_range(i * part, &mut plane[at..at + part])?;
            }
        }
        match &self.cells {
            Cells::TwoBit(cells) => {
                let (low, high) = words.split_at(plane);
                cells.board(width, [low, high])
            }
            _ => Ok(Board::from_words(width, rows.len(), words)?),
        }
    }

    /// Replaces the rows from `first` on by `board`.
    ///
    /// # Errors
    /// As for [`rows`](Self::rows), and if `board` has another width.
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
            self.with_staging(chunk.len() * self.words_of_row(), |life, staging| {
                for (i, plane) in planes.iter().enumerate() {
                    staging.upload_range(i * words.len(), &plane[words.clone()])?;
                }
                Ok(life.scatter(first + chunk.start..first + chunk.end, staging, 0)?)
            })?;
        }
        Ok(())
    }

    /// Replaces the present board by `board`, which must have the same size.
    pub(super) fn fill(&mut self, board: &Board) -> Result<(), LifeError> {
        LifeError::check_size(board, (self.width, self.height))?;
        match &mut self.cells {
            Cells::Words { now, .. } => Ok(now.upload(board.words())?),
            _ => self.put_rows(0, board),
        }
    }

    /// Swaps the present board and the one before the last generation.
    pub(super) fn exchange_boards(&mut self) {
        for_buffers!(&mut self.cells, |now, next| std::mem::swap(now, next));
    }
}

/// Returns the `len` elements of `buffer` from `at` on.
pub(super) fn part<T: launch::DeviceCopy>(buffer: &mut Buffer<T>, at: usize, len: usize) -> BufferPart<'_, T> {
    buffer.as_part_mut().split_at(at).1.split_at(len).0
}

/// Allocates `len` words of host memory.
fn vec_of(len: usize) -> Result<Vec<u32>, LifeError> {
    let mut words = Vec::new();
    let too_large = |_| Error::OutOfHostMemory { requested_bytes: 4 * len as u64 };
    words.try_reserve_exact(len).map_err(too_large)?;
    words.resize(len, 0);
    Ok(words)
}
