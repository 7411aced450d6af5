//! Histogram: counts the keys in each of up to 65536 bins of equal width.
//!
//! [`histogram`] runs one of the kernels of `gpu::histogram`. Use a [`Histogram`] for repeated runs and in graphs,
//! because its runs allocate no memory. A [`Plan`] contains the grid and block of the launch.
//!
//! ```
//! use gridstride::histogram::{Bins, HistogramRung, histogram};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, gridstride::MODULES)?; // or `Auto`: a GPU if there is one
//! let keys = device.upload(&[3_u8, 250, 3, 130])?;
//! let mut counts = device.alloc(4)?;
//! histogram(&device, HistogramRung::Replicated, &keys, Bins::even(4, 0, 256)?, &mut counts)?;
//! assert_eq!(counts.download()?, [2, 0, 1, 1]);
//! # Ok(())
//! # }
//! ```

use std::borrow::Borrow;

use cuda_std::Ladder;
pub use gpu::histogram::{HistogramRung, Key};
use gpu::histogram::{STATE_WORDS, fits_word, histogram_global};
use launch::{Buffer, Device, Error, Held, Queue, Resources};

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::vector::Vector;

mod bins;
pub(crate) mod bins_error;
mod plan;

pub use bins::Bins;
pub use bins_error::BinsError;
pub use plan::Plan;

/// A histogram that can run repeatedly. It owns the device memory that it needs, so a run allocates no memory.
pub struct Histogram {
    plan: Plan,
    bins: Bins,
    n: usize,
    /// The words through which the blocks of the last rung coordinate. All words are zero between two launches.
    state: Buffer<u32>,
}

impl Histogram {
    /// Returns a [`Histogram`] that counts `n` keys of type `K` in `bins` on `device` by `rung`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Bins`] if `n` exceeds `u32::MAX`. Returns [`AlgorithmError::Launch`] if the device has
    /// too little memory.
    pub fn new<K: Key>(device: &Device, rung: HistogramRung, n: usize, bins: Bins) -> Result<Self, AlgorithmError> {
        Self::with_plan(device, Plan::new::<K>(rung, n, bins.count(), device), n, bins)
    }

    /// Returns a [`Histogram`] that launches its kernel according to `plan`. The plan must be for `n` keys in `bins`.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn with_plan(device: &Device, plan: Plan, n: usize, bins: Bins) -> Result<Self, AlgorithmError> {
        if u32::try_from(n).is_err() {
            let max = u32::MAX;
            let text = format!(
                "a histogram counts at most {max} keys, but {n} were given: split the keys into several histograms"
            );
            return Err(BinsError(text).into());
        }
        let words = if plan.rung == HistogramRung::Replicated { STATE_WORDS } else { 0 };
        Ok(Self { plan, bins, n, state: device.workspace::<Plan, _>(words)? })
    }

    /// Returns the histogram's plan.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// Counts `keys` in the bins and overwrites `counts` with the result.
    ///
    /// On a GPU this function returns before the kernel has finished. Later work on the same device sees the result.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if the histogram was made for another number of keys, or if `counts` does not
    /// have one element per bin. Otherwise returns the error of the launch.
    pub fn run<'q, K: Key>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        keys: &Buffer<K>,
        counts: &mut Buffer<u32>,
    ) -> Result<(), AlgorithmError> {
        let Self { plan, bins, n, state } = self;
        for (len, other) in [(keys.len(), *n), (counts.len(), bins.count() as usize)] {
            if len != other {
                return Err(Error::LengthMismatch { what: "histogram", buffer: len, other }.into());
            }
        }
        let queue = queue.into();
        let Plan { rung, config, segment, replicas } = *plan;
        if rung != HistogramRung::Replicated {
            queue.fill_zero(counts)?;
        }
        let (keys, bins, counts) = (keys.view(), bins.even_bins(), counts.view_mut());
        let call = match rung {
            HistogramRung::Global => histogram_global::if_built(keys, bins, counts),
            HistogramRung::Privatised => K::privatised(keys, bins, segment, counts),
            HistogramRung::Replicated => K::replicated(keys, bins, (segment, replicas), state.view_mut(), counts),
        };
        let not_built = || match K::IS_OWN {
            true => capabilities::not_built_of_own::<K, (), _>(rung, &[default_rung::<K>()]),
            false => capabilities::not_built(rung, &capabilities::of_type::<K>()),
        };
        Ok(queue.launch(config, call.ok_or_else(not_built)?)?)
    }
}

impl Resources for Histogram {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.state.hold(held);
    }
}

/// Returns the rung that runs by default for keys of type `K`: the last rung of the ladder that is built for them.
pub fn default_rung<K: Key>() -> HistogramRung {
    match (K::IS_OWN, fits_word(size_of::<K>())) {
        (true, true) => HistogramRung::Replicated,
        (true, false) => HistogramRung::Privatised,
        (false, _) => HistogramRung::default_rung(&capabilities::of_type::<K>()),
    }
}

/// Writes the number of `keys` in each of `bins` into `counts`, which need not be zero. Keys outside all bins are not
/// counted.
///
/// # Errors
/// Returns the errors of [`Histogram::new`] and [`Histogram::run`].
pub fn histogram<K: Key>(
    device: &Device,
    rung: HistogramRung,
    keys: &Buffer<K>,
    bins: Bins,
    counts: &mut Buffer<u32>,
) -> Result<(), AlgorithmError> {
    Histogram::new::<K>(device, rung, keys.len(), bins)?.run(device, keys, counts)
}

/// Extends [`Device`] with a histogram by the default rung, the fastest kernel.
pub trait HistogramExt: Borrow<Device> {
    /// Returns the number of `keys` in each of `bins`. Keys are `u8`, `u32`, or a type of your own ([`Key`]). Keys
    /// outside all bins are not counted.
    ///
    /// ```
    /// # use gridstride::{histogram::Bins, prelude::*};
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.histogram(b"a bad cab", Bins::even(4, 97, 101)?)?, [3, 2, 1, 1]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Bins`] if there are more than `u32::MAX` keys. Returns [`AlgorithmError::Launch`] if
    /// the device fails or has too little memory.
    fn histogram<X: Vector<Element: Key>>(&self, keys: X, bins: Bins) -> Result<Vec<u32>, AlgorithmError> {
        let device = self.borrow();
        keys.on_device(device, |keys| {
            let mut counts = device.alloc(bins.count() as usize)?;
            histogram(device, default_rung::<X::Element>(), keys, bins, &mut counts)?;
            Ok(counts.download()?)
        })
    }
}

impl HistogramExt for Device {}
