//! The open streams of a device, and the order between them and the device's own queue.
//!
//! # Design
//!
//! A launch through a `Queue` does not borrow its memory until it is done, so that buffers can be freed, reused and
//! read while a stream still uses them. Two rules keep this sound, and neither makes the host wait:
//!
//! - *Join*: before memory is freed, read, written, filled or copied, the device's own queue waits for everything that
//!   queues have enqueued in streams.
//! - *Fork*: after memory is allocated, written, filled or copied, these streams wait for the device's own queue.
//!
//! Every operation of a `Buffer` is thus ordered with all queues, and freed memory is reused in the order of the
//! device's own queue. Only launches in different queues are unordered. Streams whose work borrows its memory, those of
//! a scope that are not used as queues, take no part. Without other streams, both rules cost one load of an atomic.

use std::fmt;
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuda_std::{Call, LaunchConfig, Params};

use crate::backend::{BackendEvent, BackendStream};
use crate::device::Device;
use crate::error::Error;
use crate::event::Event;
use crate::ordering::{self, Actor, Clock, StreamAccess, StreamWork};

/// A stream of a device. The owner must call [`finish`](Self::finish) or [`Device::close_queue`] before it drops the
/// value.
pub(crate) struct OpenStream {
    stream: Box<dyn BackendStream>,
    /// This stream in the race checker, if the device checks streams.
    actor: Option<Actor>,
    /// The index of the device in its group, and the index of the stream among those of the device, for reports.
    number: (usize, usize),
    /// True if queues may enqueue work in this stream.
    is_queue: AtomicBool,
    /// True if a queue has enqueued work for which the device's own queue does not wait yet.
    has_unjoined_work: AtomicBool,
}

/// The streams of a device in which queues may enqueue work.
#[derive(Default)]
pub(crate) struct QueueStreams {
    count: AtomicUsize,
    list: Mutex<Vec<Arc<OpenStream>>>,
    /// The number of streams that were made so far, for reports.
    made: AtomicUsize,
}

impl QueueStreams {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<OpenStream>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    fn list(&self) -> Vec<Arc<OpenStream>> {
        if self.is_empty() { Vec::new() } else { self.lock().clone() }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<OpenStream>>)) {
        let mut list = self.lock();
        change(&mut list);
        self.count.store(list.len(), Ordering::SeqCst);
    }
}

impl OpenStream {
    /// Makes the value for `stream`, a new stream of `device`.
    pub(crate) fn new(device: &Device, stream: Box<dyn BackendStream>, number: (usize, usize)) -> Self {
        let actor = device.backend().checks_streams().then(Actor::begin_stream);
        Self { stream, actor, number, is_queue: AtomicBool::new(false), has_unjoined_work: AtomicBool::new(false) }
    }

    pub(crate) fn backend(&self) -> &dyn BackendStream {
        &*self.stream
    }

    /// Reports accesses to the race checker, if the device checks streams. Each access has the range of bytes, the
    /// operation, and `true` for a write.
    pub(crate) fn note(
        &self,
        accesses: &[(Range<usize>, StreamWork, bool)],
        location: &'static Location<'static>,
    ) -> Result<(), Error> {
        let Some(actor) = self.actor else { return Ok(()) };
        let accesses = accesses.iter().map(|&(ref bytes, work, is_write)| {
            (bytes.clone(), StreamAccess { is_write, ..StreamAccess::new(work, Some(self.number), location) })
        });
        let accesses: Vec<_> = accesses.collect();
        Ok(actor.access(&accesses)?)
    }

    /// Launches `call` on `device`, the device of this stream.
    ///
    /// # Safety
    /// The memory of the call's views must live until the kernel has ended, or the caller must call
    /// [`note_queue_work`](Self::note_queue_work) before it returns.
    pub(crate) unsafe fn launch(
        &self,
        device: &Device,
        config: LaunchConfig,
        call: &Call<'_>,
        location: &'static Location<'static>,
    ) -> Result<(), Error> {
        let mut params = Params::new();
        device.encode(config, call, &mut params)?;
        let launch = || {
            // SAFETY: `encode` has checked that every view in the call is of this device's memory. The caller
            // guarantees that the memory lives or that the device's own queue waits before it is freed.
            unsafe { self.stream.launch(device.backend(), config, call, &params) }
        };
        match self.actor {
            None => launch(),
            Some(actor) => {
                let access = StreamAccess::new(StreamWork::Launch(call.info()), Some(self.number), location);
                // SAFETY: `encode` has checked that every region is of this device's memory.
                unsafe { ordering::launch(actor, &*self.stream, access, params.regions().as_slice(), launch) }
            }
        }
    }

    /// Records that a queue has enqueued work in this stream. Called after the work is enqueued and before its buffers
    /// can be freed.
    pub(crate) fn note_queue_work(&self) {
        self.has_unjoined_work.store(true, Ordering::SeqCst);
    }

