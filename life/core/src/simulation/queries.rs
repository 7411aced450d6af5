//! Operations on a board that run on the board's device: making soups, counting cells, births and deaths, and computing
//! hashes.

use std::ops::Range;

use cuda_std::Global;
use gpu::life::{self as kernels, CELLS_PER_WORD, LifeRung};
use launch::{Buffer, Device, Error, LaunchConfig};

use super::grids::linear;
use super::packed_rows::{STAGING_BYTES, part};
use super::{Cells, Simulation, interleaved};
use crate::board::{add_hash, hash_of_planes};
use crate::error::LifeError;
use crate::soup::{Soup, rows_of_soup};
use crate::{Board, Rule};

/// Returns the number of bytes of device memory that a [`Simulation`] needs. The memory is for two boards, for a buffer
/// of packed rows or of a packed soup, and for the words that the blocks of [`LifeRung::Resident`] publish.
pub fn device_bytes(rung: LifeRung, (width, height): (usize, usize)) -> u64 {
    let words = (width.div_ceil(CELLS_PER_WORD) as u64).saturating_mul(4).saturating_mul(height as u64);
    let staging = words.saturating_mul(2).min(STAGING_BYTES);
    match rung {
        LifeRung::Global | LifeRung::Block | LifeRung::Shared => {
            (width as u64).saturating_mul(height as u64).saturating_mul(2).saturating_add(words.max(staging))
        }
        LifeRung::Bitpacked | LifeRung::Temporal => words.saturating_mul(2).saturating_add(staging),
        // For each word of the board, `resident` publishes two 64-bit words.
        LifeRung::Resident => words.saturating_mul(6).saturating_add(staging),
        LifeRung::Streaming => interleaved::bytes(width, height).saturating_mul(2).saturating_add(staging),
    }
}

impl Simulation {
    /// Makes a random board of `width` × `height` cells on the device, with the same cells as [`Board::random`]. A
    /// board of more than two states is made on the host.
    ///
    /// # Errors
    /// Fails in the same cases as [`with_rule`](Self::with_rule). Also returns [`SoupError`](crate::SoupError) if no
    /// board has this size or the density is not in 0..=1.
    pub fn soup(
        device: &Device,
        rung: LifeRung,
        (width, height): (usize, usize),
        density: f64,
        seed: u64,
        rule: &Rule,
    ) -> Result<Self, LifeError> {
        let mut life = Self::dead(device, rung, (width, height), rule, 0)?;
        life.load(true)?;
        life.make_soup(0, height, density, seed)?;
        Ok(life)
    }

    /// Loads several kernels of a packed board together, which is faster than loading them one by one. These are the
    /// kernels that advance the board and count its cells and, if `is_soup` is true, the kernel that makes a soup.
    /// Other kernels are loaded at their first launch.
    pub(super) fn load(&mut self, is_soup: bool) -> Result<(), LifeError> {
        let (width, height, device) = (self.width, self.height, self.device.clone());
        device.load(|queue| {
            let Cells::Words { now, .. } = &mut self.cells else { return Ok(()) };
            let one = LaunchConfig::new(1, 1);
            queue.launch(one, kernels::life_population_words(now.view(), self.total.view_mut()))?;
            if is_soup {
                queue.launch(one, kernels::life_soup(now.view_mut(), width, height, 0, height, 0, 0))?;
            }
            // These two calls only load kernels and execute nothing. The second call swaps the buffers back.
            self.launch(queue, 1)?;
            self.launch(queue, 1)?;
            Ok(())
        })
    }

    /// Fills the board with the rows of a soup from row `first` on. The parameter `of` is the number of rows of the
    /// soup. The soup's last row is followed by its first row.
    pub(crate) fn make_soup(&mut self, first: usize, of: usize, density: f64, seed: u64) -> Result<(), LifeError> {
        let (width, height, max_blocks) = (self.width, self.height, self.max_blocks);
        let Soup { key, threshold } = Soup::new(density, seed)?;
        let threshold = match (threshold, &self.cells) {
            (Some(threshold), Cells::Words { .. } | Cells::Bytes { .. } | Cells::Interleaved(_)) => threshold,
            _ => {
                for rows in self.chunks(0..height) {
                    let from = first + rows.start..first + rows.end;
                    self.put_rows(rows.start, &rows_of_soup((width, of), from, density, seed)?)?;
                }
                return Ok(());
            }
        };
        let device = self.device.clone();
        let pairs = width.div_ceil(2 * CELLS_PER_WORD) * height;
        let make = |words: &mut Buffer<u32>| {
            let call = kernels::life_soup(words.view_mut(), width, of, first, height, key, threshold);
            device.launch(linear(pairs, max_blocks), call)
        };
        match &mut self.cells {
            Cells::Words { now, .. } => make(now)?,
            Cells::Interleaved(cells) => cells.made(make)?,
            _ => {
                let mut words = device.alloc(self.words_of_row(true) * height)?;
                make(&mut words)?;
                self.scatter(0..height, &mut words, 0)?;
            }
        }
        Ok(())
    }

