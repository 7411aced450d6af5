//! Bins of equal width, and the bin of a key in whole numbers.

use cuda_std::{Argument, KernelParam, Params, multiply_wide};

/// `bins` bins of equal width over the keys `lower..upper`: key *k* is in bin ⌊(*k* − lower)·bins / (upper − lower)⌋, and a
/// key outside is in none. These are the bins of CUB's `DeviceHistogram::HistogramEven` for integers.
///
/// A division is too slow for each key. Let *d* = key − lower and *R* = upper − lower, both doubled until *R* is above 2³¹, and
/// *M* = ⌈bins·2⁶⁴ / *R*⌉: then the bin is ⌊*d*·*M* / 2⁶⁴⌋, exactly. For *M*·*R* exceeds bins·2⁶⁴ by some *e* < *R*, and so
/// *d*·*M* / 2⁶⁴ exceeds *d*·bins / *R* by *d*·*e* / (2⁶⁴·*R*), which is less than 1/*R*, as *d* and *e* are below *R* ≤ 2³². From
/// a multiple of 1/*R* that does not reach the next whole number. (T. Granlund and P. L. Montgomery, "Division by Invariant
/// Integers using Multiplication", 1994.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EvenBins {
    lower: u32,
    /// upper − lower − 1: the range itself may be 2³².
    last: u32,
    /// How often *d* and *R* are doubled, from 0 to 31.
    shift: u32,
    /// *M*, which is below 2⁵⁰: its lower and its upper 32 bits.
    low: u32,
    high: u32,
}

/// Where the shift stands in the word that it shares with the multiplier.
const SHIFT_AT: u32 = 58;

impl EvenBins {
    /// The most bins.
    pub const MOST: u32 = 1 << 16;

    /// `bins` bins over `lower..upper`. `None` unless there are 1 to [`MOST`](Self::MOST) bins, and `upper` is above `lower`
    /// and at most 2³².
    pub const fn new(bins: u32, lower: u32, upper: u64) -> Option<Self> {
        if bins == 0 || bins > Self::MOST || upper <= lower as u64 || upper > 1 << 32 {
            return None;
        }
        let last = (upper - lower as u64 - 1) as u32;
        // A range of 1 becomes 2³² by 32 doublings: as its only d is 0, 31 will do.
        let shift = if last == 0 { 31 } else { last.leading_zeros() };
        let range = (last as u64 + 1) << shift;
        // bins·2⁶⁴ / range, digit by digit: the dividend has up to 81 bits.
        let (mut multiplier, mut rest) = (0_u64, bins as u64);
        let mut digit = 0;
        while digit < 64 {
            rest *= 2;
            multiplier = 2 * multiplier + (rest >= range) as u64;
            if rest >= range {
                rest -= range;
            }
            digit += 1;
        }
        multiplier += (rest > 0) as u64;
        Some(Self { lower, last, shift, low: multiplier as u32, high: (multiplier >> 32) as u32 })
    }

    /// The bin of `key`, and whether it is in one: else the bin is any number.
    #[inline(always)]
    pub(super) fn find(self, key: u32) -> (u32, bool) {
        let offset = key.wrapping_sub(self.lower);
        let doubled = offset << self.shift;
        let product = multiply_wide(doubled, self.high) + (multiply_wide(doubled, self.low) >> 32);
        ((product >> 32) as u32, offset <= self.last)
    }

    /// The bin of `key`, if it is in one.
    #[inline(always)]
    pub fn of(self, key: u32) -> Option<u32> {
        let (bin, is_inside) = self.find(key);
        if is_inside { Some(bin) } else { None }
    }
}

// SAFETY: both parts are numbers of 8 bytes, and `encode` appends two slots.
unsafe impl KernelParam for EvenBins {
    type Head = u64;
    type Tail = u64;

    #[inline(always)]
    unsafe fn from_parts(range: u64, scale: u64) -> Self {
        let high = (scale >> 32) as u32;
        Self {
            lower: range as u32,
            last: (range >> 32) as u32,
            // The mask tells the compiler that the shift is none of too many places.
            shift: high >> (SHIFT_AT - 32) & 31,
            low: scale as u32,
            high: high & ((1 << (SHIFT_AT - 32)) - 1),
        }
    }
}

// SAFETY: one slot for the head, one for the tail; there is no pointer, and no lifetime.
unsafe impl Argument for EvenBins {
    type For<'a> = Self;

    #[inline]
    fn encode(self, _name: &'static str, params: &mut Params) {
        params.push(u64::from(self.lower) | u64::from(self.last) << 32);
        params.push(u64::from(self.low) | u64::from(self.high) << 32 | u64::from(self.shift) << SHIFT_AT);
    }
}
