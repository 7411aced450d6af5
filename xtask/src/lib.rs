//! Implements the project's build tasks. `main.rs` parses their command line.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod assemblers;
pub mod book;
pub mod build_ptx;
pub mod check_ptx;
pub mod features;
pub mod kernels;
pub mod lines;
pub mod modules;
pub mod pages;
pub mod parallel;
pub mod pattern;
pub mod ptx;
pub mod records;
pub mod repository;
pub mod resources;
pub mod sass;
pub mod sources;
pub mod stamps;
pub mod syntax;
pub mod tidy;
pub mod workspace;
