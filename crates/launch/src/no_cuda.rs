//! Replaces the module `cuda` on a platform without CUDA, where no GPU can be opened.

use cuda_std::KernelInfo;

use crate::module::PtxModule;
use crate::properties::Gpu;
use crate::simulated::SimulatedDevice;
use crate::unavailable::Unavailable;

pub(crate) fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    Err(Unavailable::UnsupportedPlatform)
}

pub(crate) fn compile(_: u32, _: &'static [PtxModule], _: impl Fn(u32) -> Vec<&'static KernelInfo>) {}

/// Always returns an error. The return type names the simulator's device in place of the GPU's.
pub(crate) fn open(_ordinal: u32, _modules: &'static [PtxModule]) -> Result<SimulatedDevice, Unavailable> {
    Err(Unavailable::UnsupportedPlatform)
}