    /// Returns the number of cells that are not dead, counted on the device.
    ///
    /// # Errors
    /// [`LifeError::Algorithm`] if the device fails in this call or failed in a previous generation.
    pub fn population(&mut self) -> Result<u64, LifeError> {
        self.population_of(0..self.height)
    }

    /// Returns the number of cells of `rows` that are not dead.
    ///
    /// # Errors
    /// Fails in the same cases as [`population`](Self::population).
    pub fn population_of(&mut self, rows: Range<usize>) -> Result<u64, LifeError> {
        self.total.fill_zero()?;
        let (max_blocks, width, words_of_row) = (self.max_blocks, self.width, self.words_of_row(true));
        match &mut self.cells {
            Cells::TwoBit(_) => {
                let mut count = 0;
                for rows in self.chunks(rows) {
                    count += self.rows(rows)?.population();
                }
                return Ok(count);
            }
            Cells::Words { now, .. } => {
                let words = part(now, rows.start * words_of_row, rows.len() * words_of_row).view();
                let config = linear(words.len(), max_blocks);
                self.device.launch(config, kernels::life_population_words(words, self.total.view_mut()))?;
            }
            Cells::Bytes { now, .. } => {
                let cells = part(now, rows.start * width, rows.len() * width).view();
                let config = linear(cells.len(), max_blocks);
                self.device.launch(config, kernels::life_population_cells(cells, self.total.view_mut()))?;
            }
            Cells::Interleaved(cells) => {
                // The device counts the whole board, and the few rows outside the range are subtracted.
                cells.count(&mut self.total)?;
                let all = self.totals()?[0];
                self.total.fill_zero()?;
                for rows in [0..rows.start, rows.end..self.height] {
                    self.for_packed(rows, |life, words, _| {
                        let call = kernels::life_population_words(words, life.total.view_mut());
                        life.device.launch(linear(words.len(), max_blocks), call)
                    })?;
                }
                return Ok(all - self.totals()?[0]);
            }
        }
        Ok(self.totals()?[0])
    }

    /// Packs `rows` in parts. Calls `work` for each part, with its words and the number of its first row.
    fn for_packed(
        &mut self,
        rows: Range<usize>,
        work: impl Fn(&mut Self, Global<'_, u32>, usize) -> Result<(), Error>,
    ) -> Result<(), LifeError> {
        self.chunks(rows).try_for_each(|rows| {
            let (len, first) = (rows.len() * self.words_of_row(true), rows.start);
            self.with_staging(len, |life, staging| {
                life.gather(rows, staging, 0)?;
                Ok(work(life, part(staging, 0, len).view(), first)?)
            })
        })
    }

    fn totals(&self) -> Result<[u64; 2], Error> {
        let mut totals = [0; 2];
        self.total.download_into(&mut totals)?;
        Ok(totals)
    }

    /// Returns the present board.
    ///
    /// # Errors
    /// [`LifeError`] if the device fails or the host has too little memory.
    pub fn board(&self) -> Result<Board, LifeError> {
        self.rows(0..self.height)
    }

    /// Returns the [`Board::hash`] of the present board, computed on the device.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn hash(&mut self) -> Result<u64, LifeError> {
        Ok(hash_of_planes(&self.hash_of(0..self.height, 0)?))
    }

