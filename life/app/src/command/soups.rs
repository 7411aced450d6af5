//! Runs many soups and counts their objects.

use anyhow::Context;
use life::CpuSimulation;
use program::options::Size;
use program::signals::StopRequests;

use super::{DENSITY, LifeOptions, soup_options};
use crate::backend::{Backend, DeviceSpec};
use crate::census::{Census, Soups};
use crate::first_board;
use crate::ranks::Ranks;
use crate::universe::Universe;

impl LifeOptions {
    /// Runs `count` soups and prints the census of their objects.
    pub(super) fn count_soups(&self, ranks: Ranks, count: u64) -> anyhow::Result<()> {
        if ranks.size() > 1 {
            reject!("life --soups runs as one process, but {} were started: leave out mpirun", ranks.size());
        }
        program::threads::start(None)?;
        if self.plane_soups.symmetry.is_some() {
            if self.size.is_some() || self.density.is_some() {
                reject!("--symmetry gives the size and density of soups: leave out --size and --density");
            }
            return self.plane_soups.count(count, &self.device, self.rule.as_deref(), self.seed, self.json);
        }
        if self.device != DeviceSpec::Cpu && !self.is_device_free() {
            reject!(
                "--soups on a torus uses the processor's cores, but --device {} was given: leave out --device, or add \
                 --symmetry C1 for the plane",
                self.device
            );
        }
        if self.rule.is_some() {
            reject!("--soups on a torus needs the rule B3/S23: leave out --rule, or add --symmetry C1 for the plane");
        }
        let (Size { width, height }, first_seed) = first_board::soup(self.size, None, self.seed);
        // Each core needs memory for a board and for some copies of that board.
        Backend::Cpu(Universe::default()).check_memory((width, height), 8 * CpuSimulation::cores() as u64)?;
        let density = self.density.unwrap_or(DENSITY);
        let soups = Soups { soups: count, width, height, density, first_seed, ..Soups::default() };
        let stop = StopRequests::watch().context("cannot watch for signals")?;
        let (census, signal) = Census::of_soups(soups, &stop)?;
        soup_options::print(&census, signal, count, self.json)
    }
}
