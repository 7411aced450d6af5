//! Copies between devices, ordered after the earlier and before the later work of both.

use std::ops::Range;
use std::panic::Location;

use crate::backend::Moment;
use crate::device::Device;
use crate::error::Error;
use crate::ordering::{Actor, Clock, StreamAccess, StreamWork};

/// A copy of `bytes` bytes, not 0, from one device's memory to another's, or within one.
pub(crate) struct PeerCopy<'d> {
    pub(crate) to: *mut u8,
    pub(crate) target: &'d Device,
    pub(crate) from: *const u8,
    pub(crate) source: &'d Device,
    pub(crate) bytes: usize,
}

/// Makes all `copies`, in any order, after everything that their devices were asked so far and before everything that
/// they are asked later, but for what streams are asked. Returns at once on GPUs. Where others may have views of the
/// memory, `asked_at` is the line that asks for it.
///
/// # Safety
/// At each address must be so many bytes of its device's memory. What is copied to overlaps nothing else that is copied
/// from or to; nobody else accesses it, and nobody writes what is copied from. All of it may be freed at any time.
pub(crate) unsafe fn copy_all(
    copies: &[PeerCopy<'_>],
    asked_at: Option<&'static Location<'static>>,
) -> Result<(), Error> {
    if let Some(mixed) = copies.iter().find(|copy| copy.target.is_simulated() != copy.source.is_simulated()) {
        let device = mixed.target.name().to_owned();
        return Err(Error::WrongDevice { what: "a copy between a GPU and the simulator".to_owned(), device });
    }
    // Those of two devices that copy from one to the other, each pair once.
    let mut pairs: Vec<(&Device, &Device)> = Vec::new();
    for &PeerCopy { target, source, .. } in copies {
        let is_known = pairs.iter().any(|(to, from)| to.id() == target.id() && from.id() == source.id());
        if target.id() != source.id() && !is_known {
            pairs.push((target, source));
        }
    }
    // SAFETY: all devices of a pair are of one kind.
    unsafe { wait_for_each(pairs.iter().copied()) }?;
    note_accesses(copies, asked_at)?;
    let copied = copies.iter().try_for_each(|&PeerCopy { to, target, from, source, bytes }| {
        // SAFETY: the caller's word; the source is made to wait below.
        unsafe { target.backend().copy_from(to, source.backend(), from, bytes) }
    });
    // SAFETY: as above.
    let result = copied.and_then(|()| unsafe { wait_for_each(pairs.iter().map(|&(target, source)| (source, target))) });
    if result.is_err() {
        // What does not wait for a copy must not come before it is done.
        for (target, _) in pairs {
            let _ = target.synchronize();
        }
    }
    result
}

/// That nothing that is copied to is also copied from, or to once more.
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

/// Notes what the targets' queues are about to be asked, where they check and streams may ask for the same memory.
fn note_accesses(copies: &[PeerCopy<'_>], asked_at: Option<&'static Location<'static>>) -> Result<(), Error> {
    let Some(asked_at) = asked_at.filter(|_| Actor::are_streams_open()) else { return Ok(()) };
    for copy in copies {
        let Some(queue) = copy.target.queue_actor() else { continue };
        let access = |start: *const u8, is_write| {
            let told = StreamAccess { is_write, ..StreamAccess::new(StreamWork::Copy, None, asked_at) };
            (start.addr()..start.addr() + copy.bytes, told)
        };
        queue.access(&[access(copy.from, false), access(copy.to, true)])?;
    }
    Ok(())
}

/// Lets the first of each pair wait for what the second was asked so far.
///
/// # Safety
/// Both must be of the same kind.
unsafe fn wait_for_each<'d>(pairs: impl Iterator<Item = (&'d Device, &'d Device)>) -> Result<(), Error> {
    let mut moments: Vec<(&Device, Moment, Option<Clock>)> = Vec::new();
    let pairs: Vec<_> = pairs.collect();
    // All moments first, so that nobody waits for what somebody else is made to wait for here.
    for &(_, other) in &pairs {
        if !moments.iter().any(|(device, ..)| device.id() == other.id()) {
            let clock = other.queue_actor().map(Actor::record);
            moments.push((other, other.backend().record_order()?, clock));
        }
    }
    for &(waiting, other) in &pairs {
        for (_, moment, clock) in moments.iter().filter(|(device, ..)| device.id() == other.id()) {
            // SAFETY: the caller's word.
            unsafe { waiting.backend().wait_for(moment) }?;
            if let (Some(queue), Some(clock)) = (waiting.queue_actor(), clock) {
                queue.wait(clock);
            }
        }
    }
    Ok(())
}
