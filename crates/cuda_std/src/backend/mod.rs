//! The one place that chooses between the GPU and the simulator.
//!
//! Both modules have the same functions; the rest of the crate calls them and never asks where it runs.

#[cfg(not(target_arch = "nvptx64"))]
mod simulated;
#[cfg(not(target_arch = "nvptx64"))]
pub use simulated::*;

#[cfg(target_arch = "nvptx64")]
mod ptx;
#[cfg(target_arch = "nvptx64")]
pub use ptx::*;
