//! The workbench's part of scan: its problem, reference, cases and measurements.

mod cases;
mod inputs;
mod operation;
mod problem;
pub mod reference;
mod scaling;

pub(crate) use cases::cases;
pub use problem::ScanAlgorithm as Algorithm;
