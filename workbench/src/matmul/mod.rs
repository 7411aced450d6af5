//! The workbench's part of the matrix product: its problem, reference, cases and measurements.

mod cases;
mod problem;
pub mod reference;
mod scaling;
pub mod trial;

pub use cases::cases;
pub use problem::MatmulAlgorithm as Algorithm;
