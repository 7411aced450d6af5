//! The driver's functions for streams, events, and page-locked host memory.

use std::ffi::c_void;
use std::ptr;

use cust::sys;
use cust::sys::{CUevent, CUresult, CUstream};

use super::{Code, Numbered};
use crate::backend::PageLock;

/// `CU_STREAM_NON_BLOCKING`: this stream and the default stream do not wait for each other. `cust` never sets it.
const NON_BLOCKING: u32 = 1;

/// The default stream, in which synchronous copies run.
pub(in crate::cuda) const DEFAULT_STREAM: CUstream = ptr::null_mut();

/// Creates a stream of the current context.
pub(in crate::cuda) fn create_stream() -> Result<CUstream, Code> {
    let mut stream = ptr::null_mut();
    // SAFETY: the function writes one pointer.
    unsafe { call!(cuStreamCreate(&mut stream, NON_BLOCKING)) }?;
    Ok(stream)
}

/// Destroys `stream`.
///
/// # Safety
/// `stream` must be of the current context and must not be used afterwards.
pub(in crate::cuda) unsafe fn destroy_stream(stream: CUstream) -> Result<(), Code> {
    // SAFETY: the caller guarantees that the stream exists and is not used afterwards.
    unsafe { call!(cuStreamDestroy_v2(stream)) }
}

/// Waits for everything in all streams of the current context.
pub(in crate::cuda) fn synchronize_context() -> Result<(), Code> {
    // SAFETY: the function takes no argument.
    unsafe { call!(cuCtxSynchronize()) }
}

/// Makes the later work of `stream`, which is of the current context, wait for `event`, which may be of any context.
///
/// # Safety
/// Both must exist.
pub(in crate::cuda) unsafe fn wait_in_stream(stream: CUstream, event: CUevent) -> Result<(), Code> {
    // SAFETY: the caller guarantees that both exist.
    unsafe { call!(cuStreamWaitEvent(stream, event, 0)) }
}

/// Creates an event of the current context that measures time.
pub(in crate::cuda) fn create_event() -> Result<CUevent, Code> {
    let mut event = ptr::null_mut();
    // SAFETY: the function writes one pointer.
    unsafe { call!(cuEventCreate(&mut event, 0)) }?;
    Ok(event)
}

/// Destroys `event`. Streams that wait for it continue to do so.
///
/// # Safety
/// `event` must be of the current context and must not be used afterwards.
pub(in crate::cuda) unsafe fn destroy_event(event: CUevent) -> Result<(), Code> {
    // SAFETY: the caller guarantees that the event exists and is not used afterwards.
    unsafe { call!(cuEventDestroy_v2(event)) }
}

/// Records `event` in `stream`.
///
/// # Safety
/// Both must exist in the current context.
pub(in crate::cuda) unsafe fn record_event(event: CUevent, stream: CUstream) -> Result<(), Code> {
    // SAFETY: the caller guarantees that both exist.
    unsafe { call!(cuEventRecord(event, stream)) }
}

/// Waits until `event` has completed.
///
/// # Safety
/// `event` must exist in the current context.
pub(in crate::cuda) unsafe fn wait_for_event(event: CUevent) -> Result<(), Code> {
    // SAFETY: the caller guarantees that the event exists.
    unsafe { call!(cuEventSynchronize(event)) }
}

/// Returns the milliseconds from `start` to `end`, which must have completed.
///
/// # Safety
/// Both must exist in the current context.
pub(in crate::cuda) unsafe fn elapsed(start: CUevent, end: CUevent) -> Result<f32, Code> {
    let mut milliseconds = 0.0;
    // SAFETY: the function writes one number. The caller guarantees that both events exist.
    unsafe { call!(cuEventElapsedTime(&mut milliseconds, start, end)) }?;
    Ok(milliseconds)
}

/// Allocates `bytes` bytes, at least one, of page-locked host memory. The contents are unspecified.
pub(in crate::cuda) fn page_locked(bytes: usize, lock: PageLock) -> Result<*mut u8, Code> {
    let flags = match lock {
        PageLock::Copies => sys::CU_MEMHOSTALLOC_PORTABLE,
        PageLock::Mapping => sys::CU_MEMHOSTALLOC_DEVICEMAP,
    };
    let mut start: *mut c_void = ptr::null_mut();
    // SAFETY: the function writes one pointer.
    unsafe { call!(cuMemHostAlloc(&mut start, bytes, flags)) }?;
    Ok(start.cast())
}

/// Returns the address of mapped memory for kernels of the current context's device.
///
/// # Safety
/// [`page_locked`] must have returned `start` with `PageLock::Mapping`.
pub(in crate::cuda) unsafe fn device_address(start: *mut u8) -> Result<u64, Code> {
    let mut address = 0;
    // SAFETY: the function writes one integer. The caller guarantees mapped memory.
    unsafe { call!(cuMemHostGetDevicePointer_v2(&mut address, start.cast(), 0)) }?;
    Ok(address)
}

/// Frees memory of [`page_locked`] at once.
///
/// # Safety
/// The memory must not be in use by the host, kernels or copies, and must not be used afterwards.
pub(in crate::cuda) unsafe fn free_page_locked(start: *mut u8) -> Result<(), Code> {
    // SAFETY: the caller guarantees that the memory is not in use.
    unsafe { call!(cuMemFreeHost(start.cast())) }
}

/// Copies `bytes` bytes, at least one, to the device in the order of `stream`.
///
/// # Safety
/// Until the copy is done, `address` must point to `bytes` bytes of the current context's memory, and `source` must be
/// valid for reads of that size and must not change.
pub(in crate::cuda) unsafe fn copy_to_device_in(
    stream: CUstream,
    address: u64,
    source: *const u8,
    bytes: usize,
) -> Result<(), Code> {
    // SAFETY: the caller guarantees both addresses.
    unsafe { call!(cuMemcpyHtoDAsync_v2(address, source.cast(), bytes, stream)) }
}

/// Copies `bytes` bytes, at least one, to the host in the order of `stream`.
///
/// # Safety
/// Until the copy is done, `address` must point to `bytes` bytes of the current context's memory, and `target` must be
/// valid for writes of that size and must not be accessed by other code.
pub(in crate::cuda) unsafe fn copy_to_host_in(
    stream: CUstream,
    target: *mut u8,
    address: u64,
    bytes: usize,
) -> Result<(), Code> {
    // SAFETY: the caller guarantees both addresses.
    unsafe { call!(cuMemcpyDtoHAsync_v2(target.cast(), address, bytes, stream)) }
}
