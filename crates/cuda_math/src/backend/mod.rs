//! Selects the operations of the GPU (`ptx`) or of the host (`simulated`). Both modules have the same functions.

#[cfg(not(target_arch = "nvptx64"))]
mod simulated;
#[cfg(not(target_arch = "nvptx64"))]
pub use simulated::*;

#[cfg(target_arch = "nvptx64")]
mod ptx;
#[cfg(target_arch = "nvptx64")]
pub use ptx::*;
