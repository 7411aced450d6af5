//! A board in bands of rows: over the members of a group of devices, and over ranks.
//!
//! Each band is on a board of its own, with a halo: rows of its neighbours, above and below. Each generation makes one
//! more row of the halo wrong, from outside; after as many generations as the halo has rows, these are copied again
//! from the bands that own them. How many rows a halo has affects nothing but the time (`division.rs`). Where a
//! topology joins edges in a way that leads to other bands than those above and below, the halo is on all four sides,
//! and goes cell by cell.
//!
//! All ranks make the same calls, in the same order.
//!
//! # Design
//!
//! A band is a board of its own with a halo. An unchanged kernel, or the CPU engine, advances it as a torus; no kernel
//! knows of bands. Rows travel packed, whatever the rung's layout. Topologies that join edges of different bands
//! exchange cells one by one, which `Topology::source` finds.
//!
//! Boards are read, hashed and compared in pieces of 64 MiB on a device, and a soup is made in the memory of the next
//! board. Nothing else is as large as a board.

use std::fmt;

use launch::Group;

use super::{Board, CpuSimulation, LifeRung, Rule, Simulation, Topology, generations_per_launch};
use crate::cpu::Instructions;
use crate::error::LifeError;
use multi::ranks::Communicator;

mod band;
mod cells;
mod direct;
mod division;
mod late_halo;
mod messages;
mod plan;
mod rows;
mod spread;
#[cfg(test)]
mod tests;

use band::{Band, Engine};
use direct::Peers;
use division::{Beyond, Division};
use messages::all;
pub use plan::{Need, needs, rung};
use plan::{Plan, Shape};
use rows::Rows;
pub use spread::Copied;

/// A board that is to be advanced in bands, and by what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The rule.
    pub rule: Rule,
    /// How the edges are joined. Kernels take any for a torus.
    pub topology: Topology,
    /// The generation that the first board is in.
    pub from: u64,
}

/// What advances the bands of a rank.
#[derive(Clone, Copy)]
pub enum Workers<'g> {
    /// The host's cores, one band.
    Cores,
    /// Each member of a group, by this kernel, or else by the [default](super::default_rung) one.
    Kernels(&'g Group, Option<LifeRung>),
}

/// A board in bands of rows, over the members of a group and over ranks.
///
/// ```
/// # use life::{Bands, Rule, Topology, Workers, bands::Setting};
/// # use multi::ranks::alone;
/// let group = launch::Group::open(&"sim:3".parse()?, gridstride::MODULES)?;
/// let (setting, ranks) = (Setting { width: 100, height: 70, rule: Rule::LIFE, topology: Topology::TORUS, from: 0 }, alone());
/// let mut life = Bands::soup(&ranks, Workers::Kernels(&group, None), setting, 0.25, 7)?;
/// life.advance(100)?;
/// println!("{} cells are alive", life.population()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Bands<'c> {
    ranks: &'c dyn Communicator,
    setting: Setting,
    division: Division,
    /// The bands of this rank.
    bands: Vec<Band>,
    links: Links,
    /// The devices of the bands that kernels advance.
    group: Option<Group>,
    /// Generations after an exchange in which no band's own rows become wrong.
    halo: usize,
    /// How many of these are left.
    right_for: usize,
    /// The most generations by which the bands go on during an exchange.
    late: usize,
    /// How many generations are best run at once: at most `halo`.
    at_once: u64,
    /// How halos go from rank to rank.
    way: Option<HaloWay>,
    generation: u64,
    rung: Option<LifeRung>,
}

/// How halos go from the device of one rank to that of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HaloWay {
    /// By CUDA's IPC.
    Direct,
    /// Through page-locked memory and messages, some or all.
    Messages,
}

impl fmt::Display for HaloWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "halos from device to device (CUDA IPC)",
            Self::Messages => "halos through page-locked memory (no CUDA IPC)",
        })
    }
}

/// Choices that a test makes in place of the plan.
#[derive(Clone, Copy, Default, Debug)]
struct Overrides {
    /// Rows of halos.
    halo: Option<usize>,
    /// Generations by which bands go on during an exchange.
    late: Option<usize>,
    /// That ranks exchange messages alone.
    by_messages: bool,
}

/// What is exchanged.
enum Links {
    Rows(rows::Rows),
    Cells(Vec<cells::CellLink>),
}

impl<'c> Bands<'c> {
    /// Begins with a soup, which is [`Board::random`]'s.
    ///
    /// # Errors
    /// As for [`dead`](Self::dead), and when `density` is no share.
    pub fn soup(
        ranks: &'c dyn Communicator,
        workers: Workers<'_>,
        setting: Setting,
        density: f64,
        seed: u64,
    ) -> Result<Self, LifeError> {
        let mut life = Self::dead(ranks, workers, setting)?;
        for band in &mut life.bands {
            band.make_soup(setting.height, density, seed)?;
        }
        Ok(life)
    }

    /// Begins with dead cells.
    ///
    /// # Errors
    /// [`LifeError`] when there is no room for a band, a kernel cannot do what is asked, or ranks differ in what
    /// advances their bands.
    pub fn dead(ranks: &'c dyn Communicator, workers: Workers<'_>, setting: Setting) -> Result<Self, LifeError> {
        Self::with(ranks, workers, setting, Overrides::default())
    }

