//! The kernels. This crate has device code only: one folder per algorithm, one file per rung of its ladder.
//!
//! # Design
//!
//! A kernel is written once: there is no second version for the simulator. Only the `ladder!` of an algorithm lists
//! its rungs. The crate is `no_std` and depends only on `cuda_std`.
#![no_std]

pub mod collective;
#[cfg(feature = "device_library")]
pub mod device_library;
#[cfg(feature = "faults")]
pub mod faults;
#[cfg(feature = "histogram")]
pub mod histogram;
#[cfg(feature = "life")]
pub mod life;
pub mod operator;
#[cfg(feature = "probe")]
pub mod probe;
#[cfg(feature = "reduce")]
pub mod reduce;
#[cfg(feature = "saxpy")]
pub mod saxpy;
#[cfg(feature = "scale")]
pub mod scale;
#[cfg(feature = "scan")]
pub mod scan;
#[cfg(feature = "transpose")]
pub mod transpose;
