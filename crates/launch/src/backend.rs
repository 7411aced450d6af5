//! What a back end does: the one face of the GPU and of the simulator.

use std::any::{Any, TypeId};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::time::Duration;

use cuda_std::{Call, DeviceStatic, KernelInfo, LaunchConfig, Params};

use crate::error::Error;
use crate::properties::{KernelResources, Occupancy, Properties};
use crate::work::{RecordedLaunch, Work};

/// Bytes of what another process opens memory or an event by.
pub(crate) const HANDLE_BYTES: usize = 64;

/// Does a device's work, in the order in which it is asked for it.
///
/// It takes addresses as they are: that the memory is its own, and stays as long as it is used, is the caller's word.
pub(crate) trait Backend: Any + Ipc + Send + Sync {
    /// "NVIDIA H200", or "simulator".
    fn name(&self) -> &str;

    /// What [`Device::summary`](crate::Device::summary) says of it.
    fn description(&self) -> String;

    fn properties(&self) -> Result<Properties, Error>;

    fn multiprocessors(&self) -> u32;

    /// Shared memory that a block may have, in bytes: static and dynamic together.
    fn max_shared_bytes(&self) -> u32;

    /// What `kernel` takes.
    fn resources(&self, kernel: &'static KernelInfo) -> Result<KernelResources, Error>;

    /// How many blocks of so many threads and bytes of dynamic shared memory a multiprocessor holds.
    fn occupancy(&self, kernel: &'static KernelInfo, block_threads: u32, shared_bytes: u32)
    -> Result<Occupancy, Error>;

    /// How many blocks of so many threads and bytes of dynamic shared memory a cooperative launch may have.
    fn most_cooperative_blocks(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Error>;

    /// Memory of `bytes` bytes, at least one, for kernels, with unspecified contents.
    fn allocate(&self, bytes: usize) -> Result<Allocated, Error>;

    /// As [`allocate`](Self::allocate), and whether it is new: if not, it is as one that was allocated for the same
    /// type, of as many bytes, has been left.
    fn allocate_workspace(&self, bytes: usize, _of: TypeId) -> Result<(Allocated, bool), Error> {
        Ok((self.allocate(bytes)?, true))
    }

    /// Memory of the host of `bytes` bytes, at least one, that the operating system leaves where it is.
    fn page_lock(&self, bytes: usize, purpose: PageLock) -> Result<Allocated, Error>;

    /// Copies `from` to the device. Waits until it is done.
    ///
    /// # Safety
    /// At `to` must be as many bytes of this device's memory, which nobody else accesses.
    unsafe fn write(&self, to: *mut u8, from: &[MaybeUninit<u8>]) -> Result<(), Error>;

    /// Copies `bytes` bytes from the device. Waits until it is done.
    ///
    /// # Safety
    /// At `from` must be that many bytes of this device's memory, which nobody writes; `to` must be valid for writing
    /// them.
    unsafe fn read(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// Copies `from`, as many bytes as it has, to a static. Waits until it is done.
    fn write_static(&self, of: &'static DeviceStatic, from: &[MaybeUninit<u8>]) -> Result<(), Error>;

    /// Copies all bytes of a static from the device. Waits until it is done.
    ///
    /// # Safety
    /// `to` must be valid for writing as many bytes.
    unsafe fn read_static(&self, of: &'static DeviceStatic, to: *mut u8) -> Result<(), Error>;

    /// Sets `bytes` bytes to zero.
    ///
    /// # Safety
    /// At `start` must be that many bytes of this device's memory, which nobody else accesses. They may be freed at any
    /// time.
    unsafe fn zero(&self, start: *mut u8, bytes: usize) -> Result<(), Error>;

    /// Copies `bytes` bytes within the device, which are all of a buffer.
    ///
    /// # Safety
    /// At both must be that many bytes of this device's memory, without overlap; nobody else accesses those at `to`,
    /// and nobody writes the others. They may be freed at any time.
    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// Copies `bytes` bytes, not 0, from the memory of `source`, which may be this, in the order of what this was
    /// asked, though not of what `source` was.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), but for how many bytes there are; those at `from` must be of `source`. They may be
    /// freed once both devices [wait](Self::wait_for) for the copy.
    unsafe fn copy_from(&self, to: *mut u8, source: &dyn Backend, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// As [`record`](Self::record), though without a time.
    fn record_order(&self) -> Result<Moment, Error>;

    /// Lets everything asked from now on, but for what streams are asked, wait for `moment`.
    ///
    /// # Safety
    /// It must be of this device or another of the same kind.
    unsafe fn wait_for(&self, moment: &Moment) -> Result<(), Error>;

    /// Lets this device access memory of `other`, which is of the same kind, directly. Whether it can; copies between
    /// them work also if not.
    fn enable_peer(&self, other: &dyn Backend) -> Result<bool, Error>;

    /// Finds out whether `kernel` can be launched with `config`, and loads it if it is not loaded yet.
    fn prepare(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<(), Error>;

    /// The device's own stream, as the driver has it, whose context is current then; null where there is none.
    fn raw_stream(&self) -> Result<*mut c_void, Error> {
        Ok(ptr::null_mut())
    }

    /// Compiles those of `kernels` that have not been, for launches without tables. Together that takes less time than
    /// one by one.
    fn compile(&self, _kernels: &[&'static KernelInfo]) {}

    /// Launches `call`, whose parameters are `params`.
    ///
    /// # Safety
    /// The views in it must be of this device's memory. It may be freed at any time.
    unsafe fn launch(&self, config: LaunchConfig, call: &Call<'_>, params: &Params) -> Result<(), Error>;

    /// A launch that is all made but for what only the driver can do.
    ///
    /// # Safety
    /// Whenever it is launched, what holds of [`launch`](Self::launch) must hold, and this must live.
    unsafe fn bare_launch(&self, launch: RecordedLaunch) -> Result<Box<dyn Prepared>, Error>;

    /// All of `work`, one piece after the other, as a whole.
    ///
    /// # Safety
    /// Whenever it is launched, what holds of [`launch`](Self::launch), [`zero`](Self::zero) and [`copy`](Self::copy)
    /// must hold, and this must live.
    unsafe fn graph(&self, work: Vec<Work>) -> Result<Box<dyn Prepared>, Error>;

    /// Waits until everything asked so far is done, but for what streams were asked.
    fn synchronize(&self) -> Result<(), Error>;

    /// A moment when everything asked so far is done, but for what streams were asked.
    fn record(&self) -> Result<Moment, Error>;

    /// The time between two moments; nothing if they come the other way round. Waits for both.
    ///
    /// # Safety
    /// Both must be of this device.
    unsafe fn elapsed(&self, from: &Moment, to: &Moment) -> Result<Duration, Error>;

    /// Whether races of streams are looked for.
    fn checks_streams(&self) -> bool {
        false
    }

    /// New streams. What was asked before is done.
    fn streams(&self, count: usize) -> Result<Vec<Box<dyn BackendStream + '_>>, Error>;
}

/// Memory and events that several processes of a host use, as CUDA's IPC has them.
pub(crate) trait Ipc {
    /// By what another process opens memory.
    ///
    /// # Safety
    /// `start` must be the first of `bytes` bytes, which [`Backend::allocate`] gave. They are not to be freed.
    unsafe fn memory_handle(&self, start: *const u8, bytes: usize) -> Result<[u8; HANDLE_BYTES], Error>;

    /// Memory of another process, if there is any under this handle.
    fn open_memory(&self, handle: &[u8; HANDLE_BYTES]) -> Result<Opened, Error>;

    /// Copies `bytes` bytes, not 0, of what [`open_memory`](Self::open_memory) gave, in the order of what this was
    /// asked. Another process may write them meanwhile: then anything is copied.
    ///
    /// # Safety
    /// As for [`Backend::copy`], for the bytes at `to`; there must be so many at `from`.
    unsafe fn copy_opened(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// A moment that has not come yet, for [`record_in`](Self::record_in), and by what another process opens it.
    fn shared_event(&self) -> Result<(Moment, [u8; HANDLE_BYTES]), Error>;

    /// Makes `moment` the one when everything asked so far is done, but for what streams are asked.
    ///
    /// # Safety
    /// It must be of [`shared_event`](Self::shared_event) of this device.
    unsafe fn record_in(&self, moment: &Moment) -> Result<(), Error>;

    /// Another process's moment, for [`Backend::wait_for`].
    fn open_event(&self, handle: &[u8; HANDLE_BYTES]) -> Result<Moment, Error>;
}

/// Memory of another process, closed when dropped.
pub(crate) struct Opened {
    pub(crate) start: *const u8,
    pub(crate) bytes: usize,
    pub(crate) _owner: Box<dyn Send + Sync>,
}

// SAFETY: it gives a raw pointer alone, and whoever accesses memory through it answers for that.
unsafe impl Send for Opened {}
// SAFETY: as above.
unsafe impl Sync for Opened {}

/// A stream beside the device's own. It must be finished before it is dropped.
pub(crate) trait BackendStream: Send + Sync {
    /// Copies `bytes` bytes to the device, where views show them in elements of `element` bytes.
    ///
    /// # Safety
    /// At `to` must be that many bytes of this device's memory, at a multiple of `element`; `from` must be valid for
    /// reading them. All must stay until the copy is done, and those at `from` unchanged.
    unsafe fn upload(&self, to: *mut u8, from: *const u8, bytes: usize, element: usize) -> Result<(), Error>;

    /// Copies `bytes` bytes to the host, which views show in elements of `element` bytes.
    ///
    /// # Safety
    /// At `from` must be that many bytes of this device's memory, at a multiple of `element`; `to` must be valid for
    /// writing them. All must stay until the copy is done, and nobody else may access those at `to`.
    unsafe fn download(&self, to: *mut u8, from: *const u8, bytes: usize, element: usize) -> Result<(), Error>;

    /// Copies `bytes` bytes, in elements of `element` bytes, between the memories of two devices, one of which is this
    /// stream's; they may be the same.
    ///
    /// # Safety
    /// At each address must be that many bytes of its device's memory, at a multiple of `element`, without overlap. All
    /// must stay until the copy is done.
    unsafe fn copy(
        &self,
        to: (*mut u8, &dyn Backend),
        from: (*const u8, &dyn Backend),
        bytes: usize,
        element: usize,
    ) -> Result<(), Error>;

    /// Launches `call`, whose parameters are `params`.
    ///
    /// # Safety
    /// The views in it must be of this device's memory, which must stay until the kernel has ended.
    unsafe fn launch(&self, config: LaunchConfig, call: &Call<'_>, params: &Params) -> Result<(), Error>;

    /// A moment when everything asked of the stream so far is done.
    fn record(&self) -> Result<Moment, Error>;

    /// Lets what is asked from now on wait for `moment`.
    ///
    /// # Safety
    /// It must be of this device or another of the same kind.
    unsafe fn wait(&self, moment: &Moment) -> Result<(), Error>;

    /// Waits until everything asked so far is done.
    fn synchronize(&self) -> Result<(), Error>;

    /// Waits until nothing runs in the stream any more. Only then does it return, also with an error: what the stream
    /// used may then go.
    fn finish(&self) -> Result<(), Error>;
}

/// Work that was made ready once, to be launched again and again.
pub(crate) trait Prepared: Send + Sync {
    /// Does it, after what was asked of the device before.
    ///
    /// # Safety
    /// What [`Backend::graph`] or [`Backend::bare_launch`] says must hold.
    unsafe fn launch(&mut self) -> Result<(), Error>;
}

/// What page-locked memory is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PageLock {
    /// Copies by any GPU.
    Copies,
    /// Kernels that access it in place.
    Mapping,
}

/// Memory of a back end, freed when dropped.
pub(crate) struct Allocated {
    /// The first byte for kernels, if they may access it.
    pub(crate) on_device: Option<*mut u8>,
    /// The first byte for the host, if it may access it.
    pub(crate) on_host: Option<NonNull<u8>>,
    _owner: Box<dyn Send + Sync>,
}

// SAFETY: it gives raw pointers alone, and whoever accesses memory through them answers for that.
unsafe impl Send for Allocated {}
// SAFETY: as above.
unsafe impl Sync for Allocated {}

impl Allocated {
    /// What `owner` frees when it is dropped.
    pub(crate) fn new(
        on_device: Option<*mut u8>,
        on_host: Option<NonNull<u8>>,
        owner: impl Send + Sync + 'static,
    ) -> Self {
        Self { on_device, on_host, _owner: Box::new(owner) }
    }
}

/// A point in a back end's work, under the number by which it knows it; forgotten when dropped.
pub(crate) struct Moment {
    pub(crate) number: u64,
    _owner: Box<dyn Send + Sync>,
}

impl Moment {
    /// What `owner` lets the back end forget when it is dropped.
    pub(crate) fn new(number: u64, owner: impl Send + Sync + 'static) -> Self {
        Self { number, _owner: Box::new(owner) }
    }
}
