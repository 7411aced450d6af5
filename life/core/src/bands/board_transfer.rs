//! Copies a board between the first rank and the bands of all ranks, in parts. Each rank holds only the rows of one
//! call.

use std::ops::Range;

use super::Bands;
use super::band::chunks;
use super::encoding::{board_of, gather, words_of};
use crate::Board;
use crate::board::WORD_BITS;
use crate::error::LifeError;

/// A copy of the rows of a rank.
pub struct BandsCopy(Vec<Board>);

impl Bands<'_> {
    /// Divides `rows` into parts that the first rank can hold at once.
    pub fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        chunks(rows, self.spec.width)
    }

    /// Returns these rows of the present board on the first rank, and `None` on the other ranks.
    ///
    /// # Errors
    /// If the board lacks one of the rows, if a device or a rank fails, or if memory does not suffice.
    pub fn rows(&self, rows: Range<usize>) -> Result<Option<Board>, LifeError> {
        LifeError::check_rows(&rows, self.spec.height)?;
        let (width, states, rank) = (self.spec.width, self.spec.rule.states(), self.ranks.rank());
        let words_per_row = width.div_ceil(WORD_BITS);
        let plane = words_per_row * rows.len();
        let mut words = Vec::new();
        if rank == 0 {
            words = words_of(&Board::with_states(width, rows.len(), states)?);
        }
        for (number, part) in self.division.parts(rows.clone()) {
            let owner = self.division.owner(number).0;
            let read = match self.bands.iter().find(|band| band.number == number) {
                Some(band) => words_of(&band.read(&part)?),
                None if rank == 0 => {
                    let mut read = vec![0; words_per_row * part.len() * Board::planes(states)];
                    self.ranks.exchange(&[], &mut [(owner, bytemuck::cast_slice_mut(&mut read))])?;
                    read
                }
                None => continue,
            };
            if rank != 0 {
                self.ranks.exchange(&[(0, bytemuck::cast_slice(&read))], &mut [])?;
                continue;
            }
            let len = words_per_row * part.len();
            let at = words_per_row * (part.start - rows.start);
            for (plane, read) in words.chunks_exact_mut(plane).zip(read.chunks_exact(len)) {
                plane[at..at + len].copy_from_slice(read);
            }
        }
        if rank == 0 { board_of(width, rows.len(), &words).map(Some) } else { Ok(None) }
    }

    /// Replaces `rows` by `board`, which the first rank must pass.
    ///
    /// # Errors
    /// If the board lacks one of the rows, if `board` has another size, or if a device or a rank fails.
    pub fn put_rows(&mut self, rows: Range<usize>, board: Option<&Board>) -> Result<(), LifeError> {
        LifeError::check_rows(&rows, self.spec.height)?;
        self.right_for = 0;
        let (width, states, rank) = (self.spec.width, self.spec.rule.states(), self.ranks.rank());
        let words_per_row = width.div_ceil(WORD_BITS);
        let all_words = match board {
            Some(board) if rank == 0 => {
                LifeError::check_size(board, (width, rows.len()))?;
                words_of(board)
            }
            _ => Vec::new(),
        };
        for (number, part) in self.division.parts(rows.clone()) {
            let owner = self.division.owner(number).0;
            let len = words_per_row * part.len();
            let mut words = if rank == 0 {
                let at = words_per_row * (part.start - rows.start);
                let planes = all_words.chunks_exact(words_per_row * rows.len());
                planes.flat_map(|plane| &plane[at..at + len]).copied().collect()
            } else if owner == rank {
                vec![0; len * Board::planes(states)]
            } else {
                continue;
            };
            match (rank, owner) {
                (0, 0) => {}
                (0, _) => self.ranks.exchange(&[(owner, bytemuck::cast_slice(&words))], &mut [])?,
                _ => self.ranks.exchange(&[], &mut [(0, bytemuck::cast_slice_mut(&mut words))])?,
            }
            if let Some(band) = self.bands.iter_mut().find(|band| band.number == number) {
                band.write(part.start, &board_of(width, part.len(), &words)?)?;
            }
        }
        Ok(())
    }

    /// Replaces the whole board by the parts that `read` returns. `read` is called on the first rank only, for rows in
    /// ascending order.
    ///
    /// # Errors
    /// As for [`put_rows`](Self::put_rows), and the errors of `read`.
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

    /// Replaces the rows of this rank by a copy. The copy must be of a board with the same bands.
    ///
    /// # Errors
    /// If the copy has another size, or a device fails.
    pub fn put_copy(&mut self, copy: &BandsCopy) -> Result<(), LifeError> {
        self.right_for = 0;
        let mut pairs = self.bands.iter_mut().zip(&copy.0);
        pairs.try_for_each(|(band, board)| band.write(band.rows.start, board))
    }

    /// Returns true if all cells of all ranks equal those of the copies.
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
