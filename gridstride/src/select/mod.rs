//! Select: moves the elements that a criterion selects to the beginning of another vector, in order. The same kernels
//! partition, and remove repeated elements.
//!
//! [`SelectExt`] adds the methods to a device. Use a [`Selector`] for repeated runs, on views, and where the number of
//! selected elements should stay on the device.
//!
//! ```
//! use gridstride::select::{SelectRung, Selection, Selector, within};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, gridstride::MODULES)?; // or `Auto`: a GPU where there is one
//! let x = device.upload(&[3.0, -1.0, 4.0, -1.5, f32::NAN])?;
//! let (mut y, mut rejected, mut count) = (device.alloc(5)?, device.alloc(5)?, device.alloc(1)?);
//! let mut selector = Selector::new(&device, SelectRung::LookBack, x.len())?;
//! let selection = Selection::new(x.view(), within(0.0..), y.view_mut(), count.view_mut());
//! selector.run(&device, selection.rejected(rejected.view_mut()))?;
//! assert_eq!(count.download()?, [2]);
//! assert_eq!(y.download()?[..2], [3.0, 4.0]);
//! assert_eq!(rejected.download()?[..2], [-1.0, -1.5]); // NaN, in no interval, is the third
//! # Ok(())
//! # }
//! ```

use std::borrow::Borrow;
use std::ops::RangeBounds;

use launch::{Buffer, Device, Element};

use crate::error::AlgorithmError;
use crate::vector::Vector;

mod plan;
mod run_lengths;
mod selector;

pub use gpu::select::{
    ByFlag, Interval, NumberFormat, Predicate, RunElement, Runs, SelectElement, SelectRung, Selection,
};
pub use plan::{check, default_rung, pipelined_tile, tile};
pub use run_lengths::{RunLengthEncoder, check_encoding};
pub use selector::Selector;

/// Returns the criterion that selects the numbers in `range`, such as `..0.5` or `3..=7`. A float that is not a number
/// is in no interval, not even in `..`. [`Interval::negated`] selects the other numbers.
pub fn within<T: NumberFormat>(range: impl RangeBounds<T>) -> Interval<T> {
    Interval::new(range)
}

