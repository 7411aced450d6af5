//! The operations of a graph.

use cuda_std::{Call, LaunchConfig, Params};

use crate::error::Error;

/// A launch that is made later and does not borrow the memory of its views.
pub(crate) struct RecordedLaunch {
    pub(crate) config: LaunchConfig,
    pub(crate) call: Call<'static>,
    pub(crate) params: Params,
}

impl RecordedLaunch {
    /// Creates a launch of the kernel of `call` with the parameters `params`.
    ///
    /// # Safety
    /// At each launch of the result, the memory to which the views of `call` point must be borrowed again.
    pub(crate) unsafe fn new(config: LaunchConfig, call: Call<'_>, params: Params) -> Self {
        // SAFETY: the caller guarantees that the memory is borrowed at each launch.
        Self { config: config.for_kernel(call.info()), call: unsafe { call.unbound() }, params }
    }
}

/// An operation of a graph.
pub(crate) enum Operation {
    Launch(Box<RecordedLaunch>),
    /// Sets the `bytes` bytes from `start` on, at least one, to zero.
    Zero {
        start: *mut u8,
        bytes: usize,
    },
    /// Copies a whole buffer of `bytes` bytes, at least one, to another buffer.
    Copy {
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    },
}

// SAFETY: the pointers are used only while the memory behind them is held.
unsafe impl Send for Operation {}
// SAFETY: the pointers are used only in `unsafe` functions, whose callers guarantee that the memory behind them lives.
unsafe impl Sync for Operation {}

impl Operation {
    /// Calls `visit` for each piece of memory that the operation uses. The arguments of `visit` are the start of the
    /// memory, its size in bytes, `true` if the operation writes it, and the name of the kernel or operation.
    pub(crate) fn uses(
        &self,
        visit: &mut dyn FnMut(usize, usize, bool, &'static str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Self::Launch(launch) => {
                let regions = launch.params.regions().as_slice().iter().filter(|region| region.bytes > 0);
                regions.into_iter().try_for_each(|region| {
                    visit(region.start, region.bytes, region.is_writable, launch.call.info().name)
                })
            }
            Self::Zero { start, bytes } => visit(start.addr(), *bytes, true, "fill_zero"),
            Self::Copy { to, from, bytes } => {
                visit(from.addr(), *bytes, false, "copy")?;
                visit(to.addr(), *bytes, true, "copy")
            }
        }
    }
}
