//! Segments: reduces or scans each segment of a vector, such as each row of a matrix.
//!
//! [`SegmentsExt`] adds the methods to a device. Use a [`SegmentRunner`] for repeated runs, on views, in streams and in
//! graphs, because its runs allocate no memory.
//!
//! ```
//! use gpu::operator::Sum;
//! use gridstride::segments::{SegmentBounds, SegmentRunner};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, gridstride::MODULES)?; // or `Auto`: a GPU where there is one
//! let (x, offsets) = (device.upload(&[1.0_f32, 2.0, 4.0, 8.0])?, device.upload(&[0_u64, 3, 3, 4])?);
//! let mut sums = device.alloc(3)?;
//! let mut runner = SegmentRunner::<f32, Sum>::new(&device, x.len())?;
//! runner.reduce(&device, x.view(), SegmentBounds::U64(offsets.view()), sums.view_mut())?;
//! assert_eq!(sums.download()?, [7.0, 0.0, 8.0]);
//! # Ok(())
//! # }
//! ```

use std::borrow::Borrow;

use launch::Device;

use crate::error::AlgorithmError;
use crate::scan::ScanKind;
use crate::vector::Vector;

mod bounds;
mod runner;

pub use bounds::{Offset, Rows, SegmentBounds, Segmentation, rows};
pub use gpu::segments::{SegmentElement, SegmentsRung};
pub use runner::{SegmentRunner, tile};

/// Extends [`Device`] with reductions and scans of segments by the fastest kernel.
///
/// Segments are given by offsets, one more than there are segments: segment *i* has the elements
/// `offsets[i]..offsets[i + 1]`. Offsets are a vector of `u32` or `u64` and ascend. [`rows`] makes segments of one
/// length. An operator is only called with elements, and need not be commutative. The results of two runs are equal,
/// also with floats.
pub trait SegmentsExt: Borrow<Device> {
    /// Returns the combination of the elements of each segment, or the operator's identity for a segment without
    /// elements. With [`ArgMin`](gpu::accumulate::ArgMin) or [`ArgMax`](gpu::accumulate::ArgMax), returns the first
    /// position of the least or greatest element in each segment, which counts from the beginning of the segment.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let x = [3.0_f32, -1.0, 4.0, -1.5, 5.0, 9.0];
    /// assert_eq!(device.reduce_segments(&x, &[0_u32, 2, 2, 6], Sum)?, [2.0, 0.0, 16.5]);
    /// assert_eq!(device.reduce_segments(&x, rows(3), Max)?, [4.0, 9.0]);
    /// let greatest = device.reduce_segments(&x, &[0_u32, 2, 2, 6], ArgMax)?;
    /// assert_eq!(greatest[2], Indexed { index: 3, value: 9.0 });
    /// assert_eq!(greatest[1].found(), None);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the number of elements is no multiple of a row, or if offsets on the
    /// host do not ascend or exceed the number of elements; with such offsets on the device the results are
    /// unspecified. Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn reduce_segments<X, O>(
        &self,
        x: X,
        segments: impl Segmentation,
        operator: O,
    ) -> Result<X::OutputOf<<X::Element as SegmentElement<O>>::Output>, AlgorithmError>
    where
        X: Vector<Element: SegmentElement<O>>,
        O: 'static,
    {
        // The operator's value is not used, because its type determines the kernel.
        let (_, device) = (operator, self.borrow());
        let y = x.on_device(device, |x| {
            segments.on_device(device, x.len(), |bounds| {
                let mut y = device.alloc(bounds.segments(x.len()))?;
                SegmentRunner::<X::Element, O>::new(device, x.len())?.reduce(device, x.view(), bounds, y.view_mut())?;
                Ok(y)
            })
        })?;
        Ok(X::output_of(y)?)
    }

    /// Returns the inclusive scan of each segment: an element combines those from the beginning of its segment up to
    /// itself. Elements in no segment become the operator's identity.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scan_segments_inclusive(&[3, 1, 4, 1, 5], &[0_u32, 2, 2, 5], Sum)?, [3, 4, 4, 5, 10]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`reduce_segments`](Self::reduce_segments).
    fn scan_segments_inclusive<X, O>(
        &self,
        x: X,
        segments: impl Segmentation,
        operator: O,
    ) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: SegmentElement<O, Output = <X as Vector>::Element>>,
        O: 'static,
    {
        scanned(self.borrow(), ScanKind::Inclusive, x, segments, operator)
    }

    /// Returns the exclusive scan of each segment, which begins with the operator's identity. Elements in no segment
    /// become the identity, too.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scan_segments_exclusive(&[3, 1, 4, 1, 5, 9], rows(3), Sum)?, [0, 3, 4, 0, 1, 6]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`reduce_segments`](Self::reduce_segments).
    fn scan_segments_exclusive<X, O>(
        &self,
        x: X,
        segments: impl Segmentation,
        operator: O,
    ) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: SegmentElement<O, Output = <X as Vector>::Element>>,
        O: 'static,
    {
        scanned(self.borrow(), ScanKind::Exclusive, x, segments, operator)
    }
}

impl SegmentsExt for Device {}

fn scanned<X, O>(
    device: &Device,
    kind: ScanKind,
    x: X,
    segments: impl Segmentation,
    _: O,
) -> Result<X::Output, AlgorithmError>
where
    X: Vector<Element: SegmentElement<O, Output = <X as Vector>::Element>>,
    O: 'static,
{
    x.mapped(device, |x, y| {
        segments.on_device(device, x.len(), |bounds| {
            SegmentRunner::<X::Element, O>::new(device, x.len())?.scan(device, kind, x.view(), bounds, y.view_mut())
        })
    })
}
