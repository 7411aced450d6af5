//! The workbench's part of saxpy: its problem, reference, cases and measurements.

mod cases;
mod problem;
pub mod reference;
mod scaling;

pub(crate) use cases::cases;
pub use problem::SaxpyAlgorithm as Algorithm;
