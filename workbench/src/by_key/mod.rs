//! The workbench's part of by key: its problem, reference, cases and measurements.

mod cases;
mod problem;
pub mod reference;

pub(crate) use cases::cases;
pub use problem::ByKeyAlgorithm as Algorithm;
