//! What a part of the vectors passes on to the next part: [`Carry`].

use cuda_std::{DeviceCopy, Element, Pod, Zeroable};

use crate::operator::Operator;

/// The number of runs that end in a part of the vectors, and the combination of the values of its last run, as far as
/// they lie in the part.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Carry<T> {
    /// The lower half of the number of ends.
    low: u32,
    /// The upper half of the number of ends, [`EXISTS`] and [`STARTS`].
    high: u32,
    value: T,
}

/// The bit of [`Carry`] that is set if the part has elements.
const EXISTS: u64 = 1 << 62;

/// The bit of [`Carry`] that is set if a run begins in the part.
const STARTS: u64 = 1 << 63;

// SAFETY: all-zero bits are two `u32` and a `T`.
unsafe impl<T: Element> Zeroable for Carry<T> {}
// SAFETY: any bits are two `u32` and a `T`, and `new` does not compile if there is padding.
unsafe impl<T: Element> Pod for Carry<T> {}
// SAFETY: any bits are two `u32` and a `T`, and `new` does not compile if there is padding.
unsafe impl<T: Element> DeviceCopy for Carry<T> {}

impl<T: Element> Carry<T> {
    /// Returns the carry of a part with `ends` ends. `starts` says whether a run begins in the part, and `value` is the
    /// combination of the values from there to the end of the part. The value is not used unless `exists` is true.
    #[inline(always)]
    pub fn new(ends: u32, exists: bool, starts: bool, value: T) -> Self {
        const {
            assert!(size_of::<Self>() == 8 + size_of::<T>(), "a value by key must be aligned to at most 8 bytes");
        }
        let high = (if exists { EXISTS >> 32 } else { 0 } | if starts { STARTS >> 32 } else { 0 }) as u32;
        Self { low: ends, high, value }
    }

    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }

    /// Returns the number of ends.
    #[inline(always)]
    pub fn ends(self) -> u64 {
        self.word() & (EXISTS - 1)
    }

    /// Returns true if a run begins in the part.
    #[inline(always)]
    pub fn starts(self) -> bool {
        self.word() & STARTS != 0
    }

    /// Returns the value, or `None` if the part has no elements.
    #[inline(always)]
    pub fn value(self) -> Option<T> {
        if self.word() & EXISTS == 0 { None } else { Some(self.value) }
    }
}

/// Joins the carries of two consecutive parts. It calls `O` only with values of elements, and not with its identity.
#[derive(Clone, Copy)]
pub struct Segmented<O>(core::marker::PhantomData<O>);

impl<T: Element, O: Operator<T>> Operator<Carry<T>> for Segmented<O> {
    const IDENTITY: Carry<T> = Carry { low: 0, high: 0, value: O::IDENTITY };
    const COMMUTATIVE: bool = false;

    #[inline(always)]
    fn combine(a: Carry<T>, b: Carry<T>) -> Carry<T> {
        let value = match (a.value(), b.value()) {
            (Some(before), Some(value)) if b.word() & STARTS == 0 => O::combine(before, value),
            (_, Some(value)) => value,
            (_, None) => a.value,
        };
        let word = (a.ends() + b.ends()) | (a.word() | b.word()) & (EXISTS | STARTS);
        Carry { low: word as u32, high: (word >> 32) as u32, value }
    }
}
