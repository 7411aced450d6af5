//! A GPU: what it can do, and its kernels.

use std::ffi::c_void;
use std::sync::Arc;

use cuda_std::{Dim3, KernelInfo, LaunchConfig};
use cust::sys::{CUfunction, CUstream};

use super::context::Context;
use super::discovery::{fails, find_usable};
use super::modules::Modules;
use super::sys::{self, Code, DeviceAttribute};
use crate::error::{Error, Launched};
use crate::limits::Limits;
use crate::module::PtxModule;
use crate::unavailable::Unavailable;

/// The most parameters, in slots of 8 bytes, that a launch passes: as many as a call holds.
const MAX_SLOTS: usize = 32;

/// A GPU, opened.
pub(crate) struct GpuDevice {
    pub(super) context: Arc<Context>,
    pub(super) limits: Limits,
    pub(super) multiprocessors: u32,
    /// Threads in a warp, and threads that an SM holds.
    pub(super) warp_size: u32,
    pub(super) max_threads_per_multiprocessor: u32,
    pub(super) modules: Modules,
}

/// Opens the GPU of that ordinal, for the kernels of `modules`.
pub(crate) fn open(ordinal: u32, modules: &'static [PtxModule]) -> Result<GpuDevice, Unavailable> {
    use DeviceAttribute as A;
    let (device, gpu, driver) = find_usable(ordinal, modules)?;
    let capability = gpu.compute_capability;
    let open = || {
        let read = |attribute| sys::device_attribute(device.as_raw(), attribute);
        let limits = Limits {
            grid: Dim3::new(
                read(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                read(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                read(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ),
            block: Dim3::new(
                read(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                read(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                read(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ),
            block_threads: read(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_bytes: read(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        };
        let context = Context::new(gpu, driver, device)?;
        Ok(GpuDevice {
            context: Arc::new(context),
            limits,
            multiprocessors: read(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            warp_size: read(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            max_threads_per_multiprocessor: read(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            modules: Modules::new(modules, capability, driver),
        })
    };
    open().map_err(|code: Code| fails(format!("open GPU {ordinal}"), code))
}

impl GpuDevice {
    /// `kernel`, ready for a launch of `config`, if that is within the limits. The context must be current.
    #[inline]
    pub(super) fn function(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<CUfunction, Error> {
        self.modules.prepare(&self.context, kernel, config, &self.limits)
    }

    /// Launches `kernel` with the parameters in `slots`, in the order of `stream`.
    ///
    /// # Safety
    /// `slots` must hold what the kernel takes, and the memory that they name must be of this device and stay until the kernel
    /// has ended: freeing it waits for kernels in the device's own stream. `stream` must be of this device.
    #[inline]
    pub(super) unsafe fn launch_in(
        &self,
        stream: CUstream,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &[u64],
    ) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the caller's word; the context is current.
        unsafe { self.enqueue(stream, kernel, config, slots) }?;
        self.context.note(Launched::new(kernel, config));
        Ok(())
    }

    /// Asks `stream` for the launch, or the graph that is being captured there.
    ///
    /// # Safety
    /// As for [`launch_in`](Self::launch_in), or whenever the graph is launched; the context must be current.
    #[inline]
    pub(super) unsafe fn enqueue(
        &self,
        stream: CUstream,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &[u64],
    ) -> Result<(), Error> {
        let invalid = |reason| Error::InvalidLaunch { launch: Launched::new(kernel, config), reason };
        let mut parameters = [std::ptr::null_mut::<c_void>(); MAX_SLOTS];
        let Some(parameters) = parameters.get_mut(..slots.len()) else {
            return Err(invalid(format!("it has {} parameters, and {MAX_SLOTS} can be passed", slots.len())));
        };
        for (parameter, slot) in parameters.iter_mut().zip(slots) {
            // The driver only reads a parameter.
            *parameter = std::ptr::from_ref(slot).cast_mut().cast();
        }
        let function = self.function(kernel, config)?;
        // SAFETY: the module stays loaded as long as `self`; there is a parameter for each slot, and what the slots hold
        // is the caller's word.
        unsafe { sys::launch(function, config, stream, parameters) }.map_err(|code| match code {
            Code::LAUNCH_OUT_OF_RESOURCES => {
                invalid("a block needs more registers than an SM has; use fewer threads a block".to_owned())
            }
            code => self.context.error(code, || format!("launch {}", Launched::new(kernel, config)), ""),
        })
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        if self.context.set_current().is_ok() {
            self.modules.clear();
        }
    }
}
