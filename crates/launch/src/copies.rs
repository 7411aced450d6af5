//! Copies between devices. A copy runs after the earlier work of both devices and before their later work, unless a
//! stream executes it.
//!
//! # Design
//!
//! The queue of the target waits for an event of the source's queue and then copies; the source's queue waits for an
//! event of the copy. Every operation on a buffer therefore runs after the operations that were enqueued before it. The
//! copies of one exchange share these events. Peer access changes only the speed of a copy. A copy in a stream
//! (`Queue::copy_between`) does not wait for the queue of the source, so that it overlaps with the work of both
//! devices.

use std::ops::Range;
use std::panic::Location;

use cuda_std::Element;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::objects::BackendEvent;
use crate::open_stream::bytes_at;
use crate::ordering::{Actor, Clock, StreamAccess, StreamWork};
use crate::queue::Queue;

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

impl Queue<'_> {
    /// Enqueues a copy of all elements of `from`, which may be on another device of the same kind, to the first
    /// elements of `to`, which is on the device of this queue.
    ///
    /// The copy comes after the earlier work of this queue. In the queue of a stream, it does not come after the
    /// earlier work of the other device: let the stream [`wait`](Self::wait) for an event of that device's queue. The
    /// later work of the other device, except in streams, waits for the copy.
    ///
    /// ```
    /// use launch::Group;
    ///
    /// let group = Group::open(&"sim:2".parse()?, &[])?;
    /// let there = group.members()[1].upload(&[1, 2])?;
    /// let mut here = group.members()[0].zeroed::<u32>(3)?;
    /// let stream = group.members()[0].stream()?;
    /// stream.queue().wait(&group.members()[1].queue().record()?)?;
    /// stream.queue().copy_between(&there, &mut here)?;
    /// assert_eq!(here.download()?, [1, 2, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if `to` is too short; [`Error::WrongDevice`] if `to` is on another device than this
    /// queue, or one buffer is on a GPU and the other in the simulator; [`Error::Recording`] if the queue records;
    /// [`Error::ContextLost`] when an earlier launch failed; [`Error::StreamRace`] if the device checks streams and
    /// finds a race.
    #[track_caller]
    pub fn copy_between<T: Element>(self, from: &Buffer<T>, to: &mut Buffer<T>) -> Result<(), Error> {
        self.check(to, "a copy between devices")?;
        let Some(stream) = self.stream("copy between devices")? else {
            return to.copy_range_from(0, from, 0..from.len());
        };
        to.bytes_at("copy to", 0, from.len())?;
        let Some(copy) = to.copy_of(0, from, 0..from.len()) else { return Ok(()) };
        let PeerCopy { to, target, from, source, bytes } = copy;
        if target.is_simulated() != source.is_simulated() {
            let device = target.name().to_owned();
            return Err(Error::WrongDevice { what: "a copy between a GPU and the simulator".to_owned(), device });
        }
        let (read, written) = (bytes_at(from, bytes), bytes_at(to, bytes));
        stream.note(&[(read, StreamWork::Copy, false), (written, StreamWork::Copy, true)], Location::caller())?;
        let copy = || {
            let element = size_of::<T>();
            // SAFETY: the buffers have these bytes, and they differ, because `to` is borrowed mutably. They are
            // borrowed until both devices' own queues wait for the copy: that of the source by the event below, and
            // that of the target by `note_queue_work`. Freeing the memory comes after them.
            unsafe { stream.backend().copy((to, target.backend()), (from, source.backend()), bytes, element) }?;
            if target.id() != source.id() {
                let (event, clock) = (stream.backend().record_order()?, stream.clock());
                // SAFETY: the devices are of one kind, as checked above.
                unsafe { source.backend().wait_for(&event) }?;
                if let (Some(queue), Some(clock)) = (source.queue_actor(), clock) {
                    queue.wait(&clock);
                }
            }
            Ok(())
        };
        let result = copy();
        stream.note_queue_work();
        if result.is_err() {
            // If the queue of the source could not be made to wait for the copy, the host waits here.
            let _ = stream.finish_work();
        }
        result
    }
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
