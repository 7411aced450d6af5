//! Gridstride's library and command line.
//!
//! One folder an algorithm, under the same name as in the crate `gpu`, which holds its kernels:
//!
//! - [`life`]: Conway's Life on a torus,
//! - [`saxpy`]: `y = a·x + y`, the smallest complete example.
//!
//! Each has the library face of its kernels (what grid and block, how many passes, which checks), a plain CPU
//! reference, and its command. Around them stand [`modules`], the built PTX; [`devices`], which says what there is to
//! run on; [`report`], which prints; and [`cli`], which puts the commands together.
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

pub mod cli;
pub mod deviation;
pub mod devices;
pub mod error;
pub mod files;
pub mod inputs;
pub mod life;
pub mod measure;
pub mod modules;
pub mod numbers;
pub mod options;
pub mod probe;
pub mod report;
pub mod rungs;
pub mod saxpy;
pub mod signals;
