//! The objects that a back end makes: memory and events.

use std::any::Any;
use std::ptr::NonNull;

/// The size in bytes of an IPC handle for memory or for an event.
pub(crate) const HANDLE_BYTES: usize = 64;

/// A value that keeps another library's object alive.
pub(crate) type Owner = Box<dyn Send + Sync>;

/// Memory of another process, opened by this one. Dropping it closes the mapping.
pub(crate) struct Opened {
    pub(crate) start: *const u8,
    pub(crate) bytes: usize,
    pub(crate) _owner: Box<dyn Send + Sync>,
}

// SAFETY: the type has only a raw pointer, and each access through the pointer is `unsafe` with its own conditions.
unsafe impl Send for Opened {}
// SAFETY: the type has only a raw pointer, and each access through the pointer is `unsafe` with its own conditions.
unsafe impl Sync for Opened {}

/// The purpose of page-locked host memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PageLock {
    /// Copies between this memory and any GPU.
    Copies,
    /// Access to this memory by kernels, in place.
    Mapping,
}

/// Memory that a back end has allocated. Dropping the value frees the memory.
pub(crate) struct Allocated {
    /// The address of the first byte for kernels, if they may access it.
    pub(crate) on_device: Option<*mut u8>,
    /// The address of the first byte for the host, if it may access it.
    pub(crate) on_host: Option<NonNull<u8>>,
    /// The back end's own value.
    pub(crate) owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the type has only raw pointers, and each access through them is `unsafe` with its own conditions.
unsafe impl Send for Allocated {}
// SAFETY: the type has only raw pointers, and each access through them is `unsafe` with its own conditions.
unsafe impl Sync for Allocated {}

impl Allocated {
    /// Creates a value for memory at these addresses. Dropping `owner` must free the memory.
    pub(crate) fn new(
        on_device: Option<*mut u8>,
        on_host: Option<NonNull<u8>>,
        owner: impl Send + Sync + 'static,
    ) -> Self {
        Self { on_device, on_host, owner: Box::new(owner) }
    }
}

/// An event of a back end. The back end identifies it by a number. Dropping the value releases the event.
pub(crate) struct BackendEvent {
    pub(crate) number: u64,
    _owner: Box<dyn Send + Sync>,
}

impl BackendEvent {
    /// Creates a value for the event with this number. Dropping `owner` must release the event.
    pub(crate) fn new(number: u64, owner: impl Send + Sync + 'static) -> Self {
        Self { number, _owner: Box::new(owner) }
    }
}
