//! The project's build tasks, as functions: `main.rs` gives them a command line.

pub mod build_ptx;
pub mod check_ptx;
pub mod kernels;
pub mod ptx;
pub mod ptxas;
pub mod source_text;
pub mod sources;
pub mod tidy;
pub mod workspace;
