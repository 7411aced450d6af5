//! The project's CUDA kernels. This crate contains only device code. Each algorithm has a folder with one file per
//! *rung*. A rung is a version of the algorithm: the first is the textbook's, and the last is the fastest.
//!
//! # Design
//!
//! Each kernel has one source text, which both the GPU and the simulator execute. The macro `ladder!` in the
//! algorithm's `mod.rs` is the only list of its rungs. The crate is `no_std` and depends only on `cuda_std`.
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
