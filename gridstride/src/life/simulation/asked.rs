//! What is made of a board, and asked of it, where it is: soups, hashes, births and deaths.

use gpu::life::{self as kernels, CELLS_PER_WORD, LifeRung};
use launch::{Buffer, Device};

use super::grids::{linear, most_blocks};
use super::{Cells, Simulation, check_rule, interleaved};
use crate::error::AlgorithmError;
use crate::life::board::words_needed;
use crate::life::soup::Soup;
use crate::life::{Board, Rule, SoupError};

/// Bytes that a [`Simulation`] takes on its device: the board twice, and where it is kept in bytes, the words that it is made
/// from.
pub fn device_bytes(rung: LifeRung, (width, height): (usize, usize)) -> u64 {
    let words = (width.div_ceil(CELLS_PER_WORD) as u64).saturating_mul(4).saturating_mul(height as u64);
    match rung {
        LifeRung::Global | LifeRung::Block | LifeRung::Shared => {
            (width as u64).saturating_mul(height as u64).saturating_mul(2).saturating_add(words)
        }
        LifeRung::Bitpacked | LifeRung::Temporal | LifeRung::Resident => words.saturating_mul(2),
        // In tiles with margins, once more packed while it is made and read.
        LifeRung::Streaming => interleaved::bytes(width, height).saturating_mul(2).saturating_add(words),
    }
}

impl Simulation {
    /// A random board of `width` × `height` cells, to be advanced by `rule`, made on the device: the one that [`Board::random`]
    /// gives. For more than two states it is made on the host.
    ///
    /// # Errors
    /// As [`with_rule`](Self::with_rule), and [`SoupError`] when the size or the density is none.
    pub fn soup(
        device: &Device,
        rung: LifeRung,
        (width, height): (usize, usize),
        density: f64,
        seed: u64,
        rule: &Rule,
    ) -> Result<Self, AlgorithmError> {
        if rule.states() > 2 {
            return Self::with_rule(device, rung, &Board::random(width, height, density, seed)?, rule, 0);
        }
        check_rule(rung, rule)?;
        let soup = Soup::new(density, seed)?;
        let mut words = device.alloc(words_needed(width, height).map_err(SoupError::from)?)?;
        match soup.threshold {
            Some(threshold) => {
                let pairs = width.div_ceil(2 * CELLS_PER_WORD) * height;
                let call = kernels::life_soup(words.view_mut(), width, height, soup.key, threshold);
                device.launch(linear(pairs, most_blocks(device)), call)?;
            }
            None => words.upload(Board::random(width, height, density, seed)?.words())?,
        }
        Self::of_words(device, rung, (width, height), words, rule)
    }

    /// A hash of the board, made on the device where its cells are packed: boards of one size that differ have the same one
    /// in 1 of 2⁶⁴ cases. It is [`Board::hash`]'s for a rung that keeps the packed rows as a board has them.
    ///
    /// # Errors
    /// As [`board`](Self::board).
    pub fn hash(&mut self) -> Result<u64, AlgorithmError> {
        let packed;
        let words = match &self.cells {
            Cells::Words { now, .. } => now,
            Cells::Interleaved(_) => {
                packed = self.packed()?;
                &packed
            }
            _ => return Ok(self.board()?.hash()),
        };
        self.total.fill_zero()?;
        let call = kernels::life_hash_words(words.view(), self.total.view_mut());
        self.device.launch(linear(words.len(), self.most_blocks), call)?;
        let mut hash = [0; 2];
        self.total.download_into(&mut hash)?;
        Ok(hash[0])
    }

    /// Runs one generation, and gives how many cells it has brought to life and how many have died in it, counted on the
    /// device where its cells are in words.
    ///
    /// # Errors
    /// As [`board`](Self::board).
    pub fn advance_counting(&mut self) -> Result<(u64, u64), AlgorithmError> {
        match &self.cells {
            Cells::Words { .. } => {
                self.advance(1)?;
                let Cells::Words { now, next: before, .. } = &self.cells else { return Ok((0, 0)) };
                changes(&self.device, self.most_blocks, &mut self.total, [before, now])
            }
            Cells::Interleaved(_) => {
                let before = self.packed()?;
                self.advance(1)?;
                let now = self.packed()?;
                changes(&self.device, self.most_blocks, &mut self.total, [&before, &now])
            }
            _ => {
                let before = self.board()?;
                self.advance(1)?;
                Ok(before.changes(&self.board()?))
            }
        }
    }

    /// The board in packed words on the device, which are made.
    fn packed(&self) -> Result<Buffer<u32>, AlgorithmError> {
        let words = match &self.cells {
            Cells::Interleaved(cells) => cells.packed(&self.device, (self.width, self.height), self.most_blocks)?,
            _ => self.device.upload(self.board()?.words())?,
        };
        Ok(words)
    }
}

/// How many cells are born and dead from one packed board to the next.
fn changes(
    device: &Device,
    most_blocks: u32,
    total: &mut Buffer<u64>,
    [before, now]: [&Buffer<u32>; 2],
) -> Result<(u64, u64), AlgorithmError> {
    total.fill_zero()?;
    let call = kernels::life_changes_words(before.view(), now.view(), total.view_mut());
    device.launch(linear(now.len(), most_blocks), call)?;
    let mut changes = [0; 2];
    total.download_into(&mut changes)?;
    Ok(changes.into())
}
