//! Implements the trait `Backend` for a GPU.

use std::any::{Any, TypeId};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;

use cuda_std::{Call, DeviceStatic, KernelInfo, LaunchConfig, Params};

use super::bare::BareGpuLaunch;
use super::events::{self, GpuEvent};
use super::gpu::GpuDevice;
use super::graphs::GpuGraph;
use super::memory::DeviceMemory;
use super::page_locked::PageLockedMemory;
use super::peers;
use super::staging::MIN_STAGED_BYTES;
use super::streams::GpuStream;
use super::sys::{self, Code, DeviceAttribute};
use crate::backend::{Backend, BackendStream, Executable};
use crate::completion::Completion;
use crate::error::Error;
use crate::module;
use crate::objects::{Allocated, BackendEvent, PageLock};
use crate::operation::{Operation, RecordedLaunch};
use crate::properties::{Gpu, KernelResources, Occupancy, Properties};

impl Backend for GpuDevice {
    fn name(&self) -> &str {
        &self.context.gpu.name
    }

    /// Returns a description such as "GPU 0, NVIDIA H200, sm_90, 132 SMs, 139.7 GiB".
    fn description(&self) -> String {
        let Gpu { ordinal, name, compute_capability, memory_bytes } = &self.context.gpu;
        let arch = module::arch(*compute_capability);
        let gib = *memory_bytes as f64 / (1_u64 << 30) as f64;
        format!("GPU {ordinal}, {name}, sm_{arch}, {} SMs, {gib:.1} GiB", self.multiprocessors)
    }

