//! The bounds of segments: [`SegmentBounds`] on the device, and the arguments that [`SegmentsExt`](super::SegmentsExt)
//! takes.

use std::ptr::NonNull;

use cuda_std::{Global, Ladder};
use gpu::segments::{Layout, SegmentsRung};
use launch::{Device, Element};

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::vector::Vector;

/// The bounds of the segments of a vector on a device.
#[derive(Clone, Copy)]
pub enum SegmentBounds<'a> {
    /// Offsets of 32 bits: segment *i* has the elements `offsets[i]..offsets[i + 1]`. The offsets must ascend and be at
    /// most the number of elements, otherwise the results are unspecified.
    U32(Global<'a, u32>),
    /// Offsets of 64 bits.
    U64(Global<'a, u64>),
    /// Segments of this length, which must divide the number of elements.
    Rows(usize),
}

impl<'a> SegmentBounds<'a> {
    /// Returns the number of segments of a vector with `n` elements: one less than offsets.
    pub fn segments(&self, n: usize) -> usize {
        match self {
            Self::U32(offsets) => offsets.len().saturating_sub(1),
            Self::U64(offsets) => offsets.len().saturating_sub(1),
            Self::Rows(length) => n.checked_div(*length).unwrap_or(0),
        }
    }

    /// Returns the arguments of the kernel for the segments of `x`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if there is no offset, or if the length of a row does not divide the number
    /// of elements.
    pub(super) fn arguments<T: Element>(self, x: &Global<'a, T>) -> Result<(Global<'a, u32>, Layout), AlgorithmError> {
        let (segments, n) = (self.segments(x.len()), x.len());
        let (pointer, offsets, words, row) = match self {
            Self::U32(offsets) => (offsets.as_ptr(), offsets.len(), 1, 0),
            Self::U64(offsets) => (offsets.as_ptr().cast(), offsets.len(), 2, 0),
            Self::Rows(length) => (NonNull::dangling().as_ptr() as *const u32, 0, 0, length),
        };
        if words > 0 && offsets == 0 {
            return Err(refused("no offsets".to_owned(), "one more offset than segments"));
        }
        if words == 0 && segments * row != n {
            let offered = "rows whose length divides the number of elements";
            return Err(refused(format!("rows of {row} of {n} elements"), offered));
        }
        let device = match self {
            Self::U32(offsets) => offsets.device(),
            Self::U64(offsets) => offsets.device(),
            Self::Rows(_) => x.device(),
        };
        // SAFETY: the words are those of the offsets, or there are none.
        let words_view = unsafe { Global::from_raw_parts(pointer, offsets * words, device) };
        Ok((words_view, Layout { segments: segments as u64, row: row as u64, words: words as u64 }))
    }
}

/// Returns the error for segments that the rung does not take.
fn refused(requested: String, offered: &str) -> AlgorithmError {
    capabilities::refused(SegmentsRung::LookBack.rung(), requested, offered.to_owned())
}

/// A type of offsets: `u32` or `u64`.
pub trait Offset: Element + Ord + Copy + Into<u64> {
    /// Returns these offsets as bounds.
    fn bounds(offsets: Global<'_, Self>) -> SegmentBounds<'_>;
}

impl Offset for u32 {
    fn bounds(offsets: Global<'_, Self>) -> SegmentBounds<'_> {
        SegmentBounds::U32(offsets)
    }
}

impl Offset for u64 {
    fn bounds(offsets: Global<'_, Self>) -> SegmentBounds<'_> {
        SegmentBounds::U64(offsets)
    }
}

/// What divides a vector into segments: a vector of offsets, or [`rows`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not divide a vector into segments",
    label = "neither offsets nor rows",
    note = "pass `&offsets`, a slice, `Vec` or `Buffer` of `u32` or `u64` with one more offset than segments, or \
            `rows(length)`"
)]
pub trait Segmentation {
    /// Calls `work` with the bounds of a vector of `n` elements on `device`.
    #[doc(hidden)]
    fn on_device<R>(
        self,
        device: &Device,
        n: usize,
        work: impl FnOnce(SegmentBounds<'_>) -> Result<R, AlgorithmError>,
    ) -> Result<R, AlgorithmError>;
}

impl<X: Vector<Element: Offset>> Segmentation for X {
    fn on_device<R>(
        self,
        device: &Device,
        n: usize,
        work: impl FnOnce(SegmentBounds<'_>) -> Result<R, AlgorithmError>,
    ) -> Result<R, AlgorithmError> {
        if let Some(offsets) = self.on_host() {
            let ends = offsets.iter().skip(1).map(|&offset| offset.into()).chain([n as u64]);
            let starts = offsets.iter().map(|&offset| offset.into());
            if let Some((start, end)) = starts.zip(ends).find(|(start, end)| start > end) {
                let requested = format!("the offset {start} before {end}, with {n} elements");
                return Err(refused(requested, "offsets in ascending order, up to the number of elements"));
            }
        }
        Vector::on_device(self, device, |offsets| work(Offset::bounds(offsets.view())))
    }
}

/// Segments of one length: see [`rows`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows(usize);

/// Divides a vector into segments of `length` elements, such as the rows of a matrix with `length` columns. `length`
/// must divide the number of elements.
pub fn rows(length: usize) -> Rows {
    Rows(length)
}

impl Segmentation for Rows {
    fn on_device<R>(
        self,
        _device: &Device,
        _n: usize,
        work: impl FnOnce(SegmentBounds<'_>) -> Result<R, AlgorithmError>,
    ) -> Result<R, AlgorithmError> {
        work(SegmentBounds::Rows(self.0))
    }
}
