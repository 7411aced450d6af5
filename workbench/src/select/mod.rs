//! The workbench's part of select: its problem, reference, cases and measurements.

mod cases;
pub(crate) mod inputs;
mod problem;
pub mod reference;
mod selectors;

pub(crate) use cases::cases;
pub use problem::SelectAlgorithm as Algorithm;