    fn properties(&self) -> Result<Properties, Error> {
        use DeviceAttribute as A;
        self.context.enter()?;
        let Gpu { name, compute_capability, memory_bytes, .. } = &self.context.gpu;
        let properties = || {
            let read = |attribute| sys::device_attribute(self.context.device, attribute);
            // A newer driver may no longer report this value, and returns 0.
            let mhz = |attribute| read(attribute).map(|khz| Some(khz / 1000).filter(|&mhz| mhz > 0));
            Ok(Properties {
                name: name.clone(),
                compute_capability: Some(*compute_capability),
                driver: Some(self.context.driver),
                multiprocessors: self.multiprocessors,
                warp_size: self.warp_size,
                memory_bytes: *memory_bytes,
                memory_free_bytes: (sys::memory_info()?.0 + self.context.pool.bytes()) as u64,
                memory_bus_bits: Some(read(A::GLOBAL_MEMORY_BUS_WIDTH)?),
                memory_clock_mhz: mhz(A::MEMORY_CLOCK_RATE)?,
                clock_mhz: mhz(A::CLOCK_RATE)?,
                l2_bytes: Some(read(A::L2_CACHE_SIZE)?.into()),
                shared_bytes_per_block: read(A::MAX_SHARED_MEMORY_PER_BLOCK)?,
                shared_bytes_per_block_optin: self.limits.shared_bytes,
                shared_bytes_per_multiprocessor: Some(read(A::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?),
                registers_per_block: Some(read(A::MAX_REGISTERS_PER_BLOCK)?),
                registers_per_multiprocessor: Some(read(A::MAX_REGISTERS_PER_MULTIPROCESSOR)?),
                max_threads_per_block: self.limits.block_threads,
                max_threads_per_multiprocessor: Some(self.max_threads_per_multiprocessor),
            })
        };
        properties().map_err(|code: Code| self.context.error(code, || format!("describe {}", self.name()), ""))
    }

    fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    fn max_shared_bytes(&self) -> u32 {
        self.limits.shared_bytes
    }

    fn set_heap_bytes(&self, bytes: usize) -> Result<(), Error> {
        self.context.enter()?;
        sys::set_heap_bytes(bytes).map_err(|code| {
            let what = || format!("set the heap of kernels to {bytes} bytes");
            let remedy = "set it before the first launch of a kernel that allocates, to less than the GPU's memory";
            self.context.error(code, what, remedy)
        })
    }

    fn resources(&self, kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        self.context.enter()?;
        self.modules.resources(&self.context, kernel)
    }

    fn occupancy(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<Occupancy, Error> {
        self.prepare(kernel, LaunchConfig::new(1, block_threads).shared_bytes(shared_bytes))?;
        let blocks = self.modules.blocks_per_sm(&self.context, kernel, block_threads, shared_bytes)?;
        Ok(Occupancy {
            blocks_per_multiprocessor: blocks,
            active_warps: blocks * block_threads.div_ceil(self.warp_size.max(1)),
            max_warps: self.max_threads_per_multiprocessor / self.warp_size.max(1),
        })
    }

    fn max_cooperative_blocks(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Error> {
        self.prepare(kernel, LaunchConfig::new(1, block_threads).shared_bytes(shared_bytes))?;
        Ok(self.modules.blocks_per_sm(&self.context, kernel, block_threads, shared_bytes)? * self.multiprocessors)
    }

    fn max_active_clusters(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<u32, Error> {
        self.context.enter()?;
        if self.limits.cluster_blocks < 2 && config.has_clusters() {
            return Ok(0);
        }
        self.max_clusters_of(kernel, config)
    }

    fn allocate(&self, bytes: usize) -> Result<Allocated, Error> {
        DeviceMemory::allocate(&self.context, bytes, None).map(|(allocated, _)| allocated)
    }

    fn allocate_workspace(&self, bytes: usize, of: TypeId) -> Result<(Allocated, bool), Error> {
        DeviceMemory::allocate(&self.context, bytes, Some(of))
    }

    fn page_lock(&self, bytes: usize, purpose: PageLock) -> Result<Allocated, Error> {
        PageLockedMemory::allocate(&self.context, bytes, purpose)
    }

    unsafe fn write(&self, to: *mut u8, from: &[MaybeUninit<u8>]) -> Result<(), Error> {
        self.context.enter()?;
        let to = to.addr() as u64;
        // SAFETY: `Backend::write` requires that `to` has `from.len()` bytes, which no other code accesses.
        if from.len() >= MIN_STAGED_BYTES && unsafe { self.staging.upload(&self.context, to, from) }? {
            return Ok(());
        }
        // SAFETY: `Backend::write` requires that `to` has `from.len()` bytes, which no other code accesses.
        unsafe { sys::copy_to_device(to, from) }.map_err(|code| self.cannot("upload", from.len(), code))
    }

    unsafe fn read(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        self.context.enter()?;
        let from = from.addr() as u64;
        // SAFETY: `Backend::read` requires that both addresses are valid for `bytes` bytes.
        if bytes >= MIN_STAGED_BYTES && unsafe { self.staging.download(&self.context, to, from, bytes) }? {
            return Ok(());
        }
        // SAFETY: `Backend::read` requires that both addresses are valid for `bytes` bytes.
        unsafe { sys::copy_to_host(to, from, bytes) }.map_err(|code| self.cannot("download", bytes, code))
    }

    fn write_static(&self, of: &'static DeviceStatic, from: &[MaybeUninit<u8>]) -> Result<(), Error> {
        self.context.enter()?;
        let address = self.modules.static_address(&self.context, of)?;
        // SAFETY: the static has `from.len()` bytes and lives as long as its module is loaded.
        unsafe { sys::copy_to_device(address, from) }.map_err(|code| self.cannot("set", from.len(), code))
    }

    unsafe fn read_static(&self, of: &'static DeviceStatic, to: *mut u8) -> Result<(), Error> {
        self.context.enter()?;
        let address = self.modules.static_address(&self.context, of)?;
        // SAFETY: the static has `of.bytes` bytes and lives as long as its module is loaded. `Backend::read_static`
        // requires that `to` is valid for writing them.
        unsafe { sys::copy_to_host(to, address, of.bytes) }.map_err(|code| self.cannot("read", of.bytes, code))
    }

    unsafe fn zero(&self, start: *mut u8, bytes: usize) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: `Backend::zero` requires that the bytes exist; freeing the memory waits for the stream.
        unsafe { sys::zero(start.addr() as u64, bytes, self.context.stream()) }
            .map_err(|code| self.cannot("clear", bytes, code))
    }

    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: `Backend::copy` requires that the bytes exist without overlap; freeing either memory waits for the
        // stream.
        unsafe { sys::copy_on_device(to.addr() as u64, from.addr() as u64, bytes, self.context.stream()) }
            .map_err(|code| self.cannot("copy", bytes, code))
    }

    unsafe fn copy_from(&self, to: *mut u8, source: &dyn Backend, from: *const u8, bytes: usize) -> Result<(), Error> {
        let source = Self::of_backend(source, &self.context)?;
        // SAFETY: `Backend::copy_from` requires that the bytes exist, in this device's and in `source`'s memory.
        unsafe { peers::copy_in_queue((to, &self.context), (from, &source.context), bytes) }
    }

    fn record_order(&self) -> Result<BackendEvent, Error> {
        GpuEvent::record_order(&self.context, self.context.stream())
    }

    unsafe fn wait_for(&self, event: &BackendEvent) -> Result<(), Error> {
        // SAFETY: `Backend::wait_for` requires an event of this back end; the stream belongs to this context.
        unsafe { events::wait(&self.context, self.context.stream(), event) }
    }

    fn enable_peer(&self, other: &dyn Backend) -> Result<bool, Error> {
        match (other as &dyn Any).downcast_ref::<Self>() {
            Some(other) => peers::enable(&self.context, &other.context),
            None => Ok(false),
        }
    }

    fn raw_stream(&self) -> Result<*mut c_void, Error> {
        self.context.enter()?;
        Ok(self.context.stream().cast())
    }

    fn compile(&self, kernels: &[&'static KernelInfo]) {
        self.modules.compile_together(kernels);
    }

    fn compile_all(&self) {
        self.compile_all();
    }

    fn prepare(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<(), Error> {
        self.context.enter()?;
        self.prepare(kernel, config).map(drop)
    }

    unsafe fn launch(&self, config: LaunchConfig, call: &Call<'_>, params: &Params) -> Result<(), Error> {
        // SAFETY: the call has the parameters of its kernel. `Backend::launch` requires that their memory is this
        // device's. The stream lives as long as the context.
        unsafe { self.launch_in(self.context.stream(), call.info(), config, params) }
    }

    unsafe fn bare_launch(&self, launch: RecordedLaunch) -> Result<Box<dyn Executable>, Error> {
        self.context.enter()?;
        let function = self.prepare(launch.call.info(), launch.config)?.function;
        Ok(Box::new(BareGpuLaunch::new(function, launch, &self.context)))
    }

    unsafe fn graph(&self, work: Vec<Operation>) -> Result<Box<dyn Executable>, Error> {
        // SAFETY: `Backend::graph` has the same requirements.
        Ok(Box::new(unsafe { GpuGraph::new(self, &work) }?))
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.context.synchronize()
    }

    fn record(&self) -> Result<BackendEvent, Error> {
        GpuEvent::record(&self.context, self.context.stream())
    }

    unsafe fn finish(&self, event: &BackendEvent) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: `Backend::finish` requires an event of this device, whose context is current.
        unsafe { events::finish(&self.context, event) }
    }

    unsafe fn elapsed(&self, from: &BackendEvent, to: &BackendEvent) -> Result<Duration, Error> {
        // SAFETY: `Backend::elapsed` requires events of this device.
        unsafe { events::elapsed(&self.context, from, to) }
    }

    fn finish_uploads(&self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the default stream always exists.
        unsafe { sys::synchronize(sys::DEFAULT_STREAM) }
            .map_err(|code| self.context.error(code, || "synchronize".to_owned(), ""))
    }

    /// Returns a stream that does not wait for work enqueued in the device's own stream or the default stream.
    fn stream(&self) -> Result<Box<dyn BackendStream>, Error> {
        self.context.enter()?;
        Ok(Box::new(GpuStream::new(&self.context)?))
    }

    fn notify(&self, completion: Arc<Completion>) -> Result<(), Error> {
        self.context.notify(self.context.stream(), completion)
    }

    fn outcome(&self, code: u32) -> Result<(), Error> {
        match code {
            0 => Ok(()),
            code => Err(self.context.error(Code(code), || "finish the work of a queue".to_owned(), "")),
        }
    }
}

impl GpuDevice {
    fn cannot(&self, what: &str, bytes: usize, code: Code) -> Error {
        self.context.error(code, || format!("{what} {bytes} bytes"), "")
    }
}
