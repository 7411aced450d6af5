//! Tensor maps of a GPU, which the driver encodes.

use simt::bulk::Tiling;

use super::gpu::GpuDevice;
use super::sys;
use crate::error::Error;
use crate::tensor_map::EncodeMaps;

impl EncodeMaps for GpuDevice {
    fn encode_map(&self, tiling: &Tiling, data_type: u32) -> Result<[u64; 16], Error> {
        self.context.enter()?;
        sys::encode_tensor_map(tiling, data_type).map_err(|code| {
            let what = || format!("make a tensor map of {} dimensions", tiling.dimensions);
            self.context.error(code, what, "tensor maps need a GPU of compute capability 9.0 and CUDA 12.0")
        })
    }
}
