//! The indices of slices.

use core::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// An index, or a range of indices.
pub trait SliceIndex {
    /// Returns the index to report if a slice of `len` elements has it out of bounds.
    fn outside(&self, len: usize) -> Option<usize>;

    /// Returns the index if it is that of a single element.
    #[inline(always)]
    fn element(&self) -> Option<usize> {
        None
    }
}

impl SliceIndex for usize {
    #[inline(always)]
    fn outside(&self, len: usize) -> Option<usize> {
        if *self < len { None } else { Some(*self) }
    }

    #[inline(always)]
    fn element(&self) -> Option<usize> {
        Some(*self)
    }
}

/// Returns the last index before `end` if that is out of bounds.
#[inline(always)]
fn last(end: usize, len: usize) -> Option<usize> {
    if end <= len { None } else { Some(end - 1) }
}

impl SliceIndex for Range<usize> {
    #[inline(always)]
    fn outside(&self, len: usize) -> Option<usize> {
        last(self.end, len)
    }
}

impl SliceIndex for RangeTo<usize> {
    #[inline(always)]
    fn outside(&self, len: usize) -> Option<usize> {
        last(self.end, len)
    }
}

impl SliceIndex for RangeFrom<usize> {
    #[inline(always)]
    fn outside(&self, len: usize) -> Option<usize> {
        if self.start <= len { None } else { Some(self.start) }
    }
}

impl SliceIndex for RangeInclusive<usize> {
    #[inline(always)]
    fn outside(&self, len: usize) -> Option<usize> {
        self.end().outside(len)
    }
}

impl SliceIndex for RangeToInclusive<usize> {
    #[inline(always)]
    fn outside(&self, len: usize) -> Option<usize> {
        self.end.outside(len)
    }
}

impl SliceIndex for RangeFull {
    #[inline(always)]
    fn outside(&self, _len: usize) -> Option<usize> {
        None
    }
}

/// The slice itself checks this range.
impl SliceIndex for (Bound<usize>, Bound<usize>) {
    #[inline(always)]
    fn outside(&self, _len: usize) -> Option<usize> {
        None
    }
}
