//! What `host check` runs: the cases of every algorithm, of the probes, of streams and of the device library; and of kernels
//! that are wrong.

use workbench::case::Case;

mod device_library;
mod faults;
mod probe;
mod stream;

pub use faults::faults;

/// All cases: for each kernel of the release modules at least one, and for those of [`gpu::device_library`].
pub fn catalogue() -> Vec<Case> {
    let parts = [workbench::catalogue::cases(), probe::cases(), stream::cases(), device_library::cases()];
    parts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
