//! A kernel launch that is only the driver's call, to measure the overhead of [`Device::launch`].

use std::marker::PhantomData;

use cuda_std::{Call, LaunchConfig, Params};

use crate::backend::Executable;
use crate::device::Device;
use crate::error::Error;
use crate::operation::RecordedLaunch;

/// A launch that was checked and prepared once. On a GPU, [`launch`](Self::launch) is one `cuLaunchKernel` call. Only
/// measurements use it.
#[doc(hidden)]
pub struct BareLaunch<'a> {
    executable: Box<dyn Executable>,
    /// Keeps the buffers of the call's views borrowed.
    borrows: PhantomData<Call<'a>>,
    /// The device. This is the last field, so that the device is dropped after the prepared launch.
    _device: Device,
}

impl Device {
    /// Checks `call` and prepares it, so that it can be launched many times.
    #[doc(hidden)]
    pub fn bare_launch<'a>(&self, config: LaunchConfig, call: Call<'a>) -> Result<BareLaunch<'a>, Error> {
        let mut params = Params::new();
        self.encode(config, &call, &mut params)?;
        // SAFETY: the result borrows what the call borrows and keeps the device alive. `encode` has checked that the
        // views point to this device's memory.
        let executable = unsafe { self.backend().bare_launch(RecordedLaunch::new(config, call, params)) }?;
        Ok(BareLaunch { executable, borrows: PhantomData, _device: self.clone() })
    }
}

impl BareLaunch<'_> {
    /// Launches the prepared kernel.
    #[doc(hidden)]
    #[inline]
    pub fn launch(&mut self) -> Result<(), Error> {
        // SAFETY: `self` keeps the views borrowed and the device alive, and the views point to this device's memory.
        unsafe { self.executable.launch() }
    }
}
