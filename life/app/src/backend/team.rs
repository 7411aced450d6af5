//! Teams: several devices, or several ranks with their devices or cores, that advance one board.

use launch::Group;
use life::bands;
use life::{CpuSimulation, LifeError, LifeRung, Workers};

use crate::ranks::Ranks;
use crate::universe::Universe;

/// A team: several devices, or several ranks with their devices or cores, that advance one board.
#[derive(Clone)]
pub struct Team {
    /// The ranks that share the board.
    pub ranks: Ranks,
    /// The devices of this rank, or `None` if the rank uses the host's cores.
    pub group: Option<Group>,
    /// The rung that the user selected with `--rung`, or `None` without that option.
    pub kernel: Option<LifeRung>,
    /// The universe of the board.
    pub universe: Universe,
}

impl Team {
    /// Returns the workers that advance this rank's bands.
    pub fn workers(&self) -> Workers<'_> {
        self.group.as_ref().map_or(Workers::Cores, |group| Workers::Kernels(group, self.kernel))
    }

    /// Returns the specification of a board of this size that is divided into bands. The board is `later` generations
    /// after the run's first board.
    pub fn bands(&self, (width, height): (usize, usize), later: u64) -> bands::BoardSpec {
        let Universe { rule, topology, generation, .. } = self.universe;
        bands::BoardSpec { width, height, rule, topology, from: generation.wrapping_add(later) }
    }

    /// Returns the rung that advances a board of this size, or `None` if the host's cores advance it.
    ///
    /// # Errors
    /// If the selected rung does not support the board.
    pub fn rung(&self, size: (usize, usize)) -> Result<Option<LifeRung>, LifeError> {
        bands::rung(self.ranks.communicator(), self.workers(), &self.bands(size, 0))
    }

    /// Returns the name of the team's devices or cores, for messages.
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

/// Returns the name of the host's cores, for messages.
pub fn cores() -> String {
    match CpuSimulation::cores() {
        1 => "1 CPU core".into(),
        cores => format!("{cores} CPU cores"),
    }
}
