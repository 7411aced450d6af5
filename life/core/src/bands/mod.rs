//! Boards that are divided into bands of rows, on several devices and ranks.
//!
//! Each band is a separate board with a halo: copies of its neighbours' rows above and below. Each generation makes one
//! more row of the halo wrong, beginning with the outermost row. When all rows of the halo are wrong, the bands copy
//! the rows from their neighbours again (an exchange). The number of halo rows affects the speed, not the result
//! (`division.rs`).
//!
//! Some topologies join edges so that cells beyond the left and right edges belong to other bands. The halo of a band
//! then has cells on all four sides. These cells are copied one by one.
//!
//! All ranks must call the functions of [`Bands`] in the same order.
//!
//! # Design
//!
//! Kernels advance a band's board as a torus, like any other board. Rows are packed for an exchange, unless the boards
//! of both bands have the same row layout. `Topology::source` returns the source of each cell that is exchanged one by
//! one.
//!
//! Boards are read and hashed in parts of at most 64 MiB. A band therefore needs little more memory than its two
//! boards, the present one and the next one.

use std::fmt;

use launch::Group;

use super::{Board, CpuSimulation, LifeRung, Rule, Simulation, Topology, generations_per_launch};
use crate::cpu::Instructions;
use crate::error::LifeError;
use multi::ranks::Communicator;

mod band;
mod board_transfer;
mod cell_exchange;
mod division;
mod encoding;
mod ipc;
mod late_halo;
mod plan;
mod row_exchange;
#[cfg(test)]
mod tests;

use band::{Band, Engine};
pub use board_transfer::BandsCopy;
use division::HaloKind;
use encoding::gather;
use ipc::PeerAccess;
pub use plan::{BandMemory, memory, rung};
use plan::{BandPlan, BandShape};
use row_exchange::RowExchange;

/// The size, rule, topology and first generation of a board in bands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoardSpec {
    /// The number of columns.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// The rule that advances the board.
    pub rule: Rule,
    /// How the edges of the board are joined. Kernels ignore this field and always compute a torus.
    pub topology: Topology,
    /// The number of the board's first generation.
    pub from: u64,
}

/// The devices or cores that advance the bands of one rank.
#[derive(Clone, Copy)]
pub enum Workers<'g> {
    /// The host's cores, which advance one band.
    Cores,
    /// The members of a group. Each member advances one band. `None` selects the [default rung](super::default_rung).
    Kernels(&'g Group, Option<LifeRung>),
}

/// A board divided into bands of rows, one for each member of a group on each rank.
///
/// ```
/// # use life::{Bands, Rule, Topology, Workers, bands::BoardSpec};
/// # use multi::ranks::alone;
/// let group = launch::Group::open(&"sim:3".parse()?, gridstride::MODULES)?;
/// let spec = BoardSpec { width: 100, height: 70, rule: Rule::LIFE, topology: Topology::TORUS, from: 0 };
/// let ranks = alone();
/// let mut life = Bands::soup(&ranks, Workers::Kernels(&group, None), spec, 0.25, 7)?;
/// life.advance(100)?;
/// println!("{} cells are alive", life.population()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Bands<'c> {
    ranks: &'c dyn Communicator,
    spec: BoardSpec,
    plan: BandPlan,
    /// The bands of this rank.
    bands: Vec<Band>,
    halos: HaloExchange,
    /// The devices that advance the bands, or `None` for the host's cores.
    group: Option<Group>,
    /// The number of generations that the bands can still run before their own rows become wrong.
    correct_for: usize,
    /// The preferred number of generations between two exchanges, at most the number of halo rows.
    at_once: u64,
    generation: u64,
}

/// How halos are copied from a device of one rank to a device of another rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HaloTransport {
    /// All halos are copied through CUDA's IPC.
    Direct,
    /// Some or all halos are copied through page-locked memory and messages.
    Messages,
}

impl fmt::Display for HaloTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "halos from device to device (CUDA IPC)",
            Self::Messages => "halos through page-locked memory (no CUDA IPC)",
        })
    }
}

/// Values that a test uses instead of the plan's values.
#[derive(Clone, Copy, Default, Debug)]
struct Overrides {
    /// The number of halo rows.
    halo: Option<usize>,
    /// The number of generations that bands run during an exchange.
    late: Option<usize>,
    /// True if ranks must exchange rows by messages only.
    by_messages: bool,
}

/// The exchange of halos between bands.
enum HaloExchange {
    Rows(RowExchange),
    Cells(Vec<cell_exchange::CellLink>),
}

