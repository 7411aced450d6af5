//! Shares memory and events of a GPU between processes.

use std::sync::Arc;

use super::context::Context;
use super::events::{GpuEvent, raw};
use super::sys;
use crate::backend::Ipc;
use crate::cuda::gpu::GpuDevice;
use crate::error::Error;
use crate::objects::{BackendEvent, HANDLE_BYTES, Opened};

/// Memory of another process, opened in this one. Dropping it closes the mapping.
struct OpenedMemory {
    address: u64,
    context: Arc<Context>,
}

impl Drop for OpenedMemory {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the stream lives as long as the context. The next call that waits returns the error.
            let _ = unsafe { sys::synchronize(self.context.stream()) };
            // SAFETY: the memory was opened in this context, `self` was its only owner, and its copies are done.
            let _ = unsafe { sys::close_memory(self.address) };
        }
    }
}

impl Ipc for GpuDevice {
    unsafe fn memory_handle(&self, start: *const u8, _bytes: usize) -> Result<[u8; HANDLE_BYTES], Error> {
        self.context.enter()?;
        // SAFETY: `Ipc::memory_handle` requires an address that `Backend::allocate` returned.
        unsafe { sys::memory_handle(start.addr() as u64) }
            .map_err(|code| self.context.error(code, || "share memory with another process".to_owned(), ""))
    }

    fn open_memory(&self, handle: &[u8; HANDLE_BYTES]) -> Result<Opened, Error> {
        self.context.enter()?;
        let (address, bytes) = sys::open_memory(handle)
            .map_err(|code| self.context.error(code, || "open another process's memory".to_owned(), ""))?;
        let owner = OpenedMemory { address, context: self.context.clone() };
        // A GPU's addresses fit into the host's `usize`.
        Ok(Opened { start: std::ptr::without_provenance(address as usize), bytes, _owner: Box::new(owner) })
    }

    unsafe fn copy_opened(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: `Ipc::copy_opened` requires that the bytes exist. Freeing this device's memory and closing the opened
        // memory both wait for the stream.
        unsafe { sys::copy_on_device(to.addr() as u64, from.addr() as u64, bytes, self.context.stream()) }
            .map_err(|code| self.context.error(code, || format!("copy {bytes} bytes of another process"), ""))
    }

    fn shared_event(&self) -> Result<(BackendEvent, [u8; HANDLE_BYTES]), Error> {
        self.context.enter()?;
        let cannot = |code| self.context.error(code, || "share an event with another process".to_owned(), "");
        let event = GpuEvent::owned(&self.context, sys::create_event(sys::INTERPROCESS).map_err(cannot)?);
        // SAFETY: the event was created above as a shared one.
        let handle = unsafe { sys::event_handle(raw(&event)) }.map_err(cannot)?;
        Ok((event, handle))
    }

    unsafe fn record_in(&self, event: &BackendEvent) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: `Ipc::record_in` requires an event of this device; the stream belongs to the same context.
        unsafe { sys::record_event(raw(event), self.context.stream()) }
            .map_err(|code| self.context.error(code, || "record an event".to_owned(), ""))
    }

    fn open_event(&self, handle: &[u8; HANDLE_BYTES]) -> Result<BackendEvent, Error> {
        self.context.enter()?;
        let event = sys::open_event(handle)
            .map_err(|code| self.context.error(code, || "open another process's event".to_owned(), ""))?;
        Ok(GpuEvent::owned(&self.context, event))
    }
}
