//! A launch that is only the driver's call, to measure the overhead of other launches.

use std::ffi::c_void;
use std::sync::Arc;

use super::context::Context;
use super::sys::{self, CUfunction};
use crate::backend::Executable;
use crate::error::{Error, Launched};
use crate::operation::RecordedLaunch;

/// The arguments of one launch. The thread that launches it must be the one in which the context was made
/// current.
pub(super) struct BareGpuLaunch {
    function: CUfunction,
    launch: Box<RecordedLaunch>,
    /// The addresses of the kernel's parameters.
    parameters: Vec<*mut c_void>,
    context: Arc<Context>,
}

// SAFETY: in a thread with another current context, the driver refuses the launch. The addresses point to parameters
// that the value owns and that nothing changes.
unsafe impl Send for BareGpuLaunch {}
// SAFETY: only `launch` uses the addresses, and it takes `&mut self`.
unsafe impl Sync for BareGpuLaunch {}

impl BareGpuLaunch {
    pub(super) fn new(function: CUfunction, launch: RecordedLaunch, context: &Arc<Context>) -> Self {
        // The box keeps the parameters at their addresses when this value is moved.
        let launch = Box::new(launch);
        let parameters = launch.params.starts().map(|start| std::ptr::from_ref(start).cast_mut().cast()).collect();
        Self { function, launch, parameters, context: context.clone() }
    }
}

impl Executable for BareGpuLaunch {
    unsafe fn launch(&mut self) -> Result<(), Error> {
        let RecordedLaunch { config, call, .. } = &*self.launch;
        // SAFETY: `Executable::launch` requires that the memory of the launch lives. The stream lives as long as the
        // context. In another context the driver refuses the launch.
        let result = unsafe {
            if config.has_clusters() {
                sys::launch_extended(self.function, *config, self.context.stream(), &mut self.parameters, false)
            } else {
                sys::launch(self.function, *config, self.context.stream(), &mut self.parameters)
            }
        };
        result
            .map_err(|code| self.context.error(code, || format!("launch {}", Launched::new(call.info(), *config)), ""))
    }
}
