//! Transpose in the workbench: problem, reference, cases and measurements.

mod cases;
mod problem;
pub mod reference;

pub(crate) use cases::cases;
pub use problem::TransposeAlgorithm as Algorithm;
