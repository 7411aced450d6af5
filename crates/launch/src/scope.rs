//! Scopes for streams. At the end of a scope, all work of its streams is done.
//!
//! # Design
//!
//! Streams live in a scope, like the threads of `std::thread::scope`. The memory of a copy or kernel stays borrowed
//! until the scope has waited for it. Streams are non-blocking (`CU_STREAM_NON_BLOCKING`), so a scope first waits for
//! the device's own stream and for the default stream.

use std::slice;
use std::sync::Arc;

use crate::device::Device;
use crate::error::Error;
use crate::group::Group;
use crate::open_stream::OpenStream;
use crate::stream::Stream;

impl Device {
    /// Runs `work` with `count` new streams, whose copies and kernels overlap if the device supports it.
    ///
    /// Earlier launches are done before `work` starts. At the end, even after an error or a panic, this function waits
    /// for all work of the streams. The streams may therefore use memory that is borrowed from outside, as in
    /// [`std::thread::scope`]; host memory that they use stays borrowed until the end.
    ///
    /// Work that is enqueued during the scope on the device itself ([`launch`](Self::launch),
    /// [`Buffer::download`](crate::Buffer::download), …) is not ordered with the work of the streams. A simulated
    /// device that checks streams reports unordered accesses to the same memory as [`Error::StreamRace`].
    ///
    /// The [crate's documentation](crate#streams) has an example.
    ///
    /// # Errors
    ///
    /// The error that `work` returns; [`Error::ContextLost`] when a launch failed; any error of creating the streams.
    pub fn streams<'env, R>(
        &self,
        count: usize,
        work: impl for<'scope> FnOnce(&'scope [Stream<'scope, 'env>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        with_streams(slice::from_ref(self), count, |streams| work(&streams[0]))
    }
}

impl Group {
    /// Runs `work` with `count` new streams of each member, as [`Device::streams`] does for one device. The argument of
    /// `work` is a list with one element per member, in order: the streams of that member.
    ///
    /// A stream can [wait](Stream::wait) for events of every member, and can [copy](Stream::copy) between its member's
    /// memory and the memory of another member.
    ///
    /// The [crate's documentation](crate#several-devices) has an example.
    ///
    /// # Errors
    ///
    /// The same errors as [`Device::streams`].
    pub fn streams<'env, R>(
        &self,
        count: usize,
        work: impl for<'scope> FnOnce(&'scope [Vec<Stream<'scope, 'env>>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        with_streams(self.members(), count, work)
    }
}

/// Runs `work` with `count` new streams of each of `devices`, and waits for all work of the streams.
fn with_streams<'env, R>(
    devices: &[Device],
    count: usize,
    work: impl for<'scope> FnOnce(&'scope [Vec<Stream<'scope, 'env>>]) -> Result<R, Error>,
) -> Result<R, Error> {
    let mut streams = Vec::with_capacity(devices.len());
    for _ in devices {
        streams.push(with_capacity(count)?);
    }
    let open = OpenStreams::open(devices, count)?;
    for (member, streams) in streams.iter_mut().enumerate() {
        streams.extend(open.of_member(member, devices));
    }
    let result = work(&streams);
    let end = open.finish();
    result.and_then(|result| end.map(|()| result))
}

/// Returns an empty list with capacity for `count` streams.
fn with_capacity<'scope, 'env>(count: usize) -> Result<Vec<Stream<'scope, 'env>>, Error> {
    let mut streams = Vec::new();
    let too_many = |_| Error::TooLarge { len: count, element_bytes: size_of::<Stream>() };
    streams.try_reserve_exact(count).map_err(too_many)?;
    Ok(streams)
}

/// The open streams of a scope. Dropping the value waits for all their work, even during a panic.
struct OpenStreams<'d> {
    devices: &'d [Device],
    /// The streams of each device, in the order of the devices.
    streams: Vec<Vec<Arc<OpenStream>>>,
    are_finished: bool,
}

impl<'d> OpenStreams<'d> {
    /// Waits for the earlier work of `devices` and opens `count` streams on each device.
    fn open(devices: &'d [Device], count: usize) -> Result<Self, Error> {
        // Dropped after an error, too, so that the streams that are open are finished.
        let mut open = Self { devices, streams: Vec::new(), are_finished: false };
        for (member, device) in devices.iter().enumerate() {
            device.synchronize()?;
            // A copy of pageable memory may have returned before its last bytes were on the device.
            device.backend().finish_uploads()?;
            open.streams.push(Vec::new());
            for number in 0..count {
                let stream = OpenStream::new(device.backend(), device.backend().stream()?, (member, number));
                open.streams[member].push(Arc::new(stream));
            }
        }
        Ok(open)
    }

    fn of_member<'scope, 'env: 'scope>(
        &'scope self,
        member: usize,
        devices: &'scope [Device],
    ) -> impl Iterator<Item = Stream<'scope, 'env>> {
        self.streams[member].iter().map(move |open| Stream::new(devices, member, open))
    }

    fn finish(mut self) -> Result<(), Error> {
        self.are_finished = true;
        self.wait()
    }

    /// Waits for all streams of the scope and returns the first error.
    fn wait(&self) -> Result<(), Error> {
        let streams =
            || self.devices.iter().zip(&self.streams).flat_map(|(device, of)| of.iter().map(move |of| (device, of)));
        let result = streams().map(|(_, open)| open.finish()).fold(Ok(()), Result::and);
        streams().for_each(|(device, open)| device.queues().forget(open));
        result
    }
}

impl Drop for OpenStreams<'_> {
    fn drop(&mut self) {
        if !self.are_finished {
            // An error is ignored here, because the panic that leaves the scope is reported instead.
            let _ = self.wait();
        }
    }
}
