//! The algorithms behind one interface: options, inputs on a device, references on the CPU, cases that reach every
//! barrier, and the measurements of a benchmark.
//!
//! [`algorithm`] has the traits, and [`catalogue`] has the list of algorithms. Each algorithm has a folder of its name.

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
mod vectors;

pub use catalogue::MODULES;
pub use error::WorkbenchError;
