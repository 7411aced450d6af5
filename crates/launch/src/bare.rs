//! A launch by the driver's call alone, to measure what [`Device::launch`] adds.

use std::marker::PhantomData;

use cuda_std::{Call, LaunchConfig, Params};

use crate::backend::Prepared;
use crate::device::Device;
use crate::error::Error;
use crate::work::RecordedLaunch;

/// A launch that was checked and made ready once: on a GPU, [`launch`](Self::launch) is one `cuLaunchKernel` and
/// nothing else. Only of use as a yardstick.
#[doc(hidden)]
pub struct BareLaunch<'a> {
    prepared: Box<dyn Prepared>,
    /// The views in the call keep their buffers borrowed.
    borrows: PhantomData<Call<'a>>,
    /// Last, so that the device outlives what it prepared.
    _device: Device,
}

impl Device {
    /// Makes a launch ready to be made again and again.
    #[doc(hidden)]
    pub fn bare_launch<'a>(&self, config: LaunchConfig, call: Call<'a>) -> Result<BareLaunch<'a>, Error> {
        let mut params = Params::new();
        self.encode(config, &call, &mut params)?;
        // SAFETY: what the call borrows stays borrowed as long as what is made here, which keeps the device; the views
        // are of its memory.
        let prepared = unsafe { self.backend().bare_launch(RecordedLaunch::new(config, call, params)) }?;
        Ok(BareLaunch { prepared, borrows: PhantomData, _device: self.clone() })
    }
}

impl BareLaunch<'_> {
    /// Launches the kernel.
    #[doc(hidden)]
    #[inline]
    pub fn launch(&mut self) -> Result<(), Error> {
        // SAFETY: the views live and are of this device's memory, and the device lives.
        unsafe { self.prepared.launch() }
    }
}
