//! Copies between devices. A copy runs after the earlier work of both devices and before their later work.
//!
//! # Design
//!
//! The queue of the target waits for an event of the source's queue and then copies; the source's queue waits for an
//! event of the copy. Every operation on a buffer therefore runs after the operations that were enqueued before it. The
//! copies of one exchange share these events. Peer access changes only the speed of a copy.

use std::ops::Range;
use std::panic::Location;

use crate::device::Device;
use crate::error::Error;
use crate::objects::BackendEvent;
use crate::ordering::{Actor, Clock, StreamAccess, StreamWork};

/// A copy of `bytes` bytes, at least one, between the memories of two devices or within one.
pub(crate) struct PeerCopy<'d> {
    pub(crate) to: *mut u8,
    pub(crate) target: &'d Device,
    pub(crate) from: *const u8,
    pub(crate) source: &'d Device,
    pub(crate) bytes: usize,
}

/// Enqueues all `copies`, in an unspecified order. They run after the earlier work of their devices and before the
/// later work, except work in streams. On GPUs the call returns at once. `location` is the source line of the call if
/// other views of the memory may exist, otherwise `None`.
///
/// # Safety
/// Each address must point to `bytes` bytes of its device's memory. A target must overlap no source and no other
/// target. Until the copies are done, no other code may access a target or write a source. The memory may be freed at
/// any time after the call.
pub(crate) unsafe fn copy_all(
    copies: &[PeerCopy<'_>],
    location: Option<&'static Location<'static>>,
) -> Result<(), Error> {
    if let Some(mixed) = copies.iter().find(|copy| copy.target.is_simulated() != copy.source.is_simulated()) {
        let device = mixed.target.name().to_owned();
        return Err(Error::WrongDevice { what: "a copy between a GPU and the simulator".to_owned(), device });
    }
    let devices = || copies.iter().flat_map(|copy| [copy.target, copy.source]);
    devices().try_for_each(|device| device.queues().join_streams())?;
    // The pairs of different devices that copy from one to the other, each pair once.
    let mut pairs: Vec<(&Device, &Device)> = Vec::new();
    for &PeerCopy { target, source, .. } in copies {
        let is_known = pairs.iter().any(|(to, from)| to.id() == target.id() && from.id() == source.id());
        if target.id() != source.id() && !is_known {
            pairs.push((target, source));
        }
    }
    // SAFETY: both devices of each pair are GPUs or both are simulated, as checked above.
    unsafe { wait_for_each(pairs.iter().copied()) }?;
    note_accesses(copies, location)?;
    let copied = copies.iter().try_for_each(|&PeerCopy { to, target, from, source, bytes }| {
        // SAFETY: the caller guarantees the addresses. The source is made to wait for the copy below.
        unsafe { target.backend().copy_from(to, source.backend(), from, bytes) }
    });
    // SAFETY: both devices of each pair are GPUs or both are simulated, as checked at the start.
    let result = copied.and_then(|()| unsafe { wait_for_each(pairs.iter().map(|&(target, source)| (source, target))) });
    if result.is_err() {
        // If the queues could not be made to wait for the copies, the host waits for them here.
        for (target, _) in pairs {
            let _ = target.synchronize();
        }
    }
    result.and_then(|()| devices().try_for_each(|device| device.queues().fork_streams()))
}

/// Checks that no target overlaps a source or another target.
pub(crate) fn check_overlap(copies: &[PeerCopy<'_>]) -> Result<(), Error> {
    let bytes = |device: &Device, start: *const u8, bytes| (device.id(), start.addr()..start.addr() + bytes);
    let target = |copy: &PeerCopy<'_>| bytes(copy.target, copy.to, copy.bytes);
    let source = |copy: &PeerCopy<'_>| bytes(copy.source, copy.from, copy.bytes);
    for (i, copy) in copies.iter().enumerate() {
        let (device, written) = target(copy);
        let others = copies.iter().map(source).chain(copies[..i].iter().map(target));
        let overlaps = |(other, range): (_, Range<usize>)| {
            other == device && range.start < written.end && written.start < range.end
        };
        if others.into_iter().any(overlaps) {
            return Err(Error::Overlap);
        }
    }
    Ok(())
}

/// Reports the accesses of `copies` to the race checker, as work of the targets' queues, if streams may access the same
/// memory.
fn note_accesses(copies: &[PeerCopy<'_>], location: Option<&'static Location<'static>>) -> Result<(), Error> {
    let Some(location) = location.filter(|_| Actor::are_streams_open()) else { return Ok(()) };
    for copy in copies {
        let Some(queue) = copy.target.queue_actor() else { continue };
        let access = |start: *const u8, is_write| {
            let stream_access = StreamAccess { is_write, ..StreamAccess::new(StreamWork::Copy, None, location) };
            (start.addr()..start.addr() + copy.bytes, stream_access)
        };
        queue.access(&[access(copy.from, false), access(copy.to, true)])?;
    }
    Ok(())
}

/// Makes the first device of each pair wait for the earlier work of the second.
///
/// # Safety
/// Either both devices of a pair are GPUs, or both are simulated.
unsafe fn wait_for_each<'d>(pairs: impl Iterator<Item = (&'d Device, &'d Device)>) -> Result<(), Error> {
    let mut events: Vec<(&Device, BackendEvent, Option<Clock>)> = Vec::new();
    let pairs: Vec<_> = pairs.collect();
    // Record all events first, so that no event comes after a wait that is enqueued here.
    for &(_, other) in &pairs {
        if !events.iter().any(|(device, ..)| device.id() == other.id()) {
            let clock = other.queue_actor().map(Actor::record);
            events.push((other, other.backend().record_order()?, clock));
        }
    }
    for &(waiting, other) in &pairs {
        for (_, event, clock) in events.iter().filter(|(device, ..)| device.id() == other.id()) {
            // SAFETY: the caller guarantees that both devices are of the same kind.
            unsafe { waiting.backend().wait_for(event) }?;
            if let (Some(queue), Some(clock)) = (waiting.queue_actor(), clock) {
                queue.wait(clock);
            }
        }
    }
    Ok(())
}
