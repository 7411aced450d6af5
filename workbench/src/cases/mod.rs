//! The cases of all algorithms, the probes, streams, the device library, the tensor library,
//! the warpgroup library, the collectives and the faulty kernels.

use launch::KernelInfo;

use crate::case::Case;

mod bulk;
mod collectives;
mod device_library;
mod faults;
mod probe;
mod stream;
pub mod tensor_library;
pub mod wgmma;

pub use faults::faults;

/// Returns all cases: at least one for each kernel of the release modules, of [`gpu::device_library`], of
/// [`gpu::tensor_library`], of [`gpu::warpgroup_library`] and of [`crate::collectives`].
pub fn catalogue() -> Vec<Case> {
    let libraries = [device_library::cases(), tensor_library::cases(), bulk::cases(), wgmma::cases()];
    let others = [probe::cases(), stream::cases(), collectives::cases()].into_iter().chain(libraries);
    crate::catalogue::cases().into_iter().chain(others.flatten()).collect()
}

/// Returns all kernels that have cases, including the faulty ones.
pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
    let libraries = [gpu::device_library::KERNELS, gpu::tensor_library::KERNELS, gpu::warpgroup_library::KERNELS];
    let others = libraries.into_iter().chain([crate::collectives::KERNELS, gpu::faults::KERNELS]);
    crate::catalogue::kernels().chain(others.flatten().copied())
}

#[cfg(test)]
mod beside_ncu;
#[cfg(test)]
mod explained;
#[cfg(test)]
mod tests;
