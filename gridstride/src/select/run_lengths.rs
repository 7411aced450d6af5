//! [`RunLengthEncoder`]: a run-length encoding that keeps its device memory between runs.

use std::marker::PhantomData;

use cuda_std::{Global, GlobalMut, Ladder};
use gpu::scan::state_words;
use gpu::select::{RunElement, RunEnds, SelectRung};
use launch::{Buffer, Device, Error, Held, Queue, Resources};

use super::plan;
use super::selector::{launch, launch_config};
use crate::capabilities;
use crate::error::AlgorithmError;
use crate::scan::cleared_after_failure;

/// A run-length encoding of *n* elements of type `T` that can run repeatedly. It owns the temporary storage that it
/// needs, so a run allocates no memory.
pub struct RunLengthEncoder<T> {
    len: usize,
    /// The states of the tiles.
    states: Buffer<u64>,
    types: PhantomData<fn(T)>,
}

impl<T: RunElement> RunLengthEncoder<T> {
    /// Returns an encoder for `len` elements on `device`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if `len` exceeds `u32::MAX`. Returns [`Error::OutOfMemory`] if the device
    /// has too little memory.
    pub fn new(device: &Device, len: usize) -> Result<Self, AlgorithmError> {
        check_encoding(SelectRung::LookBack, len)?;
        let words = state_words::<RunEnds>(plan::tiles(len, size_of::<T>()));
        Ok(Self { len, states: device.workspace::<Self, _>(words)?, types: PhantomData })
    }

    /// Enqueues the encoding on `queue`, the queue of a device, a stream or a graph that is being recorded. Writes the
    /// element of each run to `y`, its length to `lengths`, and the number of runs to `count`.
    ///
    /// Runs that do not fit into `y` or `lengths` are counted but not stored. On a GPU this function returns before the
    /// kernel has finished. Later work on the same queue sees the result.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if the encoder was made for another length, or if `count` does not have one
    /// element. Otherwise returns the error of the launch.
    pub fn run<'q>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        x: Global<'_, T>,
        y: GlobalMut<'_, T>,
        lengths: GlobalMut<'_, u32>,
        count: GlobalMut<'_, u64>,
    ) -> Result<(), AlgorithmError> {
        for (what, buffer, other) in
            [("run-length encoding", x.len(), self.len), ("run-length encoding: the count", count.len(), 1)]
        {
            if buffer != other {
                return Err(Error::LengthMismatch { what, buffer, other }.into());
            }
        }
        let (rows, bytes) = (plan::rows(self.len, size_of::<T>()), size_of::<T>());
        let call = T::run_lengths(x, rows as u32, y, lengths, count, self.states.view_mut());
        let (queue, config) = (queue.into(), launch_config(self.len, bytes));
        cleared_after_failure(launch(queue, SelectRung::LookBack, config, call), queue, &mut self.states)
    }

    /// Returns the number of bytes of the encoder's temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        8 * self.states.len() as u64
    }
}

/// Checks that the rung can encode `len` elements.
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] if it cannot: if `len` exceeds `u32::MAX`, or for another rung than `LookBack`.
pub fn check_encoding(rung: SelectRung, len: usize) -> Result<(), AlgorithmError> {
    if rung == SelectRung::LookBack && u32::try_from(len).is_ok() {
        return Ok(());
    }
    let offered = match rung {
        SelectRung::LookBack => format!("that of up to {} elements, because lengths have 32 bits", u32::MAX),
        _ => "selections: use the rung look_back".to_owned(),
    };
    Err(capabilities::refused(rung.rung(), format!("the run-length encoding of {len} elements"), offered))
}

impl<T> Resources for RunLengthEncoder<T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.states.hold(held);
    }
}
