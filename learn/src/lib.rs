//! A course on GPU kernels that runs: exercises with a hole, which the simulator checks and explains without a GPU.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod answers;
mod checker;
mod command;
mod exercise;
mod gpu;
mod outcome;
mod progress;
pub mod project;
mod session;
mod show;
mod source;

pub use command::{LearnError, SessionOptions, main};
pub use exercise::Exercise;
pub use explain::{Case, CaseResult, Run};
pub use launch::*;
pub use outcome::{Outcome, Pictures, Score};
pub use show::score_of_solution;
pub use source::{SOURCES, Source};
