//! The names that a program needs to call the algorithms: `use gridstride::prelude::*;`.
//!
//! A crate of your own names `gridstride` in its `Cargo.toml`, by path or by git:
//!
//! ```toml
//! [dependencies]
//! gridstride = { path = "../gridstride/gridstride" }
//! ```
//!
//! and names in its `.cargo/config.toml` the folder of the empty `libcuda` that Gridstride links with, as a path
//! relative to the folder that `.cargo` is in. Without that, a machine that has no CUDA toolkit stops at "Could not
//! find a cuda installation":
//!
//! ```toml
//! [env]
//! CUDA_LIBRARY_PATH = { value = "../gridstride/crates/cuda_driver/stub", relative = true }
//! ```
//!
//! Then this is a program, on a GPU where there is one and in the simulator elsewhere:
//!
//! ```
//! use gridstride::prelude::*;
//!
//! fn main() -> Result<(), AlgorithmError> {
//! # /*
//!     let device = gridstride::open()?;
//! # */
//! #   let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
//!     println!("{}", device.reduce(&[3.0_f32, -1.0, 4.0, -1.5], Sum)?);
//!     Ok(())
//! }
//! ```
//!
//! The simulator runs kernels as ordinary code: with `opt-level = 3` in your `profile.dev` it is many times as fast.

pub use gpu::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};
pub use launch::{Buffer, Device, DeviceChoice};

pub use crate::error::AlgorithmError;
pub use crate::histogram::HistogramExt as _;
pub use crate::reduce::ReduceExt as _;
pub use crate::saxpy::SaxpyExt as _;
pub use crate::scale::ScaleExt as _;
pub use crate::scan::ScanExt as _;
pub use crate::transpose::TransposeExt as _;
pub use crate::vector::{Vector, VectorMut};
