//! The driver's functions for memory and events that several processes use.

use cust::sys;
use cust::sys::{CUevent, CUipcEventHandle, CUipcMemHandle, CUresult};

use super::{Code, Numbered};
use crate::backend::HANDLE_BYTES;

/// `CU_EVENT_DISABLE_TIMING` and `CU_EVENT_INTERPROCESS`.
const ORDERS_PROCESSES: u32 = 2 | 4;

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
const LAZY_PEER_ACCESS: u32 = 1;

/// By what another process opens the memory that [`allocate`](super::allocate) gave.
///
/// # Safety
/// `address` must be the first of such memory of the current context.
pub(in crate::cuda) unsafe fn memory_handle(address: u64) -> Result<[u8; HANDLE_BYTES], Code> {
    let mut handle = CUipcMemHandle { reserved: [0; HANDLE_BYTES] };
    // SAFETY: writes the handle; the rest is the caller's word.
    unsafe { call!(cuIpcGetMemHandle(&mut handle, address)) }?;
    Ok(handle.reserved.map(|byte| byte as u8))
}

/// The address, in the current context, of another process's memory, and how many bytes it has.
pub(in crate::cuda) fn open_memory(handle: &[u8; HANDLE_BYTES]) -> Result<(u64, usize), Code> {
    let handle = CUipcMemHandle { reserved: handle.map(|byte| byte as _) };
    let (mut address, mut start, mut bytes) = (0, 0, 0);
    // SAFETY: writes one integer; the driver refuses what is no handle.
    unsafe { call!(cuIpcOpenMemHandle_v2(&mut address, handle, LAZY_PEER_ACCESS)) }?;
    // SAFETY: writes two integers.
    let range = unsafe { call!(cuMemGetAddressRange_v2(&mut start, &mut bytes, address)) };
    match range {
        Ok(()) => Ok((address, bytes - (address - start) as usize)),
        Err(code) => {
            // SAFETY: it was opened above, and nobody has its address.
            let _ = unsafe { close_memory(address) };
            Err(code)
        }
    }
}

/// # Safety
/// `address` must be what [`open_memory`] gave in the current context, and nobody may use it any more.
pub(in crate::cuda) unsafe fn close_memory(address: u64) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuIpcCloseMemHandle(address)) }
}

/// A new event of the current context for several processes.
pub(in crate::cuda) fn create_shared_event() -> Result<CUevent, Code> {
    let mut event = std::ptr::null_mut();
    // SAFETY: writes one pointer.
    unsafe { call!(cuEventCreate(&mut event, ORDERS_PROCESSES)) }?;
    Ok(event)
}

/// By what another process opens an event.
///
/// # Safety
/// It must be what [`create_shared_event`] gave.
pub(in crate::cuda) unsafe fn event_handle(event: CUevent) -> Result<[u8; HANDLE_BYTES], Code> {
    let mut handle = CUipcEventHandle { reserved: [0; HANDLE_BYTES] };
    // SAFETY: writes the handle; the rest is the caller's word.
    unsafe { call!(cuIpcGetEventHandle(&mut handle, event)) }?;
    Ok(handle.reserved.map(|byte| byte as u8))
}

/// Another process's event, in the current context.
pub(in crate::cuda) fn open_event(handle: &[u8; HANDLE_BYTES]) -> Result<CUevent, Code> {
    let handle = CUipcEventHandle { reserved: handle.map(|byte| byte as _) };
    let mut event = std::ptr::null_mut();
    // SAFETY: writes one pointer; the driver refuses what is no handle.
    unsafe { call!(cuIpcOpenEventHandle(&mut event, handle)) }?;
    Ok(event)
}
