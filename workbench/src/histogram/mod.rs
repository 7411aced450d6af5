//! The workbench's part of histogram: its problem, reference, cases and measurements.

mod cases;
mod problem;
pub mod reference;
mod scaling;

pub(crate) use cases::cases;
pub use problem::HistogramAlgorithm as Algorithm;
