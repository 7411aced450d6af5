//! Devices: one face over a GPU and over the simulator.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use cuda_std::{Call, DeviceId, KernelInfo, LaunchConfig, Params};
use simt::{Checks, Schedule, Simulator};

use crate::backend::Backend;
use crate::choice::DeviceChoice;
use crate::cuda;
use crate::error::{Error, Launched};
use crate::module::PtxModule;
use crate::ordering::{self, Actor, StreamAccess, StreamWork};
use crate::properties::{Gpu, KernelResources, Occupancy, Properties};
use crate::simulated::SimulatedDevice;
use crate::unavailable::Unavailable;

/// A GPU or the simulator. A handle: cheap to clone, and usable from several threads.
///
/// A GPU works through what it is asked in the order in which it was asked, by whichever thread.
#[derive(Clone)]
pub struct Device(Arc<Inner<dyn Backend>>);

struct Inner<B: ?Sized> {
    id: DeviceId,
    /// Why it is not a GPU, if one was wanted.
    note: Option<String>,
    /// Its own queue beside streams, where it checks.
    queue: Option<Actor>,
    backend: B,
}

impl<B: ?Sized> Drop for Inner<B> {
    fn drop(&mut self) {
        self.queue.into_iter().for_each(Actor::end);
    }
}

/// The GPUs that the driver shows, in the order of their ordinals.
///
/// # Errors
///
/// Why there is none.
pub fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    cuda::gpus()
}

/// Calls `work`, which opens the GPU of `choice`, and has the driver compile `kernels` for that GPU meanwhile. Opening
/// a GPU takes about as long as compiling a kernel. A launch waits for its own kernel alone.
///
/// `kernels` returns the kernels to compile for a GPU with so many multiprocessors; [`Device::kernels_of`] lists those
/// of any work, on the simulator too. It is called for 132 multiprocessors while the driver starts, so that the
/// kernels' PTX is ready then, and again if the GPU has another number. Without a driver it is not called. If a kernel
/// cannot be compiled, its launch returns the error.
pub fn compile_beside<T>(
    choice: DeviceChoice,
    modules: &'static [PtxModule],
    kernels: impl Fn(u32) -> Vec<&'static KernelInfo> + Send,
    work: impl FnOnce() -> T,
) -> T {
    let ordinal = match choice {
        DeviceChoice::Sim => return work(),
        DeviceChoice::Gpu(ordinal) => ordinal.unwrap_or(0),
        DeviceChoice::Auto => 0,
    };
    thread::scope(|scope| {
        // If there is no thread to be had, kernels are compiled when they are launched.
        let _ = thread::Builder::new().spawn_scoped(scope, move || cuda::compile(ordinal, modules, kernels));
        work()
    })
}

/// Simulated devices to test kernels on: each looks for data races and for reads of memory that nobody has written, and
/// runs blocks, warps and lanes in another order, all of [`Schedule::HOSTILE`].
///
/// The [crate's documentation](crate#testing-a-kernel) has an example.
pub fn checked_devices() -> impl Iterator<Item = Device> {
    devices_that_check(Checks::default())
}

/// As [`checked_devices`], for which nothing counts but what CUDA's documentation promises: shuffles and votes order no
/// memory ([`Checks::STRICT`]). That warps of a block come to a barrier by different calls is no fault there: a warning says so,
/// on the standard error.
pub fn checked_devices_strict() -> impl Iterator<Item = Device> {
    devices_that_check(Checks::STRICT)
}

fn devices_that_check(checks: Checks) -> impl Iterator<Item = Device> {
    let simulator = Simulator::new().with_checks(checks);
    Schedule::HOSTILE.into_iter().map(move |schedule| Device::simulated(simulator.clone().with_schedule(schedule)))
}

