//! What a part of the vectors passes on to the next part: [`Carry`], and [`Part`] within a tile.

use cuda_std::{DeviceCopy, Element, Pod, Zeroable};

use crate::operator::Operator;

/// The state of a tile: the number of runs that end in a part of the vectors, and the combination of the values of the
/// part's last run, as far as they lie in the part.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Carry<T> {
    /// The lower half of the number of ends.
    low: u32,
    /// The upper half of the number of ends, and [`STARTS`].
    high: u32,
    value: T,
}

/// The bit of the upper half that is set if a run begins in the part.
const STARTS: u32 = 1 << 31;

// SAFETY: all-zero bits are two `u32` and a `T`.
unsafe impl<T: Element> Zeroable for Carry<T> {}
// SAFETY: any bits are two `u32` and a `T`, and `new` does not compile if there is padding.
unsafe impl<T: Element> Pod for Carry<T> {}
// SAFETY: any bits are two `u32` and a `T`, and `new` does not compile if there is padding.
unsafe impl<T: Element> DeviceCopy for Carry<T> {}

impl<T: Element> Carry<T> {
    /// Returns the carry of a part with `ends` ends. `starts` says whether a run begins in the part, and `value` is the
    /// combination of the values from the last beginning, or from the part's first element, to the part's end.
    #[inline(always)]
    pub fn new(ends: u64, starts: bool, value: T) -> Self {
        const {
            assert!(size_of::<Self>() == 8 + size_of::<T>(), "a value by key must be aligned to at most 8 bytes");
        }
        Self { low: ends as u32, high: (ends >> 32) as u32 | if starts { STARTS } else { 0 }, value }
    }

    /// Returns the number of ends.
    #[inline(always)]
    pub fn ends(self) -> u64 {
        u64::from(self.high & !STARTS) << 32 | u64::from(self.low)
    }

    /// Returns true if a run begins in the part.
    #[inline(always)]
    pub fn starts(self) -> bool {
        self.high & STARTS != 0
    }

    /// Returns the combination of the values of the part's last run.
    #[inline(always)]
    pub fn value(self) -> T {
        self.value
    }
}

/// A part of a tile: the elements of one warp, or of several.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Part<T> {
    /// The number of runs that end in the part.
    pub ends: u32,
    /// The number of elements before the first that begins a run, or the number of all elements if none does.
    pub open: u32,
    /// The combination of the values of the part's last run.
    pub value: T,
}

// SAFETY: all-zero bits are two `u32` and a `T`.
unsafe impl<T: Element> Zeroable for Part<T> {}
// SAFETY: any bits are two `u32` and a `T`, and `Carry::new`, which each user of `Part` calls, does not compile if
// there is padding.
unsafe impl<T: Element> Pod for Part<T> {}
// SAFETY: any bits are two `u32` and a `T`, and `Carry::new`, which each user of `Part` calls, does not compile if
// there is padding.
unsafe impl<T: Element> DeviceCopy for Part<T> {}

impl<T: Element> Part<T> {
    /// Returns the part that consists of this one and `next`, a part of `len` elements that has elements. `len` is the
    /// number of elements of each earlier part that is joined.
    #[inline(always)]
    pub fn followed_by<O: Operator<T>>(self, own_len: u32, next: Self, len: u32) -> Self {
        Self {
            ends: self.ends + next.ends,
            open: if self.open == own_len { own_len + next.open } else { self.open },
            value: if next.open < len { next.value } else { O::combine(self.value, next.value) },
        }
    }
}
