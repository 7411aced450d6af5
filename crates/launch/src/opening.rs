//! Opens the device that a program most likely wants.

use std::io::Write;

use crate::choice::DeviceChoice;
use crate::device::Device;
use crate::error::Error;
use crate::module::PtxModule;

impl Device {
    /// Opens GPU 0 if its architecture and driver can run every module, otherwise the simulator. Then a line on
    /// standard error says so, with the reason. [`open_gpu`](Self::open_gpu) refuses instead.
    ///
    /// # Errors
    ///
    /// None at present, because the simulator can always be opened.
    pub fn open_default(modules: &'static [PtxModule]) -> Result<Device, Error> {
        let device = Self::open(DeviceChoice::Auto, modules)?;
        if let Some(reason) = device.why_no_gpu() {
            let _ = writeln!(
                std::io::stderr(),
                "{reason}; the simulator runs the kernels (`open_gpu` returns an error instead)"
            );
        }
        Ok(device)
    }

    /// Opens GPU 0, and never the simulator.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there is no GPU, or if it cannot run every module.
    pub fn open_gpu(modules: &'static [PtxModule]) -> Result<Device, Error> {
        Self::open(DeviceChoice::Gpu(None), modules)
    }
}
