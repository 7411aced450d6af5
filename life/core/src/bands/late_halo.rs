//! Advances halo rows that arrive late until they reach the band's generation. A separate board contains these rows.
//!
//! During an exchange of rows, the band runs the generations for which its old halo is correct. When the new halo rows
//! arrive, the rows are behind by that number of generations. A [`LateHalo`] advances these rows together with copies
//! of the band's own border rows. The copies were made when the exchange began. Each generation makes one more of the
//! outermost rows wrong. Finally the rows that are still correct are copied into the halo.

use std::ops::Range;

use launch::{Buffer, Device};

use super::BoardSpec;
use super::band::{Band, Engine};
use crate::error::LifeError;
use crate::{LifeRung, Simulation};

/// A board of three parts, from top to bottom: the halo rows above a band, copies of the band's first and last rows,
/// and the halo rows below the band.
pub(super) struct LateHalo {
    pub(super) life: Simulation,
    /// The number of halo rows on each side of the band.
    halo: usize,
    /// The maximum number of generations by which arriving halo rows may be behind the band.
    max_late: usize,
    staging: Buffer<u32>,
}

impl LateHalo {
    /// Returns the size of a [`LateHalo`]'s board as (columns, rows).
    pub(super) fn size(width: usize, halo: usize, max_late: usize) -> (usize, usize) {
        (width, 2 * (halo + max_late))
    }

    /// The rung that advances the late halo rows. This rung supports boards of every size.
    pub(super) const RUNG: LifeRung = LifeRung::Bitpacked;

    pub(super) fn new(device: &Device, spec: &BoardSpec, halo: usize, max_late: usize) -> Result<Self, LifeError> {
        let size = Self::size(spec.width, halo, max_late);
        let life = Simulation::dead(device, Self::RUNG, size, &spec.rule, spec.from)?;
        let staging = device.alloc(life.words_of_row(true) * halo.max(max_late))?;
        Ok(Self { life, halo, max_late, staging })
    }

    /// Returns a function that maps a halo row's number on the band's board to its number on this board. The band owns
    /// `rows` rows.
    pub(super) fn halo_row(&self, rows: usize) -> impl Fn(usize) -> usize + use<> {
        let (halo, max_late) = (self.halo, self.max_late);
        move |at| if at < halo { at } else { at - rows + 2 * max_late }
    }

    /// Copies the band's border rows, which are needed to advance the late halo rows by `late` generations.
    /// `generation` is the number of the present generation.
    pub(super) fn copy_own_rows(&mut self, band: &Band, late: usize, generation: u64) -> Result<(), LifeError> {
        let Engine::Kernel(life) = &band.engine else { return Ok(()) };
        let (first, end) = (band.above, band.above + band.rows.len());
        let (top, bottom) = (self.halo, self.halo + 2 * self.max_late);
        self.life.set_generation(generation);
        copy(life, first..first + late, &mut self.life, top, &mut self.staging)?;
        copy(life, end - late..end, &mut self.life, bottom - late, &mut self.staging)
    }

    /// Advances the late halo rows by the `late` generations that the band has run since the exchange began. Then
    /// copies the advanced rows into the band's halo.
    pub(super) fn finish(&mut self, band: &mut Band, late: usize) -> Result<(), LifeError> {
        let below = band.above + band.rows.len();
        let Engine::Kernel(life) = &mut band.engine else { return Ok(()) };
        self.life.advance(late as u64)?;
        let first = self.halo + 2 * self.max_late;
        copy(&self.life, late..self.halo, life, late, &mut self.staging)?;
        copy(&self.life, first..first + self.halo - late, life, below, &mut self.staging)
    }
}

/// Copies rows between two boards of the same width on one device.
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
