//! [`SegmentRunner`]: reductions and scans of segments that keep their device memory between runs.

use std::marker::PhantomData;

use cuda_std::{Global, GlobalMut};
use gpu::collective::vectors::vector_len;
use gpu::scan::state_words;
use gpu::segments::tuning::{SEARCHED_TILES, SMALL, SMALLER, THREADS, states, tile_elements};
use gpu::segments::{EXCLUSIVE, INCLUSIVE, REDUCE, SegmentElement, Segments, SegmentsRung, segments_search};
use launch::{Buffer, Device, Error, Held, LaunchConfig, Queue, Resources};

use super::SegmentBounds;
use crate::capabilities;
use crate::error::AlgorithmError;
use crate::scan::{ScanKind, cleared_after_failure};

/// A reduction or scan of the segments of *n* elements of type `T` with the operator or reduction `O`. It can run
/// repeatedly, with other segments each time, and owns the temporary storage that it needs, so a run allocates no
/// memory.
pub struct SegmentRunner<T: SegmentElement<O>, O: 'static> {
    device: Device,
    len: usize,
    /// The states of the tiles.
    states: Buffer<u64>,
    /// The number of the first segment of each tile, or empty if each tile searches its own.
    firsts: Buffer<u64>,
    types: PhantomData<fn(T, O)>,
}

impl<T: SegmentElement<O>, O: 'static> SegmentRunner<T, O> {
    /// Returns a runner for `len` elements on `device`.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if the device has too little memory.
    pub fn new(device: &Device, len: usize) -> Result<Self, AlgorithmError> {
        let tiles = tiles::<T, O>(len);
        let states = device.workspace::<Self, _>(state_words::<T::Value>(states(tiles)))?;
        let runner = Self { device: device.clone(), len, states, firsts: device.alloc(0)?, types: PhantomData };
        if tiles < SEARCHED_TILES { Ok(runner) } else { runner.with_search() }
    }

    /// Returns the same runner, which finds the first segments of all tiles in a launch of its own. Without this call,
    /// only a runner for many elements does so.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if the device has too little memory.
    #[doc(hidden)]
    pub fn with_search(self) -> Result<Self, AlgorithmError> {
        let firsts = self.device.alloc(tiles::<T, O>(self.len) + 1)?;
        Ok(Self { firsts, ..self })
    }

    /// Enqueues the reduction of each segment of `x` on `queue`, the queue of a device, a stream or a graph that is
    /// being recorded. Writes one result per segment to `y`: for a segment without elements the operator's identity.
    ///
    /// On a GPU this function returns before the kernel has finished. Later work on the same queue sees the result.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if `x` has another length than the runner, or if `y` does not have one element
    /// per segment. Returns [`AlgorithmError::NotBuilt`] if there is no offset, or if a row does not divide the number
    /// of elements. Otherwise returns the error of the launch.
    pub fn reduce<'q>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        x: Global<'_, T>,
        bounds: SegmentBounds<'_>,
        y: GlobalMut<'_, T::Output>,
    ) -> Result<(), AlgorithmError> {
        self.run(queue.into(), REDUCE, x, bounds, y)
    }

    /// Enqueues the scan of each segment of `x` on `queue`. Writes the results to `y`. Elements in no segment become
    /// the operator's identity.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if a view has another length than the runner, and the other errors of
    /// [`reduce`](Self::reduce).
    pub fn scan<'q>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        kind: ScanKind,
        x: Global<'_, T>,
        bounds: SegmentBounds<'_>,
        y: GlobalMut<'_, T>,
    ) -> Result<(), AlgorithmError>
    where
        T: SegmentElement<O, Output = T>,
    {
        let work = match kind {
            ScanKind::Inclusive => INCLUSIVE,
            ScanKind::Exclusive => EXCLUSIVE,
        };
        self.run(queue.into(), work, x, bounds, y)
    }

    fn run(
        &mut self,
        queue: Queue<'_>,
        work: u32,
        x: Global<'_, T>,
        bounds: SegmentBounds<'_>,
        y: GlobalMut<'_, T::Output>,
    ) -> Result<(), AlgorithmError> {
        let (offsets, layout) = bounds.arguments(&x)?;
        let results = if work == REDUCE { bounds.segments(x.len()) } else { self.len };
        for (what, buffer, other) in
            [("segments: the elements", x.len(), self.len), ("segments: the results", y.len(), results)]
        {
            if buffer != other {
                return Err(Error::LengthMismatch { what, buffer, other }.into());
            }
        }
        // A launch with `u32::MAX` blocks fails.
        let config = LaunchConfig::new(u32::try_from(tiles::<T, O>(self.len)).unwrap_or(u32::MAX), THREADS);
        let not_built = || capabilities::not_built(SegmentsRung::LookBack, &capabilities::of_operator::<T, O>());
        if !self.firsts.is_empty() {
            let blocks = self.firsts.len().div_ceil(THREADS as usize).min(i32::MAX as usize) as u32;
            let search = segments_search(offsets, layout, tile::<T, O>(self.len) as u64, self.firsts.view_mut());
            queue.launch(LaunchConfig::new(blocks, THREADS), search)?;
        }
        let segments = Segments { x, offsets, layout, firsts: self.firsts.view(), work, y };
        let call = T::look_back(segments, chunks::<T, O>(self.len) as u32, self.states.view_mut());
        let launched = queue.launch(config, call.ok_or_else(not_built)?);
        cleared_after_failure(launched.map_err(AlgorithmError::from), queue, &mut self.states)
    }

    /// Returns the number of bytes of the runner's temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        8 * (self.states.len() + self.firsts.len()) as u64
    }

    /// Returns the runner's device.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// Returns the number of vectors that a thread loads.
fn chunks<T: SegmentElement<O>, O: 'static>(len: usize) -> usize {
    let bytes = len.saturating_mul(size_of::<T>());
    let most = if bytes <= SMALLER {
        1
    } else if bytes <= SMALL {
        3
    } else {
        T::CHUNKS
    };
    T::CHUNKS.min(most)
}

/// Returns the number of tiles: at least one, because the kernel also writes the results of empty segments.
fn tiles<T: SegmentElement<O>, O: 'static>(len: usize) -> usize {
    len.div_ceil(tile::<T, O>(len)).max(1)
}

/// Returns the number of elements in a tile of `len` elements.
pub fn tile<T: SegmentElement<O>, O: 'static>(len: usize) -> usize {
    tile_elements(chunks::<T, O>(len), vector_len(size_of::<T>()))
}

impl<T: SegmentElement<O>, O: 'static> Resources for SegmentRunner<T, O> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.states.hold(held);
        self.firsts.hold(held);
    }
}
