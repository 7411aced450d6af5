//! Devices: one face over a GPU and over the simulator.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cuda_std::{Call, DeviceId, Element, KernelInfo, LaunchConfig};
use simt::{Checks, Schedule, Simulator};

use crate::cuda::{self, GpuDevice};
use crate::error::Error;
use crate::limits::Limits;
use crate::simulated::{self, SimulatedDevice};
use crate::stream::{self, Stream};
use crate::{
    Buffer, DeviceChoice, Gpu, KernelResources, MappedBuffer, Occupancy, PinnedBuffer, Properties, PtxModule,
    Unavailable,
};

/// A GPU or the simulator. A handle: cheap to clone, and usable from several threads.
///
/// A GPU works through what it is asked in the order in which it was asked, by whichever thread.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    id: DeviceId,
    backend: Backend,
    /// Why it is not a GPU, if one was wanted.
    note: Option<String>,
}

/// What runs the work.
pub(crate) enum Backend {
    Simulated(SimulatedDevice),
    Gpu(GpuDevice),
}

/// The GPUs that the driver shows, in the order of their ordinals.
///
/// # Errors
///
/// Why there is none.
pub fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    cuda::gpus()
}

/// Simulated devices to test kernels on: each looks for data races and for reads of memory that nobody has written, and
/// runs blocks, warps and lanes in another order, all of [`Schedule::HOSTILE`].
///
/// The [crate's documentation](crate#testing-a-kernel) has an example.
pub fn checked_devices() -> impl Iterator<Item = Device> {
    Schedule::HOSTILE
        .into_iter()
        .map(|schedule| Device::simulated(Simulator::new().with_checks(Checks::default()).with_schedule(schedule)))
}

impl Device {
    /// Opens a device. On a GPU its kernels come from `modules`, each loaded when a kernel of it is first launched; the
    /// simulator needs none.
    ///
    /// [`DeviceChoice::Auto`] takes GPU 0 if its architecture and driver can run every module, else the simulator;
    /// [`summary`](Self::summary) says which and why.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if a GPU is asked for that cannot be used. `Auto` and `Sim` never fail.
    pub fn open(choice: DeviceChoice, modules: &'static [PtxModule]) -> Result<Device, Error> {
        match choice {
            DeviceChoice::Sim => Ok(Self::simulated(Simulator::new())),
            DeviceChoice::Gpu(ordinal) => GpuDevice::open(ordinal.unwrap_or(0), modules)
                .map(|gpu| Self::new(Backend::Gpu(gpu), None))
                .map_err(|reason| Error::NoDevice { choice, reason }),
            DeviceChoice::Auto => Ok(match GpuDevice::open(0, modules) {
                Ok(gpu) => Self::new(Backend::Gpu(gpu), None),
                Err(reason) => {
                    let what = if reason.is_absence() { "no GPU" } else { "the GPU cannot be used" };
                    let note = Some(format!("{what}: {reason}"));
                    Self::new(Backend::Simulated(SimulatedDevice::new(Simulator::new())), note)
                }
            }),
        }
    }

    /// A device of its own for `simulator`, whose order, checks, workers and output it keeps.
    pub fn simulated(simulator: Simulator) -> Device {
        Self::new(Backend::Simulated(SimulatedDevice::new(simulator)), None)
    }

    fn new(backend: Backend, note: Option<String>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let id = match backend {
            Backend::Simulated(_) => DeviceId::simulated(number),
            Backend::Gpu(_) => DeviceId::gpu(number),
        };
        Self(Arc::new(Inner { id, backend, note }))
    }

    #[inline]
    pub(crate) fn id(&self) -> DeviceId {
        self.0.id
    }

    #[inline]
    pub(crate) fn backend(&self) -> &Backend {
        &self.0.backend
    }

    /// Whether it is the simulator.
    pub fn is_simulated(&self) -> bool {
        matches!(self.backend(), Backend::Simulated(_))
    }

    /// "NVIDIA H200", or "simulator".
    pub fn name(&self) -> &str {
        match self.backend() {
            Backend::Simulated(_) => simulated::NAME,
            Backend::Gpu(gpu) => gpu.name(),
        }
    }

    /// One line: which device this is and, if a GPU was wanted, why it is none.
    ///
    /// "device: GPU 0, NVIDIA H200, sm_90, 132 SMs, 139.7 GiB" or "device: simulator on 2 cores (no GPU: libcuda.so.1 not
    /// found)".
    pub fn summary(&self) -> String {
        let description = match self.backend() {
            Backend::Simulated(simulated) => simulated.description(),
            Backend::Gpu(gpu) => gpu.description(),
        };
        match &self.0.note {
            Some(note) => format!("device: {description} ({note})"),
            None => format!("device: {description}"),
        }
    }

