//! The workbench's part of Life: its problem, cases and measurements.

mod cases;
mod problem;
mod scaling;

pub(crate) use cases::cases;
pub use problem::LifeAlgorithm as Algorithm;
