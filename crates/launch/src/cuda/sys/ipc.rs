//! The driver's functions to share memory and events between processes.

use super::{CUevent, Code, IpcHandle};
use crate::objects::HANDLE_BYTES;

/// The flag `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS` of `cuIpcOpenMemHandle`.
const LAZY_PEER_ACCESS: u32 = 1;

/// Returns the handle by which another process opens memory that [`allocate`](super::allocate) returned.
///
/// # Safety
/// `address` must be the first byte of such memory in the current context.
pub(in crate::cuda) unsafe fn memory_handle(address: u64) -> Result<[u8; HANDLE_BYTES], Code> {
    let mut handle = IpcHandle([0; HANDLE_BYTES]);
    // SAFETY: the function writes the handle. The caller guarantees the address.
    unsafe { call!(cuIpcGetMemHandle(&mut handle, address)) }?;
    Ok(handle.0)
}

/// Opens another process's memory in the current context and returns its address and size in bytes.
pub(in crate::cuda) fn open_memory(handle: &[u8; HANDLE_BYTES]) -> Result<(u64, usize), Code> {
    let (mut address, mut start, mut bytes) = (0, 0, 0);
    // SAFETY: the function writes one integer; the driver refuses an invalid handle.
    unsafe { call!(cuIpcOpenMemHandle_v2(&mut address, IpcHandle(*handle), LAZY_PEER_ACCESS)) }?;
    // SAFETY: the function writes two integers.
    let range = unsafe { call!(cuMemGetAddressRange_v2(&mut start, &mut bytes, address)) };
    match range {
        Ok(()) => Ok((address, bytes - (address - start) as usize)),
        Err(code) => {
            // SAFETY: the memory was opened above, and its address is not used elsewhere.
            let _ = unsafe { super::close_memory(address) };
            Err(code)
        }
    }
}

/// Returns the handle by which another process opens `event`.
///
/// # Safety
/// `event` must have been created with [`INTERPROCESS`](super::INTERPROCESS).
pub(in crate::cuda) unsafe fn event_handle(event: CUevent) -> Result<[u8; HANDLE_BYTES], Code> {
    let mut handle = IpcHandle([0; HANDLE_BYTES]);
    // SAFETY: the function writes the handle. The caller guarantees a shared event.
    unsafe { call!(cuIpcGetEventHandle(&mut handle, event)) }?;
    Ok(handle.0)
}

/// Opens another process's event in the current context.
pub(in crate::cuda) fn open_event(handle: &[u8; HANDLE_BYTES]) -> Result<CUevent, Code> {
    let mut event = std::ptr::null_mut();
    // SAFETY: the function writes one pointer; the driver refuses an invalid handle.
    unsafe { call!(cuIpcOpenEventHandle(&mut event, IpcHandle(*handle))) }?;
    Ok(event)
}
