//! Copies between two GPUs.

use cust::sys::CUstream;

use super::context::Context;
use super::sys::{self, Code};
use crate::error::Error;

/// Lets `context` access the memory of `peer` directly. Whether it can.
pub(super) fn enable(context: &Context, peer: &Context) -> Result<bool, Error> {
    // Also finds out whether it is lost.
    peer.enter()?;
    context.enter()?;
    if context.raw() == peer.raw() {
        return Ok(true);
    }
    let enable = || {
        if !sys::can_access_peer(context.device.as_raw(), peer.device.as_raw())? {
            return Ok(false);
        }
        // SAFETY: the context lives as long as `peer`.
        match unsafe { sys::enable_peer_access(peer.raw()) } {
            Ok(()) | Err(Code::PEER_ACCESS_ALREADY_ENABLED) => Ok(true),
            Err(Code::PEER_ACCESS_UNSUPPORTED | Code::TOO_MANY_PEERS) => Ok(false),
            Err(code) => Err(code),
        }
    };
    let what = || format!("let {} access the memory of {}", context.device_name(), peer.device_name());
    enable().map_err(|code| context.error(code, what, ""))
}

/// Copies `bytes` bytes, not 0, from the memory of `source` to that of `target`, which may be the same, in the order of
/// the own stream of `target`.
///
/// # Safety
/// As for [`copy_in`]; they may be freed once the own streams of both wait for the copy.
pub(super) unsafe fn copy_in_queue(
    (to, target): (*mut u8, &Context),
    (from, source): (*const u8, &Context),
    bytes: usize,
) -> Result<(), Error> {
    target.enter()?;
    if !std::ptr::eq(source, target) {
        source.note_peer_copy();
        target.note_peer_copy();
    }
    // SAFETY: the stream and the contexts live with `target` and `source`, and that of the stream is current; the rest
    // is the caller's word.
    unsafe { copy_in(target.stream(), (to, target), (from, source), bytes) }
        .map_err(|code| target.error(code, || format!("copy {bytes} bytes"), ""))
}

/// Copies `bytes` bytes, not 0, of `source` to `target`, in the order of `stream`, which is of either and whose context
/// is current.
///
/// # Safety
/// At each address must be that many bytes of its context's memory, without overlap, until the copy is done.
pub(super) unsafe fn copy_in(
    stream: CUstream,
    (to, target): (*mut u8, &Context),
    (from, source): (*const u8, &Context),
    bytes: usize,
) -> Result<(), Code> {
    let (to, from) = (to.addr() as u64, from.addr() as u64);
    // SAFETY: the caller's word.
    unsafe {
        if target.raw() == source.raw() {
            sys::copy_on_device(to, from, bytes, stream)
        } else {
            sys::copy_between((to, target.raw()), (from, source.raw()), bytes, stream)
        }
    }
}
