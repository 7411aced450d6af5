//! The driver's functions for several GPUs.

use cust::sys;
use cust::sys::{CUcontext, CUdevice, CUevent, CUresult, CUstream};

use super::{Code, Numbered};

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;

/// Whether kernels and copies of `device` can access the memory of `peer` directly.
pub(in crate::cuda) fn can_access_peer(device: CUdevice, peer: CUdevice) -> Result<bool, Code> {
    let mut answer = 0;
    // SAFETY: writes one integer.
    unsafe { call!(cuDeviceCanAccessPeer(&mut answer, device, peer)) }?;
    Ok(answer != 0)
}

/// Lets the current context access the memory of `peer`, a context of another device, directly.
///
/// # Safety
/// `peer` must exist.
pub(in crate::cuda) unsafe fn enable_peer_access(peer: CUcontext) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuCtxEnablePeerAccess(peer, 0)) }
}

/// Copies `bytes` bytes, not 0, of one context to another, in the order of `stream`, which is of either and whose
/// context is current. They may be the same.
///
/// # Safety
/// At each address must be that many bytes of its context's memory, without overlap, until the copy is done.
pub(in crate::cuda) unsafe fn copy_between(
    (to, to_context): (u64, CUcontext),
    (from, from_context): (u64, CUcontext),
    bytes: usize,
    stream: CUstream,
) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream)) }
}

/// A new event of the current context, which orders and does not measure time.
pub(in crate::cuda) fn create_ordering_event() -> Result<CUevent, Code> {
    let mut event = std::ptr::null_mut();
    // SAFETY: writes one pointer.
    unsafe { call!(cuEventCreate(&mut event, DISABLE_TIMING)) }?;
    Ok(event)
}
