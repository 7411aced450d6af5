//! Tensor maps of a GPU, which the driver encodes.

use std::sync::{Mutex, PoisonError};

use simt::bulk::Tiling;

use super::gpu::GpuDevice;
use super::sys;
use crate::error::Error;
use crate::tensor_map::EncodeMaps;

/// The number of maps that are kept.
const KEPT: usize = 16;

/// A description of a map, the driver's type of its elements, and the map.
type Encoded = (Tiling, u32, [u64; 16]);

/// The last maps of a device. A map depends on its description alone, so a kept one is as good as a new one, for which
/// the driver takes a microsecond.
#[derive(Default)]
pub(super) struct KeptMaps(Mutex<Ring>);

#[derive(Default)]
struct Ring {
    maps: Vec<Encoded>,
    oldest: usize,
}

impl KeptMaps {
    /// Returns the map of this description if it is kept.
    fn find(&self, tiling: &Tiling, data_type: u32) -> Option<[u64; 16]> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = ring.maps.iter().find(|(kept, of_type, _)| kept == tiling && *of_type == data_type);
        found.map(|&(.., map)| map)
    }

    /// Keeps a map, in place of the oldest one if there are many.
    fn keep(&self, encoded: Encoded) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.maps.len() < KEPT {
            ring.maps.push(encoded);
            return;
        }
        let oldest = ring.oldest;
        ring.maps[oldest] = encoded;
        ring.oldest = (oldest + 1) % KEPT;
    }
}

impl EncodeMaps for GpuDevice {
    fn encode_map(&self, tiling: &Tiling, data_type: u32) -> Result<[u64; 16], Error> {
        if let Some(map) = self.maps.find(tiling, data_type) {
            return Ok(map);
        }
        self.context.enter()?;
        let map = sys::encode_tensor_map(tiling, data_type).map_err(|code| {
            let what = || format!("make a tensor map of {} dimensions", tiling.dimensions);
            self.context.error(code, what, "tensor maps need a GPU of compute capability 9.0 and CUDA 12.0")
        })?;
        self.maps.keep((*tiling, data_type, map));
        Ok(map)
    }
}
