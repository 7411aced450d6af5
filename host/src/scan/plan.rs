//! Which kernel for which length and device, and how many blocks the pipelined one has.

use gpu::scan::{BLOCKS, RING_BYTES};
use launch::Device;

use super::{ScanKernel, Scannable};
use crate::rungs::{AlgorithmError, Rung};

/// Elements from which on the pipeline is faster than the look-back: its blocks have to come to several tiles each. On an
/// H200 they take 9.3 and 8.7 µs for 2²⁰ `f32`, 15.9 and 16.8 µs for 2²².
const PIPELINED_FROM: usize = 1 << 22;

/// Shared memory that a multiprocessor needs for a block of the pipelined kernel, in bytes: the ring, the kernel's own
/// arrays, which have less than 1 KiB, and what every block takes.
const PIPELINED_BYTES: u32 = RING_BYTES + 1024 + RESERVED_BYTES;

/// Shared memory that the system takes of each block, from sm_80 on: as much as a multiprocessor has more than its largest
/// block.
const RESERVED_BYTES: u32 = 1024;

impl ScanKernel {
    /// The fastest kernel for `len` elements of `T` and the operator `O` on `device`.
    ///
    /// That is [`Pipelined`](Self::Pipelined) for many elements on a GPU whose multiprocessors hold two of its blocks, as
    /// those of compute capability 9.0 and 10.0 do, and [`LookBack`](Self::LookBack) else.
    pub fn best_for<T: Scannable<O>, O>(device: &Device, len: usize) -> Self {
        if len >= PIPELINED_FROM && pipelined_blocks(device) >= BLOCKS { Self::Pipelined } else { Self::LookBack }
    }

    /// Whether the kernel scans `len` elements of `T` with `O` on `device`.
    ///
    /// # Errors
    /// [`AlgorithmError::NotOffered`] as for [`check`](Self::check), and where the device's blocks have too little shared
    /// memory for the kernel.
    pub fn check_on<T: Scannable<O>, O>(self, device: &Device, len: usize) -> Result<(), AlgorithmError> {
        self.check::<T, O>(len)?;
        if self == Self::Pipelined && pipelined_blocks(device) == 0 {
            return Err(AlgorithmError::NotOffered {
                algorithm: Self::ALGORITHM,
                kernel: self.name(),
                asked: format!(
                    "scans on {}, whose blocks have {} bytes of shared memory",
                    device.name(),
                    device.max_dynamic_shared()
                ),
                offered: format!("them where blocks have {} or more", PIPELINED_BYTES - RESERVED_BYTES),
            });
        }
        Ok(())
    }
}

/// Blocks of the pipelined kernel that a multiprocessor of `device` is given. 0 where there is too little shared memory.
fn pipelined_blocks(device: &Device) -> u32 {
    (device.max_dynamic_shared().saturating_add(RESERVED_BYTES) / PIPELINED_BYTES).min(BLOCKS)
}

/// Blocks of the pipelined kernel's grid for `tiles` tiles: as many as `device` holds at once.
pub(super) fn pipelined_grid(device: &Device, tiles: usize) -> u32 {
    let held = device.multiprocessors().saturating_mul(pipelined_blocks(device)).max(1);
    u32::try_from(tiles).unwrap_or(u32::MAX).min(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu::operator::Sum;
    use launch::DeviceChoice;

    #[test]
    fn a_grid_has_a_block_a_tile_as_far_as_the_device_holds_them() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let held = 2 * device.multiprocessors();
        assert_eq!(pipelined_blocks(&device), 2);
        assert_eq!([1, 2, usize::MAX].map(|tiles| pipelined_grid(&device, tiles)), [1, 2, held]);
        assert_eq!(ScanKernel::best_for::<f32, Sum>(&device, 0), ScanKernel::LookBack);
        assert_eq!(ScanKernel::best_for::<f32, Sum>(&device, usize::MAX), ScanKernel::Pipelined);
        assert!(ScanKernel::Pipelined.check_on::<f32, Sum>(&device, 1 << 13).is_ok());
    }
}
