//! Conway's Life and related cellular automata, simulated on devices and on the host's cores.
//!
//! In Life, a dead cell with three live neighbours becomes alive, and a live cell with two or three stays alive. All
//! other cells are dead in the next generation (the rule B3/S23).
//!
//! - A [`Board`] is the state of all cells, and a [`Pattern`] is a set of cells to place on a board.
//! - A [`Rule`] determines the next state of a cell, and a [`Topology`] how the edges of a board are joined.
//! - A [`Simulation`] is a board on a device, advanced by a [`LifeRung`] (one of several kernels). The host's cores
//!   advance a [`CpuSimulation`], and a [`plane::Plane`] without edges. [`Bands`] is a board on several devices.
//! - [`mod@reference`] is the plain implementation with which the tests compare every rung.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use launch::{Device, PtxModule};

pub mod bands;
pub mod board;
pub mod circuits;
pub mod cpu;
pub mod error;
pub mod pattern;
pub mod plane;
pub mod reference;
pub mod rule;
pub mod simulation;
pub mod soup;
pub mod soup_census;
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
pub use soup_census::SoupCensus;
pub use topology::{Grid, RuleAndTopology, Topology};

/// The PTX of Life's kernels and of the library's kernels, as an argument of [`launch::Device::open`].
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

/// Opens a device with the kernels of Life and of the library. The device is a GPU if there is one, and the simulator
/// otherwise, which a line on standard error then says, with the reason.
///
/// # Errors
/// Returns no error at present, because the simulator can always be opened.
pub fn open() -> Result<Device, launch::Error> {
    Device::open_default(MODULES)
}

/// Opens a GPU with Life's kernels and the library's, and never the simulator.
///
/// # Errors
/// [`launch::Error::NoDevice`] if no GPU can be used, with the reason.
pub fn open_gpu() -> Result<Device, launch::Error> {
    Device::open_gpu(MODULES)
}

/// Adds Life to a [`Device`]. Boards are advanced by the [`default_rung`] for many generations.
pub trait LifeExt {
    /// Makes a simulation that begins with `board`.
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
    /// [`LifeError::Algorithm`] if the device fails or has too little memory.
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
