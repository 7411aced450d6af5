//! Opens devices.

use std::io::Write;
use std::thread;

use cuda_std::{DeviceId, KernelInfo};
use simt::Simulator;

use crate::choice::DeviceChoice;
use crate::cuda;
use crate::device::Device;
use crate::error::Error;
use crate::module::PtxModule;
use crate::properties::Gpu;
use crate::simulated_device::SimulatedDevice;
use crate::unavailable::Unavailable;

/// Returns the GPUs that the driver lists, in the order of their ordinals.
///
/// # Errors
///
/// Returns the reason if no GPU can be used.
pub fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    cuda::gpus()
}

/// Calls `work`, which should open the GPU of `choice`. Meanwhile, another thread makes the driver compile `kernels`
/// for that GPU. Opening a GPU takes about as long as compiling a kernel. A launch waits only for the compilation of
/// its own kernel.
///
/// The closure `kernels` receives a number of multiprocessors and returns the kernels to compile for a GPU with that
/// number. [`Device::kernels_of`] lists the kernels of any work, on the simulator too.
///
/// While the driver initialises, this function calls `kernels` with 132 multiprocessors and extracts the PTX of the
/// returned kernels. If the GPU has another number of multiprocessors, it calls `kernels` again. Without a driver, it
/// never calls `kernels`. If a kernel cannot be compiled, its launch returns the error.
pub fn compile_beside<T>(
    choice: DeviceChoice,
    modules: &'static [PtxModule],
    kernels: impl Fn(u32) -> Vec<&'static KernelInfo> + Send,
    work: impl FnOnce() -> T,
) -> T {
    let ordinal = match choice {
        DeviceChoice::Sim => return work(),
        DeviceChoice::Gpu(ordinal) => ordinal.unwrap_or(0),
        DeviceChoice::Auto => 0,
    };
    thread::scope(|scope| {
        // If no thread can be started, kernels are compiled when they are launched.
        let _ = thread::Builder::new().spawn_scoped(scope, move || cuda::compile(ordinal, modules, kernels));
        work()
    })
}

impl Device {
    /// Opens a device. `modules` contains the PTX of the kernels for GPUs. The driver compiles each kernel when it is
    /// first launched, or earlier if [`load`](Self::load), [`compile_all`](Self::compile_all) or [`compile_beside`]
    /// requests it. The driver also compiles up to 256 kernels of [`include_ptx!`](crate::include_ptx) in the
    /// background as soon as a GPU is opened. A launch waits for its own kernel alone. The simulator needs no modules.
    ///
    /// [`DeviceChoice::Auto`] opens GPU 0 if its architecture and driver can run every module, otherwise the simulator.
    /// [`summary`](Self::summary) says which one was opened, and why.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if `choice` is a GPU that cannot be used. `Auto` and `Sim` never fail.
    pub fn open(choice: DeviceChoice, modules: &'static [PtxModule]) -> Result<Device, Error> {
        match choice {
            DeviceChoice::Sim => Ok(Self::simulated(Simulator::new())),
            DeviceChoice::Gpu(ordinal) => cuda::open(ordinal.unwrap_or(0), modules)
                .map(Self::of_gpu)
                .map_err(|reason| Error::NoDevice { choice: choice.into(), reason }),
            DeviceChoice::Auto => Ok(match cuda::open(0, modules) {
                Ok(gpu) => Self::of_gpu(gpu),
                Err(reason) => {
                    let what = if reason.is_absence() { "no GPU" } else { "the GPU cannot be used" };
                    let note = Some(format!("{what}: {reason}"));
                    Self::new(SimulatedDevice::new(Simulator::new()), DeviceId::simulated, note)
                }
            }),
        }
    }

    /// Returns a new device that runs kernels in `simulator`, with its schedule, checks, workers and output.
    pub fn simulated(simulator: Simulator) -> Device {
        Self::simulated_with(simulator, None)
    }

    /// Returns a device like [`simulated`](Self::simulated), with at most `bytes` bytes of memory.
    pub(crate) fn simulated_with(simulator: Simulator, bytes: Option<usize>) -> Device {
        Self::new(SimulatedDevice::new(simulator).with_memory(bytes), DeviceId::simulated, None)
    }

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
