//! Page-locked host memory, for copies at the full speed of the link and for access by kernels in place.

use std::ptr::NonNull;
use std::sync::Arc;

use super::context::Context;
use super::sys::{self, Code};
use crate::error::Error;
use crate::objects::{Allocated, PageLock};

/// A piece of page-locked host memory, of at least one byte. Dropping it frees the memory.
pub(super) struct PageLockedMemory {
    start: NonNull<u8>,
    /// The memory's address for kernels, if they may access it.
    address: Option<u64>,
    context: Arc<Context>,
}

// SAFETY: the value owns its memory as a `Vec` does, and any thread may free it in which the context is current.
unsafe impl Send for PageLockedMemory {}
// SAFETY: the type only returns raw pointers, and each access through them is `unsafe` with its own conditions.
unsafe impl Sync for PageLockedMemory {}

impl PageLockedMemory {
    pub(super) fn allocate(context: &Arc<Context>, bytes: usize, purpose: PageLock) -> Result<Allocated, Error> {
        context.enter()?;
        let requested_bytes = bytes as u64;
        let cannot = |code| match code {
            Code::OUT_OF_MEMORY => Error::OutOfPageLockedMemory { requested_bytes },
            code => context.error(code, || format!("page-lock {bytes} bytes"), ""),
        };
        let start = sys::page_locked(bytes, purpose).map_err(cannot)?;
        let start = NonNull::new(start).ok_or(Error::OutOfPageLockedMemory { requested_bytes })?;
        let mut memory = Self { start, address: None, context: context.clone() };
        if purpose == PageLock::Mapping {
            // SAFETY: the memory was allocated above for mapping.
            memory.address = Some(unsafe { sys::device_address(start.as_ptr()) }.map_err(cannot)?);
        }
        let on_device = memory.address.map(|address| std::ptr::without_provenance_mut(address as usize));
        Ok(Allocated::new(on_device, Some(start), memory))
    }
}

impl Drop for PageLockedMemory {
    fn drop(&mut self) {
        // The driver does not wait for kernels before it frees the memory. This code therefore waits if kernels may
        // access the memory. If the context is lost, the memory is not freed.
        let is_unused = match self.address {
            None => self.context.enter(),
            Some(_) => self.context.synchronize(),
        };
        if is_unused.is_ok() {
            // SAFETY: the memory was not freed before and is not used any more. Kernels of the device's own stream have
            // ended, and work in other streams ended before their scope released its borrow of this memory.
            let _ = unsafe { sys::free_page_locked(self.start.as_ptr()) };
        }
    }
}
