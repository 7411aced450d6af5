//! Events: points in the work of streams.

use std::fmt;
use std::time::Duration;

use crate::backend::Moment;
use crate::device::Device;
use crate::error::Error;
use crate::ordering::{self, Clock};

/// A point in the work of a stream, made by [`Stream::record`](crate::Stream::record). It may leave the scope.
pub struct Event {
    pub(crate) moment: Moment,
    /// What is done when it happens, where the device checks.
    pub(crate) clock: Option<Clock>,
    /// Last, so that the device outlives what it recorded.
    pub(crate) device: Device,
}

impl Event {
    /// The time from `earlier` to this: the device's on a GPU (to about half a microsecond), that of the clock on the
    /// wall in the simulator. Nothing if this comes first. Waits until both have happened.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if they are of two devices; [`Error::ContextLost`] when a launch failed.
    pub fn elapsed_since(&self, earlier: &Event) -> Result<Duration, Error> {
        earlier.check_device(std::slice::from_ref(&self.device))?;
        // SAFETY: both are of this device.
        let time = unsafe { self.device.backend().elapsed(&earlier.moment, &self.moment) }?;
        [earlier, self].into_iter().filter_map(|event| event.clock.as_ref()).for_each(ordering::host_waited_for);
        Ok(time)
    }

    /// That it is of one of `devices`, of which there is at least one.
    pub(crate) fn check_device(&self, devices: &[Device]) -> Result<(), Error> {
        if devices.iter().any(|device| device.id() == self.device.id()) {
            return Ok(());
        }
        let device = devices.first().map_or("none", Device::name).to_owned();
        Err(Error::WrongDevice { what: "an event".to_owned(), device })
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.device.name()).finish_non_exhaustive()
    }
}
