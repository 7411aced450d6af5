//! Gridstride's library and command line.
//!
//! One folder an algorithm, under the same name as in the crate `gpu`, which holds its kernels:
//!
//! - [`life`]: Conway's Life on a torus,
//! - [`saxpy`]: `y = a·x + y`, the smallest complete example,
//! - [`mod@scale`]: `y = s·x`, in one block and in a grid,
//! - [`mod@reduce`]: the sum, product, minimum or maximum of a buffer, or any associative operator's,
//! - [`mod@scan`]: prefixes by any associative operator,
//! - [`mod@transpose`]: the transpose of a matrix,
//! - [`stream`]: saxpy on data of the host, with copies and kernels that overlap.
//!
//! [`primitives`] has them as methods of a device, on slices and on buffers; `use host::prelude::*` is all that takes.
//!
//! Each has the library face of its kernels (what grid and block, how many passes, which checks), a plain CPU
//! reference, and its command. Around them stand [`modules`], the built PTX; [`devices`], which says what there is to
//! run on; [`overhead`], which measures what a launch costs; [`report`], which prints; and [`cli`], which puts the commands together.
//! run on; [`mod@bench`], which measures every rung over sizes; [`report`], which prints; and [`cli`], which puts the
//! commands together.
//!
//! ```no_run
//! use host::life::{Board, LifeKernel, Simulation};
//! use launch::{Device, DeviceChoice};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let device = Device::open(DeviceChoice::Auto, host::modules::MODULES)?;
//!     let soup = Board::random(4096, 4096, 0.25, 42)?;
//!     let mut life = Simulation::new(&device, LifeKernel::Bitpacked, &soup)?;
//!     life.advance(1000)?;
//!     println!("{} cells are alive", life.population()?);
//!     Ok(())
//! }
//! ```

pub mod bench;
pub mod cases;
pub mod check;
pub mod cli;
pub mod deviation;
pub mod devices;
pub mod error;
pub mod explain;
pub mod files;
pub mod inputs;
pub mod life;
pub mod list;
pub mod measure;
pub mod modules;
pub mod numbers;
pub mod options;
pub mod overhead;
pub mod prelude;
pub mod primitives;
pub mod probe;
pub mod reduce;
pub mod report;
pub mod rungs;
pub mod saxpy;
pub mod scale;
pub mod scan;
pub mod signals;
pub mod stream;
pub mod transpose;

use launch::{Device, DeviceChoice, Error};

/// Opens a device that has all kernels: a GPU where there is one, else the simulator.
///
/// # Errors
/// None today: where no GPU can be used, it is the simulator.
pub fn open() -> Result<Device, Error> {
    Device::open(DeviceChoice::Auto, modules::MODULES)
}
