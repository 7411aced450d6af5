//! Implements Gridstride's command line, which measures, checks and explains the kernels.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod bench;
pub mod check;
pub mod cli;
pub mod devices;
pub mod explain;
pub mod learn;
pub mod list;
pub mod measure;
pub mod new;
mod next;
pub mod probe;
pub mod stream;

pub use cli::main;
pub use program::{error, files, options, ranks, recordings, report, signals};

/// Ends the program with one error if the system has no more memory.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: program::allocator::Allocator = program::allocator::Allocator;
