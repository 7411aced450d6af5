//! The names that a program needs to call the algorithms: `use gridstride::prelude::*;`.
//!
//! Let your crate depend on `gridstride` by path or by git:
//!
//! ```toml
//! [dependencies]
//! gridstride = { path = "../gridstride/gridstride" }
//! ```
//!
//! Nothing else is needed: no CUDA toolkit, no driver, no environment variable. This program then runs on a GPU if
//! there is one, and otherwise in the simulator:
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
//! The simulator runs kernels as ordinary CPU code. A debug build is many times faster if `[profile.dev]` in your
//! `Cargo.toml` sets `opt-level = 3`.

pub use cuda_std::{bf16, f16};
pub use gpu::accumulate::{ArgMax, ArgMin, Indexed, Widened};
pub use gpu::operator::{Affine, Compose, Max, Maximum, Min, Minimum, Operator, Product, Sum};
pub use launch::{Buffer, Device, DeviceChoice};

pub use crate::by_key::ByKeyExt as _;
pub use crate::error::AlgorithmError;
pub use crate::histogram::HistogramExt as _;
pub use crate::matmul::MatmulExt as _;
pub use crate::merge_sort::MergeSortExt as _;
pub use crate::reduce::ReduceExt as _;
pub use crate::saxpy::SaxpyExt as _;
pub use crate::scale::ScaleExt as _;
pub use crate::scan::ScanExt as _;
pub use crate::segments::{SegmentsExt as _, rows};
pub use crate::select::{SelectExt as _, within};
pub use crate::sort::SortExt as _;
pub use crate::transpose::TransposeExt as _;
pub use crate::vector::{Vector, VectorMut};
