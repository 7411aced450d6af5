//! The interface of a back end, which the GPU and the simulator implement.
//!
//! # Design
//!
//! The trait `Backend` has all operations of a device. The GPU (`cuda/`) and the simulator (`simulated.rs`) implement
//! it. The trait does not check addresses; `Buffer`, `Stream`, `Graph` and `Call` are the safe interfaces to it.
//!
//! Code above the trait depends on the kind of device only for the reasons that `device.rs` lists. Without CUDA the
//! crate still compiles, and opening a GPU returns an error.

use std::any::{Any, TypeId};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use cuda_std::{Call, DeviceStatic, KernelInfo, LaunchConfig, Params};

use crate::completion::Completion;
use crate::error::Error;
use crate::objects::{Allocated, BackendEvent, HANDLE_BYTES, Opened, Owner, PageLock};
use crate::operation::{Operation, RecordedLaunch};
use crate::properties::{KernelResources, Occupancy, Properties};
use crate::tensor_map::EncodeMaps;

/// The operations of one device, which executes work in the order in which it is enqueued.
///
/// Addresses are not checked: the caller guarantees that all memory belongs to this device and lives while it is used.
pub(crate) trait Backend: Any + Interop + Ipc + EncodeMaps + Send + Sync {
    /// Returns the device's name: "NVIDIA H200", or "simulator".
    fn name(&self) -> &str;

    /// Returns the text that follows "device: " in [`Device::summary`](crate::Device::summary).
    fn description(&self) -> String;

    fn properties(&self) -> Result<Properties, Error>;

    fn multiprocessors(&self) -> u32;

    /// Returns the maximum number of bytes of shared memory, static and dynamic together, that a block may use.
    fn max_shared_bytes(&self) -> u32;

