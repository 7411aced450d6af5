//! Scopes, in which streams live.

use std::slice;

use crate::backend::BackendStream;
use crate::device::Device;
use crate::error::Error;
use crate::group::Group;
use crate::ordering::Actor;
use crate::stream::Stream;

impl Device {
    /// Runs `work` with `count` new streams, whose copies and kernels overlap where the device can.
    ///
    /// Before it, what was launched is done; at its end, also when it fails or panics, everything that the streams were
    /// asked is done. So it may borrow what is declared outside of it, as [`std::thread::scope`] does, and host memory
    /// that a stream reads or writes stays borrowed until it ends. What is asked of the device itself in the meantime
    /// ([`launch`](Self::launch), [`Buffer::download`](crate::Buffer::download), …) is not ordered with the streams.
    ///
    /// A simulated device that checks finds what two streams, or a stream and the device itself, do to the same memory
    /// without an order between them: [`Error::StreamRace`].
    ///
    /// The [crate's documentation](crate#streams) has an example.
    ///
    /// # Errors
    ///
    /// The error of `work`; [`Error::ContextLost`] when a launch failed; whatever prevents the streams from being made.
    pub fn streams<'env, R>(
        &self,
        count: usize,
        work: impl for<'scope> FnOnce(&'scope [Stream<'scope, 'env>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let devices = slice::from_ref(self);
        let mut streams = room(count)?;
        let open = OpenStreams::open(devices, count)?;
        streams.extend(open.of_member(0, devices));
        let result = work(&streams);
        let end = open.finish();
        result.and_then(|result| end.map(|()| result))
    }
}

impl Group {
    /// Runs `work` with `count` new streams of each member, as [`Device::streams`] does with those of one: the first
    /// list has those of the first member, and so on. A stream [waits](Stream::wait) for events of every member's, and
    /// [copies](Stream::copy) between its member's memory and that of another.
    ///
    /// The [crate's documentation](crate#several-devices) has an example.
    ///
    /// # Errors
    ///
    /// As for [`Device::streams`].
    pub fn streams<'env, R>(
        &self,
        count: usize,
        work: impl for<'scope> FnOnce(&'scope [Vec<Stream<'scope, 'env>>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let devices = self.members();
        let mut streams = Vec::with_capacity(devices.len());
        for _ in devices {
            streams.push(room(count)?);
        }
        let open = OpenStreams::open(devices, count)?;
        for (member, streams) in streams.iter_mut().enumerate() {
            streams.extend(open.of_member(member, devices));
        }
        let result = work(&streams);
        let end = open.finish();
        result.and_then(|result| end.map(|()| result))
    }
}

/// A list with room for so many streams.
fn room<'scope, 'env>(count: usize) -> Result<Vec<Stream<'scope, 'env>>, Error> {
    let mut streams = Vec::new();
    let too_many = |_| Error::TooLarge { len: count, element_bytes: size_of::<Stream>() };
    streams.try_reserve_exact(count).map_err(too_many)?;
    Ok(streams)
}

/// The streams of a scope, which is not left before all they were asked is done: also when it panics.
struct OpenStreams<'d> {
    /// Of each device.
    streams: Vec<Vec<OpenStream<'d>>>,
    are_finished: bool,
}

struct OpenStream<'d> {
    stream: Box<dyn BackendStream + 'd>,
    /// Where its device checks.
    actor: Option<Actor>,
}

impl<'d> OpenStreams<'d> {
    /// `count` streams of each of `devices`. What was asked of any of them before is done.
    fn open(devices: &'d [Device], count: usize) -> Result<Self, Error> {
        let open = |device: &'d Device| -> Result<_, Error> {
            device.note_waits();
            let streams = device.backend().streams(count)?.into_iter();
            let actor = || device.backend().checks_streams().then(Actor::begin_stream);
            Ok(streams.map(|stream| OpenStream { stream, actor: actor() }).collect())
        };
        let streams = devices.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { streams, are_finished: false })
    }

    fn of_member<'scope, 'env: 'scope>(
        &'scope self,
        member: usize,
        devices: &'scope [Device],
    ) -> impl Iterator<Item = Stream<'scope, 'env>> {
        self.streams[member]
            .iter()
            .enumerate()
            .map(move |(number, open)| Stream::new(devices, member, number, &*open.stream, open.actor))
    }

    fn finish(mut self) -> Result<(), Error> {
        self.are_finished = true;
        self.wait()
    }

    /// Waits for all of them and gives the first failure.
    fn wait(&self) -> Result<(), Error> {
        let streams = || self.streams.iter().flatten();
        let result = streams().map(|open| open.stream.finish()).fold(Ok(()), Result::and);
        streams().filter_map(|open| open.actor).for_each(Actor::end_stream);
        result
    }
}

impl Drop for OpenStreams<'_> {
    fn drop(&mut self) {
        if !self.are_finished {
            // The panic that leaves the scope is what there is to tell.
            let _ = self.wait();
        }
    }
}
