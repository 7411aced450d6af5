//! A GPU: its context, its stream, and what runs there.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use cuda_std::{Dim3, KernelInfo, LaunchConfig};
use cust::context::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamFlags};
use cust::sys::CUstream;

use super::bare::BareGpuLaunch;
use super::discovery::{fails, find_usable};
use super::memory::DeviceMemory;
use super::modules::Modules;
use super::page_locked::PageLockedMemory;
use super::streams::GpuStream;
use super::sys::{self, Code, DeviceAttribute, PageLock};
use crate::error::{Error, Launched};
use crate::limits::Limits;
use crate::module;
use crate::{CudaVersion, Gpu, KernelResources, Occupancy, Properties, PtxModule, Unavailable};

/// The most parameters, in slots of 8 bytes, that a launch passes: as many as a call holds.
const MAX_SLOTS: usize = 32;

/// A GPU, opened.
pub(crate) struct GpuDevice {
    context: Arc<Context>,
    limits: Limits,
    multiprocessors: u32,
    /// Threads in a warp, and threads that an SM holds.
    warp_size: u32,
    max_threads_per_multiprocessor: u32,
    modules: Modules,
}

/// What a GPU's memory needs to outlive the rest: the primary context of the device, and the stream in which everything
/// is done. The stream is one that the synchronous copies wait for.
pub(super) struct Context {
    gpu: Gpu,
    driver: CudaVersion,
    device: cust::device::Device,
    last_launch: Mutex<Option<Launched>>,
    lost: OnceLock<(Code, Option<Launched>)>,
    stream: Stream,
    /// Last, so that the stream is destroyed before.
    context: cust::context::Context,
}

