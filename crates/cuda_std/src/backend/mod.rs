//! The choice between the GPU back end and the simulator back end.
//!
//! The modules `ptx` and `simulated` have the same functions. The rest of the crate calls them and does not depend on
//! the target.
//!
//! # Design
//!
//! This is the only file in the crate that depends on the compilation target. A kernel is therefore written once,
//! without a second version for the simulator. `cargo xtask tidy` reports a choice by target in any other file.

#[cfg(not(target_arch = "nvptx64"))]
mod simulated;
#[cfg(not(target_arch = "nvptx64"))]
pub use simulated::*;

#[cfg(target_arch = "nvptx64")]
mod ptx;
#[cfg(target_arch = "nvptx64")]
pub use ptx::*;
