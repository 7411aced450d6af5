//! The indices of slices, for the reports of accesses.

use core::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// An index of a slice, or a range of indices.
pub trait SliceIndex {
    /// Returns an index that is out of bounds of a slice of `len` elements, or `None` if all are in bounds.
    fn outside(&self, len: usize) -> Option<usize>;

    /// Returns the index if it selects a single element.
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

/// Returns the last index before `end` if it is out of bounds of a slice of `len` elements.
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

/// The functions report nothing for a pair of bounds, because the slice itself checks the range.
impl SliceIndex for (Bound<usize>, Bound<usize>) {
    #[inline(always)]
    fn outside(&self, _len: usize) -> Option<usize> {
        None
    }
}
