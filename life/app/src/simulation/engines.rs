//! Boards of a fixed size on the CPU, on one device, or in bands on several devices or ranks, and patterns on the
//! plane.

use std::ops::Range;

use life::plane::{Bounds, GENERATIONS_PER_VISIT};
use life::{Bands, Board, CpuSimulation, LifeRung, Simulation, generations_per_launch};

use super::advance::{Advance, CopiedCells, TakePart};
use super::plane_board::PlaneBoard;
use crate::backend::memory::board_bytes;
use crate::backend::{Team, cores};

/// The maximum number of bytes of a part of the plane that is copied at once.
const PART_BYTES: u64 = 64 << 20;

impl Advance for CpuSimulation {
    fn advance(&mut self, generations: u64) -> anyhow::Result<()> {
        CpuSimulation::advance(self, generations);
        Ok(())
    }

    fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        Ok(CpuSimulation::advance_counting(self))
    }

    fn population(&mut self) -> anyhow::Result<u64> {
        Ok(CpuSimulation::population(self))
    }

    fn hash(&mut self) -> anyhow::Result<u64> {
        Ok(self.board()?.hash())
    }

    fn fingerprint(&mut self) -> anyhow::Result<u64> {
        Ok(CpuSimulation::fingerprint(self))
    }

    fn generation(&self) -> u64 {
        CpuSimulation::generation(self)
    }

    fn gathered(&self) -> anyhow::Result<Option<Board>> {
        Ok(Some(self.board()?))
    }

    fn device(&self) -> String {
        cores()
    }

    fn kernel(&self) -> String {
        self.instructions().to_string()
    }
}

impl Advance for Simulation {
    fn advance(&mut self, generations: u64) -> anyhow::Result<()> {
        Simulation::advance(self, generations)?;
        Ok(Simulation::device(self).synchronize()?)
    }

    fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        Ok(Simulation::advance_counting(self)?)
    }

    fn population(&mut self) -> anyhow::Result<u64> {
        Ok(Simulation::population(self)?)
    }

    fn hash(&mut self) -> anyhow::Result<u64> {
        Ok(Simulation::hash(self)?)
    }

    fn fingerprint(&mut self) -> anyhow::Result<u64> {
        Ok(self.fingerprint_of(0..self.height())?)
    }

    fn sample(&mut self) -> anyhow::Result<Option<u64>> {
        let rows = self.height() / 16;
        let is_large = self.rung() == LifeRung::Streaming && rows >= 64;
        Ok(if is_large { Some(self.fingerprint_of(0..rows)?) } else { None })
    }

    fn generation(&self) -> u64 {
        Simulation::generation(self)
    }

    fn gathered(&self) -> anyhow::Result<Option<Board>> {
        Ok(Some(self.board()?))
    }

    fn device(&self) -> String {
        Simulation::device(self).name().to_owned()
    }

    fn kernel(&self) -> String {
        self.rung().to_string()
    }

    fn generations_at_once(&self) -> u64 {
        at_once(Some(self.rung()))
    }
}

/// A board in bands, and the team that advances the board.
pub struct TeamBands {
    pub bands: Bands<'static>,
    pub team: Team,
}

impl Advance for TeamBands {
    fn advance(&mut self, generations: u64) -> anyhow::Result<()> {
        self.bands.advance(generations)?;
        Ok(self.bands.wait()?)
    }

    fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        Ok(self.bands.advance_counting()?)
    }

    fn population(&mut self) -> anyhow::Result<u64> {
        Ok(self.bands.population()?)
    }

    fn hash(&mut self) -> anyhow::Result<u64> {
        Ok(self.bands.hash()?)
    }

    fn fingerprint(&mut self) -> anyhow::Result<u64> {
        Ok(self.bands.fingerprint()?)
    }

    fn generation(&self) -> u64 {
        self.bands.generation()
    }

    fn gathered(&self) -> anyhow::Result<Option<Board>> {
        Ok(self.bands.rows(0..self.bands.size().1)?)
    }

    fn each_part(&self, take: TakePart<'_>) -> anyhow::Result<()> {
        for rows in self.bands.parts(0..self.bands.size().1) {
            take(rows.clone(), self.bands.rows(rows)?.as_ref())?;
        }
        Ok(())
    }

    fn copied(&self) -> anyhow::Result<CopiedCells> {
        Ok(CopiedCells::Bands(self.bands.copy()?))
    }

    fn equals(&self, copied: &CopiedCells) -> anyhow::Result<Option<bool>> {
        match copied {
            CopiedCells::Bands(copied) => Ok(Some(self.bands.equals(copied)?)),
            CopiedCells::Whole(_) | CopiedCells::Plane(_) => Ok(None),
        }
    }

    fn device(&self) -> String {
        self.team.name()
    }

    fn kernel(&self) -> String {
        self.bands.engine_name()
    }

    fn halos(&self) -> Option<String> {
        self.bands.transport().map(|transport| transport.to_string())
    }

    fn generations_at_once(&self) -> u64 {
        at_once(self.bands.rung())
    }
}

/// Returns the number of generations that one launch of `rung` computes before it stores the board.
fn at_once(rung: Option<LifeRung>) -> u64 {
    rung.filter(|rung| matches!(rung, LifeRung::Temporal | LifeRung::Streaming)).map_or(1, generations_per_launch)
}

impl Advance for PlaneBoard {
    fn advance(&mut self, generations: u64) -> anyhow::Result<()> {
        Ok(self.plane.advance(generations)?)
    }

    fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        Ok(self.plane.advance_counting()?)
    }

    fn population(&mut self) -> anyhow::Result<u64> {
        Ok(self.plane.population())
    }

    fn hash(&mut self) -> anyhow::Result<u64> {
        Ok(self.plane.hash())
    }

    fn generation(&self) -> u64 {
        self.plane.generation().wrapping_sub(self.begun_at)
    }

    fn gathered(&self) -> anyhow::Result<Option<Board>> {
        self.window(self.area()).map(Some)
    }

    fn each_part(&self, take: TakePart<'_>) -> anyhow::Result<()> {
        let area = self.area();
        let bytes = board_bytes((area.width as usize, 1)) * Board::planes(self.plane.rule().states) as u64;
        let most = (PART_BYTES / bytes.max(1)).max(1);
        for first in (0..area.height).step_by(most as usize) {
            let rows = Bounds { y: area.y + first as i64, height: most.min(area.height - first), ..area };
            let there = Range { start: first as usize, end: (first + rows.height) as usize };
            take(there, Some(&self.window(rows)?))?;
        }
        Ok(())
    }

    fn copied(&self) -> anyhow::Result<CopiedCells> {
        Ok(CopiedCells::Plane(Box::new(self.clone())))
    }

    fn device(&self) -> String {
        cores()
    }

    fn kernel(&self) -> String {
        self.plane.instructions().to_string()
    }

    fn generations_at_once(&self) -> u64 {
        GENERATIONS_PER_VISIT as u64
    }

    fn plane(&self) -> Option<&PlaneBoard> {
        Some(self)
    }

    fn plane_mut(&mut self) -> Option<&mut PlaneBoard> {
        Some(self)
    }
}