    /// Returns the clock of the work enqueued so far, if the device checks streams.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.actor.map(Actor::record)
    }

    /// Returns an event that completes when everything enqueued in this stream so far is done.
    pub(crate) fn record(&self, device: &Device) -> Result<Event, Error> {
        let (event, clock) = (self.stream.record()?, self.clock());
        Ok(Event { event, clock, device: device.clone() })
    }

    /// Makes all later work of this stream wait for `event`.
    ///
    /// # Safety
    /// The event must be of this device or of another of the same kind.
    pub(crate) unsafe fn wait(&self, event: &BackendEvent, clock: Option<&Clock>) -> Result<(), Error> {
        // SAFETY: the caller guarantees the kind of the event.
        unsafe { self.stream.wait(event) }?;
        if let (Some(actor), Some(clock)) = (self.actor, clock) {
            actor.wait(clock);
        }
        Ok(())
    }

    /// Waits until everything enqueued in this stream so far is done.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.stream.synchronize()?;
        self.actor.into_iter().for_each(Actor::synchronize);
        Ok(())
    }

    /// Waits until the stream has no running work, even if this function then returns an error.
    pub(crate) fn finish_work(&self) -> Result<(), Error> {
        self.stream.finish()?;
        self.actor.into_iter().for_each(Actor::synchronize);
        Ok(())
    }

    /// Finishes the work like [`finish_work`](Self::finish_work), and ends the stream's history in the race checker.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let result = self.stream.finish();
        self.actor.into_iter().for_each(Actor::end_stream);
        result
    }
}

impl fmt::Debug for OpenStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenStream").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Device {
    /// Makes the value for `stream`, a new stream of this device that belongs to no scope.
    pub(crate) fn open_queue(&self, stream: Box<dyn BackendStream>) -> Result<Arc<OpenStream>, Error> {
        let number = self.queue_streams().made.fetch_add(1, Ordering::Relaxed);
        let stream = Arc::new(OpenStream::new(self, stream, (0, number)));
        match self.use_as_queue(&stream) {
            Ok(()) => Ok(stream),
            Err(error) => {
                self.close_queue(&stream);
                Err(error)
            }
        }
    }

    /// Lets queues enqueue work in `stream`, after the earlier work of the device's own queue.
    pub(crate) fn use_as_queue(&self, stream: &Arc<OpenStream>) -> Result<(), Error> {
        if stream.is_queue.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        // First added, so that no operation between the two steps misses the stream.
        self.queue_streams().change(|list| list.push(stream.clone()));
        self.backend().finish_uploads()?;
        self.fork(std::slice::from_ref(stream))
    }

    /// Lets no queue enqueue further work in `stream`, whose work the caller has waited for.
    pub(crate) fn forget_queue(&self, stream: &Arc<OpenStream>) {
        if stream.is_queue.load(Ordering::SeqCst) {
            self.queue_streams().change(|list| list.retain(|other| !Arc::ptr_eq(other, stream)));
        }
    }

    /// Closes a stream that [`open_queue`](Self::open_queue) returned. The device's own queue waits for its work.
    pub(crate) fn close_queue(&self, stream: &Arc<OpenStream>) {
        if self.join(std::slice::from_ref(stream)).is_err() {
            // The error is that of an earlier launch, which the next call that waits returns.
            let _ = stream.stream.finish();
        }
        self.forget_queue(stream);
        stream.actor.into_iter().for_each(Actor::retire_stream);
    }

    /// Makes the later work of the device's own queue wait for everything that queues have enqueued in streams.
    #[inline]
    pub(crate) fn join_streams(&self) -> Result<(), Error> {
        if self.queue_streams().is_empty() {
            return Ok(());
        }
        self.join(&self.queue_streams().list())
    }

    /// Joins the streams like [`join_streams`](Self::join_streams), before memory is freed. If they cannot be joined,
    /// the host waits for them.
    pub(crate) fn join_streams_to_free(&self) {
        if self.join_streams().is_err() {
            for stream in self.queue_streams().list() {
                let _ = stream.stream.finish();
            }
        }
    }

    /// Makes the later work of streams with queues wait for everything enqueued in the device's own queue.
    #[inline]
    pub(crate) fn fork_streams(&self) -> Result<(), Error> {
        if self.queue_streams().is_empty() {
            return Ok(());
        }
        self.fork(&self.queue_streams().list())
    }

    /// Forks the streams like [`fork_streams`](Self::fork_streams), after a copy from the host.
    pub(crate) fn fork_streams_after_upload(&self) -> Result<(), Error> {
        if self.queue_streams().is_empty() {
            return Ok(());
        }
        // A copy of pageable memory may have returned before its last bytes were on the device.
        self.backend().finish_uploads()?;
        self.fork(&self.queue_streams().list())
    }

    fn join(&self, streams: &[Arc<OpenStream>]) -> Result<(), Error> {
        for stream in streams {
            if !stream.has_unjoined_work.swap(false, Ordering::SeqCst) {
                continue;
            }
            let join = || -> Result<(), Error> {
                let (event, clock) = (stream.stream.record_order()?, stream.clock());
                // SAFETY: this device recorded the event.
                unsafe { self.backend().wait_for(&event) }?;
                if let (Some(queue), Some(clock)) = (self.queue_actor(), clock) {
                    queue.wait(&clock);
                }
                Ok(())
            };
            join().inspect_err(|_| stream.note_queue_work())?;
        }
        Ok(())
    }

    fn fork(&self, streams: &[Arc<OpenStream>]) -> Result<(), Error> {
        let (event, clock) = (self.backend().record_order()?, self.queue_actor().map(Actor::record));
        // SAFETY: this device recorded the event.
        streams.iter().try_for_each(|stream| unsafe { stream.wait(&event, clock.as_ref()) })
    }
}
