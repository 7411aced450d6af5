//! Events: points in the work of streams.

use std::fmt;
use std::time::Duration;

use crate::device::Device;
use crate::error::Error;
use crate::objects::BackendEvent;
use crate::open_stream::OpenStream;
use crate::ordering::{self, Clock};

/// A point in the work of a queue or stream, made by [`Queue::record`](crate::Queue::record) or
/// [`Stream::record`](crate::Stream::record). An event may outlive its stream: it borrows nothing.
pub struct Event {
    pub(crate) event: BackendEvent,
    /// The event's vector clock in the race checker, which states which work is done when the event completes. `None`
    /// if the device does not check streams.
    pub(crate) clock: Option<Clock>,
    /// The device. This is the last field, so that the device is dropped after the event.
    pub(crate) device: Device,
}

impl Event {
    /// Returns an event that completes when everything enqueued so far in `stream`, a stream of `device`, is done.
    pub(crate) fn of_stream(device: &Device, stream: &OpenStream) -> Result<Event, Error> {
        let (event, clock) = (stream.backend().record()?, stream.clock());
        Ok(Event { event, clock, device: device.clone() })
    }

    /// Returns the time from the event `earlier` to this event, or zero if this event completed first. Waits for both
    /// events.
    ///
    /// On a GPU this is the device's time, to about half a microsecond. In the simulator it is wall-clock time.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if the events belong to different devices; [`Error::ContextLost`] when a launch failed.
    pub fn elapsed_since(&self, earlier: &Event) -> Result<Duration, Error> {
        earlier.check_device(std::slice::from_ref(&self.device))?;
        // SAFETY: `check_device` has checked that both events belong to this device.
        let time = unsafe { self.device.backend().elapsed(&earlier.event, &self.event) }?;
        [earlier, self].into_iter().filter_map(|event| event.clock.as_ref()).for_each(ordering::host_waited_for);
        Ok(time)
    }

    /// Waits until everything that was enqueued before the event is done.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the event is of this device.
        unsafe { self.device.backend().finish(&self.event) }?;
        self.clock.iter().for_each(ordering::host_waited_for);
        Ok(())
    }

    /// Checks that the event is of one of `devices`, which must not be empty.
    pub(crate) fn check_device(&self, devices: &[Device]) -> Result<(), Error> {
        if devices.iter().any(|device| device.id() == self.device.id()) {
            return Ok(());
        }
        let device = devices.first().map_or("none", Device::name).to_owned();
        Err(Error::WrongDevice { what: "the wait for an event".to_owned(), device })
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.device.name()).finish_non_exhaustive()
    }
}