    /// Sets the size of the heap from which kernels allocate. Does nothing if kernels allocate from the host's memory.
    fn set_heap_bytes(&self, _bytes: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the numbers of registers and bytes of memory that `kernel` uses.
    fn resources(&self, kernel: &'static KernelInfo) -> Result<KernelResources, Error>;

    /// Returns how many blocks of `kernel` fit on a multiprocessor, if each block has `block_threads` threads and
    /// `shared_bytes` bytes of dynamic shared memory.
    fn occupancy(&self, kernel: &'static KernelInfo, block_threads: u32, shared_bytes: u32)
    -> Result<Occupancy, Error>;

    /// Returns the largest number of blocks in a cooperative launch of the kernel with this block size and dynamic
    /// shared memory.
    fn max_cooperative_blocks(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Error>;

    /// Returns the number of clusters of `config`, whose grid is one cluster, that run at the same time.
    fn max_active_clusters(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<u32, Error>;

    /// Allocates `bytes` bytes, at least one, of device memory for kernels. The contents are unspecified.
    fn allocate(&self, bytes: usize) -> Result<Allocated, Error>;

    /// Allocates memory like [`allocate`](Self::allocate), and also returns true if the memory is new. If it is not
    /// new, the memory has the contents that a workspace of the same type and size had when it was freed.
    fn allocate_workspace(&self, bytes: usize, _of: TypeId) -> Result<(Allocated, bool), Error> {
        Ok((self.allocate(bytes)?, true))
    }

    /// Allocates `bytes` bytes, at least one, of page-locked host memory.
    fn page_lock(&self, bytes: usize, purpose: PageLock) -> Result<Allocated, Error>;

    /// Copies `from` to the address `to` on the device and waits for the copy to finish.
    ///
    /// # Safety
    /// `to` must point to `from.len()` bytes of this device's memory, which no other code accesses during the call.
    unsafe fn write(&self, to: *mut u8, from: &[MaybeUninit<u8>]) -> Result<(), Error>;

    /// Copies `bytes` bytes from the address `from` on the device to `to`, and waits for the copy to finish.
    ///
    /// # Safety
    /// `from` must point to `bytes` bytes of this device's memory, which no other code writes during the call. `to`
    /// must be valid for writes of that size.
    unsafe fn read(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// Copies `from` to the static variable `of`, which has the same size, and waits for the copy to finish.
    fn write_static(&self, of: &'static DeviceStatic, from: &[MaybeUninit<u8>]) -> Result<(), Error>;

    /// Copies all bytes of the static variable `of` from the device to `to`, and waits for the copy to finish.
    ///
    /// # Safety
    /// `to` must be valid for writes of the static's size.
    unsafe fn read_static(&self, of: &'static DeviceStatic, to: *mut u8) -> Result<(), Error>;

    /// Sets the `bytes` bytes from `start` on to zero.
    ///
    /// # Safety
    /// `start` must point to `bytes` bytes of this device's memory. No other code may access these bytes until they are
    /// zero. The caller may free the memory as soon as the call returns.
    unsafe fn zero(&self, start: *mut u8, bytes: usize) -> Result<(), Error>;

    /// Copies a whole buffer of `bytes` bytes to another buffer on the device.
    ///
    /// # Safety
    /// `to` and `from` must each point to `bytes` bytes of this device's memory, without overlap. Until the copy is
    /// done, no other code may access the bytes at `to` or write the bytes at `from`. Both buffers may be freed at any
    /// time after the call.
    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// Copies `bytes` bytes, at least one, from the memory of `source`, which may be this device. The copy is ordered
    /// after the earlier work of this device, but not after the work of `source`.
    ///
    /// # Safety
    /// The same conditions as for [`copy`](Self::copy), except that `bytes` need not be a whole buffer, and that `from`
    /// must point to memory of `source`. The memory may be freed once both devices [wait](Self::wait_for) for the copy.
    unsafe fn copy_from(&self, to: *mut u8, source: &dyn Backend, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// Records an event like [`record`](Self::record). The event has no time; it can only order work.
    fn record_order(&self) -> Result<BackendEvent, Error>;

    /// Makes all later work of this device, except in streams, wait for `event`.
    ///
    /// # Safety
    /// `event` must belong to this device or to another device of the same kind.
    unsafe fn wait_for(&self, event: &BackendEvent) -> Result<(), Error>;

    /// Gives this device direct access to the memory of `other`, which must be of the same kind. Returns false if the
    /// devices do not support direct access; copies between them work in both cases.
    fn enable_peer(&self, other: &dyn Backend) -> Result<bool, Error>;

    /// Checks that `kernel` can be launched with `config`, and loads it if necessary.
    fn prepare(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<(), Error>;

    /// Makes the device's context current and returns the driver's handle of the device's own stream, or null if there
    /// is no such stream.
    fn raw_stream(&self) -> Result<*mut c_void, Error> {
        Ok(ptr::null_mut())
    }

    /// Compiles the kernels in `kernels` that are not compiled yet. Launches with [tables](LaunchConfig::tables) cannot
    /// use this code. Compiling kernels together is faster than compiling them one by one.
    fn compile(&self, _kernels: &[&'static KernelInfo]) {}

    /// Compiles all kernels of the device's modules like [`compile`](Self::compile).
    fn compile_all(&self) {}

    /// Launches the kernel of `call` with the parameters `params`.
    ///
    /// # Safety
    /// The views in `call` must point to this device's memory, which may be freed at any time after the call.
    unsafe fn launch(&self, config: LaunchConfig, call: &Call<'_>, params: &Params) -> Result<(), Error>;

    /// Prepares a launch, so that executing it needs only the driver's launch call.
    ///
    /// # Safety
    /// At each later launch, the conditions of [`launch`](Self::launch) must hold and this device must live.
    unsafe fn bare_launch(&self, launch: RecordedLaunch) -> Result<Box<dyn Executable>, Error>;

    /// Returns an executable graph of the operations `work`, in their order.
    ///
    /// # Safety
    /// At each later launch, the conditions of [`launch`](Self::launch), [`zero`](Self::zero) and [`copy`](Self::copy)
    /// must hold and this device must live.
    unsafe fn graph(&self, work: Vec<Operation>) -> Result<Box<dyn Executable>, Error>;

    /// Waits for everything enqueued on this device so far, except in streams.
    fn synchronize(&self) -> Result<(), Error>;

    /// Records an event that completes when everything enqueued on this device so far, except in streams, is done.
    fn record(&self) -> Result<BackendEvent, Error>;

    /// Waits until `event` has completed.
    ///
    /// # Safety
    /// The event must be of this device.
    unsafe fn finish(&self, _event: &BackendEvent) -> Result<(), Error> {
        Ok(())
    }

    /// Waits for both events and returns the time between them, or zero if `to` completed first.
    ///
    /// # Safety
    /// Both events must belong to this device.
    unsafe fn elapsed(&self, from: &BackendEvent, to: &BackendEvent) -> Result<Duration, Error>;

    /// Returns true if this device checks for races between streams.
    fn checks_streams(&self) -> bool {
        false
    }

    /// Waits until all bytes of earlier [`write`](Self::write)s are on the device.
    fn finish_uploads(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns a new stream, which waits for no other work.
    fn stream(&self) -> Result<Box<dyn BackendStream>, Error>;

    /// Completes `completion` when everything enqueued on this device so far, except in streams, is done.
    fn notify(&self, completion: Arc<Completion>) -> Result<(), Error>;

    /// Returns the result of work that was completed with the driver's `code`.
    fn outcome(&self, _code: u32) -> Result<(), Error> {
        Ok(())
    }
}

/// Objects that a device shares with other libraries. By default a device has none.
pub(crate) trait Interop {
    /// The name of the device, for errors.
    fn owner_name(&self) -> String;

    /// Returns the error of a device without such objects.
    fn no_interop(&self) -> Error {
        Error::NotSupported {
            what: "memory, contexts, streams or events of other libraries",
            device: self.owner_name(),
        }
    }

    /// Gives up the memory `allocated` of `bytes` bytes without freeing it.
    fn release(&self, allocated: Allocated, bytes: usize);

    /// Takes the `bytes` bytes at `start`, which are freed when the result is dropped.
    ///
    /// # Safety
    /// The memory must be one that [`release`](Self::release) has given up or that `cuMemAlloc` or `cuMemAllocAsync`
    /// has returned in the device's context, and must have no other owner.
    unsafe fn adopt(&self, start: *mut u8, bytes: usize) -> Result<Allocated, Error>;

    /// Uses the memory at `start`, which `owner` keeps alive. Before the result drops `owner`, it waits for the
    /// device's own queue.
    ///
    /// # Safety
    /// The memory must be of the device's context and live as long as `owner`.
    unsafe fn foreign_memory(&self, _start: *mut u8, _owner: Owner) -> Result<Allocated, Error> {
        Err(self.no_interop())
    }

    /// Uses the stream, which `owner` keeps alive.
    ///
    /// # Safety
    /// The stream must be of the device's context and live as long as `owner`.
    unsafe fn foreign_stream(&self, _stream: *mut c_void, _owner: Owner) -> Result<Box<dyn BackendStream>, Error> {
        Err(self.no_interop())
    }

    /// Uses the event, which `owner` keeps alive.
    ///
    /// # Safety
    /// The event must exist as long as `owner`.
    unsafe fn foreign_event(&self, _event: *mut c_void, _owner: Owner) -> Result<BackendEvent, Error> {
        Err(self.no_interop())
    }

    /// Returns the driver's handle of an event of this device.
    fn raw_event(&self, _event: &BackendEvent) -> Result<*mut c_void, Error> {
        Err(self.no_interop())
    }

    /// Returns the driver's handle of the device's context.
    fn raw_context(&self) -> Result<*mut c_void, Error> {
        Err(self.no_interop())
    }
}

/// Memory and events that several processes of one host share, through CUDA's IPC.
pub(crate) trait Ipc {
    /// Returns a handle by which another process opens the memory at `start`.
    ///
    /// # Safety
    /// `start` must be the first byte of an allocation of `bytes` bytes by [`Backend::allocate`]. The allocation must
    /// not be freed.
    unsafe fn memory_handle(&self, start: *const u8, bytes: usize) -> Result<[u8; HANDLE_BYTES], Error>;

    /// Opens another process's memory, which `handle` identifies.
    fn open_memory(&self, handle: &[u8; HANDLE_BYTES]) -> Result<Opened, Error>;

    /// Copies `bytes` bytes, at least one, from memory that [`open_memory`](Self::open_memory) returned, in stream
    /// order. If another process writes these bytes during the copy, the copied contents are unspecified.
    ///
    /// # Safety
    /// `to` must meet the conditions of [`Backend::copy`]. `from` must point to `bytes` bytes of the opened memory.
    unsafe fn copy_opened(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// Creates an event for [`record_in`](Self::record_in) and returns it with its handle for other processes. The
    /// event is not recorded yet.
    fn shared_event(&self) -> Result<(BackendEvent, [u8; HANDLE_BYTES]), Error>;

    /// Records `event`. The event completes when everything enqueued so far, except in streams, is done.
    ///
    /// # Safety
    /// `event` must be returned by [`shared_event`](Self::shared_event) of this device.
    unsafe fn record_in(&self, event: &BackendEvent) -> Result<(), Error>;

    /// Opens another process's event, for [`Backend::wait_for`].
    fn open_event(&self, handle: &[u8; HANDLE_BYTES]) -> Result<BackendEvent, Error>;
}

/// A stream in addition to the device's own one. The caller must call `finish` before dropping it.
pub(crate) trait BackendStream: Send + Sync {
    /// Copies `bytes` bytes to the device, as elements of `element` bytes each.
    ///
    /// # Safety
    /// `to` must point to `bytes` bytes of this device's memory, aligned to `element`. `from` must be valid for reads
    /// of that size. Both must live, and the bytes at `from` must not change, until the copy is done.
    unsafe fn upload(&self, to: *mut u8, from: *const u8, bytes: usize, element: usize) -> Result<(), Error>;

    /// Copies `bytes` bytes to the host, as elements of `element` bytes each.
    ///
    /// # Safety
    /// `from` must point to `bytes` bytes of this device's memory, aligned to `element`. `to` must be valid for writes
    /// of that size. Both must live, and no other code may access the bytes at `to`, until the copy is done.
    unsafe fn download(&self, to: *mut u8, from: *const u8, bytes: usize, element: usize) -> Result<(), Error>;

    /// Copies `bytes` bytes, as elements of `element` bytes each, from one device's memory to another's or within one.
    /// At least one of the two devices must be the device of this stream.
    ///
    /// # Safety
    /// `to` and `from` must each point to `bytes` bytes of their device's memory, aligned to `element`, without
    /// overlap. This memory must live until the copy is done.
    unsafe fn copy(
        &self,
        to: (*mut u8, &dyn Backend),
        from: (*const u8, &dyn Backend),
        bytes: usize,
        element: usize,
    ) -> Result<(), Error>;

    /// Sets the `bytes` bytes from `start` on, at least one, to zero.
    ///
    /// # Safety
    /// `start` must point to `bytes` bytes of this device's memory, which must live until they are zero.
    unsafe fn zero(&self, start: *mut u8, bytes: usize) -> Result<(), Error>;

    /// Copies a whole buffer of `bytes` bytes, at least one, to another buffer on the device.
    ///
    /// # Safety
    /// `to` and `from` must each point to `bytes` bytes of this device's memory, without overlap. This memory must live
    /// until the copy is done, and no other code may access it during the call.
    unsafe fn copy_buffer(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// Launches the kernel of `call` with the parameters `params` in this stream. `device` must be that of the stream.
    ///
    /// # Safety
    /// The views in `call` must be of this device's memory, which must live until the kernel has ended.
    unsafe fn launch(
        &self,
        device: &dyn Backend,
        config: LaunchConfig,
        call: &Call<'_>,
        params: &Params,
    ) -> Result<(), Error>;

    /// Records an event that completes when everything enqueued in the stream so far is done.
    fn record(&self) -> Result<BackendEvent, Error>;

    /// Records an event like [`record`](Self::record). The event has no time; it can only order work.
    fn record_order(&self) -> Result<BackendEvent, Error> {
        self.record()
    }

    /// Completes `completion` when everything enqueued in the stream so far is done.
    fn notify(&self, completion: Arc<Completion>) -> Result<(), Error>;

    /// Makes all later work of the stream wait for `event`.
    ///
    /// # Safety
    /// `event` must belong to this device or to another device of the same kind.
    unsafe fn wait(&self, event: &BackendEvent) -> Result<(), Error>;

    /// Returns the driver's handle of the stream, or null in the simulator.
    fn raw(&self) -> *mut c_void {
        ptr::null_mut()
    }

    /// Waits for everything enqueued in this stream so far.
    fn synchronize(&self) -> Result<(), Error>;

    /// Waits until the stream has no running work, even if the result is an error. After this call, the memory that the
    /// stream used may be freed.
    fn finish(&self) -> Result<(), Error>;
}

/// Work that a back end has prepared once and can launch many times.
pub(crate) trait Executable: Send + Sync {
    /// Enqueues this work after the earlier work of the device.
    ///
    /// # Safety
    /// The conditions of [`Backend::graph`] or [`Backend::bare_launch`] must hold.
    unsafe fn launch(&mut self) -> Result<(), Error>;
}
