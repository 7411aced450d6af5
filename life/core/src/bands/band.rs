//! Bands. A band consists of the rows of a board that one device, or the host's cores, advance.

use std::ops::Range;

use crate::board::{WORD_BITS, add_hash, hash_of_planes, last_word_mask, row_chunks};
use crate::error::LifeError;
use crate::soup::rows_of_soup;
use crate::{Board, CpuSimulation, Simulation};

/// The simulation that advances a band: a kernel on a device, or the host's cores.
pub(super) enum Engine {
    Kernel(Box<Simulation>),
    Cores(Box<CpuSimulation>),
}

/// A band and its halo, on a separate board. On that board, the band's own cells begin `above` rows from the top and
/// `beside` columns from the left.
pub(super) struct Band {
    /// The index of the band among the bands of all ranks, from 0.
    pub(super) number: usize,
    pub(super) rows: Range<usize>,
    pub(super) above: usize,
    pub(super) beside: usize,
    /// The number of columns of the whole board.
    pub(super) width: usize,
    pub(super) engine: Engine,
}

impl Band {
    /// Converts row numbers on the whole board to row numbers on the band's board. The band must own the rows.
    pub(super) fn local(&self, rows: &Range<usize>) -> Range<usize> {
        let at = |row: usize| row - self.rows.start + self.above;
        at(rows.start)..at(rows.end)
    }

    /// Returns the number of words of a row and the number of folds (parts of the board that share the same words) in
    /// the device's layout. Returns `None` if rows must be packed before they are copied to another band.
    pub(super) fn row_layout(&self) -> Option<(usize, u32)> {
        if let Engine::Kernel(life) = &self.engine { life.row_layout() } else { None }
    }

    /// Advances the band by `generations` generations. Does not wait for a GPU to finish them.
    pub(super) fn advance(&mut self, generations: u64) -> Result<(), LifeError> {
        match &mut self.engine {
            Engine::Kernel(life) => life.advance(generations),
            Engine::Cores(life) => {
                life.advance(generations);
                Ok(())
            }
        }
    }

    /// Waits until the band's device has finished all generations enqueued so far.
    pub(super) fn wait(&self) -> Result<(), LifeError> {
        match &self.engine {
            Engine::Kernel(life) => Ok(life.device().synchronize()?),
            Engine::Cores(_) => Ok(()),
        }
    }

    /// Returns a copy of `rows`, which are row numbers of the whole board. The band must own these rows.
    pub(super) fn read(&self, rows: &Range<usize>) -> Result<Board, LifeError> {
        let board = match &self.engine {
            Engine::Kernel(life) => life.rows(self.local(rows))?,
            Engine::Cores(life) => life.rows(self.local(rows))?,
        };
        if self.beside == 0 { Ok(board) } else { moved(&board, self.width, -(self.beside as i64)) }
    }

    /// Replaces the band's rows by the rows of `board`. `first` is the number of the first replaced row on the whole
    /// board. The band must own the rows.
    pub(super) fn write(&mut self, first: usize, board: &Board) -> Result<(), LifeError> {
        let first = self.local(&(first..first)).start;
        match &mut self.engine {
            Engine::Kernel(life) => life.put_rows(first, board),
            Engine::Cores(life) if self.beside == 0 => life.put_rows(first, board),
            Engine::Cores(life) => {
                let board = moved(board, self.width + 2 * self.beside, self.beside as i64)?;
                life.put_rows(first, &board)
            }
        }
    }

