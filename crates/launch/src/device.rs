//! Devices: one interface for GPUs and for the simulator.
//!
//! # Design
//!
//! Code that uses this crate is the same for every device. A plan (the grid, blocks and launches for a problem) queries
//! the device's properties: multiprocessors, shared memory, free memory, blocks that run at once. Callers use
//! `Device::is_simulated` only for these reasons:
//!
//! - The simulator is slower: default sizes are smaller, and tasks that keep one block busy for a long time are
//!   omitted.
//! - A simulated launch is cheap and simulated work is expensive. The default kernel of an algorithm may therefore
//!   differ, and a copy may have fewer blocks.
//! - The simulator's times mean nothing. Commands therefore make fewer runs, do not flush caches and do not tune.
//!   Commands that only measure a GPU refuse the simulator or print that it was used.
//! - Simulated device memory is host memory. A program that needs both therefore adds the two sizes.
//! - Reports and recorded runs state the kind of device.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cuda_std::{Call, DeviceId, KernelInfo, LaunchConfig, Params};

use crate::backend::Backend;
use crate::error::{Error, Launched};
use crate::open_stream::Queues;
use crate::ordering::{self, Actor, StreamAccess, StreamWork};
use crate::properties::{KernelResources, Occupancy, Properties};

/// A GPU or the simulator. Cloning a device is cheap, and several threads may use it.
///
/// A GPU executes the work of all threads in the order in which it is enqueued.
///
/// # Methods of other crates
///
/// The algorithms of the crate `gridstride` are methods of a device, too. `use gridstride::prelude::*;` imports the
/// traits that add them, and that crate documents them:
///
/// | trait | methods |
/// |---|---|
/// | `ReduceExt` | `reduce`, `sum_as`, `arg_min`, `arg_max` |
/// | `ScanExt` | `scan_inclusive`, `scan_exclusive` |
/// | `SortExt` | `sort`, `sort_with`, `sorted`, `sort_into`, `sort_pairs`, `argsort`, `top_k` |
/// | `SortExt` | `sort_by_fields`, `sort_segments` |
/// | `MergeSortExt` | `sort_by`, `sorted_by`, `merge_by` |
/// | `SelectExt` | `select`, `select_flagged`, `partition`, `unique`, `run_length_encode` |
/// | `ByKeyExt` | `reduce_by_key`, `scan_by_key_inclusive`, `scan_by_key_exclusive` |
/// | `SegmentsExt` | `reduce_segments`, `scan_segments_inclusive`, `scan_segments_exclusive` |
/// | `MatmulExt` | `matmul` |
/// | `HistogramExt` | `histogram` |
/// | `TransposeExt` | `transpose` |
/// | `SaxpyExt` | `saxpy` |
/// | `ScaleExt` | `scale` |
///
/// `LifeExt` of the crate `life` adds `life`.
#[derive(Clone)]
pub struct Device(Arc<Inner<dyn Backend>>);

struct Inner<B: ?Sized> {
    id: DeviceId,
    /// The reason why this device is not a GPU, if `Auto` chose the simulator.
    note: Option<String>,
    queues: Queues<B>,
}

impl Device {
    /// Returns the device for an open GPU.
    pub(crate) fn of_gpu(gpu: impl Backend + 'static) -> Self {
        Self::new(gpu, DeviceId::gpu, None)
    }

    /// Returns the device of `backend`, with a new number. `note` is the reason why the device is not a GPU.
    pub(crate) fn new(backend: impl Backend + 'static, id: fn(u32) -> DeviceId, note: Option<String>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self(Arc::new(Inner { id: id(NEXT.fetch_add(1, Ordering::Relaxed)), note, queues: Queues::new(backend) }))
    }

    #[inline]
    pub(crate) fn id(&self) -> DeviceId {
        self.0.id
    }

    #[inline]
    pub(crate) fn backend(&self) -> &dyn Backend {
        &self.0.queues.backend
    }

    /// Returns the actor in the race checker that represents the device's own queue, or `None` if the device does not
    /// check streams.
    #[inline]
    pub(crate) fn queue_actor(&self) -> Option<Actor> {
        self.0.queues.actor
    }

    #[inline]
    pub(crate) fn queues(&self) -> &Queues<dyn Backend> {
        &self.0.queues
    }

