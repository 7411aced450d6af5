//! Contains the parts that all commands share: options, errors and exit codes, signals, ranks, tables, JSON, progress,
//! plots, recordings of measurements, and files that are written whole or not at all.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

#[cfg(unix)]
pub mod allocator;
pub mod error;
pub mod files;
pub mod memory;
pub mod options;
pub mod ranks;
pub mod recordings;
pub mod report;
pub mod signals;
pub mod threads;
