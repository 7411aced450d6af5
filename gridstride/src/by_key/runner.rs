//! [`ByKeyRunner`]: scans and reductions by key that keep their device memory between runs.

use std::marker::PhantomData;

use cuda_std::{Global, GlobalMut};
use gpu::by_key::tuning::{SMALL, SMALLER, THREADS, max_rows, rows_of, tile_elements};
use gpu::by_key::{ByKey, ByKeyElement, ByKeyRung, Carry, EXCLUSIVE, INCLUSIVE, REDUCE, RunKey};
use gpu::operator::Operator;
use gpu::scan::state_words;
use launch::{Buffer, Device, Error, Held, LaunchConfig, Queue, Resources};

use super::textbook::{Textbook, check};
use crate::capabilities;
use crate::error::AlgorithmError;
use crate::scan::{ScanKind, cleared_after_failure};

/// A scan or reduction of *n* values of type `T` by keys of type `K` with the operator `O`. It can run repeatedly, and
/// owns the temporary storage that it needs, so a run allocates no memory.
pub struct ByKeyRunner<K: RunKey, T: ByKeyElement<O>, O: Operator<T>> {
    device: Device,
    len: usize,
    /// The states of the tiles, for the rung `LookBack`.
    states: Buffer<u64>,
    /// The storage of the rung `Textbook`.
    textbook: Option<Textbook<T>>,
    /// The outputs that a scan does not have: no keys, and one count that is not written.
    unused: (Buffer<K>, Buffer<u64>),
    types: PhantomData<fn(T, O)>,
}

/// The outputs of a reduction by key: the keys of the runs, their combined values, and their number.
pub type Reduced<'a, K, T> = (GlobalMut<'a, K>, GlobalMut<'a, T>, GlobalMut<'a, u64>);

impl<K: RunKey, T: ByKeyElement<O>, O: Operator<T>> ByKeyRunner<K, T, O> {
    /// The number of bytes of a key and its value.
    const BYTES: usize = size_of::<K>() + size_of::<T>();

    /// Returns a runner for `len` keys and values on `device`, by the fastest rung.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if the device has too little memory.
    pub fn new(device: &Device, len: usize) -> Result<Self, AlgorithmError> {
        Self::with_rung(device, ByKeyRung::LookBack, len)
    }

    /// Returns a runner for `len` keys and values on `device`, by `rung`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the rung is not built for these types. Returns [`Error::OutOfMemory`] if
    /// the device has too little memory.
    pub fn with_rung(device: &Device, rung: ByKeyRung, len: usize) -> Result<Self, AlgorithmError> {
        check::<K, T, O>(rung)?;
        let (words, textbook) = match rung {
            ByKeyRung::LookBack => (state_words::<Carry<T>>(tiles(len, Self::BYTES)), None),
            ByKeyRung::Textbook => (0, Some(Textbook::new(device, len)?)),
        };
        let states = device.workspace::<Self, _>(words)?;
        let unused = (device.alloc(0)?, device.alloc(1)?);
        Ok(Self { device: device.clone(), len, states, textbook, unused, types: PhantomData })
    }

    /// Enqueues the scan of the values of each run on `queue`, the queue of a device, a stream or a graph that is being
    /// recorded. Writes the results to `y`.
    ///
    /// On a GPU this function returns before the kernel has finished. Later work on the same queue sees the result.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if a view has another length than the runner. Otherwise returns the error of
    /// the launch.
    pub fn scan<'q>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        kind: ScanKind,
        keys: Global<'_, K>,
        values: Global<'_, T>,
        y: GlobalMut<'_, T>,
    ) -> Result<(), AlgorithmError> {
        check_len("scan by key: the results", y.len(), self.len)?;
        let work = match kind {
            ScanKind::Inclusive => INCLUSIVE,
            ScanKind::Exclusive => EXCLUSIVE,
        };
        let Self { unused: (y_keys, count), .. } = self;
        let (y_keys, count) = (y_keys.view_mut(), count.view_mut());
        let arguments = ByKey { keys, values, work, y_keys, y, count };
        launch::<K, T, O>(queue.into(), self.len, (&mut self.states, &mut self.textbook), arguments)
    }

    /// Enqueues the reduction of the values of each run on `queue`. Writes the keys of the runs, their combined values
    /// and their number to `outputs`. Runs that do not fit are counted but not stored.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if a view has another length than the runner, or if the count does not have
    /// one element. Otherwise returns the error of the launch.
    pub fn reduce<'q>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        keys: Global<'_, K>,
        values: Global<'_, T>,
        (y_keys, y, count): Reduced<'_, K, T>,
    ) -> Result<(), AlgorithmError> {
        check_len("reduce by key: the count", count.len(), 1)?;
        let arguments = ByKey { keys, values, work: REDUCE, y_keys, y, count };
        launch::<K, T, O>(queue.into(), self.len, (&mut self.states, &mut self.textbook), arguments)
    }

    /// Returns the number of bytes of the runner's temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        let textbook = self.textbook.as_ref().map_or(0, Textbook::bytes);
        8 * (self.states.len() + self.unused.1.len()) as u64 + textbook
    }

    /// Returns the runner's device.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

fn check_len(what: &'static str, buffer: usize, other: usize) -> Result<(), AlgorithmError> {
    if buffer == other { Ok(()) } else { Err(Error::LengthMismatch { what, buffer, other }.into()) }
}

fn launch<K: RunKey, T: ByKeyElement<O>, O: Operator<T>>(
    queue: Queue<'_>,
    len: usize,
    (states, textbook): (&mut Buffer<u64>, &mut Option<Textbook<T>>),
    arguments: ByKey<'_, K, T>,
) -> Result<(), AlgorithmError> {
    check_len("by key: the keys", arguments.keys.len(), len)?;
    check_len("by key: the values", arguments.values.len(), len)?;
    if let Some(textbook) = textbook {
        return textbook.run::<K, O>(queue, arguments);
    }
    let bytes = ByKeyRunner::<K, T, O>::BYTES;
    // A launch with `u32::MAX` blocks fails.
    let config = LaunchConfig::new(u32::try_from(tiles(len, bytes)).unwrap_or(u32::MAX), THREADS);
    let call = T::look_back(arguments, rows(len, bytes) as u32, states.view_mut());
    let not_built = || capabilities::not_built(ByKeyRung::LookBack, &capabilities::of_operator::<T, O>());
    let launched = queue.launch(config, call.ok_or_else(not_built)?);
    cleared_after_failure(launched.map_err(AlgorithmError::from), queue, states)
}

/// Returns the number of keys and values that a thread loads, of `bytes` bytes together.
fn rows(len: usize, bytes: usize) -> usize {
    let (all, max) = (len.saturating_mul(bytes), max_rows(bytes));
    let [most, half, quarter] = rows_of(max);
    if all <= SMALLER {
        quarter
    } else if all <= SMALL {
        half
    } else {
        most
    }
}

/// Returns the number of tiles: at least one, because the kernel also writes the count.
fn tiles(len: usize, bytes: usize) -> usize {
    len.div_ceil(tile(len, bytes)).max(1)
}

/// Returns the number of elements in a tile of `len` keys and values of `bytes` bytes together.
pub fn tile(len: usize, bytes: usize) -> usize {
    tile_elements(rows(len, bytes))
}

impl<K: RunKey, T: ByKeyElement<O>, O: Operator<T>> Resources for ByKeyRunner<K, T, O> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.states.hold(held);
        self.unused.0.hold(held);
        self.unused.1.hold(held);
        if let Some(textbook) = &mut self.textbook {
            textbook.hold(held);
        }
    }
}
