//! Halo rows that have come late: they are brought to the band's generation on a board of their own.
//!
//! While the rows of one generation are on their way, the band goes on by as many generations as its halo is still
//! right for. The rows that then arrive are that many generations behind. They are advanced here, next to as many of
//! the band's own rows, which were put aside when the exchange began, and then put into the halo. The outermost rows of
//! the result, one per generation, are wrong and dropped.

use std::ops::Range;

use launch::{Buffer, Device};

use super::Setting;
use super::band::{Band, Engine};
use crate::error::LifeError;
use crate::{LifeRung, Simulation};

/// What is beyond a band with some of its own rows: those above, the first and the last own rows, and those below.
pub(super) struct LateHalo {
    pub(super) life: Simulation,
    /// Rows beyond the band, on each side.
    halo: usize,
    /// The largest number of generations by which they may be late.
    max_late: usize,
    staging: Buffer<u32>,
}

impl LateHalo {
    /// Columns and rows of the board.
    pub(super) fn size(width: usize, halo: usize, max_late: usize) -> (usize, usize) {
        (width, 2 * (halo + max_late))
    }

    /// The rung that advances it: it works on boards of any size.
    pub(super) const RUNG: LifeRung = LifeRung::Bitpacked;

    pub(super) fn new(device: &Device, setting: &Setting, halo: usize, max_late: usize) -> Result<Self, LifeError> {
        let size = Self::size(setting.width, halo, max_late);
        let life = Simulation::dead(device, Self::RUNG, size, &setting.rule, setting.from)?;
        let staging = device.alloc(life.words_of_row() * halo.max(max_late))?;
        Ok(Self { life, halo, max_late, staging })
    }

    /// Where row `at` of the band's board, which is beyond its own `rows` rows, is here.
    pub(super) fn row(&self, at: usize, rows: usize) -> usize {
        if at < self.halo { at } else { at - rows + 2 * self.max_late }
    }

    /// Puts rows of the band aside that are needed for `late` generations from now on, of which this is number
    /// `generation`.
    pub(super) fn begin(&mut self, band: &Band, late: usize, generation: u64) -> Result<(), LifeError> {
        let Engine::Kernel(life) = &band.engine else { return Ok(()) };
        let (first, end) = (band.above, band.above + band.rows.len());
        let (top, bottom) = (self.halo, self.halo + 2 * self.max_late);
        self.life.set_generation(generation);
        copy(life, first..first + late, &mut self.life, top, &mut self.staging)?;
        copy(life, end - late..end, &mut self.life, bottom - late, &mut self.staging)
    }

    /// Advances what has arrived by the `late` generations that the band has been advanced meanwhile, and puts it into
    /// the halo.
    pub(super) fn finish(&mut self, band: &mut Band, late: usize) -> Result<(), LifeError> {
        let below = band.above + band.rows.len();
        let Engine::Kernel(life) = &mut band.engine else { return Ok(()) };
        self.life.advance(late as u64)?;
        let first = self.halo + 2 * self.max_late;
        copy(&self.life, late..self.halo, life, late, &mut self.staging)?;
        copy(&self.life, first..first + self.halo - late, life, below, &mut self.staging)
    }
}

/// Copies rows of one board to rows of another, which is as wide and on the same device.
fn copy(
    from: &Simulation,
    rows: Range<usize>,
    to: &mut Simulation,
    at: usize,
    staging: &mut Buffer<u32>,
) -> Result<(), LifeError> {
    if rows.is_empty() {
        return Ok(());
    }
    let len = rows.len();
    from.gather(rows, staging, 0)?;
    Ok(to.scatter(at..at + len, staging, 0)?)
}