impl<'c> Bands<'c> {
    /// Makes a board in bands. The first generation is the soup that [`Board::random`] makes.
    ///
    /// # Errors
    /// Fails in the same cases as [`dead`](Self::dead), and if `density` is not in 0..=1.
    pub fn soup(
        ranks: &'c dyn Communicator,
        workers: Workers<'_>,
        spec: BoardSpec,
        density: f64,
        seed: u64,
    ) -> Result<Self, LifeError> {
        let mut life = Self::dead(ranks, workers, spec)?;
        for band in &mut life.bands {
            band.make_soup(spec.height, density, seed)?;
        }
        Ok(life)
    }

    /// Makes a board of dead cells in bands.
    ///
    /// # Errors
    /// [`LifeError`] if memory does not suffice for a band, if a kernel does not support the board, or if only some
    /// ranks have devices.
    pub fn dead(ranks: &'c dyn Communicator, workers: Workers<'_>, spec: BoardSpec) -> Result<Self, LifeError> {
        Self::with(ranks, workers, spec, Overrides::default())
    }

    /// Makes a board of dead cells like [`dead`](Self::dead), but with the values that `overrides` sets.
    fn with(
        ranks: &'c dyn Communicator,
        workers: Workers<'_>,
        spec: BoardSpec,
        overrides: Overrides,
    ) -> Result<Self, LifeError> {
        let BoardSpec { width, height, rule, from, .. } = spec;
        // Rejects an invalid size before any band is made.
        Board::check_size(width, height)?;
        let peers = if overrides.by_messages { PeerAccess::none(ranks) } else { PeerAccess::new(ranks, workers)? };
        let plan = BandPlan::new(ranks, workers, &spec, overrides, &peers)?;
        let (rank, count) = (ranks.rank(), plan.division.bands());
        let mut bands = Vec::new();
        for number in (0..count).filter(|&band| plan.division.owner(band).0 == rank) {
            let BandShape { above, beside, size, topology } = plan.shape(&spec, number);
            let member = plan.division.owner(number).1;
            let made = match (workers, plan.rung) {
                (Workers::Kernels(group, _), Some(rung)) => {
                    Simulation::dead(&group.members()[member], rung, size, &rule, from)
                        .map(|life| Engine::Kernel(life.into()))
                }
                _ => CpuSimulation::dead(size, &rule, topology, from).map(|life| Engine::Cores(life.into())),
            };
            let engine = made.map_err(|error| LifeError::Band {
                band: number + 1,
                bands: count,
                place: plan::place(ranks, workers, member),
                source: error.into(),
            })?;
            bands.push(Band { number, rows: plan.division.rows(number), above, beside, width, engine });
        }
        let BandPlan { ref division, halo, late, .. } = plan;
        let halos = match plan.halo_kind {
            _ if count == 1 => HaloExchange::Rows(RowExchange::default()),
            HaloKind::Rows { goes_around, .. } => {
                let rows = (halo, goes_around, late);
                HaloExchange::Rows(RowExchange::new(division, rows, &spec, &bands, ranks, &peers)?)
            }
            HaloKind::Cells => HaloExchange::Cells(cell_exchange::links(&spec, division, halo, rank)),
        };
        let at_once = plan.rung.map_or(division::OF_CORES as u64, generations_per_launch).min(halo as u64);
        let group = if let Workers::Kernels(group, _) = workers { Some(group.clone()) } else { None };
        Ok(Self { ranks, spec, plan, bands, halos, group, correct_for: 0, at_once, generation: 0 })
    }

    /// Runs `generations` generations. Does not wait for GPUs to finish them.
    ///
    /// # Errors
    /// [`LifeError`] if a device or a rank fails.
    pub fn advance(&mut self, generations: u64) -> Result<(), LifeError> {
        let mut left = generations;
        while left > 0 {
            let mut now = left;
            if self.plan.division.bands() > 1 {
                let correct_for = self.correct_for as u64;
                // During an exchange, the bands run the generations for which their old halos are still correct. If
                // there are none, the exchange takes place early enough that the old halo does not shorten a launch.
                let late = if correct_for < left && self.correct_for <= self.plan.late { correct_for } else { 0 };
                if late > 0 || correct_for < left.min(self.at_once) {
                    self.exchange(late as usize)?;
                    left -= late;
                    continue;
                }
                now = if left > correct_for { correct_for - self.plan.late as u64 } else { left };
                self.correct_for -= now as usize;
            }
            self.bands.iter_mut().try_for_each(|band| band.advance(now))?;
            self.generation += now;
            left -= now;
        }
        Ok(())
    }

    /// Waits until all bands of this rank have finished their generations.
    ///
    /// # Errors
    /// Fails in the same cases as [`advance`](Self::advance).
    pub fn wait(&self) -> Result<(), LifeError> {
        self.bands.iter().try_for_each(Band::wait)
    }

