//! Selects the module `ptx` with the GPU's operations, or the module `simulated` with the host's operations. Both
//! modules have the same functions.

#[cfg(not(target_arch = "nvptx64"))]
mod simulated;
#[cfg(not(target_arch = "nvptx64"))]
pub use simulated::*;

#[cfg(target_arch = "nvptx64")]
mod ptx;
#[cfg(target_arch = "nvptx64")]
pub use ptx::*;
