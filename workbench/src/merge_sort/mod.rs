//! The workbench's part of merge sort: its problem, cases and measurements.

mod cases;
mod problem;

pub(crate) use cases::cases;
pub use problem::MergeSortAlgorithm as Algorithm;
