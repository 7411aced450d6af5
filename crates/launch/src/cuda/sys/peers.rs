//! The driver's functions for several GPUs.

use cust::sys;
use cust::sys::{CUcontext, CUdevice, CUevent, CUresult, CUstream};

use super::{Code, Numbered};

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;

/// Returns true if kernels and copies of `device` can access the memory of `peer` directly.
pub(in crate::cuda) fn can_access_peer(device: CUdevice, peer: CUdevice) -> Result<bool, Code> {
    let mut answer = 0;
    // SAFETY: the function writes one integer.
    unsafe { call!(cuDeviceCanAccessPeer(&mut answer, device, peer)) }?;
    Ok(answer != 0)
}

/// Gives the current context direct access to the memory of `peer`, a context of another device.
///
/// # Safety
/// `peer` must exist.
pub(in crate::cuda) unsafe fn enable_peer_access(peer: CUcontext) -> Result<(), Code> {
    // SAFETY: the caller guarantees that the context exists.
    unsafe { call!(cuCtxEnablePeerAccess(peer, 0)) }
}

/// Copies `bytes` bytes, at least one, between two contexts, which may be the same, in the order of `stream`. The
/// stream must be of one of them, which must be current.
///
/// # Safety
/// Until the copy is done, each address must point to `bytes` bytes of its context's memory, without overlap.
pub(in crate::cuda) unsafe fn copy_between(
    (to, to_context): (u64, CUcontext),
    (from, from_context): (u64, CUcontext),
    bytes: usize,
    stream: CUstream,
) -> Result<(), Code> {
    // SAFETY: the caller guarantees the addresses and the contexts.
    unsafe { call!(cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream)) }
}

/// Creates an event of the current context that orders work and measures no time.
pub(in crate::cuda) fn create_ordering_event() -> Result<CUevent, Code> {
    let mut event = std::ptr::null_mut();
    // SAFETY: the function writes one pointer.
    unsafe { call!(cuEventCreate(&mut event, DISABLE_TIMING)) }?;
    Ok(event)
}
