//! Reduce as a problem: random inputs, reference, cases, and what is measured of it.

mod cases;
pub mod inputs;
mod operation;
mod problem;
pub mod reference;
mod scaling;

pub use problem::ReduceAlgorithm as Algorithm;
