//! Implements the trait `Backend` for the simulator.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use cuda_std::{Call, DeviceStatic, KernelInfo, LaunchConfig, Params};
use simt::memory::{self, Allocation};

use crate::backend::{Backend, BackendStream, Executable, Interop};
use crate::completion::Completion;
use crate::error::Error;
use crate::limits::{Limits, check};
use crate::objects::{Allocated, BackendEvent, PageLock};
use crate::operation::{Operation, RecordedLaunch};
use crate::properties::{KernelResources, Occupancy, Properties};
use crate::simulated_device::SimulatedDevice;
use crate::simulated_memory::{NAME, allocate, load_all, out_of_memory, store_all};
use crate::simulated_stream::SimulatedStream;

/// The number of bytes of shared memory that a block may use on a GPU without raising the kernel's limit.
const SHARED_BYTES_PER_BLOCK: u32 = 48 * 1024;

/// The maximum number of resident threads per multiprocessor of a large GPU.
const THREADS_PER_MULTIPROCESSOR: u32 = 2048;

impl SimulatedDevice {
    fn executable(&self, work: Vec<Operation>) -> Box<dyn Executable> {
        Box::new(SimulatedOperations { device: self.clone(), work })
    }
}

impl Backend for SimulatedDevice {
    fn name(&self) -> &str {
        NAME
    }

    /// Returns a description such as "simulator on 2 cores", or "simulator that checks, in the order last-first". If an
    /// atomic access did not see the newest write, the description names it, because it may be the reason of a wrong
    /// result.
    fn description(&self) -> String {
        match self.simulator.workers() {
            _ if self.simulator.checks().is_some() => {
                let older = self.simulator.older_values();
                let older = older.last().map_or_else(String::new, |older| format!("; in this run, {older}"));
                format!("{NAME} that checks, in the order {}{older}", self.simulator.schedule())
            }
            1 => format!("{NAME} on 1 core"),
            workers => format!("{NAME} on {workers} cores"),
        }
    }

    fn properties(&self) -> Result<Properties, Error> {
        let (capacity, free) = match &self.limit {
            Some(limit) => (limit.bytes(), limit.free()),
            None => (memory::capacity(), memory::capacity().saturating_sub(memory::used())),
        };
        Ok(Properties {
            name: NAME.to_owned(),
            multiprocessors: self.multiprocessors(),
            warp_size: 32,
            memory_bytes: capacity as u64,
            memory_free_bytes: free as u64,
            shared_bytes_per_block: SHARED_BYTES_PER_BLOCK,
            shared_bytes_per_block_optin: Limits::SIMULATOR.shared_bytes,
            max_threads_per_block: Limits::SIMULATOR.block_threads,
            ..Properties::default()
        })
    }

    fn multiprocessors(&self) -> u32 {
        self.simulator.multiprocessors()
    }

    fn max_shared_bytes(&self) -> u32 {
        Limits::SIMULATOR.shared_bytes
    }

    fn resources(&self, _kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        Err(has_no("registers to count"))
    }

    fn occupancy(&self, _kernel: &'static KernelInfo, _threads: u32, _shared: u32) -> Result<Occupancy, Error> {
        Err(has_no("multiprocessors to occupy"))
    }

