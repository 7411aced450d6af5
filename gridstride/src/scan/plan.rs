//! Chooses the default rung for a length and device, the tile size of the look-back scan, and the grid of the pipelined
//! scan.

use cuda_std::{Ladder, Rung};
use gpu::operator::Operator;
use gpu::scan::tuning::{BLOCKS, CHUNKS, PIPELINED_FROM, RING_BYTES, SMALL, SMALLER};
use gpu::scan::{ScanRung, is_pipelined};
use launch::{Device, Element};

use super::{ScanElement, check};
use crate::capabilities;
use crate::error::AlgorithmError;

/// The blocks of the pipelined scan.
const PIPELINED: PersistentBlocks = PersistentBlocks { ring_bytes: RING_BYTES, max: BLOCKS };

/// The blocks of a pipelined kernel. Each stays on its multiprocessor and processes many tiles.
pub(crate) struct PersistentBlocks {
    /// The dynamic shared memory of a block in bytes.
    pub(crate) ring_bytes: u32,
    /// The largest number of blocks per multiprocessor.
    pub(crate) max: u32,
}

impl PersistentBlocks {
    /// Returns the number of bytes of shared memory for a block: the ring buffer of tiles, up to 1 KiB for other
    /// arrays, and the bytes that CUDA reserves.
    const fn bytes(&self) -> u32 {
        self.ring_bytes + 1024 + RESERVED_BYTES
    }

    /// Returns the number of blocks that fit on a multiprocessor of `device` at once, or 0 if the multiprocessor has
    /// too little shared memory for one block.
    fn per_multiprocessor(&self, device: &Device) -> u32 {
        (device.max_dynamic_shared().saturating_add(RESERVED_BYTES) / self.bytes()).min(self.max)
    }

    /// Returns true if the largest number of blocks fits on each multiprocessor of `device`, such as on GPUs of compute
    /// capability 9.0 and 10.0.
    pub(crate) fn all_fit(&self, device: &Device) -> bool {
        self.per_multiprocessor(device) >= self.max
    }

    /// Returns the number of blocks in a grid for `tiles` tiles: one per tile, but at most as many as fit on `device`
    /// at once.
    pub(crate) fn grid(&self, device: &Device, tiles: usize) -> u32 {
        let held = device.multiprocessors().saturating_mul(self.per_multiprocessor(device)).max(1);
        u32::try_from(tiles).unwrap_or(u32::MAX).min(held)
    }

    /// Checks that a block fits on `device`. `what` says in the plural what `rung` computes.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`] if a block on the device has too little shared memory.
    pub(crate) fn check(&self, rung: &'static Rung, what: &str, device: &Device) -> Result<(), AlgorithmError> {
        if self.per_multiprocessor(device) > 0 {
            return Ok(());
        }
        let (name, bytes) = (device.name(), device.max_dynamic_shared());
        let requested = format!("{what} on {name}, whose blocks have {bytes} bytes of shared memory");
        let offered = format!("them where blocks have {} or more", self.bytes() - RESERVED_BYTES);
        Err(capabilities::refused(rung, requested, offered))
    }
}

/// The number of bytes of shared memory that CUDA reserves per block, on GPUs from sm_80 on.
const RESERVED_BYTES: u32 = 1024;

/// Returns the rung that runs by default for `len` elements of `T` on `device`, with an operator for which both rungs
/// are built: any but `Minimum` and `Maximum`. [`default_rung_by`] takes the operator into account.
///
/// Returns [`Pipelined`](ScanRung::Pipelined) for many elements of 4, 8 or 16 bytes on a GPU whose multiprocessors each
/// hold two blocks of the pipelined kernel, such as GPUs of compute capability 9.0 and 10.0. Otherwise returns
/// [`LookBack`](ScanRung::LookBack).
pub fn default_rung<T: Element>(device: &Device, len: usize) -> ScanRung {
    let bytes = len.saturating_mul(size_of::<T>());
    if is_pipelined::<T>() && bytes >= PIPELINED_FROM && PIPELINED.all_fit(device) {
        ScanRung::Pipelined
    } else {
        ScanRung::LookBack
    }
}

/// Returns the rung that runs by default for `len` elements of `T` and the operator `O` on `device`: that of
/// [`default_rung`] if it is built for `O`, and otherwise [`LookBack`](ScanRung::LookBack).
pub fn default_rung_by<T: ScanElement<O>, O: Operator<T>>(device: &Device, len: usize) -> ScanRung {
    let rung = default_rung::<T>(device, len);
    if check::<T, O>(rung, len).is_ok() { rung } else { ScanRung::LookBack }
}

/// Checks that the rung can scan `len` elements of `T` with `O` on `device`.
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] in the cases that [`check`] lists, and if a block on the device has too little
/// shared memory for the rung.
pub fn check_on<T: ScanElement<O>, O: Operator<T>>(
    rung: ScanRung,
    device: &Device,
    len: usize,
) -> Result<(), AlgorithmError> {
    check::<T, O>(rung, len)?;
    if rung == ScanRung::Pipelined {
        PIPELINED.check(rung.rung(), "scans", device)?;
    }
    Ok(())
}

/// Returns the number of vectors that a thread of the look-back kernel reads in a scan of `len` elements of
/// `element_bytes` bytes.
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

/// Returns the number of blocks in the pipelined kernel's grid for `tiles` tiles.
pub(super) fn pipelined_grid(device: &Device, tiles: usize) -> u32 {
    PIPELINED.grid(device, tiles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::f16;
    use gpu::operator::{Minimum, Sum};
    use launch::DeviceChoice;

    #[test]
    fn a_grid_has_one_block_per_tile_as_far_as_the_device_holds_them() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let held = 2 * device.multiprocessors();
        assert_eq!(PIPELINED.per_multiprocessor(&device), 2);
        assert_eq!([1, 2, usize::MAX].map(|tiles| pipelined_grid(&device, tiles)), [1, 2, held]);
        assert_eq!(default_rung::<f32>(&device, 0), ScanRung::LookBack);
        assert_eq!(default_rung::<f32>(&device, usize::MAX), ScanRung::Pipelined);
        assert_eq!(default_rung_by::<f32, Sum>(&device, usize::MAX), ScanRung::Pipelined);
        assert_eq!(default_rung_by::<f32, Minimum>(&device, usize::MAX), ScanRung::LookBack);
        assert_eq!(default_rung_by::<f16, Sum>(&device, usize::MAX), ScanRung::LookBack);
        assert!(check_on::<f32, Sum>(ScanRung::Pipelined, &device, 1 << 13).is_ok());
    }
}
