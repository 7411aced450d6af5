//! The cases of every algorithm, of the probes, of streams and of the device library; and of kernels that are wrong.

use launch::KernelInfo;

use crate::case::Case;

mod device_library;
mod faults;
mod probe;
mod stream;

pub use faults::faults;

/// Returns all cases: at least one for each kernel of the release modules and of [`gpu::device_library`].
pub fn catalogue() -> Vec<Case> {
    let parts = [crate::catalogue::cases(), probe::cases(), stream::cases(), device_library::cases()];
    parts.into_iter().flatten().collect()
}

/// Returns the kernels that there are cases of.
pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
    let others = [gpu::device_library::KERNELS, gpu::faults::KERNELS];
    crate::catalogue::kernels().chain(others.into_iter().flatten().copied())
}

#[cfg(test)]
mod tests;
