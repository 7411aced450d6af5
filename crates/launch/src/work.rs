//! Work that is done later: what a graph is made of.

use cuda_std::{Call, LaunchConfig, Params};

use crate::error::Error;

/// A launch that is made later, when nobody keeps the memory borrowed that its views show.
pub(crate) struct RecordedLaunch {
    pub(crate) config: LaunchConfig,
    pub(crate) call: Call<'static>,
    pub(crate) params: Params,
}

impl RecordedLaunch {
    /// # Safety
    /// It must not be launched unless the memory that `call`, whose parameters are `params`, views is borrowed again.
    pub(crate) unsafe fn new(config: LaunchConfig, call: Call<'_>, params: Params) -> Self {
        // SAFETY: the caller's word.
        Self { config, call: unsafe { call.unbound() }, params }
    }
}

/// A piece of work.
pub(crate) enum Work {
    Launch(Box<RecordedLaunch>),
    /// Sets `bytes` bytes, not 0, to zero.
    Zero {
        start: *mut u8,
        bytes: usize,
    },
    /// Copies all `bytes` bytes, not 0, of a buffer to another.
    Copy {
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    },
}

// SAFETY: the pointers are used only while the memory behind them is held.
unsafe impl Send for Work {}
// SAFETY: as above; whoever does the work answers for it.
unsafe impl Sync for Work {}

impl Work {
    /// Gives `see` the memory that it uses, each as its start, its bytes and whether it is written, with the user's
    /// name.
    pub(crate) fn uses(
        &self,
        see: &mut dyn FnMut(usize, usize, bool, &'static str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Self::Launch(launch) => {
                let regions = launch.params.regions().as_slice().iter().filter(|region| region.bytes > 0);
                regions
                    .into_iter()
                    .try_for_each(|region| see(region.start, region.bytes, region.is_writable, launch.call.info().name))
            }
            Self::Zero { start, bytes } => see(start.addr(), *bytes, true, "fill_zero"),
            Self::Copy { to, from, bytes } => {
                see(from.addr(), *bytes, false, "copy")?;
                see(to.addr(), *bytes, true, "copy")
            }
        }
    }
}
