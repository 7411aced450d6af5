//! Transpose as a problem: random inputs, reference, cases, and what is measured of it.

mod cases;
mod problem;
pub mod reference;

pub use problem::Transpose as Algorithm;
