//! Which kernel for which length and device, how large the look-back's tiles are, and how many blocks the pipelined one has.

use gpu::scan::{BLOCKS, CHUNKS, RING_BYTES};
use launch::Device;

use super::{ScanKernel, Scannable};
use crate::rungs::{AlgorithmError, Rung};

/// Bytes from which on the pipeline is faster than the look-back: its blocks have to come to several tiles each. On an H200
/// they take 16.4 and 15.9 µs for 16 MiB of `f32`, 24.5 and 26.2 µs for 32 MiB; 17.7 and 16.9, 26.3 and 26.7 µs of `f64`.
const PIPELINED_FROM: usize = 32 << 20;

/// Bytes up to which the look-back's tiles are half and a quarter as large: more multiprocessors then have work, and still
/// each at most one tile. On an H200 2¹⁶ `f32` take 5.15, 5.38 and 5.57 µs with 2, 4 and 8 vectors a thread, 2¹⁸ 5.82, 5.63
/// and 5.82 µs, 2²⁰ 9.5, 8.3 and 7.0 µs.
const SMALL: usize = 1 << 20;
const SMALLER: usize = 1 << 18;

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
        let bytes = len.saturating_mul(size_of::<T>());
        if bytes >= PIPELINED_FROM && pipelined_blocks(device) >= BLOCKS { Self::Pipelined } else { Self::LookBack }
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

/// Vectors that a thread of the look-back reads, of `len` elements of `element_bytes` bytes.
pub(super) fn chunks(len: usize, element_bytes: usize) -> usize {
    let bytes = len.saturating_mul(element_bytes);
    if bytes <= SMALLER {
        CHUNKS / 4
    } else if bytes <= SMALL {
        CHUNKS / 2
    } else {
        CHUNKS
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
