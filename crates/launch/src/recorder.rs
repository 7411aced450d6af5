//! Records the work of a queue, or only its kernels.

use std::cell::RefCell;
use std::fmt;

use cuda_std::{Call, DeviceCopy, KernelInfo, LaunchConfig, Params};

use crate::backend::Backend;
use crate::buffer::{Buffer, check_zeros};
use crate::error::Error;
use crate::operation::{Operation, RecordedLaunch};

/// The work that a queue has recorded so far.
#[derive(Default)]
pub(crate) struct Recorder {
    work: RefCell<Vec<Operation>>,
    /// The kernels of launches without tables, if only kernels are recorded.
    kernels: Option<RefCell<Vec<&'static KernelInfo>>>,
}

impl Recorder {
    /// Creates a recorder that records kernels only.
    pub(crate) fn of_kernels() -> Self {
        Self { kernels: Some(RefCell::default()), ..Self::default() }
    }

    /// Records a launch. `params` must be the parameters of `call`, with views of the memory of `backend`.
    pub(crate) fn launch(
        &self,
        backend: &dyn Backend,
        config: LaunchConfig,
        call: Call<'_>,
        params: Params,
    ) -> Result<(), Error> {
        if let Some(kernels) = &self.kernels {
            if config.tables.is_empty() {
                kernels.borrow_mut().push(call.info());
            }
            return Ok(());
        }
        backend.prepare(call.info(), config.for_kernel(call.info()))?;
        // SAFETY: only `Graph::launch` launches the result, and only while the graph holds all memory of its views.
        let launch = unsafe { RecordedLaunch::new(config, call, params) };
        self.work.borrow_mut().push(Operation::Launch(Box::new(launch)));
        Ok(())
    }

    pub(crate) fn zero<T: DeviceCopy>(&self, buffer: &mut Buffer<T>) {
        const { check_zeros::<T>() };
        let (start, bytes) = (buffer.view_mut().as_ptr().cast(), buffer.len() * size_of::<T>());
        if bytes > 0 {
            self.work.borrow_mut().push(Operation::Zero { start, bytes });
        }
    }

    /// Records a copy. Both buffers must have the same length and device.
    pub(crate) fn copy<T: DeviceCopy>(&self, from: &Buffer<T>, to: &mut Buffer<T>) {
        let (from, bytes) = (from.view().as_ptr().cast(), from.len() * size_of::<T>());
        if bytes > 0 {
            self.work.borrow_mut().push(Operation::Copy { to: to.view_mut().as_ptr().cast(), from, bytes });
        }
    }

    pub(crate) fn into_work(self) -> Vec<Operation> {
        self.work.into_inner()
    }

    /// Returns the recorded kernels, each once.
    pub(crate) fn into_kernels(self) -> Vec<&'static KernelInfo> {
        let mut kernels = self.kernels.unwrap_or_default().into_inner();
        kernels.sort_unstable_by_key(|kernel| std::ptr::from_ref(*kernel));
        kernels.dedup_by(|one, other| std::ptr::eq(*one, *other));
        kernels
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
