//! The project's build tasks, as functions: `main.rs` gives them a command line.

pub mod build_ptx;
pub mod check_ptx;
pub mod features;
pub mod kernels;
pub mod lines;
pub mod parallel;
pub mod pattern;
pub mod ptx;
pub mod ptxas;
pub mod records;
pub mod resources;
pub mod sass;
pub mod sources;
pub mod stamps;
pub mod syntax;
pub mod tidy;
pub mod workspace;
