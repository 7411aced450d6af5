//! The cases of all algorithms, the probes, streams, the device library and the faulty kernels.

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

/// Returns all kernels that have cases, including the faulty ones.
pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
    let others = [gpu::device_library::KERNELS, gpu::faults::KERNELS];
    crate::catalogue::kernels().chain(others.into_iter().flatten().copied())
}

#[cfg(test)]
mod tests;
