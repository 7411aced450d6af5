//! Copies between two GPUs.

use std::sync::Arc;

use cust::sys::CUstream;

use super::context::Context;
use super::streams::GpuEvent;
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

/// Copies `bytes` bytes, not 0, from the memory of `source` to that of `target`, which may be the same, after everything in the
/// own streams of both, and before everything that comes there later.
///
/// # Safety
/// At each address must be that many bytes of its context's memory, without overlap; nobody else accesses those at `to`, and
/// nobody writes the others. They may be freed at any time.
pub(super) unsafe fn copy_between_queues(
    target: &Arc<Context>,
    to: *mut u8,
    source: &Arc<Context>,
    from: *const u8,
    bytes: usize,
) -> Result<(), Error> {
    let cannot = |code| target.error(code, || format!("copy {bytes} bytes"), "");
    if Arc::ptr_eq(target, source) {
        target.enter()?;
        // SAFETY: the caller's word; freeing either memory waits for the stream.
        return unsafe { copy_in(target.stream(), (to, target), (from, source), bytes) }.map_err(cannot);
    }
    let before = GpuEvent::record_order(source, source.stream())?;
    target.enter()?;
    source.note_peer_copy();
    target.note_peer_copy();
    // SAFETY: the streams and contexts live with `target` and `source`, and the event exists; the rest is the caller's word:
    // freeing either memory waits for the stream of its context, which waits for the copy.
    unsafe {
        sys::wait_in_stream(target.stream(), before.raw())
            .and_then(|()| copy_in(target.stream(), (to, target), (from, source), bytes))
    }
    .map_err(cannot)?;
    let result = GpuEvent::record_order(target, target.stream()).and_then(|after| {
        source.enter()?;
        // SAFETY: as above.
        unsafe { sys::wait_in_stream(source.stream(), after.raw()) }
            .map_err(|code| source.error(code, || "wait for a copy".to_owned(), ""))
    });
    // What does not wait for the copy must not come before it is done.
    result.or_else(|error| target.synchronize().and(Err(error)))
}

/// Copies `bytes` bytes, not 0, of `source` to `target`, in the order of `stream`, which is of either and whose context is
/// current.
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