    /// As [`dead`](Self::dead), with the choices that `overrides` makes.
    fn with(
        ranks: &'c dyn Communicator,
        workers: Workers<'_>,
        setting: Setting,
        overrides: Overrides,
    ) -> Result<Self, LifeError> {
        let Setting { width, height, rule, from, .. } = setting;
        // Of a size that is none this is the error.
        Board::check_size(width, height)?;
        let peers = if overrides.by_messages { Peers::none(ranks) } else { Peers::new(ranks, workers)? };
        let plan = Plan::new(ranks, workers, &setting, overrides, &peers)?;
        let (rank, count) = (ranks.rank(), plan.division.bands());
        let mut bands = Vec::new();
        for number in (0..count).filter(|&band| plan.division.owner(band).0 == rank) {
            let Shape { above, beside, size, topology } = plan.shape(&setting, number);
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
        let Plan { division, halo, late, beyond, rung, way } = plan;
        let links = match beyond {
            _ if count == 1 => Links::Rows(Rows::none()),
            Beyond::Rows { goes_around, .. } => {
                Links::Rows(Rows::new(&division, (halo, goes_around, late), &setting, &bands, ranks, &peers)?)
            }
            Beyond::Cells => Links::Cells(cells::links(&setting, &division, halo, rank)),
        };
        let at_once = rung.map_or(division::OF_CORES as u64, generations_per_launch).min(halo as u64);
        let group = if let Workers::Kernels(group, _) = workers { Some(group.clone()) } else { None };
        let (right_for, generation) = (0, 0);
        Ok(Self {
            ranks,
            setting,
            division,
            bands,
            links,
            group,
            halo,
            right_for,
            late,
            at_once,
            way,
            generation,
            rung,
        })
    }

    /// Runs `generations` generations. Does not wait for GPUs to finish them.
    ///
    /// # Errors
    /// [`LifeError`] when a device or a rank fails.
    pub fn advance(&mut self, generations: u64) -> Result<(), LifeError> {
        let mut left = generations;
        while left > 0 {
            let mut now = left;
            if self.division.bands() > 1 {
                let right_for = self.right_for as u64;
                // During an exchange bands go on by what their halos are still right for. Where that is nothing, not so
                // late that a launch would have to be cut short for it.
                let late = if right_for < left && self.right_for <= self.late { right_for } else { 0 };
                if late > 0 || right_for < left.min(self.at_once) {
                    self.exchange(late as usize)?;
                    left -= late;
                    continue;
                }
                now = if left > right_for { right_for - self.late as u64 } else { left };
                self.right_for -= now as usize;
            }
            self.bands.iter_mut().try_for_each(|band| band.advance(now))?;
            self.generation += now;
            left -= now;
        }
        Ok(())
    }

    /// Waits until all of this rank's bands have done what they were asked for.
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
    pub fn wait(&self) -> Result<(), LifeError> {
        self.bands.iter().try_for_each(Band::wait)
    }

    /// Fills the halos, and advances the bands by `late` generations, for which these were still right.
    fn exchange(&mut self, late: usize) -> Result<(), LifeError> {
        let (group, bands) = (self.group.as_ref(), &mut self.bands);
        match &mut self.links {
            Links::Rows(rows) => rows.exchange(group, &self.division, bands, self.ranks, (late, self.generation))?,
            Links::Cells(links) => {
                let planes = Board::planes(self.setting.rule.states());
                cells::fill_halos(links, planes, &self.division, bands, self.ranks)?;
            }
        }
        self.generation += late as u64;
        self.right_for = self.halo - late;
        Ok(())
    }

    /// How many cells are not dead.
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
    pub fn population(&mut self) -> Result<u64, LifeError> {
        let of_rank = self.bands.iter_mut().map(Band::population).sum::<Result<u64, _>>()?;
        Ok(self.sums(&[of_rank])?[0])
    }

    /// [`Board::hash`] of the board.
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
    pub fn hash(&mut self) -> Result<u64, LifeError> {
        let mut hashes = vec![0_u64; Board::planes(self.setting.rule.states())];
        for band in &mut self.bands {
            hashes.iter_mut().zip(band.hash()?).for_each(|(hash, more)| *hash = hash.wrapping_add(more));
        }
        Ok(super::board::hash_of_planes(&self.sums(&hashes)?))
    }

    /// Runs one generation, and gives how many cells it has brought to life and how many have died in it.
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
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

    /// The sums of what all ranks give, around 2⁶⁴.
    fn sums(&self, numbers: &[u64]) -> Result<Vec<u64>, LifeError> {
        let mut sums = vec![0_u64; numbers.len()];
        for of_rank in all(self.ranks, numbers)? {
            sums.iter_mut().zip(of_rank).for_each(|(sum, number)| *sum = sum.wrapping_add(number));
        }
        Ok(sums)
    }

    /// Columns and rows of the whole board.
    pub fn size(&self) -> (usize, usize) {
        (self.setting.width, self.setting.height)
    }

    /// Generations run so far.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The kernel, if it is one that advances the bands of this rank.
    pub fn rung(&self) -> Option<LifeRung> {
        self.rung
    }

    /// What computes this rank's bands: the kernel, or the cores' instructions.
    pub fn by(&self) -> String {
        let of_band = self.bands.iter().find_map(|band| match &band.engine {
            Engine::Cores(life) => Some(life.instructions()),
            Engine::Kernel(_) => None,
        });
        match self.rung {
            Some(rung) => rung.to_string(),
            None => of_band.or(Instructions::available().into_iter().next()).map_or(String::new(), |by| by.to_string()),
        }
    }

    /// Bands, of all ranks.
    pub fn count(&self) -> usize {
        self.division.bands()
    }

    /// Generations from one exchange to the next.
    pub fn halo(&self) -> usize {
        self.halo - self.late
    }

    /// How halos go from rank to rank, if there are several with devices.
    pub fn way(&self) -> Option<HaloWay> {
        self.way
    }
}