    /// Records in the race checker that the host waits for all work of the device, except work in streams.
    #[inline]
    pub(crate) fn note_waits(&self) {
        if let Some(queue) = self.queue_actor() {
            queue.synchronize();
        }
    }

    /// Returns `true` if this device is the simulator.
    pub fn is_simulated(&self) -> bool {
        self.id().is_simulated()
    }

    /// Returns the device's name: "NVIDIA H200", or "simulator".
    pub fn name(&self) -> &str {
        self.backend().name()
    }

    /// Returns a description of the device in one line. If `Auto` could not use a GPU, the line says why.
    ///
    /// Examples: "device: GPU 0, NVIDIA H200, sm_90, 132 SMs, 139.7 GiB" or "device: simulator on 2 cores (no GPU:
    /// libcuda.so.1 not found)".
    pub fn summary(&self) -> String {
        let description = self.backend().description();
        match self.why_no_gpu() {
            Some(note) => format!("device: {description} ({note})"),
            None => format!("device: {description}"),
        }
    }

    /// Returns the reason why [`DeviceChoice::Auto`](crate::DeviceChoice::Auto) opened the simulator instead of a GPU,
    /// such as "no GPU: libcuda.so.1 not found".
    pub fn why_no_gpu(&self) -> Option<&str> {
        self.0.note.as_deref()
    }