    /// Returns the number of blocks that fit on the simulated multiprocessors, each of which has room for 2048 threads.
    /// The result is smaller if the simulator has too few stacks for waiting threads.
    fn max_cooperative_blocks(
        &self,
        kernel: &'static KernelInfo,
        block_threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Error> {
        self.prepare(kernel, LaunchConfig::new(1, block_threads).shared_bytes(shared_bytes))?;
        let held = self.multiprocessors() * (THREADS_PER_MULTIPROCESSOR / block_threads);
        Ok(held.min(self.simulator.max_cooperative_threads() as u32 / block_threads))
    }

    /// Returns the number of clusters that fit on the simulated multiprocessors, each of which has room for 2048
    /// threads.
    fn max_active_clusters(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<u32, Error> {
        self.prepare(kernel, config)?;
        let threads = config.cluster.count() * config.block.count();
        Ok((u128::from(self.multiprocessors() * THREADS_PER_MULTIPROCESSOR) / threads) as u32)
    }

    fn allocate(&self, bytes: usize) -> Result<Allocated, Error> {
        allocate(&self.simulator, self.limit.as_ref(), bytes)
    }

    fn page_lock(&self, bytes: usize, _purpose: PageLock) -> Result<Allocated, Error> {
        let requested_bytes = bytes as u64;
        let allocation = Allocation::new(bytes).map_err(|_| Error::OutOfPageLockedMemory { requested_bytes })?;
        let start = allocation.as_ptr();
        let _ = start.expose_provenance();
        Ok(Allocated::new(Some(start), NonNull::new(start), allocation))
    }

    unsafe fn write(&self, to: *mut u8, from: &[MaybeUninit<u8>]) -> Result<(), Error> {
        // SAFETY: `Backend::write` requires that `to` has `from.len()` bytes that no other code accesses, so that
        // `from` does not overlap them.
        unsafe { to.cast::<MaybeUninit<u8>>().copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        self.simulator.note_written(to.addr(), from.len());
        Ok(())
    }

    unsafe fn read(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: `Backend::read` requires that both addresses are valid. All memory of a device is initialised.
        unsafe { to.copy_from_nonoverlapping(from, bytes) };
        Ok(())
    }

    fn write_static(&self, of: &'static DeviceStatic, from: &[MaybeUninit<u8>]) -> Result<(), Error> {
        let to = self.simulator.static_address(of).map_err(out_of_memory)?;
        // SAFETY: the static has `from.len()` bytes, and its elements have no padding.
        unsafe { store_all(to, from.as_ptr().cast(), from.len(), of.element) };
        Ok(())
    }

    unsafe fn read_static(&self, of: &'static DeviceStatic, to: *mut u8) -> Result<(), Error> {
        let from = self.simulator.static_address(of).map_err(out_of_memory)?;
        // SAFETY: the static has `of.bytes` bytes. `Backend::read_static` requires that `to` is valid for writing them.
        unsafe { load_all(to, from, of.bytes, of.element) };
        Ok(())
    }

    unsafe fn zero(&self, start: *mut u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: `Backend::zero` requires that the bytes exist.
        unsafe { start.write_bytes(0, bytes) };
        self.simulator.note_written(start.addr(), bytes);
        Ok(())
    }

    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: `Backend::copy` requires that the bytes exist, without overlap.
        unsafe { to.copy_from_nonoverlapping(from, bytes) };
        self.simulator.note_copied(to.addr(), from.addr(), bytes);
        Ok(())
    }

    unsafe fn copy_from(&self, to: *mut u8, source: &dyn Backend, from: *const u8, bytes: usize) -> Result<(), Error> {
        let source = self.same_kind(source)?;
        // SAFETY: `Backend::copy_from` requires that the bytes exist, without overlap.
        unsafe { to.copy_from_nonoverlapping(from, bytes) };
        self.note_copied_from(&source.simulator, to.addr(), from.addr(), bytes);
        Ok(())
    }

    fn record_order(&self) -> Result<BackendEvent, Error> {
        self.record()
    }

    unsafe fn wait_for(&self, _moment: &BackendEvent) -> Result<(), Error> {
        Ok(())
    }

    fn enable_peer(&self, _other: &dyn Backend) -> Result<bool, Error> {
        Ok(true)
    }

    fn prepare(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<(), Error> {
        check(&Limits::SIMULATOR, kernel, config, None, 0)
    }

    unsafe fn launch(&self, config: LaunchConfig, call: &Call<'_>, params: &Params) -> Result<(), Error> {
        let config = config.for_kernel(call.info());
        self.prepare(call.info(), config)?;
        let regions = params.regions().as_slice();
        self.simulator.launch_threads(call.info(), config, regions, |threads| call.run(threads))?;
        Ok(())
    }

    unsafe fn bare_launch(&self, launch: RecordedLaunch) -> Result<Box<dyn Executable>, Error> {
        Ok(self.executable(vec![Operation::Launch(Box::new(launch))]))
    }

    unsafe fn graph(&self, work: Vec<Operation>) -> Result<Box<dyn Executable>, Error> {
        Ok(self.executable(work))
    }

    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Records an event whose number is the wall-clock time.
    fn record(&self) -> Result<BackendEvent, Error> {
        Ok(BackendEvent::new(self.start.elapsed().as_nanos() as u64, ()))
    }

    unsafe fn elapsed(&self, from: &BackendEvent, to: &BackendEvent) -> Result<Duration, Error> {
        Ok(Duration::from_nanos(to.number.saturating_sub(from.number)))
    }

    fn checks_streams(&self) -> bool {
        self.simulator.checks().is_some()
    }

    fn stream(&self) -> Result<Box<dyn BackendStream>, Error> {
        Ok(Box::new(SimulatedStream(self.clone())))
    }

    fn notify(&self, completion: Arc<Completion>) -> Result<(), Error> {
        completion.complete(0);
        Ok(())
    }
}

impl Interop for SimulatedDevice {
    fn owner_name(&self) -> String {
        format!("the {NAME}")
    }

    fn release(&self, allocated: Allocated, bytes: usize) {
        let address = allocated.on_device.map_or(0, <*mut u8>::addr);
        self.released.lock().unwrap_or_else(PoisonError::into_inner).insert(address, (allocated, bytes));
    }

    unsafe fn adopt(&self, start: *mut u8, bytes: usize) -> Result<Allocated, Error> {
        let mut released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        match released.remove(&start.addr()) {
            Some((allocated, size)) if size == bytes => Ok(allocated),
            other => {
                released.extend(other.map(|other| (start.addr(), other)));
                Err(has_no("memory but that which `Buffer::into_raw` of the same device returned, whole"))
            }
        }
    }
}

fn has_no(what: &'static str) -> Error {
    Error::NotSupported { what, device: format!("the {NAME}") }
}

/// The simulator's form of a graph or a prepared launch: a list of operations.
struct SimulatedOperations {
    device: SimulatedDevice,
    work: Vec<Operation>,
}

impl Executable for SimulatedOperations {
    unsafe fn launch(&mut self) -> Result<(), Error> {
        let device = &self.device;
        self.work.iter().try_for_each(|work| match work {
            // SAFETY: `Executable::launch` requires the conditions of `Backend::launch`.
            Operation::Launch(launch) => unsafe { device.launch(launch.config, &launch.call, &launch.params) },
            // SAFETY: `Executable::launch` requires the conditions of `Backend::zero`.
            Operation::Zero { start, bytes } => unsafe { device.zero(*start, *bytes) },
            // SAFETY: `Executable::launch` requires the conditions of `Backend::copy`.
            Operation::Copy { to, from, bytes } => unsafe { device.copy(*to, *from, *bytes) },
        })
    }
}
