//! Conway's Life on a torus: a dead cell with three live neighbours comes to life, a live one with two or three stays
//! alive, all others are dead in the next generation (the rule B3/S23). And its relatives: a [`Rule`] says what becomes
//! of a cell, a [`Topology`] how a board's edges are joined; a [`CpuSimulation`] knows them all.
//!
//! A [`Board`] is what the cells are, a [`Pattern`] cells to be placed on it, a [`Simulation`] a board on a device and
//! the rung that advances it, a [`CpuSimulation`] a board that the host's cores advance; [`mod@reference`] is the plain
//! CPU answer that every rung is compared with.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use launch::{Device, DeviceChoice, PtxModule};

pub mod bands;
pub mod board;
pub mod circuits;
pub mod cpu;
pub mod error;
pub mod pattern;
pub mod reference;
pub mod rule;
pub mod simulation;
pub mod soup;
pub mod topology;

pub use bands::{Bands, Workers};
pub use board::{Board, SizeError};
pub use cpu::CpuSimulation;
pub use error::LifeError;
pub use pattern::{ParseError, Pattern, PlaceError};
pub use rule::{Rule, RuleError};
pub use simulation::{
    LifeRung, Simulation, check_on, check_rule, check_topology, default_rung, device_bytes, generations_per_launch,
    resident_kernels,
};
pub use soup::SoupError;
pub use topology::{Grid, RuleAndTopology, Topology};

/// The PTX of Life's kernels and of the library's, for [`launch::Device::open`].
pub const MODULES: &[PtxModule] = &{
    const LIFE: PtxModule = gridstride::embedded_module!(life);
    let mut all = [LIFE; gridstride::MODULES.len() + 1];
    let mut i = 0;
    while i < gridstride::MODULES.len() {
        all[i] = gridstride::MODULES[i];
        i += 1;
    }
    all
};

/// Opens a device that has Life's kernels and the library's: a GPU where there is one, else the simulator.
///
/// # Errors
/// None today: where no GPU can be used, it is the simulator.
pub fn open() -> Result<Device, launch::Error> {
    Device::open(DeviceChoice::Auto, MODULES)
}

/// Life as a method of a device, by the [`default_rung`] for many generations.
pub trait LifeExt {
    /// A simulation that begins with `board`.
    ///
    /// ```
    /// use life::{Board, LifeExt};
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, life::MODULES)?;
    /// let mut life = device.life(&Board::random(64, 64, 0.25, 7)?)?;
    /// life.advance(100)?;
    /// println!("{} cells are alive", life.population()?);
    /// # Ok::<(), life::LifeError>(())
    /// ```
    ///
    /// # Errors
    /// [`LifeError::Algorithm`] when the device fails or has too little memory.
    fn life(&self, board: &Board) -> Result<Simulation, LifeError>;
}

impl LifeExt for Device {
    fn life(&self, board: &Board) -> Result<Simulation, LifeError> {
        Simulation::new(
            self,
            default_rung(self, (board.width(), board.height()), &Rule::LIFE, Topology::TORUS, u64::MAX),
            board,
        )
    }
}
