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

use crate::backend::{Backend, BackendStream};
use crate::error::Error;
use crate::objects::BackendEvent;
use crate::ordering::{self, Actor, Clock, StreamAccess, StreamWork};

/// A stream of a device. The owner must call [`finish`](Self::finish) or [`Queues::close`] before it drops the value.
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

impl OpenStream {
    /// Makes the value for `stream`, a new stream of `device`.
    pub(crate) fn new(device: &dyn Backend, stream: Box<dyn BackendStream>, number: (usize, usize)) -> Self {
        let actor = device.checks_streams().then(Actor::begin_stream);
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

    /// Launches `call`, whose parameters are `params`, on `device`, the device of this stream.
    ///
    /// # Safety
    /// The call's views must be of the device's memory. This memory must live until the kernel has ended, or the caller
    /// must call [`note_queue_work`](Self::note_queue_work) before it returns.
    pub(crate) unsafe fn launch(
        &self,
        device: &dyn Backend,
        config: LaunchConfig,
        call: &Call<'_>,
        params: &Params,
        location: &'static Location<'static>,
    ) -> Result<(), Error> {
        let launch = || {
            // SAFETY: the caller guarantees that the views are of this device's memory, and that the memory lives or
            // that the device's own queue waits before it is freed.
            unsafe { self.stream.launch(device, config, call, params) }
        };
        match self.actor {
            None => launch(),
            Some(actor) => {
                let access = StreamAccess::new(StreamWork::Launch(call.info()), Some(self.number), location);
                // SAFETY: the caller guarantees that every region is of this device's memory.
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

/// Returns the range of the `bytes` bytes from `start` on.
pub(crate) fn bytes_at(start: *const u8, bytes: usize) -> Range<usize> {
    start.addr()..start.addr() + bytes
}

impl fmt::Debug for OpenStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenStream").field("number", &self.number).finish_non_exhaustive()
    }
}

/// A device's own queue, and the streams in which other queues of the device may enqueue work.
pub(crate) struct Queues<B: ?Sized> {
    /// The device's own queue in the race checker, or `None` if the device does not check streams.
    pub(crate) actor: Option<Actor>,
    /// The length of `list`.
    count: AtomicUsize,
    list: Mutex<Vec<Arc<OpenStream>>>,
    /// The number of streams that were made so far, for reports.
    made: AtomicUsize,
    /// The back end of the device.
    pub(crate) backend: B,
}

impl<B: Backend> Queues<B> {
    pub(crate) fn new(backend: B) -> Self {
        let actor = backend.checks_streams().then(Actor::begin);
        Self { actor, count: AtomicUsize::new(0), list: Mutex::default(), made: AtomicUsize::new(0), backend }
    }
}

impl<B: ?Sized> Drop for Queues<B> {
    fn drop(&mut self) {
        self.actor.into_iter().for_each(Actor::end);
    }
}

impl Queues<dyn Backend> {
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

    /// Makes the value for `stream`, a new stream of the device that belongs to no scope.
    pub(crate) fn open(&self, stream: Box<dyn BackendStream>) -> Result<Arc<OpenStream>, Error> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let stream = Arc::new(OpenStream::new(&self.backend, stream, (0, number)));
        match self.use_as_queue(&stream) {
            Ok(()) => Ok(stream),
            Err(error) => {
                self.close(&stream);
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
        self.change(|list| list.push(stream.clone()));
        self.backend.finish_uploads()?;
        self.fork(std::slice::from_ref(stream))
    }

    /// Lets no queue enqueue further work in `stream`, whose work the caller has waited for.
    pub(crate) fn forget(&self, stream: &Arc<OpenStream>) {
        if stream.is_queue.load(Ordering::SeqCst) {
            self.change(|list| list.retain(|other| !Arc::ptr_eq(other, stream)));
        }
    }

    /// Closes a stream that [`open`](Self::open) returned. The device's own queue waits for its work.
    pub(crate) fn close(&self, stream: &Arc<OpenStream>) {
        if self.join(std::slice::from_ref(stream)).is_err() {
            // The error is that of an earlier launch, which the next call that waits returns.
            let _ = stream.stream.finish();
        }
        self.forget(stream);
        stream.actor.into_iter().for_each(Actor::retire_stream);
    }

    /// Makes the later work of the device's own queue wait for everything that queues have enqueued in streams.
    #[inline]
    pub(crate) fn join_streams(&self) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        self.join(&self.list())
    }

    /// Joins the streams like [`join_streams`](Self::join_streams), before memory is freed. If they cannot be joined,
    /// the host waits for them.
    pub(crate) fn join_streams_to_free(&self) {
        if self.join_streams().is_err() {
            for stream in self.list() {
                let _ = stream.stream.finish();
            }
        }
    }

    /// Makes the later work of streams with queues wait for everything enqueued in the device's own queue.
    #[inline]
    pub(crate) fn fork_streams(&self) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        self.fork(&self.list())
    }

    /// Forks the streams like [`fork_streams`](Self::fork_streams), after a copy from the host.
    pub(crate) fn fork_streams_after_upload(&self) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        // A copy of pageable memory may have returned before its last bytes were on the device.
        self.backend.finish_uploads()?;
        self.fork(&self.list())
    }

    fn join(&self, streams: &[Arc<OpenStream>]) -> Result<(), Error> {
        for stream in streams {
            if !stream.has_unjoined_work.swap(false, Ordering::SeqCst) {
                continue;
            }
            let join = || -> Result<(), Error> {
                let (event, clock) = (stream.stream.record_order()?, stream.clock());
                // SAFETY: the device of these queues recorded the event.
                unsafe { self.backend.wait_for(&event) }?;
                if let (Some(queue), Some(clock)) = (self.actor, clock) {
                    queue.wait(&clock);
                }
                Ok(())
            };
            join().inspect_err(|_| stream.note_queue_work())?;
        }
        Ok(())
    }

    fn fork(&self, streams: &[Arc<OpenStream>]) -> Result<(), Error> {
        let (event, clock) = (self.backend.record_order()?, self.actor.map(Actor::record));
        // SAFETY: the device of these queues recorded the event.
        streams.iter().try_for_each(|stream| unsafe { stream.wait(&event, clock.as_ref()) })
    }
}
