//! The workbench's part of the matrix product: its problem, reference, cases and measurements.

mod cases;
mod problem;
pub mod reference;
pub mod trial;

pub use cases::cases;
pub use problem::MatmulAlgorithm as Algorithm;
