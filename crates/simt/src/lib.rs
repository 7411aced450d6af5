//! A SIMT simulator: runs a kernel's threads on the CPU and reports its faults.
mod geometry;
pub use geometry::{Dim3, KernelInfo, LaunchConfig};
