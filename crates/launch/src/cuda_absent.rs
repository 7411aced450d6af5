//! A platform without CUDA: no GPU can be opened, so that nothing of one is ever asked.

use std::convert::Infallible;
use std::time::Duration;

use cuda_std::{KernelInfo, LaunchConfig};

use crate::error::Error;
use crate::limits::Limits;
use crate::{Gpu, KernelResources, Occupancy, Properties, PtxModule, Unavailable};

pub(crate) fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    Err(Unavailable::UnsupportedPlatform)
}

/// A GPU that cannot be.
pub(crate) struct GpuDevice(Infallible);

/// Memory that cannot be.
pub(crate) struct DeviceMemory(Infallible);

impl GpuDevice {
    pub(crate) fn open(_ordinal: u32, _modules: &'static [PtxModule]) -> Result<Self, Unavailable> {
        Err(Unavailable::UnsupportedPlatform)
    }

    pub(crate) fn name(&self) -> &str {
        match self.0 {}
    }

    pub(crate) fn limits(&self) -> &Limits {
        match self.0 {}
    }

    pub(crate) fn description(&self) -> String {
        match self.0 {}
    }

    pub(crate) fn properties(&self) -> Result<Properties, Error> {
        match self.0 {}
    }

    pub(crate) fn allocate(&self, _bytes: usize) -> Result<DeviceMemory, Error> {
        match self.0 {}
    }

    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn launch(&self, _: &'static KernelInfo, _: LaunchConfig, _: &[u64]) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn time<R>(&self, _work: impl FnOnce() -> Result<R, Error>) -> Result<(R, Duration), Error> {
        match self.0 {}
    }

    pub(crate) fn resources(&self, _kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        match self.0 {}
    }

    pub(crate) fn occupancy(&self, _: &'static KernelInfo, _: u32, _: u32) -> Result<Occupancy, Error> {
        match self.0 {}
    }
}

impl DeviceMemory {
    pub(crate) fn address(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn write(&self, _data: &[u8]) -> Result<(), Error> {
        match self.0 {}
    }

    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn read(&self, _target: *mut u8) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn zero(&self) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn copy_from(&self, _source: &DeviceMemory) -> Result<(), Error> {
        match self.0 {}
    }
}
