//! A launch without anything around it, to measure what [`Device::launch`] adds.

use cuda_std::{Call, LaunchConfig};

use crate::cuda::BareGpuLaunch;
use crate::device::{Backend, Device};
use crate::error::Error;

/// A launch that was checked and made ready once: on a GPU, [`launch`](Self::launch) is one `cuLaunchKernel` and nothing
/// else. Only of use as a yardstick.
#[doc(hidden)]
pub struct BareLaunch<F> {
    config: LaunchConfig,
    gpu: Option<BareGpuLaunch>,
    /// The views in it keep their buffers borrowed.
    call: Call<F>,
    device: Device,
}

impl Device {
    /// Makes a launch ready to be made again and again.
    #[doc(hidden)]
    pub fn bare_launch<F: Fn() + Sync>(&self, config: LaunchConfig, call: Call<F>) -> Result<BareLaunch<F>, Error> {
        self.check_views(&call)?;
        let gpu = match self.backend() {
            Backend::Simulated(_) => None,
            Backend::Gpu(gpu) => Some(gpu.bare_launch(call.info(), config, call.params())?),
        };
        Ok(BareLaunch { config, gpu, call, device: self.clone() })
    }
}

impl<F: Fn() + Sync> BareLaunch<F> {
    /// Launches the kernel.
    #[doc(hidden)]
    #[inline]
    pub fn launch(&mut self) -> Result<(), Error> {
        match (&mut self.gpu, self.device.backend()) {
            // SAFETY: the call holds what its kernel takes, and the views in it live and are of this device's memory.
            (Some(gpu), _) => unsafe { gpu.launch() },
            (None, Backend::Simulated(simulated)) => simulated.launch(self.config, &self.call),
            (None, Backend::Gpu(_)) => Ok(()),
        }
    }
}
