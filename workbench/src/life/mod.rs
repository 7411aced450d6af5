//! Life in the workbench: problem, reference, cases and measurements.

mod cases;
mod problem;
mod scaling;

pub(crate) use cases::cases;
pub use problem::LifeAlgorithm as Algorithm;
