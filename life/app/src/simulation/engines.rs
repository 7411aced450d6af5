//! Boards of a fixed size on the CPU, on one device, or in bands on several devices or ranks.

use life::{Bands, Board, CpuSimulation, LifeRung, Simulation, generations_per_launch};

use super::advance::{Advance, CopiedCells, TakePart};
use crate::backend::{Team, cores};

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
