//! Scan as a problem: random inputs, reference, cases, and what is measured of it.

mod cases;
mod inputs;
mod operation;
mod problem;
pub mod reference;
mod scaling;

pub use problem::ScanAlgorithm as Algorithm;
