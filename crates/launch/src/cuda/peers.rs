//! Copies between two GPUs.

use super::context::Context;
use super::sys::{self, CUstream, Code};
use crate::error::Error;

/// Gives `context` direct access to the memory of `peer`. Returns false if the GPUs do not support direct access.
pub(super) fn enable(context: &Context, peer: &Context) -> Result<bool, Error> {
    // This also returns an error if the peer's context is lost.
    peer.enter()?;
    context.enter()?;
    if context.raw() == peer.raw() {
        return Ok(true);
    }
    let enable = || {
        if !sys::can_access_peer(context.device, peer.device)? {
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

/// Copies `bytes` bytes, at least one, from memory of the context `source` to memory of `target`, which may be the same
/// context. The copy is enqueued in the own stream of the device of `target`.
///
/// # Safety
/// The same conditions as for [`copy_in`]. The memory may be freed once both devices' own streams wait for the copy.
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
    // SAFETY: the stream and the contexts live as long as `target` and `source`, and the stream's context is current.
    // The caller guarantees the addresses.
    unsafe { copy_in(target.stream(), (to, target), (from, source), bytes) }
        .map_err(|code| target.error(code, || format!("copy {bytes} bytes"), ""))
}

/// Copies `bytes` bytes, at least one, from memory of `source` to memory of `target` in `stream`. The stream must
/// belong to one of the two contexts, and that context must be current.
///
/// # Safety
/// Until the copy is done, each address must point to `bytes` bytes of its context's memory, without overlap.
pub(super) unsafe fn copy_in(
    stream: CUstream,
    (to, target): (*mut u8, &Context),
    (from, source): (*const u8, &Context),
    bytes: usize,
) -> Result<(), Code> {
    let (to, from) = (to.addr() as u64, from.addr() as u64);
    // SAFETY: the caller guarantees the addresses and the stream.
    unsafe {
        if target.raw() == source.raw() {
            sys::copy_on_device(to, from, bytes, stream)
        } else {
            sys::copy_between((to, target.raw()), (from, source.raw()), bytes, stream)
        }
    }
}