    /// Fills the halos of all bands. During the exchange, the bands run `late` generations, for which their old halos
    /// must be correct.
    fn exchange(&mut self, late: usize) -> Result<(), LifeError> {
        let (group, bands) = (self.group.as_ref(), &mut self.bands);
        match &mut self.halos {
            HaloExchange::Rows(rows) => {
                rows.exchange(group, &self.plan.division, bands, self.ranks, (late, self.generation))?
            }
            HaloExchange::Cells(links) => {
                let planes = Board::planes(self.spec.rule.states());
                cell_exchange::fill_halos(links, planes, &self.plan.division, bands, self.ranks)?;
            }
        }
        self.generation += late as u64;
        self.correct_for = self.plan.halo - late;
        Ok(())
    }

    /// Returns the number of cells of the whole board that are not dead.
    ///
    /// # Errors
    /// Fails in the same cases as [`advance`](Self::advance).
    pub fn population(&mut self) -> Result<u64, LifeError> {
        let of_rank = self.bands.iter_mut().map(Band::population).sum::<Result<u64, _>>()?;
        Ok(self.sums(&[of_rank])?[0])
    }

    /// Returns the [`Board::hash`] of the whole board.
    ///
    /// # Errors
    /// Fails in the same cases as [`advance`](Self::advance).
    pub fn hash(&mut self) -> Result<u64, LifeError> {
        let mut hashes = vec![0_u64; Board::planes(self.spec.rule.states())];
        for band in &mut self.bands {
            hashes.iter_mut().zip(band.hash()?).for_each(|(hash, more)| *hash = hash.wrapping_add(more));
        }
        Ok(super::board::hash_of_planes(&self.sums(&hashes)?))
    }

    /// Returns a hash of the board in the layouts of the bands' engines. Two different boards of these bands have the
    /// same hash with probability 2⁻⁶⁴. Hashes of other bands, and [`Board::hash`], are not comparable.
    ///
    /// # Errors
    /// Fails in the same cases as [`hash`](Self::hash).
    pub fn fingerprint(&mut self) -> Result<u64, LifeError> {
        let mut sum = 0_u64;
        for band in &mut self.bands {
            sum = sum.wrapping_add(band.fingerprint()?);
        }
        Ok(self.sums(&[sum])?[0])
    }

    /// Runs one generation and returns the numbers of births and deaths in it.
    ///
    /// # Errors
    /// Fails in the same cases as [`advance`](Self::advance).
    pub fn advance_counting(&mut self) -> Result<(u64, u64), LifeError> {
        let before = self.bands.iter().map(Band::before).collect::<Result<Vec<_>, _>>()?;
        self.advance(1)?;
        let (mut born, mut dead) = (0, 0);
        for (band, before) in self.bands.iter_mut().zip(before) {
            let changes = band.changes(before)?;
            (born, dead) = (born + changes.0, dead + changes.1);
        }
        let sums = self.sums(&[born, dead])?;
        Ok((sums[0], sums[1]))
    }

    /// Returns the sum of each of `numbers` over all ranks, modulo 2⁶⁴.
    fn sums(&self, numbers: &[u64]) -> Result<Vec<u64>, LifeError> {
        let mut sums = vec![0_u64; numbers.len()];
        for of_rank in gather(self.ranks, numbers)? {
            sums.iter_mut().zip(of_rank).for_each(|(sum, number)| *sum = sum.wrapping_add(number));
        }
        Ok(sums)
    }

    /// Returns the size of the whole board as (columns, rows).
    pub fn size(&self) -> (usize, usize) {
        (self.spec.width, self.spec.height)
    }

    /// Returns the number of generations run so far.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the rung that advances this rank's bands, or `None` if the host's cores advance them.
    pub fn rung(&self) -> Option<LifeRung> {
        self.plan.rung
    }

    /// Returns the name of the rung that advances this rank's bands. If the host's cores advance them, returns the name
    /// of their instruction set.
    pub fn engine_name(&self) -> String {
        match self.plan.rung {
            Some(rung) => rung.to_string(),
            None => Instructions::available()[0].to_string(),
        }
    }

    /// Returns the number of bands of the board, summed over all ranks.
    pub fn count(&self) -> usize {
        self.plan.division.bands()
    }

    /// Returns the number of generations between two exchanges.
    pub fn halo(&self) -> usize {
        self.plan.halo - self.plan.late
    }

    /// Returns the way in which halos are copied between ranks. Returns `None` unless several ranks have devices.
    pub fn transport(&self) -> Option<HaloTransport> {
        self.plan.transport
    }
}
