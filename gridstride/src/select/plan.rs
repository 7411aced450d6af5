//! The number of elements per thread, the tiles, and the rungs that take an element type.

use cuda_std::Ladder;
use gpu::select::tuning::{
    BLOCKS, PIPELINED_FROM, RING_BYTES, SMALL, SMALLER, max_rows, pipelined_tile_elements, tile_elements,
};
use gpu::select::{ByFlag, SelectElement, SelectRung};
use launch::Device;
use std::any::TypeId;

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::scan::PersistentBlocks;

/// The blocks of the pipelined kernel.
pub(super) const PIPELINED: PersistentBlocks = PersistentBlocks { ring_bytes: RING_BYTES, max: BLOCKS };

/// Returns the rung that runs by default for a selection from `len` elements of `T` by `C` on `device`.
///
/// Returns [`Pipelined`](SelectRung::Pipelined) for many elements of 4 or 8 bytes on a GPU whose multiprocessors each
/// hold two blocks of the pipelined kernel, such as GPUs of compute capability 9.0 and 10.0. Otherwise returns
/// [`LookBack`](SelectRung::LookBack), which is faster also for views that do not begin at a multiple of 16 bytes.
pub fn default_rung<T: SelectElement<C>, C: 'static>(device: &Device, len: usize) -> SelectRung {
    let is_large = len.saturating_mul(size_of::<T>()) >= PIPELINED_FROM;
    if is_large && PIPELINED.all_fit(device) && check::<T, C>(SelectRung::Pipelined).is_ok() {
        SelectRung::Pipelined
    } else {
        SelectRung::LookBack
    }
}

/// Returns the number of tiles of the pipelined kernel: at least one, because it also writes the count.
pub(super) fn pipelined_tiles(len: usize, element_bytes: usize) -> usize {
    len.div_ceil(pipelined_tile(element_bytes)).max(1)
}

/// Returns the number of elements of `element_bytes` bytes in a tile of the rung `Pipelined`.
pub fn pipelined_tile(element_bytes: usize) -> usize {
    pipelined_tile_elements(16 / element_bytes)
}

/// Returns the number of elements that a thread of the look-back kernel loads in a selection from `len` elements of
/// `element_bytes` bytes.
pub(super) fn rows(len: usize, element_bytes: usize) -> usize {
    let (bytes, max) = (len.saturating_mul(element_bytes), max_rows(element_bytes));
    let rows = if bytes <= SMALLER {
        max / 4
    } else if bytes <= SMALL {
        max / 2
    } else {
        max
    };
    rows.max(1)
}

/// Returns the number of tiles of the look-back kernel: at least one, because it also writes the count.
pub(super) fn tiles(len: usize, element_bytes: usize) -> usize {
    len.div_ceil(tile(len, element_bytes)).max(1)
}

/// Returns the number of elements in a tile of the rung `LookBack` in a selection from `len` elements of
/// `element_bytes` bytes.
pub fn tile(len: usize, element_bytes: usize) -> usize {
    tile_elements(rows(len, element_bytes))
}

/// Checks that the rung is built for elements of type `T` and the criterion `C`.
///
/// # Errors
/// [`AlgorithmError::NotBuilt`] if it is not.
pub fn check<T: SelectElement<C>, C: 'static>(rung: SelectRung) -> Result<(), AlgorithmError> {
    if T::IS_OWN {
        return match rung {
            SelectRung::LookBack => Ok(()),
            _ => Err(capabilities::not_built_of_own::<T, C, _>(rung, &[SelectRung::LookBack])),
        };
    }
    let bytes = size_of::<T>();
    let (is_built, offered) = match rung {
        SelectRung::Textbook => (bytes == 4, "elements of 4 bytes"),
        SelectRung::Pipelined => (matches!(bytes, 4 | 8), "elements of 4 and 8 bytes"),
        SelectRung::LookBack if TypeId::of::<C>() == TypeId::of::<ByFlag>() => {
            (matches!(bytes, 1 | 2 | 4 | 8 | 16), "elements of 1, 2, 4, 8 and 16 bytes")
        }
        SelectRung::LookBack => (matches!(bytes, 1 | 2 | 4 | 8), "elements of 1, 2, 4 and 8 bytes"),
    };
    if is_built {
        return Ok(());
    }
    Err(capabilities::refused(rung.rung(), format!("elements of {bytes} bytes"), offered.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::DeviceChoice;

    #[test]
    fn small_inputs_have_small_tiles() {
        assert_eq!([0, 1 << 17, 1 << 18, 1 << 20, usize::MAX].map(|len| rows(len, 4)), [4, 4, 8, 16, 16]);
        assert_eq!([1, 2, 4, 8, 12, 16, 64].map(|bytes| rows(usize::MAX, bytes)), [16, 16, 16, 8, 5, 4, 1]);
        assert_eq!(rows(1, 64), 1);
        assert_eq!([0, 1, 1024, 1025].map(|len| tiles(len, 4)), [1, 1, 1, 2]);
    }

    #[test]
    fn other_widths_are_refused() {
        assert!(check::<[u32; 4], ByFlag>(SelectRung::LookBack).is_ok());
        let message = check::<[u32; 3], ByFlag>(SelectRung::LookBack).unwrap_err().to_string();
        assert!(message.contains("elements of 12 bytes") && message.contains("8 and 16 bytes"), "{message}");
        let message = check::<u64, ByFlag>(SelectRung::Textbook).unwrap_err().to_string();
        assert!(message.contains("elements of 8 bytes: it offers elements of 4 bytes"), "{message}");
        let message = check::<u16, ByFlag>(SelectRung::Pipelined).unwrap_err().to_string();
        assert!(message.contains("elements of 2 bytes: it offers elements of 4 and 8 bytes"), "{message}");
    }

    #[test]
    fn many_elements_of_4_and_8_bytes_are_selected_by_the_pipeline() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        assert_eq!(default_rung::<u32, ByFlag>(&device, 1 << 20), SelectRung::LookBack);
        assert_eq!(default_rung::<u32, ByFlag>(&device, usize::MAX), SelectRung::Pipelined);
        assert_eq!(default_rung::<[f32; 2], ByFlag>(&device, usize::MAX), SelectRung::Pipelined);
        assert_eq!(default_rung::<u16, ByFlag>(&device, usize::MAX), SelectRung::LookBack);
        let tile = pipelined_tile(4);
        assert_eq!([0, 1, tile, tile + 1].map(|len| pipelined_tiles(len, 4)), [1, 1, 1, 2]);
    }
}