    /// Divides the band's rows into ranges that are small enough for one call of [`read`](Self::read).
    pub(super) fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        row_chunks(self.rows.clone(), self.width.div_ceil(WORD_BITS))
    }

    /// Fills the band with its rows of a soup. The soup covers the whole board, which has `height` rows.
    pub(super) fn make_soup(&mut self, height: usize, density: f64, seed: u64) -> Result<(), LifeError> {
        let (width, above) = (self.width, self.above);
        if let Engine::Kernel(life) = &mut self.engine {
            // The soup is also written to the halo, whose row numbers wrap around.
            let first = (self.rows.start + height - above % height) % height;
            return life.make_soup(first, height, density, seed);
        }
        for rows in self.chunks() {
            self.write(rows.start, &rows_of_soup((width, height), rows.clone(), density, seed)?)?;
        }
        Ok(())
    }

    /// Returns the number of the band's cells that are not dead.
    pub(super) fn population(&mut self) -> Result<u64, LifeError> {
        let local = self.local(&self.rows);
        match &mut self.engine {
            Engine::Kernel(life) => life.population_of(local),
            Engine::Cores(life) if self.beside == 0 => Ok(life.automaton.population(local)),
            Engine::Cores(_) => self.chunks().map(|rows| Ok(self.read(&rows)?.population())).sum(),
        }
    }

    /// For each bit plane (one bit of every cell's state), returns the number that the band's rows contribute to the
    /// whole board's hash of that bit plane.
    pub(super) fn hash(&mut self) -> Result<Vec<u64>, LifeError> {
        let (local, words_per_row) = (self.local(&self.rows), self.width.div_ceil(WORD_BITS));
        if let Engine::Kernel(life) = &mut self.engine {
            return life.hash_of(local, self.rows.start * words_per_row);
        }
        let mut hashes = Vec::new();
        for rows in self.chunks() {
            add_hash(&mut hashes, &self.read(&rows)?, rows.start * words_per_row);
        }
        Ok(hashes)
    }

    /// Returns a hash of the band's rows, which is comparable only with other results of this method for this band.
    pub(super) fn fingerprint(&mut self) -> Result<u64, LifeError> {
        let local = self.local(&self.rows);
        let hash = match &mut self.engine {
            Engine::Kernel(life) => life.fingerprint_of(local)?,
            Engine::Cores(life) if self.beside == 0 => life.automaton.fingerprint(local),
            Engine::Cores(_) => hash_of_planes(&self.hash()?),
        };
        // The fingerprints of bands are added. This step makes the sum depend on which band has which rows.
        Ok(gpu::life::mix(hash ^ gpu::life::mix(self.number as u64)))
    }

    /// Returns a copy of the band's rows, to be passed to [`changes`](Self::changes) after the next generation. Returns
    /// `None` if the engine itself stores the previous generation.
    pub(super) fn before(&self) -> Result<Option<Board>, LifeError> {
        if self.beside == 0 { Ok(None) } else { self.read(&self.rows).map(Some) }
    }

    /// Returns the numbers of births and deaths in the band in the last generation. `before` must be the value that
    /// [`before`](Self::before) returned one generation earlier.
    pub(super) fn changes(&mut self, before: Option<Board>) -> Result<(u64, u64), LifeError> {
        if let Some(before) = before {
            return Ok(before.changes(&self.read(&self.rows)?));
        }
        let local = self.local(&self.rows);
        match &mut self.engine {
            Engine::Kernel(life) => life.changes_of(local),
            Engine::Cores(life) => Ok(life.automaton.changes(local)),
        }
    }
}

/// Returns a board of `width` columns that contains the cells of `board`, shifted to the right by a number of columns,
/// the parameter `by`.
fn moved(board: &Board, width: usize, by: i64) -> Result<Board, LifeError> {
    let (words_per_row, bits) = (width.div_ceil(WORD_BITS), WORD_BITS as i64);
    let mut planes = board.planes_of_words().map(|words| {
        let rows = words.chunks_exact(board.words_per_row());
        rows.flat_map(|row| {
            let word = |i: i64| usize::try_from(i).ok().and_then(|i| row.get(i)).copied().unwrap_or(0);
            (0..words_per_row).map(move |i| {
                let column = i as i64 * bits - by;
                let (first, bit) = (column.div_euclid(bits), column.rem_euclid(bits));
                let both = u64::from(word(first)) | u64::from(word(first + 1)) << bits;
                let mask = if i + 1 == words_per_row { last_word_mask(width) } else { u32::MAX };
                (both >> bit) as u32 & mask
            })
        })
        .collect::<Vec<u32>>()
    });
    let words = planes.next().unwrap_or_default();
    Ok(Board::from_words_and_ages(width, board.height(), words, planes.collect())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_moved() {
        for width in [1, 31, 32, 33, 70, 96] {
            let board = Board::random(width, 3, 0.5, 1).unwrap();
            for beside in [1, 16, 33] {
                let wide = moved(&board, width + 2 * beside, beside as i64).unwrap();
                let cells: Vec<_> = board.cells().map(|(x, y)| (x + beside, y)).collect();
                assert_eq!(wide.cells().collect::<Vec<_>>(), cells);
                assert_eq!(moved(&wide, width, -(beside as i64)).unwrap(), board);
            }
        }
    }
}
