//! Replaces the module `cuda` on a platform without CUDA, where no GPU can be opened.

use std::ffi::c_void;

use cuda_std::KernelInfo;

use crate::module::PtxModule;
use crate::objects::Owner;
use crate::properties::Gpu;
use crate::simulated_device::SimulatedDevice;
use crate::unavailable::Unavailable;

pub(crate) fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    Err(Unavailable::UnsupportedPlatform)
}

pub(crate) fn compile(_: u32, _: &'static [PtxModule], _: impl Fn(u32) -> Vec<&'static KernelInfo>) {}

/// Always returns an error, as [`open`] does.
///
/// # Safety
/// None: nothing is used.
pub(crate) unsafe fn open_context(
    _context: *mut c_void,
    _owner: Owner,
    _modules: &'static [PtxModule],
) -> Result<SimulatedDevice, Unavailable> {
    Err(Unavailable::UnsupportedPlatform)
}

/// Always returns an error. The simulator's type takes the place of the GPU's in the signature.
pub(crate) fn open(_ordinal: u32, _modules: &'static [PtxModule]) -> Result<SimulatedDevice, Unavailable> {
    Err(Unavailable::UnsupportedPlatform)
}
