//! Several devices, or several ranks with devices or cores of their own.

use launch::Group;
use life::bands::{self, BandMemory};
use life::{CpuSimulation, LifeError, LifeRung, Workers};

use crate::ranks::Ranks;
use crate::universe::Universe;

/// Several devices, or those or the cores of several ranks.
#[derive(Clone)]
pub struct Team {
    /// The ranks that share the board.
    pub ranks: Ranks,
    /// The devices of this rank; without, its cores.
    pub group: Option<Group>,
    /// The kernel, if one is asked for.
    pub kernel: Option<LifeRung>,
    /// The rule, and what is beyond the edges.
    pub universe: Universe,
}

impl Team {
    /// Returns the workers that advance this rank's bands.
    pub fn workers(&self) -> Workers<'_> {
        self.group.as_ref().map_or(Workers::Cores, |group| Workers::Kernels(group, self.kernel))
    }

    /// A board of this size, `later` generations after the first one, in bands.
    pub fn bands(&self, (width, height): (usize, usize), later: u64) -> bands::BoardSpec {
        let Universe { rule, topology, generation, .. } = self.universe;
        bands::BoardSpec { width, height, rule, topology, from: generation.wrapping_add(later) }
    }

    /// The kernel for a board of this size, if it is not the cores that advance it.
    ///
    /// # Errors
    /// When the one that is asked for cannot.
    pub fn rung(&self, size: (usize, usize)) -> Result<Option<LifeRung>, LifeError> {
        bands::rung(self.ranks.communicator(), self.workers(), &self.bands(size, 0))
    }

    /// Returns the memory that this rank's bands need for a board of this size.
    ///
    /// # Errors
    /// As for [`rung`](Self::rung).
    pub fn needs(&self, size: (usize, usize)) -> Result<Vec<BandMemory>, LifeError> {
        bands::memory(self.ranks.communicator(), self.workers(), &self.bands(size, 0))
    }

    /// Returns the name for messages.
    pub fn name(&self) -> String {
        let of_rank = match self.group.as_ref().map(Group::members) {
            Some([device]) => device.name().to_owned(),
            Some(members) => {
                let name = members.first().map_or("", |device| device.name());
                format!("{} × {name}", members.len())
            }
            None => cores(),
        };
        match self.ranks.size() {
            1 => of_rank,
            size => format!("{size} ranks of {of_rank}"),
        }
    }
}

/// Returns the name of the host's cores for messages.
pub fn cores() -> String {
    match CpuSimulation::cores() {
        1 => "1 CPU core".into(),
        cores => format!("{cores} CPU cores"),
    }
}
