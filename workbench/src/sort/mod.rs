//! The workbench's part of sort: its problem, reference, cases and measurements.

mod cases;
mod fields;
pub(crate) mod kind;
mod problem;
pub mod reference;

pub(crate) use cases::cases;
pub use problem::SortAlgorithm as Algorithm;
