//! The algorithms behind common traits. Through these traits, the program measures, checks and explains the algorithms.
//! The traits cover options, inputs on a device, references on the CPU, cases that reach every barrier, and the
//! measurements of a benchmark.
//!
//! [`algorithm`] has the traits, and [`catalogue`] has the list of algorithms. Each algorithm has a module of the same
//! name.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

#[macro_use]
pub mod catalogue;

pub mod algorithm;
pub mod bench;
pub mod case;
pub mod cases;
pub mod check;
pub mod collectives;
pub mod deviation;
pub mod documentation;
pub mod error;
pub mod inputs;
pub mod scaling;
pub mod stream;
pub mod subjects;
mod vectors;

macro_rules! declare_modules {
    ($($name:ident)+; $($other:ident)*; $($launched:ident)*) => {
        $(pub mod $name;)+
        $(pub mod $other;)*
    };
}

catalogue! { declare_modules }

pub use catalogue::MODULES;
pub use error::WorkbenchError;