/// Extends [`Device`] with selections by the default rung, the fastest kernel. The methods wait for the number of
/// selected elements, and return as many elements.
pub trait SelectExt: Borrow<Device> {
    /// Returns the elements of `x` that `criterion` selects, in order. `criterion` is an interval ([`within`]) or a
    /// predicate of your own ([`Predicate`]).
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.select(&[3, -1, 4, -1, 5], within(0..5))?, [3, 4]);
    /// assert_eq!(device.select(&[3, -1, 4, -1, 5], within(0..5).negated())?, [-1, -1, 5]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn select<X, C: 'static>(&self, x: X, criterion: C) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: SelectElement<C>>,
    {
        let device = self.borrow();
        let kept = x.on_device(device, |x| selected(device, x, None, criterion))?;
        Ok(X::output(kept)?)
    }

    /// Returns the elements of `x` whose flags are not 0, in order.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.select_flagged(&[3, -1, 4], &[1, 0, 255])?, [3, 4]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if there is not one flag per element, or if the device fails or has too
    /// little memory. Returns [`AlgorithmError::NotBuilt`] unless an element has 1, 2, 4, 8 or 16 bytes.
    fn select_flagged<X: Vector>(&self, x: X, flags: impl Vector<Element = u8>) -> Result<X::Output, AlgorithmError> {
        let device = self.borrow();
        let kept =
            x.on_device(device, |x| flags.on_device(device, |flags| selected(device, x, Some(flags), ByFlag)))?;
        Ok(X::output(kept)?)
    }

    /// Returns the elements of `x` that `criterion` selects, and the others, both in order.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let (small, large) = device.partition(&[3.0, -1.0, 4.0, 0.5], within(..1.0))?;
    /// assert_eq!((small, large), (vec![-1.0, 0.5], vec![3.0, 4.0]));
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`select`](Self::select).
    fn partition<X, C: 'static>(&self, x: X, criterion: C) -> Result<(X::Output, X::Output), AlgorithmError>
    where
        X: Vector<Element: SelectElement<C>>,
    {
        let device = self.borrow();
        let (kept, rejected) = x.on_device(device, |x| {
            let mut rejected = device.alloc(x.len())?;
            let (kept, count) = launched(device, x, None, criterion, Some(&mut rejected))?;
            Ok((shortened(kept, count)?, shortened(rejected, x.len() - count)?))
        })?;
        Ok((X::output(kept)?, X::output(rejected)?))
    }

    /// Returns the first element of each run of equal elements of `x`, in order. Elements are compared as by `==`: −0
    /// equals +0, and a NaN is a run by itself.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.unique(&[2, 2, 7, 2, 2, 2])?, [2, 7, 2]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`select`](Self::select).
    fn unique<X: Vector<Element: SelectElement<Runs>>>(&self, x: X) -> Result<X::Output, AlgorithmError> {
        self.select(x, Runs)
    }

    /// Returns the last element and the length of each run of equal elements of `x`, in order. Elements are compared as
    /// in [`unique`](Self::unique).
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let (elements, lengths) = device.run_length_encode(&[2, 2, 7, 2, 2, 2])?;
    /// assert_eq!((elements, lengths), (vec![2, 7, 2], vec![2, 1, 3]));
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if `x` has more than `u32::MAX` elements. Otherwise returns the errors of
    /// [`select`](Self::select).
    fn run_length_encode<X>(&self, x: X) -> Result<(X::Output, X::OutputOf<u32>), AlgorithmError>
    where
        X: Vector<Element: RunElement>,
    {
        let device = self.borrow();
        let (elements, lengths) = x.on_device(device, |x| {
            let mut encoder = RunLengthEncoder::new(device, x.len())?;
            let (mut y, mut lengths, mut count) = (device.alloc(x.len())?, device.alloc(x.len())?, device.alloc(1)?);
            encoder.run(device, x.view(), y.view_mut(), lengths.view_mut(), count.view_mut())?;
            let count = downloaded(&count)?;
            Ok((shortened(y, count)?, shortened(lengths, count)?))
        })?;
        Ok((X::output(elements)?, X::output_of(lengths)?))
    }
}

impl SelectExt for Device {}

/// Returns a buffer of the elements of `x` that `criterion` selects.
fn selected<T: SelectElement<C>, C: 'static>(
    device: &Device,
    x: &Buffer<T>,
    flags: Option<&Buffer<u8>>,
    criterion: C,
) -> Result<Buffer<T>, AlgorithmError> {
    let (kept, count) = launched(device, x, flags, criterion, None)?;
    shortened(kept, count)
}

/// Returns a buffer that begins with the selected elements of `x`, and their number.
fn launched<T: SelectElement<C>, C: 'static>(
    device: &Device,
    x: &Buffer<T>,
    flags: Option<&Buffer<u8>>,
    criterion: C,
    rejected: Option<&mut Buffer<T>>,
) -> Result<(Buffer<T>, usize), AlgorithmError> {
    let (mut y, mut count) = (device.alloc(x.len())?, device.alloc(1)?);
    let mut selection = Selection::new(x.view(), criterion, y.view_mut(), count.view_mut());
    if let Some(flags) = flags {
        selection = selection.flags(flags.view());
    }
    if let Some(rejected) = rejected {
        selection = selection.rejected(rejected.view_mut());
    }
    Selector::new(device, default_rung::<T, C>(device, x.len()), x.len())?.run(device, selection)?;
    Ok((y, downloaded(&count)?))
}

/// Waits for the count and returns it.
pub(crate) fn downloaded(count: &Buffer<u64>) -> Result<usize, AlgorithmError> {
    let mut found = [0];
    count.download_into(&mut found)?;
    Ok(found[0] as usize)
}

/// Returns a buffer with the first `len` elements of `buffer`.
pub(crate) fn shortened<T: Element>(buffer: Buffer<T>, len: usize) -> Result<Buffer<T>, AlgorithmError> {
    if len == buffer.len() {
        return Ok(buffer);
    }
    let mut short = buffer.device().alloc(len)?;
    short.copy_range_from(0, &buffer, 0..len)?;
    Ok(short)
}