    /// Returns the properties of the device.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn properties(&self) -> Result<Properties, Error> {
        self.backend().properties()
    }

    /// Returns the GPU's number of multiprocessors, or the number of cores that the simulator uses. The value is
    /// cached.
    pub fn multiprocessors(&self) -> u32 {
        self.backend().multiprocessors()
    }

    /// Returns the maximum number of bytes of shared memory, static and dynamic together, that a block may use. For a
    /// launch that needs more than 48 KiB, [`launch`](Self::launch) raises the kernel's limit.
    pub fn max_dynamic_shared(&self) -> u32 {
        self.backend().max_shared_bytes()
    }

    /// Sets the size of the heap from which kernels allocate (`Box`, `Vec`), in bytes. A GPU's heap has 8 MiB if this
    /// is never called. The driver may round the size up, and takes the memory when it loads the first kernel that
    /// allocates. All devices that this process opens on the same GPU share the heap.
    ///
    /// On a GPU, a kernel whose allocation fails ends with a trap, and memory that a kernel does not free stays
    /// allocated until the device is closed. The simulator ignores this setting: simulated threads allocate from the
    /// host's memory, without a limit of their own.
    ///
    /// # Errors
    ///
    /// On a GPU: [`Error::Driver`] if a kernel that allocates has been launched, or if the GPU does not have this much
    /// memory; [`Error::ContextLost`] when an earlier launch failed.
    pub fn set_heap_bytes(&self, bytes: usize) -> Result<(), Error> {
        self.backend().set_heap_bytes(bytes)
    }

    /// Launches a kernel: each thread of `config` runs `call` once.
    ///
    /// In the simulator this function returns when the kernel has ended. On a GPU it returns at once, and the kernel
    /// runs after the earlier work. If the kernel fails on a GPU, a later call that waits returns the error.
    ///
    /// The first launch of a kernel on a GPU waits until the driver has compiled that kernel, but not the others of its
    /// module. [`load`](Self::load), [`compile_all`](Self::compile_all) and [`compile_beside`](crate::compile_beside)
    /// compile kernels before they are launched. Kernels of a module that use a `static` are compiled together, with
    /// debugging information all.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidLaunch`] if `config` exceeds a limit of the device or kernel, or if the view for a reference
    /// parameter does not have exactly one element. [`Error::WrongDevice`] if a view in `call` points to another
    /// device's memory.
    ///
    /// On a GPU: [`Error::NoModule`], [`Error::Jit`] or [`Error::PtxTooNew`] if there is no compiled kernel to run;
    /// [`Error::ContextLost`] when an earlier launch failed. On the simulator: [`Error::Fault`] if the kernel fails;
    /// [`Error::StreamRace`] if the device checks streams and finds a race.
    #[inline]
    #[track_caller]
    pub fn launch(&self, config: LaunchConfig, call: Call<'_>) -> Result<(), Error> {
        let mut params = Params::new();
        self.encode(config, &call, &mut params)?;
        let launch = || {
            // SAFETY: `encode` has checked that every view in the call points to this device's memory.
            unsafe { self.backend().launch(config, &call, &params) }
        };
        match self.queue_actor() {
            Some(queue) if Actor::are_streams_open() => {
                let stream_access = StreamAccess::new(StreamWork::Launch(call.info()), None, Location::caller());
                let reader = self.backend().stream()?;
                // SAFETY: `encode` has checked that every region is of this device's memory.
                unsafe { ordering::launch(queue, &*reader, stream_access, params.regions().as_slice(), launch) }
            }
            _ => launch(),
        }
    }

    /// Appends the parameters of `call` to `params`. Returns an error if a view in `call` points to another device's
    /// memory.
    pub(crate) fn encode(&self, config: LaunchConfig, call: &Call<'_>, params: &mut Params) -> Result<(), Error> {
        call.encode(params);
        if let Some(name) = params.missing() {
            let reason = format!("`{name}` is a reference to one element: pass a view that has exactly one");
            return Err(Error::InvalidLaunch { launch: Launched::new(call.info(), config), reason });
        }
        if let Some(&other) = params.devices().iter().find(|&&device| device != self.id()) {
            return Err(Error::wrong_device(other, format!("the launch of `{}`", call.info().name), self.name()));
        }
        Ok(())
    }

    /// Waits until everything enqueued so far is done and the output of its kernels is printed. This includes the work
    /// of every [`OwnedStream`](crate::OwnedStream), but not the work of streams in a scope.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.queues().join_streams()?;
        self.note_waits();
        self.backend().synchronize()
    }

    /// Runs `work`, waits for the launches that it makes, and returns its result with the time that the device took. On
    /// a GPU, device events measure the time to about half a microsecond; in the simulator it is wall-clock time.
    ///
    /// On a GPU the time starts when the earlier work is done. The time includes the host's work until the first
    /// launch, and the driver's compilation of kernels that are launched for the first time. For a useful measurement,
    /// warm up first and enqueue enough work.
    ///
    /// # Errors
    ///
    /// The error that `work` returns; [`Error::ContextLost`] when a launch failed.
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(R, Duration), Error> {
        let start = self.backend().record()?;
        let result = work()?;
        let end = self.backend().record()?;
        self.synchronize()?;
        // SAFETY: this device recorded both events.
        let time = unsafe { self.backend().elapsed(&start, &end) }?;
        Ok((result, time))
    }

    /// Returns the registers and the memory that `kernel` uses on the GPU. The driver compiles the kernel if necessary.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] on the simulator; otherwise the same errors as [`launch`](Self::launch).
    pub fn resources(&self, kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        self.backend().resources(kernel)
    }

    /// Returns the maximum number of blocks in a cooperative launch of `kernel` ([`LaunchConfig::cooperative`]). All
    /// blocks of such a launch run at the same time, so that all can wait in a `cuda_std::grid::sync`. Each block has
    /// `block_threads` threads and `shared_bytes` bytes of dynamic shared memory.
    ///
    /// The simulator accepts larger launches, but a plan should use this number.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidLaunch`] if the device cannot run such blocks at all. On a GPU also as for
    /// [`resources`](Self::resources).
    pub fn max_cooperative_blocks(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Error> {
        self.backend().max_cooperative_blocks(kernel, block_threads, shared_bytes)
    }

    /// Returns the number of clusters of `config` that the device runs at the same time, for launches of `kernel`. It
    /// is 0 if the device has no clusters, or cannot run a cluster of so many of these blocks. `config.grid` does not
    /// count.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidLaunch`] if the configuration is invalid on every device. On a GPU also as for
    /// [`resources`](Self::resources).
    pub fn max_active_clusters(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<u32, Error> {
        let config = config.for_kernel(kernel);
        self.backend().max_active_clusters(kernel, LaunchConfig { grid: config.cluster, ..config })
    }

    /// Returns how many blocks of `kernel` can be resident on a multiprocessor at once, if each block has
    /// `block_threads` threads and `shared_bytes` bytes of dynamic shared memory.
    ///
    /// # Errors
    ///
    /// The same errors as [`resources`](Self::resources).
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
