//! The workbench's part of reduce: its problem, reference, cases and measurements.

mod cases;
pub mod inputs;
mod operation;
mod problem;
pub mod reference;
mod scaling;

pub(crate) use cases::cases;
pub use problem::ReduceAlgorithm as Algorithm;
