//! The probe kernels: their instances by operand and unroll factor, their references, and the records of block
//! schedules.

use launch::{Device, Error, KernelInfo};

pub mod divergence;
mod instances;
mod kernel;
pub mod schedule;

pub use instances::{Arrays, Instance, Measured, WORD};
pub use kernel::BandwidthKernel;

/// The numbers of threads per block with which bandwidth is measured.
pub const BLOCKS: [u32; 5] = [32, 64, 128, 256, 512];

/// Returns the number of blocks of `kernel`, with `threads` threads each, that the device can run concurrently.
///
/// # Errors
/// An error if the device fails.
pub fn full_grid(device: &Device, kernel: &'static KernelInfo, threads: u32) -> Result<u32, Error> {
    let on_each = device.occupancy(kernel, threads, 0)?.blocks_per_multiprocessor.max(1);
    Ok(on_each.saturating_mul(device.multiprocessors()))
}
