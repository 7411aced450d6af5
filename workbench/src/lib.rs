//! Any algorithm, without knowing which: its problems as options, inputs on a device, references on the CPU, cases that
//! reach every barrier of its kernels, and what a benchmark measures of it.
//!
//! [`algorithm`] has the traits, [`catalogue`] the one list of algorithms; each algorithm has a folder of its name.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod algorithm;
pub mod bench;
pub mod case;
pub mod cases;
pub mod catalogue;
pub mod check;
pub mod deviation;
pub mod documentation;
pub mod error;
pub mod histogram;
pub mod inputs;
pub mod life;
pub mod probe;
pub mod reduce;
pub mod saxpy;
pub mod scale;
pub mod scaling;
pub mod scan;
pub mod stream;
pub mod subjects;
pub mod transpose;

pub use catalogue::MODULES;
pub use error::WorkbenchError;
