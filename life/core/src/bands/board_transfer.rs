//! Copies a board in parts between the first rank and the bands of all ranks, so that no rank needs memory for the
//! whole board.

use std::ops::Range;

use super::Bands;
use super::encoding::{board_of, gather, words_of};
use crate::Board;
use crate::board::{WORD_BITS, row_chunks};
use crate::error::LifeError;

/// A copy in host memory of all rows that this rank's bands own.
pub struct BandsCopy(Vec<Board>);

impl Bands<'_> {
    /// Divides `rows` into ranges that are small enough for one call of [`rows`](Self::rows) or
    /// [`put_rows`](Self::put_rows).
    pub fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        row_chunks(rows, self.spec.width.div_ceil(WORD_BITS))
    }

    /// Returns `rows` of the present board on the first rank. Returns `None` on the other ranks.
    ///
    /// # Errors
    /// If the board lacks one of the rows, if a device or a rank fails, or if memory does not suffice.
    pub fn rows(&self, rows: Range<usize>) -> Result<Option<Board>, LifeError> {
        LifeError::check_rows(&rows, self.spec.height)?;
        let (width, states, rank) = (self.spec.width, self.spec.rule.states(), self.ranks.rank());
        let mut whole = if rank == 0 { Some(Board::with_states(width, rows.len(), states)?) } else { None };
        for (number, part) in self.plan.division.parts(rows.clone()) {
            let own = self.bands.iter().find(|band| band.number == number);
            match (&mut whole, own.map(|band| band.read(&part)).transpose()?) {
                (Some(whole), Some(own)) => whole.replace_rows(part.start - rows.start, &own),
                (Some(whole), None) => {
                    let owner = self.plan.division.owner(number).0;
                    whole.replace_rows(part.start - rows.start, &self.receive(owner, part.len())?);
                }
                (None, Some(own)) => self.send(0, &own)?,
                (None, None) => {}
            }
        }
        Ok(whole)
    }

    /// Sends a board to a rank.
    fn send(&self, rank: usize, board: &Board) -> Result<(), LifeError> {
        Ok(self.ranks.exchange(&[(rank, bytemuck::cast_slice(&words_of(board)))], &mut [])?)
    }

    /// Receives a board of `rows` rows from a rank.
    fn receive(&self, rank: usize, rows: usize) -> Result<Board, LifeError> {
        let planes = Board::planes(self.spec.rule.states());
        let mut words = vec![0; planes * rows * self.spec.width.div_ceil(WORD_BITS)];
        self.ranks.exchange(&[], &mut [(rank, bytemuck::cast_slice_mut(&mut words))])?;
        board_of(self.spec.width, rows, &words)
    }

    /// Replaces `rows` of the whole board by `board`. The first rank must pass `Some`. The other ranks' `board` is
    /// ignored.
    ///
    /// # Errors
    /// If the board lacks one of the rows, if `board` has another size, or if a device or a rank fails.
    pub fn put_rows(&mut self, rows: Range<usize>, board: Option<&Board>) -> Result<(), LifeError> {
        LifeError::check_rows(&rows, self.spec.height)?;
        self.correct_for = 0;
        let (rank, size) = (self.ranks.rank(), (self.spec.width, rows.len()));
        let whole = board.filter(|_| rank == 0);
        match whole {
            Some(whole) => LifeError::check_size(whole, size)?,
            None if rank == 0 => return Err(LifeError::OtherSize { given: (0, 0), size }),
            None => {}
        }
        for (number, part) in self.plan.division.parts(rows.clone()) {
            let owner = self.plan.division.owner(number).0;
            let board = match whole {
                Some(whole) => whole.part(part.start - rows.start..part.end - rows.start)?,
                None if owner == rank => self.receive(0, part.len())?,
                None => continue,
            };
            match self.bands.iter_mut().find(|band| band.number == number) {
                Some(band) => band.write(part.start, &board)?,
                None => self.send(owner, &board)?,
            }
        }
        Ok(())
    }

    /// Replaces the whole board by the parts that `read` returns. Only the first rank calls `read`, with ranges of rows
    /// in ascending order.
    ///
    /// # Errors
    /// Fails in the same cases as [`put_rows`](Self::put_rows), and if `read` fails.
    pub fn put<E: From<LifeError>>(&mut self, mut read: impl FnMut(Range<usize>) -> Result<Board, E>) -> Result<(), E> {
        for rows in self.parts(0..self.spec.height) {
            let board = if self.ranks.rank() == 0 { Some(read(rows.clone())?) } else { None };
            self.put_rows(rows, board.as_ref())?;
        }
        Ok(())
    }

    /// Returns a copy of this rank's rows in host memory.
    ///
    /// # Errors
    /// If a device fails or memory does not suffice.
    pub fn copy(&self) -> Result<BandsCopy, LifeError> {
        Ok(BandsCopy(self.bands.iter().map(|band| band.read(&band.rows)).collect::<Result<_, _>>()?))
    }

    /// Replaces the rows of this rank by the copied rows. `copy` must be a result of [`Bands::copy`](Self::copy) for
    /// the same division into bands.
    ///
    /// # Errors
    /// If the copy has another size, or a device fails.
    pub fn put_copy(&mut self, copy: &BandsCopy) -> Result<(), LifeError> {
        self.correct_for = 0;
        let mut pairs = self.bands.iter_mut().zip(&copy.0);
        pairs.try_for_each(|(band, board)| band.write(band.rows.start, board))
    }

    /// Returns true if, on every rank, the present rows equal the copy that the rank passes.
    ///
    /// # Errors
    /// If a device or a rank fails.
    pub fn equals(&self, copy: &BandsCopy) -> Result<bool, LifeError> {
        let mut differs = false;
        for (band, board) in self.bands.iter().zip(&copy.0) {
            differs |= band.read(&band.rows)? != *board;
        }
        Ok(gather(self.ranks, &[differs.into()])?.iter().all(|of_rank| of_rank[0] == 0))
    }
}