    /// What the device is.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn properties(&self) -> Result<Properties, Error> {
        match self.backend() {
            Backend::Simulated(simulated) => Ok(simulated.properties()),
            Backend::Gpu(gpu) => gpu.properties(),
        }
    }

    /// How many multiprocessors the GPU has, or cores the simulator uses. Asks nobody: it costs nothing.
    pub fn multiprocessors(&self) -> u32 {
        match self.backend() {
            Backend::Simulated(simulated) => simulated.multiprocessors(),
            Backend::Gpu(gpu) => gpu.multiprocessors(),
        }
    }

    /// Shared memory that a block may have at most, in bytes: static and dynamic together. A launch that needs more
    /// than the 48 KiB that every kernel may have needs nothing else said.
    pub fn max_dynamic_shared(&self) -> u32 {
        match self.backend() {
            Backend::Simulated(_) => Limits::SIMULATOR.shared_bytes,
            Backend::Gpu(gpu) => gpu.limits().shared_bytes,
        }
    }

    /// A buffer of `len` elements with unspecified contents.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::TooLarge`]; [`Error::ContextLost`] when a launch made before failed.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::new(self, len)
    }

    /// A buffer of `len` elements whose bytes are all zero.
    ///
    /// # Errors
    ///
    /// As for [`alloc`](Self::alloc).
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let mut buffer = self.alloc(len)?;
        buffer.fill_zero()?;
        Ok(buffer)
    }

    /// A buffer with the elements of `data`.
    ///
    /// # Errors
    ///
    /// As for [`alloc`](Self::alloc).
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        let mut buffer = self.alloc(data.len())?;
        buffer.upload(data)?;
        Ok(buffer)
    }

    /// `len` elements of page-locked host memory, whose bytes are all zero.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfPageLockedMemory`], [`Error::TooLarge`]; [`Error::ContextLost`] when a launch made before failed.
    pub fn pinned<T: Element>(&self, len: usize) -> Result<PinnedBuffer<T>, Error> {
        PinnedBuffer::new(self, len)
    }

    /// `len` elements of page-locked host memory that kernels access in place, whose bytes are all zero.
    ///
    /// # Errors
    ///
    /// As for [`pinned`](Self::pinned).
    pub fn mapped<T: Element>(&self, len: usize) -> Result<MappedBuffer<T>, Error> {
        MappedBuffer::new(self, len)
    }

    /// Runs a kernel: `call` once for every thread of `config`.
    ///
    /// The simulator returns when it has ended. A GPU returns at once, and the kernel runs after what was asked before;
    /// that it failed is then told by a later call that waits. The first launch of a module's kernels waits for the
    /// driver to compile the module.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidLaunch`] if the device cannot run such a launch, [`Error::WrongDevice`] if a view in `call` is of
    /// another device's memory. On a GPU, [`Error::NoModule`], [`Error::Jit`] or [`Error::PtxTooNew`] if there is no
    /// compiled kernel to run, and [`Error::ContextLost`] when a launch made before failed. On the simulator,
    /// [`Error::Fault`] if the kernel fails.
    #[inline]
    pub fn launch<F: Fn() + Sync>(&self, config: LaunchConfig, call: Call<F>) -> Result<(), Error> {
        self.check_views(&call)?;
        match self.backend() {
            Backend::Simulated(simulated) => simulated.launch(config, &call),
            // SAFETY: a `Call` holds what its kernel takes, and every view in it is of this device's memory.
            Backend::Gpu(gpu) => unsafe { gpu.launch(call.info(), config, call.params()) },
        }
    }

    /// Whether every view in `call` is of this device's memory.
    pub(crate) fn check_views<F: Fn() + Sync>(&self, call: &Call<F>) -> Result<(), Error> {
        if call.devices().iter().any(|&device| device != self.id()) {
            let what = format!("the launch of `{}`", call.info().name);
            return Err(Error::WrongDevice { what, device: self.name().to_owned() });
        }
        Ok(())
    }

    /// Runs `work` with `count` new streams, whose copies and kernels overlap where the device can.
    ///
    /// Before it, what was launched is done; at its end, also when it fails or panics, everything that the streams were
    /// asked is done. So it may borrow what is declared outside of it, as [`std::thread::scope`] does, and host memory that
    /// a stream reads or writes stays borrowed until it ends. What is asked of the device itself in the meantime
    /// ([`launch`](Self::launch), [`Buffer::download`], …) is not ordered with the streams.
    ///
    /// The [crate's documentation](crate#streams) has an example.
    ///
    /// # Errors
    ///
    /// The error of `work`; [`Error::ContextLost`] when a launch failed; whatever prevents the streams from being made.
    pub fn streams<'env, R>(
        &self,
        count: usize,
        work: impl for<'scope> FnOnce(&'scope [Stream<'scope, 'env>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        stream::scope(self, count, work)
    }

    /// Waits until everything asked so far is done. What kernels printed has then appeared.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        match self.backend() {
            Backend::Simulated(_) => Ok(()),
            Backend::Gpu(gpu) => gpu.synchronize(),
        }
    }

    /// How long the device takes for the `work` launched in that closure: by device events on a GPU (to about half a
    /// microsecond), by the clock on the wall for the simulator. Waits until the work is done.
    ///
    /// The GPU's time starts when it reaches this call, and so has in it what the host takes until the first launch, and
    /// to compile a module that is launched for the first time: warm up, and put enough work in one call.
    ///
    /// # Errors
    ///
    /// The error of `work`; [`Error::ContextLost`] when a launch failed.
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(R, Duration), Error> {
        match self.backend() {
            Backend::Simulated(_) => {
                let start = Instant::now();
                let result = work()?;
                Ok((result, start.elapsed()))
            }
            Backend::Gpu(gpu) => gpu.time(work),
        }
    }

    /// What `kernel` takes of the GPU. Loads its module if it is not loaded yet.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] on the simulator; else as for [`launch`](Self::launch).
    pub fn resources(&self, kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        match self.backend() {
            Backend::Simulated(_) => Err(self.has_no("registers to count")),
            Backend::Gpu(gpu) => gpu.resources(kernel),
        }
    }

    /// How many blocks of `block_threads` threads and `shared_bytes` bytes of dynamic shared memory an SM holds.
    ///
    /// # Errors
    ///
    /// As for [`resources`](Self::resources).
    pub fn occupancy(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<Occupancy, Error> {
        match self.backend() {
            Backend::Simulated(_) => Err(self.has_no("multiprocessors to occupy")),
            Backend::Gpu(gpu) => gpu.occupancy(kernel, block_threads, shared_bytes),
        }
    }

    fn has_no(&self, what: &'static str) -> Error {
        Error::NotSupported { what, device: format!("the {}", self.name()) }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.summary()).finish()
    }
}
