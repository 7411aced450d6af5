//! [`Selector`]: a selection that keeps its device memory between runs.

use std::marker::PhantomData;

use cuda_std::Ladder;
use gpu::operator::Sum;
use gpu::scan::{ScanRung, state_words};
use gpu::select::tuning::{PIPELINED_THREADS, RING_BYTES, THREADS};
use gpu::select::{SelectElement, SelectRung, Selection};
use launch::{Buffer, Call, Device, Error, Held, LaunchConfig, Queue, Resources};

use super::plan;
use crate::capabilities;
use crate::error::AlgorithmError;
use crate::scan::{ScanKind, Scanner, cleared_after_failure};

/// A selection from *n* elements of type `T` by the criterion `C` that can run repeatedly. It owns the temporary
/// storage that it needs, so a run allocates no memory.
pub struct Selector<T: SelectElement<C>, C> {
    rung: SelectRung,
    len: usize,
    /// The states of the tiles, for the rungs `LookBack` and `Pipelined`.
    states: Buffer<u64>,
    /// The storage of the rung `Textbook`.
    textbook: Option<Textbook>,
    types: PhantomData<fn(T, C)>,
}

/// The storage of the rung `Textbook`.
struct Textbook {
    /// 1 for each selected element, and 0 for each other one.
    marks: Buffer<u64>,
    /// The inclusive scan of the marks.
    ranks: Buffer<u64>,
    scanner: Scanner<u64, Sum>,
}

impl<T: SelectElement<C>, C: 'static> Selector<T, C> {
    /// Returns a selector for `len` elements on `device`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the rung is not built for `T` and `C`, or if a block on the device has
    /// too little shared memory for the rung. Returns [`Error::OutOfMemory`] if the device has too little memory.
    pub fn new(device: &Device, rung: SelectRung, len: usize) -> Result<Self, AlgorithmError> {
        plan::check::<T, C>(rung)?;
        let (words, textbook) = match rung {
            SelectRung::LookBack => (state_words::<u64>(plan::tiles(len, size_of::<T>())), None),
            SelectRung::Pipelined => {
                plan::PIPELINED.check(rung.rung(), "selections", device)?;
                (state_words::<u32>(plan::pipelined_tiles(len, size_of::<T>())), None)
            }
            SelectRung::Textbook => {
                let (marks, ranks) = (device.alloc(len)?, device.alloc(len)?);
                let scanner = Scanner::new(device, ScanRung::LookBack, len)?;
                (0, Some(Textbook { marks, ranks, scanner }))
            }
        };
        // A selection starts from the states that the previous one of the same types left in this memory.
        let states = device.workspace::<Self, _>(words)?;
        Ok(Self { rung, len, states, textbook, types: PhantomData })
    }

    /// Enqueues the selection on `queue`, the queue of a device, a stream or a graph that is being recorded.
    ///
    /// Selected elements that do not fit into `y` are counted but not stored; so the count may exceed the length of
    /// `y`. On a GPU this function returns before the kernel has finished. Later work on the same queue sees the
    /// result.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if the selector was made for another length, if there is not one flag per
    /// element for [`ByFlag`](super::ByFlag), or if `count` does not have one element. Otherwise returns the error of a
    /// launch.
    pub fn run<'q>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        selection: Selection<'_, T, C>,
    ) -> Result<(), AlgorithmError> {
        let (queue, len, flags) = (queue.into(), self.len, selection.flags.len());
        let is_by_flags = std::any::TypeId::of::<C>() == std::any::TypeId::of::<super::ByFlag>();
        for (what, buffer, other) in [
            ("select with this selector", selection.x.len(), len),
            ("select: flags and elements", flags, if is_by_flags { len } else { flags }),
            ("select: the count", selection.count.len(), 1),
        ] {
            if buffer != other {
                return Err(Error::LengthMismatch { what, buffer, other }.into());
            }
        }
        if let Some(textbook) = &mut self.textbook {
            return textbook.run(queue, selection);
        }
        let (bytes, states) = (size_of::<T>(), self.states.view_mut());
        let (config, call) = if self.rung == SelectRung::Pipelined {
            let blocks = plan::PIPELINED.grid(queue.device(), plan::pipelined_tiles(len, bytes));
            let config = LaunchConfig::new(blocks, PIPELINED_THREADS).shared_bytes(RING_BYTES);
            (config, T::pipelined(selection, states))
        } else {
            (launch_config(len, bytes), T::look_back(selection, plan::rows(len, bytes) as u32, states))
        };
        cleared_after_failure(launch(queue, self.rung, config, call), queue, &mut self.states)
    }

    /// Returns the number of bytes of the selector's temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        let textbook = self.textbook.as_ref().map_or(0, |Textbook { marks, ranks, scanner }| {
            8 * (marks.len() + ranks.len()) as u64 + scanner.temporary_bytes()
        });
        8 * self.states.len() as u64 + textbook
    }
}

impl Textbook {
    fn run<T: SelectElement<C>, C: 'static>(
        &mut self,
        queue: Queue<'_>,
        selection: Selection<'_, T, C>,
    ) -> Result<(), AlgorithmError> {
        let Self { marks, ranks, scanner } = self;
        let Selection { x, flags, criterion, y, rejected, count } = selection;
        let blocks = x.len().div_ceil(THREADS as usize).clamp(1, i32::MAX as usize) as u32;
        let (rung, config) = (SelectRung::Textbook, LaunchConfig::new(blocks, THREADS));
        launch(queue, rung, config, T::mark(x, flags, criterion, marks.view_mut()))?;
        scanner.scan_in(queue, ScanKind::Inclusive, marks, ranks)?;
        let call = T::scatter(x, ranks.view(), y, rejected, count);
        launch(queue, rung, config, call)
    }
}

/// Returns the grid and block of a one-pass kernel for `len` elements of `bytes` bytes.
pub(super) fn launch_config(len: usize, bytes: usize) -> LaunchConfig {
    // A launch with `u32::MAX` blocks fails.
    LaunchConfig::new(u32::try_from(plan::tiles(len, bytes)).unwrap_or(u32::MAX), THREADS)
}

/// Launches `call`, which is `None` if a view does not begin at a multiple of the element's size.
pub(super) fn launch(
    queue: Queue<'_>,
    rung: SelectRung,
    config: LaunchConfig,
    call: Option<Call<'_>>,
) -> Result<(), AlgorithmError> {
    let refused = || {
        let offered = "views that begin at a multiple of the element's size".to_owned();
        capabilities::refused(rung.rung(), "a view at this address".to_owned(), offered)
    };
    Ok(queue.launch(config, call.ok_or_else(refused)?)?)
}

impl<T: SelectElement<C>, C> Resources for Selector<T, C> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.states.hold(held);
        if let Some(Textbook { marks, ranks, scanner }) = &mut self.textbook {
            marks.hold(held);
            ranks.hold(held);
            scanner.hold(held);
        }
    }
}