impl GpuDevice {
    /// Opens the GPU of that ordinal, for the kernels of `modules`.
    pub(crate) fn open(ordinal: u32, modules: &'static [PtxModule]) -> Result<Self, Unavailable> {
        use DeviceAttribute as A;
        let (device, gpu, driver) = find_usable(ordinal, modules)?;
        let capability = gpu.compute_capability;
        let open = || {
            let read = |attribute| sys::device_attribute(device.as_raw(), attribute);
            let limits = Limits {
                grid: Dim3::new(
                    read(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                    read(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                    read(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
                ),
                block: Dim3::new(
                    read(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                    read(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                    read(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
                ),
                block_threads: read(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
                shared_bytes: read(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            };
            // `cust` does not say exactly what is wrong if it cannot have the context: ask for it first.
            sys::retain_context(device.as_raw())?;
            let context = cust::context::Context::new(device);
            // SAFETY: `context` has retained it, or is none. A failure to release only keeps it longer.
            let _ = unsafe { sys::release_context(device.as_raw()) };
            let context = context?;
            CurrentContext::set_current(&context)?;
            let stream = Stream::new(StreamFlags::DEFAULT, None)?;
            let last_launch = Mutex::new(None);
            let context = Context { gpu, driver, device, last_launch, lost: OnceLock::new(), stream, context };
            Ok(Self {
                context: Arc::new(context),
                limits,
                multiprocessors: read(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
                warp_size: read(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
                max_threads_per_multiprocessor: read(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
                modules: Modules::new(modules, capability, driver),
            })
        };
        open().map_err(|code: Code| fails(format!("open GPU {ordinal}"), code))
    }

    pub(crate) fn name(&self) -> &str {
        &self.context.gpu.name
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// "GPU 0, NVIDIA H200, sm_90, 132 SMs, 139.7 GiB".
    pub(crate) fn description(&self) -> String {
        let Gpu { ordinal, name, compute_capability, memory_bytes } = &self.context.gpu;
        let arch = module::arch(*compute_capability);
        let gib = *memory_bytes as f64 / (1_u64 << 30) as f64;
        format!("GPU {ordinal}, {name}, sm_{arch}, {} SMs, {gib:.1} GiB", self.multiprocessors)
    }

    pub(crate) fn properties(&self) -> Result<Properties, Error> {
        use DeviceAttribute as A;
        self.context.enter()?;
        let Gpu { name, compute_capability, memory_bytes, .. } = &self.context.gpu;
        let properties = || {
            let read = |attribute| sys::device_attribute(self.context.device.as_raw(), attribute);
            // A newer driver may have stopped telling, and then says 0.
            let mhz = |attribute| read(attribute).map(|khz| Some(khz / 1000).filter(|&mhz| mhz > 0));
            Ok(Properties {
                name: name.clone(),
                compute_capability: Some(*compute_capability),
                driver: Some(self.context.driver),
                multiprocessors: self.multiprocessors,
                warp_size: self.warp_size,
                memory_bytes: *memory_bytes,
                memory_free_bytes: sys::memory_info()?.0 as u64,
                memory_bus_bits: Some(read(A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?),
                memory_clock_mhz: mhz(A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
                clock_mhz: mhz(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
                l2_bytes: Some(read(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into()),
                shared_bytes_per_block: read(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
                shared_bytes_per_block_optin: self.limits.shared_bytes,
                shared_bytes_per_multiprocessor: Some(read(
                    A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
                )?),
                registers_per_block: Some(read(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?),
                registers_per_multiprocessor: Some(read(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?),
                max_threads_per_block: self.limits.block_threads,
                max_threads_per_multiprocessor: Some(self.max_threads_per_multiprocessor),
            })
        };
        properties().map_err(|code: Code| self.context.error(code, || format!("describe {}", self.name()), ""))
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<DeviceMemory, Error> {
        DeviceMemory::new(&self.context, bytes)
    }

    pub(crate) fn page_lock(&self, bytes: usize, lock: PageLock) -> Result<PageLockedMemory, Error> {
        PageLockedMemory::new(&self.context, bytes, lock)
    }

    /// New streams, in which nothing waits for what is asked outside of them. What was asked before is done.
    pub(crate) fn streams(&self, count: usize) -> Result<Vec<GpuStream>, Error> {
        self.synchronize()?;
        // A copy of pageable memory may have returned before the last of it was on the device.
        // SAFETY: the default stream is always there.
        unsafe { sys::synchronize(sys::DEFAULT_STREAM) }
            .map_err(|code| self.context.error(code, || "synchronize".to_owned(), ""))?;
        (0..count).map(|_| GpuStream::new(&self.context)).collect()
    }

    /// Launches `kernel` with the parameters in `slots`, after what was launched before.
    ///
    /// # Safety
    /// `slots` must hold what the kernel takes, and the memory that they name must be of this device. It may be freed at
    /// any time: freeing waits for the kernel.
    pub(crate) unsafe fn launch(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &[u64],
    ) -> Result<(), Error> {
        // SAFETY: the caller's word; the stream lives as long as the context.
        unsafe { self.launch_in(self.context.stream(), kernel, config, slots) }
    }

    /// As [`launch`](Self::launch), in the order of `stream`.
    ///
    /// # Safety
    /// As for [`launch`](Self::launch), but that the memory must not be freed until the kernel has ended; `stream` must
    /// be of this device.
    pub(crate) unsafe fn launch_in_stream(
        &self,
        stream: &GpuStream,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &[u64],
    ) -> Result<(), Error> {
        // SAFETY: the caller's word; the stream lives.
        unsafe { self.launch_in(stream.raw(), kernel, config, slots) }
    }

    /// # Safety
    /// As for the two above; `stream` must exist.
    #[inline]
    unsafe fn launch_in(
        &self,
        stream: CUstream,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &[u64],
    ) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the caller's word; the context is current.
        unsafe { self.enqueue(stream, kernel, config, slots) }?;
        self.context.note(Launched::new(kernel, config));
        Ok(())
    }

    /// Loads `kernel` if it is not loaded yet, and finds out whether it can be launched with `config`.
    pub(crate) fn prepare(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<(), Error> {
        self.context.enter()?;
        self.modules.prepare(&self.context, kernel, config, &self.limits).map(drop)
    }

    /// A launch that is all made but for the driver's part, in the device's own stream.
    pub(crate) fn bare_launch(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &[u64],
    ) -> Result<BareGpuLaunch, Error> {
        self.context.enter()?;
        let function = self.modules.prepare(&self.context, kernel, config, &self.limits)?;
        Ok(BareGpuLaunch::new(function, kernel, config, slots, &self.context))
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Asks `stream` for the launch, or the graph that is being captured there.
    ///
    /// # Safety
    /// As for [`launch_in`](Self::launch_in), or whenever the graph is launched; the context must be current.
    #[inline]
    pub(super) unsafe fn enqueue(
        &self,
        stream: CUstream,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &[u64],
    ) -> Result<(), Error> {
        let invalid = |reason| Error::InvalidLaunch { launch: Launched::new(kernel, config), reason };
        let mut parameters = [std::ptr::null_mut::<c_void>(); MAX_SLOTS];
        let Some(parameters) = parameters.get_mut(..slots.len()) else {
            return Err(invalid(format!("it has {} parameters, and {MAX_SLOTS} can be passed", slots.len())));
        };
        for (parameter, slot) in parameters.iter_mut().zip(slots) {
            // The driver only reads a parameter.
            *parameter = std::ptr::from_ref(slot).cast_mut().cast();
        }
        let function = self.modules.prepare(&self.context, kernel, config, &self.limits)?;
        // SAFETY: the module stays loaded as long as `self`; there is a parameter for each slot, and what the slots hold
        // is the caller's word.
        unsafe { sys::launch(function, config, stream, parameters) }.map_err(|code| match code {
            Code::LAUNCH_OUT_OF_RESOURCES => {
                invalid("a block needs more registers than an SM has; use fewer threads a block".to_owned())
            }
            code => self.context.error(code, || format!("launch {}", Launched::new(kernel, config)), ""),
        })
    }

    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.context.synchronize()
    }

    pub(crate) fn time<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(R, Duration), Error> {
        let cannot =
            |error: cust::error::CudaError| self.context.error(error.into(), || "time a launch".to_owned(), "");
        self.context.enter()?;
        let start = Event::new(EventFlags::DEFAULT).map_err(cannot)?;
        let stop = Event::new(EventFlags::DEFAULT).map_err(cannot)?;
        start.record(&self.context.stream).map_err(cannot)?;
        let result = work()?;
        // The work may have used another device.
        self.context.enter()?;
        stop.record(&self.context.stream).map_err(cannot)?;
        self.synchronize()?;
        let milliseconds = stop.elapsed_time_f32(&start).map_err(cannot)?;
        Ok((result, Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default()))
    }

    pub(crate) fn resources(&self, kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        self.context.enter()?;
        self.modules.resources(&self.context, kernel)
    }

    pub(crate) fn occupancy(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<Occupancy, Error> {
        self.context.enter()?;
        let config = LaunchConfig::new(1, block_threads).shared_bytes(shared_bytes);
        self.modules.prepare(&self.context, kernel, config, &self.limits)?;
        let blocks = self.modules.blocks_per_sm(&self.context, kernel, block_threads, shared_bytes)?;
        Ok(Occupancy {
            blocks_per_multiprocessor: blocks,
            active_warps: blocks * block_threads.div_ceil(self.warp_size.max(1)),
            max_warps: self.max_threads_per_multiprocessor / self.warp_size.max(1),
        })
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        if self.context.set_current().is_ok() {
            self.modules.clear();
        }
    }
}

impl Context {
    /// Makes the context that of the calling thread, unless it is lost.
    #[inline]
    pub(super) fn enter(&self) -> Result<(), Error> {
        if let Some(&(code, launch)) = self.lost.get() {
            return Err(context_lost(code, launch));
        }
        self.set_current().map_err(|code| self.error(code, || format!("use {}", self.gpu.name), ""))
    }

    /// The thread's context may have been changed by whoever else uses the driver, so that the driver is asked; that costs
    /// less than setting it.
    fn set_current(&self) -> Result<(), Code> {
        match sys::current_context() {
            Ok(current) if current == self.context.as_raw() => Ok(()),
            _ => CurrentContext::set_current(&self.context).map_err(Code::from),
        }
    }

    pub(super) fn stream(&self) -> CUstream {
        self.stream.as_inner()
    }

    /// Waits for everything in the device's own stream.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the stream lives as long as this.
        unsafe { sys::synchronize(self.stream()) }.map_err(|code| self.error(code, || "synchronize".to_owned(), ""))
    }

    /// "GPU 0, NVIDIA H200".
    pub(super) fn device_name(&self) -> String {
        format!("GPU {}, {}", self.gpu.ordinal, self.gpu.name)
    }

    pub(super) fn note(&self, launch: Launched) {
        *self.last_launch.lock().unwrap_or_else(PoisonError::into_inner) = Some(launch);
    }

    /// The error that is the driver's answer to what it was asked, or to a launch made before.
    pub(super) fn error(&self, code: Code, what: impl FnOnce() -> String, remedy: &'static str) -> Error {
        if code.loses_context() {
            let launch = *self.last_launch.lock().unwrap_or_else(PoisonError::into_inner);
            let &(code, launch) = self.lost.get_or_init(|| (code, launch));
            return context_lost(code, launch);
        }
        let (name, text) = code.explain();
        Error::Driver { what: what(), code: code.0, name, text, remedy }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The stream is destroyed next, in the thread's context.
        let _ = self.set_current();
    }
}

fn context_lost(code: Code, launch: Option<Launched>) -> Error {
    let (name, text) = code.explain();
    Error::ContextLost { launch, code: code.0, name, text }
}
