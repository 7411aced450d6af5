//! A launch by the driver's call alone, to measure what other launches add.

use std::ffi::c_void;
use std::sync::Arc;

use cust::sys::CUfunction;

use super::context::Context;
use super::sys;
use crate::backend::Prepared;
use crate::error::{Error, Launched};
use crate::work::RecordedLaunch;

/// What one `cuLaunchKernel` takes. It stays with its thread, in which the context was made current.
pub(super) struct BareGpuLaunch {
    function: CUfunction,
    launch: Box<RecordedLaunch>,
    /// Where the parameters of the launch are.
    parameters: Vec<*mut c_void>,
    context: Arc<Context>,
}

// SAFETY: in a thread whose context is another, the driver refuses the launch. The addresses are those of its own
// parameters, which nobody changes.
unsafe impl Send for BareGpuLaunch {}
// SAFETY: as above; only `launch` uses them, which takes it mutably.
unsafe impl Sync for BareGpuLaunch {}

impl BareGpuLaunch {
    pub(super) fn new(function: CUfunction, launch: RecordedLaunch, context: &Arc<Context>) -> Self {
        // In a box, so that the parameters stay where they are when this is moved.
        let launch = Box::new(launch);
        let parameters = launch.params.starts().map(|start| std::ptr::from_ref(start).cast_mut().cast()).collect();
        Self { function, launch, parameters, context: context.clone() }
    }
}

impl Prepared for BareGpuLaunch {
    unsafe fn launch(&mut self) -> Result<(), Error> {
        let RecordedLaunch { config, call, .. } = &*self.launch;
        // SAFETY: the caller's word; the stream lives as long as the context. In another context the driver refuses it.
        unsafe { sys::launch(self.function, *config, self.context.stream(), &mut self.parameters) }
            .map_err(|code| self.context.error(code, || format!("launch {}", Launched::new(call.info(), *config)), ""))
    }
}
