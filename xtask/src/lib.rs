//! The project's build tasks, as functions: `main.rs` gives them a command line.

pub mod bench;
pub mod build_ptx;
pub mod check_ptx;
pub mod counters;
pub mod kernels;
pub mod mutate_barriers;
pub mod parallel;
pub mod pattern;
pub mod ptx;
pub mod ptxas;
pub mod resources;
pub mod sass;
pub mod source_text;
pub mod sources;
pub mod tidy;
pub mod workspace;