    /// Returns a hash of `rows` in the layout of the rung, computed on the device. Two different boards of one
    /// simulation have the same hash with probability 2⁻⁶⁴. Hashes of other rows or rungs, and [`Board::hash`], are not
    /// comparable.
    ///
    /// # Errors
    /// If the board lacks one of the rows, or the device fails.
    pub fn fingerprint_of(&mut self, rows: Range<usize>) -> Result<u64, LifeError> {
        LifeError::check_rows(&rows, self.height)?;
        let (max_blocks, words_per_row) = (self.max_blocks, self.width.div_ceil(CELLS_PER_WORD));
        let (begin, len) = (rows.start * words_per_row, rows.len() * words_per_row);
        let planes = match &mut self.cells {
            Cells::Bytes { .. } => return Ok(hash_of_planes(&self.hash_of(rows, 0)?)),
            Cells::Interleaved(cells) => {
                self.total.fill_zero()?;
                cells.hash(rows, &mut self.total)?;
                return Ok(self.totals()?[0]);
            }
            Cells::Words { now, .. } => std::slice::from_mut(now),
            Cells::TwoBit(cells) => &mut cells.now[..],
        };
        self.total.fill_zero()?;
        for (plane, now) in planes.iter_mut().enumerate() {
            let words = part(now, begin, len).view();
            let call = kernels::life_hash_words(words, self.total.view_mut(), plane * len);
            self.device.launch(linear(len, max_blocks), call)?;
        }
        Ok(self.totals()?[0])
    }

    /// For each bit plane of a larger board, returns the contribution of `rows` to the bit plane's hash. On that board,
    /// the rows begin at word `first`.
    pub(crate) fn hash_of(&mut self, rows: Range<usize>, first: usize) -> Result<Vec<u64>, LifeError> {
        let (max_blocks, words_of_row, begin) = (self.max_blocks, self.words_of_row(true), rows.start);
        if matches!(self.cells, Cells::TwoBit(_)) {
            let mut hashes = Vec::new();
            for rows in self.chunks(rows) {
                let at = first + (rows.start - begin) * self.width.div_ceil(CELLS_PER_WORD);
                add_hash(&mut hashes, &self.rows(rows)?, at);
            }
            return Ok(hashes);
        }
        self.total.fill_zero()?;
        self.for_packed(rows, |life, words, row| {
            let at = first + (row - begin) * words_of_row;
            let call = kernels::life_hash_words(words, life.total.view_mut(), at);
            life.device.launch(linear(words.len(), max_blocks), call)
        })?;
        Ok(vec![self.totals()?[0]])
    }

    /// Runs one generation and returns the numbers of births and deaths in it. For two-state boards, the device counts
    /// the births and deaths.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn advance_counting(&mut self) -> Result<(u64, u64), LifeError> {
        self.advance(1)?;
        self.changes_of(0..self.height)
    }

    /// Returns the numbers of births and deaths in `rows` in the last generation. The last call of
    /// [`advance`](Self::advance) must have run exactly one generation.
    pub(crate) fn changes_of(&mut self, rows: Range<usize>) -> Result<(u64, u64), LifeError> {
        let (max_blocks, words_of_row) = (self.max_blocks, self.words_of_row(true));
        self.total.fill_zero()?;
        if let (Cells::Interleaved(cells), true) = (&self.cells, rows.len() == self.height) {
            cells.count_changes(&mut self.total)?;
            let [born, dead] = self.totals()?;
            return Ok((born, dead));
        }
        let (mut born, mut dead) = (0, 0);
        for rows in self.chunks(rows) {
            if matches!(self.cells, Cells::TwoBit(_)) {
                let now = self.rows(rows.clone())?;
                self.exchange_boards();
                let before = self.rows(rows);
                self.exchange_boards();
                let changes = before?.changes(&now);
                (born, dead) = (born + changes.0, dead + changes.1);
                continue;
            }
            let len = rows.len() * words_of_row;
            self.with_staging(2 * len, |life, staging| {
                life.gather(rows.clone(), staging, len)?;
                life.exchange_boards();
                let gathered = life.gather(rows, staging, 0);
                life.exchange_boards();
                gathered?;
                let (before, now) = staging.as_part_mut().split_at(len);
                let (before, now) = (before.view(), now.split_at(len).0.view());
                let call = kernels::life_changes_words(before, now, life.total.view_mut());
                Ok(life.device.launch(linear(len, max_blocks), call)?)
            })?;
        }
        let [more_born, more_dead] = self.totals()?;
        Ok((born + more_born, dead + more_dead))
    }
}
