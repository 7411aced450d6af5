//! `host stream`: the programs of [`workbench::stream`], measured and checked.

pub mod command;

mod report;
mod work;

pub use report::{LinkSpeed, Measurement, Report};
pub use work::measure;

/// The factor a of what is measured.
const A: f32 = 2.0;

#[cfg(test)]
mod tests;
