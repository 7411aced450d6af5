//! `host stream`: measures and checks the programs of [`workbench::stream`].

pub mod command;

mod report;
mod runner;

pub use report::{LinkSpeed, Measurement, Report};
pub use runner::measure;

/// The factor `a` of saxpy.
const A: f32 = 2.0;

#[cfg(test)]
mod tests;
