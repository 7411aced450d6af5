//! Life as a problem: random inputs, reference, cases, and what is measured of it.

mod cases;
mod problem;
mod scaling;

pub use problem::Life as Algorithm;
