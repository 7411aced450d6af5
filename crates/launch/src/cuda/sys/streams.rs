//! The driver's functions for streams, events, and page-locked memory of the host.

use std::ffi::c_void;
use std::ptr;

use cust::sys;
use cust::sys::{CUevent, CUresult, CUstream};

use super::{Code, Numbered};
use crate::backend::PageLock;

/// `CU_STREAM_NON_BLOCKING`: the stream does not wait for the default stream, nor that for it. `cust` never sets it.
const NON_BLOCKING: u32 = 1;

/// The default stream, which synchronous copies run in.
pub(in crate::cuda) const DEFAULT_STREAM: CUstream = ptr::null_mut();

/// A new stream of the current context.
pub(in crate::cuda) fn create_stream() -> Result<CUstream, Code> {
    let mut stream = ptr::null_mut();
    // SAFETY: writes one pointer.
    unsafe { call!(cuStreamCreate(&mut stream, NON_BLOCKING)) }?;
    Ok(stream)
}

/// # Safety
/// `stream` must be of the current context and not be used afterwards.
pub(in crate::cuda) unsafe fn destroy_stream(stream: CUstream) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuStreamDestroy_v2(stream)) }
}

/// Waits for everything in all streams of the current context.
pub(in crate::cuda) fn synchronize_context() -> Result<(), Code> {
    // SAFETY: takes nothing.
    unsafe { call!(cuCtxSynchronize()) }
}

/// Makes what comes later in `stream`, of the current context, wait for `event`, of any context.
///
/// # Safety
/// Both must exist.
pub(in crate::cuda) unsafe fn wait_in_stream(stream: CUstream, event: CUevent) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuStreamWaitEvent(stream, event, 0)) }
}

/// A new event of the current context, which measures time.
pub(in crate::cuda) fn create_event() -> Result<CUevent, Code> {
    let mut event = ptr::null_mut();
    // SAFETY: writes one pointer.
    unsafe { call!(cuEventCreate(&mut event, 0)) }?;
    Ok(event)
}

/// # Safety
/// `event` must be of the current context and not be used afterwards. It may still be awaited.
pub(in crate::cuda) unsafe fn destroy_event(event: CUevent) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuEventDestroy_v2(event)) }
}

/// # Safety
/// Both must exist in the current context.
pub(in crate::cuda) unsafe fn record_event(event: CUevent, stream: CUstream) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuEventRecord(event, stream)) }
}

/// Waits until `event` has happened.
///
/// # Safety
/// It must exist in the current context.
pub(in crate::cuda) unsafe fn wait_for_event(event: CUevent) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuEventSynchronize(event)) }
}

/// Milliseconds from `start` to `end`, which have happened.
///
/// # Safety
/// Both must exist in the current context.
pub(in crate::cuda) unsafe fn elapsed(start: CUevent, end: CUevent) -> Result<f32, Code> {
    let mut milliseconds = 0.0;
    // SAFETY: writes one number; the rest is the caller's word.
    unsafe { call!(cuEventElapsedTime(&mut milliseconds, start, end)) }?;
    Ok(milliseconds)
}

/// `bytes` bytes, not 0, of the host's memory that stay where they are; its contents are unspecified.
pub(in crate::cuda) fn page_locked(bytes: usize, lock: PageLock) -> Result<*mut u8, Code> {
    let flags = match lock {
        PageLock::Copies => sys::CU_MEMHOSTALLOC_PORTABLE,
        PageLock::Mapping => sys::CU_MEMHOSTALLOC_DEVICEMAP,
    };
    let mut start: *mut c_void = ptr::null_mut();
    // SAFETY: writes one pointer.
    unsafe { call!(cuMemHostAlloc(&mut start, bytes, flags)) }?;
    Ok(start.cast())
}

/// The address that kernels of the current context's device have for memory that [`page_locked`] gave for mapping.
///
/// # Safety
/// `start` must be such memory.
pub(in crate::cuda) unsafe fn device_address(start: *mut u8) -> Result<u64, Code> {
    let mut address = 0;
    // SAFETY: writes one integer; the rest is the caller's word.
    unsafe { call!(cuMemHostGetDevicePointer_v2(&mut address, start.cast(), 0)) }?;
    Ok(address)
}

/// Frees what [`page_locked`] gave, at once.
///
/// # Safety
/// Nobody may use it any more, kernels and copies neither.
pub(in crate::cuda) unsafe fn free_page_locked(start: *mut u8) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuMemFreeHost(start.cast())) }
}

/// Copies `bytes` bytes, not 0, to the device, in the order of `stream`.
///
/// # Safety
/// At `address` must be that many bytes of the current context's memory, and `source` must be valid for reading them
/// without change, until the copy is done.
pub(in crate::cuda) unsafe fn copy_to_device_in(
    stream: CUstream,
    address: u64,
    source: *const u8,
    bytes: usize,
) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuMemcpyHtoDAsync_v2(address, source.cast(), bytes, stream)) }
}

/// Copies `bytes` bytes, not 0, to the host, in the order of `stream`.
///
/// # Safety
/// At `address` must be that many bytes of the current context's memory, and `target` must be valid for writing them
/// with no one else accessing it, until the copy is done.
pub(in crate::cuda) unsafe fn copy_to_host_in(
    stream: CUstream,
    target: *mut u8,
    address: u64,
    bytes: usize,
) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuMemcpyDtoHAsync_v2(target.cast(), address, bytes, stream)) }
}
