//! Saxpy as a problem: random inputs, reference, cases, and what is measured of it.

mod cases;
mod problem;
pub mod reference;
mod scaling;

pub use problem::Saxpy as Algorithm;
