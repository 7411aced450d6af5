//! A launch without anything around it, to measure what is around others.

use std::ffi::c_void;
use std::sync::Arc;

use cuda_std::{KernelInfo, LaunchConfig};
use cust::sys::CUfunction;

use super::gpu::Context;
use super::sys;
use crate::error::{Error, Launched};

/// What one `cuLaunchKernel` takes. It stays with its thread, in which the context was made current.
pub(crate) struct BareGpuLaunch {
    function: CUfunction,
    launch: Launched,
    config: LaunchConfig,
    /// The addresses of the slots, which stay where they are when this is moved.
    parameters: Vec<*mut c_void>,
    _slots: Vec<u64>,
    context: Arc<Context>,
}

impl BareGpuLaunch {
    pub(super) fn new(
        function: CUfunction,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &[u64],
        context: &Arc<Context>,
    ) -> Self {
        let mut slots = slots.to_vec();
        let parameters = slots.iter_mut().map(|slot| std::ptr::from_mut(slot).cast()).collect();
        let launch = Launched::new(kernel, config);
        Self { function, launch, config, parameters, _slots: slots, context: context.clone() }
    }

    /// Launches the kernel once more.
    ///
    /// # Safety
    /// As for `GpuDevice::launch`, each time; the device must live.
    #[inline]
    pub(crate) unsafe fn launch(&mut self) -> Result<(), Error> {
        // SAFETY: the caller's word; the stream lives as long as the context. In another context the driver refuses it.
        unsafe { sys::launch(self.function, self.config, self.context.stream(), &mut self.parameters) }
            .map_err(|code| self.context.error(code, || format!("launch {}", self.launch), ""))
    }
}
