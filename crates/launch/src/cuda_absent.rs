//! A platform without CUDA: no GPU can be opened, so that nothing of one is ever asked.

use std::convert::Infallible;
use std::ptr::NonNull;
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

/// Page-locked memory that cannot be.
pub(crate) struct PageLockedMemory(Infallible);

/// A stream that cannot be.
pub(crate) struct GpuStream(Infallible);

/// An event that cannot be.
pub(crate) struct GpuEvent(Infallible);

/// A graph that cannot be.
pub(crate) struct GpuGraph(Infallible);

/// A launch that cannot be.
pub(crate) struct BareGpuLaunch(Infallible);

/// A piece of a graph's work.
pub(crate) enum GpuWork<'a> {
    Launch { kernel: &'static KernelInfo, config: LaunchConfig, slots: &'a [u64] },
    Zero { address: usize, bytes: usize },
    Copy { to: usize, from: usize, bytes: usize },
}

/// What page-locked memory would be for.
#[derive(Clone, Copy)]
pub(crate) enum PageLock {
    Copies,
    Mapping,
}

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

    pub(crate) fn multiprocessors(&self) -> u32 {
        match self.0 {}
    }

    pub(crate) fn properties(&self) -> Result<Properties, Error> {
        match self.0 {}
    }

    pub(crate) fn allocate(&self, _bytes: usize) -> Result<DeviceMemory, Error> {
        match self.0 {}
    }

    pub(crate) fn page_lock(&self, _bytes: usize, _lock: PageLock) -> Result<PageLockedMemory, Error> {
        match self.0 {}
    }

    pub(crate) fn streams(&self, _count: usize) -> Result<Vec<GpuStream>, Error> {
        match self.0 {}
    }

    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn launch_in_stream(
        &self,
        _: &GpuStream,
        _: &'static KernelInfo,
        _: LaunchConfig,
        _: &[u64],
    ) -> Result<(), Error> {
        match self.0 {}
    }

    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn launch(&self, _: &'static KernelInfo, _: LaunchConfig, _: &[u64]) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn prepare(&self, _: &'static KernelInfo, _: LaunchConfig) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn bare_launch(
        &self,
        _: &'static KernelInfo,
        _: LaunchConfig,
        _: &[u64],
    ) -> Result<BareGpuLaunch, Error> {
        match self.0 {}
    }

    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn graph<'a>(&self, _: impl Iterator<Item = GpuWork<'a>>) -> Result<GpuGraph, Error> {
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

impl PageLockedMemory {
    pub(crate) fn start(&self) -> NonNull<u8> {
        match self.0 {}
    }

    pub(crate) fn address(&self) -> Option<usize> {
        match self.0 {}
    }
}

impl GpuGraph {
    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn launch(&mut self) -> Result<(), Error> {
        match self.0 {}
    }
}

impl BareGpuLaunch {
    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn launch(&mut self) -> Result<(), Error> {
        match self.0 {}
    }
}

impl GpuStream {
    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn upload(&self, _address: usize, _source: *const u8, _bytes: usize) -> Result<(), Error> {
        match self.0 {}
    }

    /// # Safety
    /// None: it cannot be called.
    pub(crate) unsafe fn download(&self, _target: *mut u8, _address: usize, _bytes: usize) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn record(&self) -> Result<GpuEvent, Error> {
        match self.0 {}
    }

    pub(crate) fn wait(&self, _event: &GpuEvent) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn finish(&self) -> Result<(), Error> {
        match self.0 {}
    }
}

impl GpuEvent {
    pub(crate) fn elapsed_since(&self, _earlier: &GpuEvent) -> Result<Duration, Error> {
        match self.0 {}
    }
}
