//! Memory, contexts, streams and events of other libraries.

use std::ffi::c_void;
use std::sync::Arc;

use super::context::{Base, Context, ForeignContext};
use super::discovery::fails;
use super::events;
use super::gpu::{GpuDevice, open_on};
use super::memory::DeviceMemory;
use super::streams::GpuStream;
use super::sys::{self, CUcontext, Code};
use crate::backend::{BackendStream, Interop};
use crate::error::Error;
use crate::module::PtxModule;
use crate::objects::{Allocated, BackendEvent, Owner};
use crate::unavailable::Unavailable;

/// Opens the GPU of `context` for the kernels of `modules`, in that context.
///
/// # Safety
/// The context must live as long as `owner`.
pub(crate) unsafe fn open_context(
    context: *mut c_void,
    owner: Owner,
    modules: &'static [PtxModule],
) -> Result<GpuDevice, Unavailable> {
    super::discovery::gpus()?;
    let context: CUcontext = context.cast();
    let enter = || -> Result<_, Code> {
        // SAFETY: the caller guarantees that the context exists.
        unsafe { sys::set_context(context) }?;
        Ok((sys::context_device()?, sys::create_stream(sys::BLOCKING)?))
    };
    let (device, stream) = enter().map_err(|code| fails("use the context of another library", code))?;
    let base = ForeignContext { context, stream, _owner: owner };
    open_on(device.unsigned_abs(), modules, |_| Ok(Base::Foreign(base)))
}

/// Memory of another library. Dropping the value waits for the device's own stream and then drops the owner.
struct ForeignMemory {
    context: Arc<Context>,
    _owner: Owner,
}

impl Drop for ForeignMemory {
    fn drop(&mut self) {
        // In a lost context no work runs any more.
        let _ = self.context.synchronize();
    }
}

/// A handle that another library owns.
struct Foreign {
    _owner: Owner,
}

impl Interop for GpuDevice {
    fn owner_name(&self) -> String {
        self.context.device_name()
    }

    fn release(&self, allocated: Allocated, _bytes: usize) {
        match allocated.owner.downcast::<DeviceMemory>() {
            Ok(memory) => memory.release(),
            // The owner of another library's memory is never dropped, so that the memory stays.
            Err(other) => std::mem::forget(other),
        }
    }

    unsafe fn adopt(&self, start: *mut u8, bytes: usize) -> Result<Allocated, Error> {
        // SAFETY: `Interop::adopt` has the same requirements.
        let memory = unsafe { DeviceMemory::adopt(&self.context, start.addr() as u64, bytes) };
        Ok(Allocated::new(Some(start), None, memory))
    }

    unsafe fn foreign_memory(&self, start: *mut u8, owner: Owner) -> Result<Allocated, Error> {
        let memory = ForeignMemory { context: self.context.clone(), _owner: owner };
        Ok(Allocated::new(Some(start), None, memory))
    }

    unsafe fn foreign_stream(&self, stream: *mut c_void, owner: Owner) -> Result<Box<dyn BackendStream>, Error> {
        // SAFETY: `Interop::foreign_stream` has the same requirements.
        Ok(Box::new(unsafe { GpuStream::foreign(&self.context, stream.cast(), owner) }))
    }

    unsafe fn foreign_event(&self, event: *mut c_void, owner: Owner) -> Result<BackendEvent, Error> {
        Ok(BackendEvent::new(event.addr() as u64, Foreign { _owner: owner }))
    }

    fn raw_event(&self, event: &BackendEvent) -> Result<*mut c_void, Error> {
        Ok(events::raw(event).cast())
    }

    fn raw_context(&self) -> Result<*mut c_void, Error> {
        Ok(self.context.raw().cast())
    }
}
