//! The workbench's part of segments: its problem, reference, cases and measurements.

mod cases;
mod inputs;
mod problem;
pub mod reference;

pub(crate) use cases::cases;
pub use problem::SegmentsAlgorithm as Algorithm;