impl Device {
    /// Opens a device. A GPU's kernels come from `modules`: the driver compiles each kernel when it is first launched,
    /// or before that by [`load`](Self::load) or [`compile_beside`]. The simulator needs no modules.
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
            DeviceChoice::Gpu(ordinal) => cuda::open(ordinal.unwrap_or(0), modules)
                .map(|gpu| Self::new(gpu, DeviceId::gpu, None))
                .map_err(|reason| Error::NoDevice { choice: choice.into(), reason }),
            DeviceChoice::Auto => Ok(match cuda::open(0, modules) {
                Ok(gpu) => Self::new(gpu, DeviceId::gpu, None),
                Err(reason) => {
                    let what = if reason.is_absence() { "no GPU" } else { "the GPU cannot be used" };
                    let note = Some(format!("{what}: {reason}"));
                    Self::new(SimulatedDevice::new(Simulator::new()), DeviceId::simulated, note)
                }
            }),
        }
    }

    /// A device of its own for `simulator`, whose order, checks, workers and output it keeps.
    pub fn simulated(simulator: Simulator) -> Device {
        Self::simulated_with(simulator, None)
    }

    /// As [`simulated`](Self::simulated), with at most so many bytes of memory.
    pub(crate) fn simulated_with(simulator: Simulator, bytes: Option<usize>) -> Device {
        Self::new(SimulatedDevice::new(simulator).with_memory(bytes), DeviceId::simulated, None)
    }

    fn new(backend: impl Backend + 'static, id: fn(u32) -> DeviceId, note: Option<String>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let queue = backend.checks_streams().then(Actor::begin);
        Self(Arc::new(Inner { id: id(NEXT.fetch_add(1, Ordering::Relaxed)), note, queue, backend }))
    }

    #[inline]
    pub(crate) fn id(&self) -> DeviceId {
        self.0.id
    }

    #[inline]
    pub(crate) fn backend(&self) -> &dyn Backend {
        &self.0.backend
    }

    /// The device's own queue, where it checks.
    pub(crate) fn queue_actor(&self) -> Option<Actor> {
        self.0.queue
    }

    /// Notes that the host waits for all that the device was asked, but for what streams were.
    #[inline]
    pub(crate) fn note_waits(&self) {
        if let Some(queue) = self.0.queue {
            queue.synchronize();
        }
    }

    /// Whether it is the simulator.
    pub fn is_simulated(&self) -> bool {
        self.id().is_simulated()
    }

    /// "NVIDIA H200", or "simulator".
    pub fn name(&self) -> &str {
        self.backend().name()
    }

    /// One line: which device this is and, if a GPU was wanted, why it is none.
    ///
    /// "device: GPU 0, NVIDIA H200, sm_90, 132 SMs, 139.7 GiB" or "device: simulator on 2 cores (no GPU: libcuda.so.1 not
    /// found)".
    pub fn summary(&self) -> String {
        let description = self.backend().description();
        match self.why_no_gpu() {
            Some(note) => format!("device: {description} ({note})"),
            None => format!("device: {description}"),
        }
    }

    /// Why it is the simulator, where [`DeviceChoice::Auto`] would rather have had a GPU: "no GPU: libcuda.so.1 not found".
    pub fn why_no_gpu(&self) -> Option<&str> {
        self.0.note.as_deref()
    }

    /// What the device is.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn properties(&self) -> Result<Properties, Error> {
        self.backend().properties()
    }

    /// How many multiprocessors the GPU has, or cores the simulator uses. Asks nobody: it costs nothing.
    pub fn multiprocessors(&self) -> u32 {
        self.backend().multiprocessors()
    }

    /// Shared memory that a block may have at most, in bytes: static and dynamic together. A launch that needs more
    /// than the 48 KiB that every kernel may have needs nothing else said.
    pub fn max_dynamic_shared(&self) -> u32 {
        self.backend().max_shared_bytes()
    }

    /// Runs a kernel: `call` once for every thread of `config`.
    ///
    /// The simulator returns when the kernel has ended. A GPU returns at once, and runs the kernel after what was asked
    /// before; if the kernel fails, a later call that waits returns the error.
    ///
    /// The first launch of a kernel on a GPU waits until the driver has compiled that kernel, but not the others of its
    /// module. [`load`](Self::load) and [`compile_beside`] compile kernels before they are launched. A kernel that uses
    /// a `static`, or whose PTX has debugging information, is compiled with its whole module.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidLaunch`] if the device cannot run such a launch, or if a reference is passed no view of one element, [`Error::WrongDevice`] if a view in `call` is of
    /// another device's memory. On a GPU, [`Error::NoModule`], [`Error::Jit`] or [`Error::PtxTooNew`] if there is no
    /// compiled kernel to run, and [`Error::ContextLost`] when a launch made before failed. On the simulator,
    /// [`Error::Fault`] if the kernel fails, and [`Error::StreamRace`] where the device checks.
    #[inline]
    #[track_caller]
    pub fn launch(&self, config: LaunchConfig, call: Call<'_>) -> Result<(), Error> {
        let mut params = Params::new();
        self.encode(config, &call, &mut params)?;
        let launch = || {
            // SAFETY: every view in the call is of this device's memory.
            unsafe { self.backend().launch(config, &call, &params) }
        };
        match self.0.queue {
            Some(queue) if Actor::are_streams_open() => {
                let told = StreamAccess::new(StreamWork::Launch(call.info()), None, Location::caller());
                let reader = self.backend().streams(1)?;
                // SAFETY: as above.
                unsafe { ordering::launch(queue, &*reader[0], told, params.regions().as_slice(), launch) }
            }
            _ => launch(),
        }
    }

    /// Appends the parameters of `call` to `params`, if every view in it is of this device's memory.
    pub(crate) fn encode(&self, config: LaunchConfig, call: &Call<'_>, params: &mut Params) -> Result<(), Error> {
        call.encode(params);
        if let Some(name) = params.missing() {
            let reason = format!("`{name}` is a reference to one element: pass a view that has exactly one");
            return Err(Error::InvalidLaunch { launch: Launched::new(call.info(), config), reason });
        }
        if params.devices().iter().any(|&device| device != self.id()) {
            let what = format!("the launch of `{}`", call.info().name);
            return Err(Error::WrongDevice { what, device: self.name().to_owned() });
        }
        Ok(())
    }

    /// Waits until everything asked so far is done. What kernels printed has then appeared.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.note_waits();
        self.backend().synchronize()
    }

    /// How long the device takes for the `work` launched in that closure: by device events on a GPU (to about half a
    /// microsecond), by the clock on the wall for the simulator. Waits until the work is done.
    ///
    /// The GPU's time starts when it reaches this call. It includes the time that the host takes until the first
    /// launch, and that the driver takes to compile a kernel at its first launch: warm up, and put enough work in one
    /// call.
    ///
    /// # Errors
    ///
    /// The error of `work`; [`Error::ContextLost`] when a launch failed.
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(R, Duration), Error> {
        let start = self.backend().record()?;
        let result = work()?;
        let end = self.backend().record()?;
        self.synchronize()?;
        // SAFETY: this device recorded both.
        let time = unsafe { self.backend().elapsed(&start, &end) }?;
        Ok((result, time))
    }

    /// Returns the registers and the memory that `kernel` takes on the GPU, whose driver compiles it first where it has
    /// not yet.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] on the simulator; else as for [`launch`](Self::launch).
    pub fn resources(&self, kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        self.backend().resources(kernel)
    }

    /// How many blocks of `block_threads` threads and `shared_bytes` bytes of dynamic shared memory a cooperative launch of
    /// `kernel` may have ([`LaunchConfig::cooperative`]): those that run at the same time, and so may meet at a
    /// `cuda_std::grid::sync`. The simulator takes more; this is what a plan should ask for.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidLaunch`] if the device cannot run such blocks at all; else as for [`resources`](Self::resources), but for
    /// the simulator.
    pub fn most_cooperative_blocks(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Error> {
        self.backend().most_cooperative_blocks(kernel, block_threads, shared_bytes)
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
        self.backend().occupancy(kernel, block_threads, shared_bytes)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.summary()).finish()
    }
}
