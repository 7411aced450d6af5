//! Bins of equal width, and the bin of a key in integer arithmetic.

use cuda_std::{Argument, KernelParam, Params, multiply_wide};

/// Bins of equal width over the keys `lower..upper`. Key *k* is in bin ⌊(*k* − lower)·bins / (upper − lower)⌋, where
/// bins is the number of bins. A key outside the range is in no bin. CUB's `DeviceHistogram::HistogramEven` has the
/// same bins for integers.
///
/// A division per key is too slow, so the kernels multiply. Let *d* = key − lower and *R* = upper − lower, both doubled
/// until *R* exceeds 2³¹. Let *M* = ⌈bins·2⁶⁴ / *R*⌉. Then the bin is exactly ⌊*d*·*M* / 2⁶⁴⌋.
///
/// Proof: *M*·*R* exceeds bins·2⁶⁴ by some *e* < *R*. Therefore *d*·*M* / 2⁶⁴ exceeds *d*·bins / *R* by *d*·*e* /
/// (2⁶⁴·*R*). This is less than 1/*R*, because *d* and *e* are below *R* ≤ 2³². Since *d*·bins / *R* is a multiple of
/// 1/*R*, the excess does not reach the next integer. (T. Granlund and P. L. Montgomery, "Division by Invariant
/// Integers using Multiplication", 1994.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EvenBins {
    lower: u32,
    /// The number of keys in the range, minus one. The number of keys may be 2³², which does not fit into 32 bits.
    last: u32,
    /// The number of times that *d* and *R* are doubled, from 0 to 31; see [`EvenBins`].
    shift: u32,
    /// The lower 32 bits of the multiplier *M* of [`EvenBins`]. *M* is below 2⁵⁰.
    low: u32,
    /// The upper 32 bits of the multiplier *M*.
    high: u32,
}

/// The bit position of `shift` in a 64-bit word that contains `shift` and the multiplier *M*.
const SHIFT_AT: u32 = 58;

impl EvenBins {
    /// The largest number of bins.
    pub const MAX: u32 = 1 << 16;

    /// Returns `bins` bins over `lower..upper`. Returns `None` if `bins` is 0 or above [`MAX`](Self::MAX), if `upper`
    /// is not above `lower`, or if `upper` exceeds 2³².
    pub const fn new(bins: u32, lower: u32, upper: u64) -> Option<Self> {
        if bins == 0 || bins > Self::MAX || upper <= lower as u64 || upper > 1 << 32 {
            return None;
        }
        let last = (upper - lower as u64 - 1) as u32;
        // A range of 1 needs 32 doublings to reach 2³². Its only *d* is 0, so 31 doublings are enough.
        let shift = if last == 0 { 31 } else { last.leading_zeros() };
        let range = (last as u64 + 1) << shift;
        // Computes bins·2⁶⁴ / range bit by bit, because the dividend has up to 81 bits.
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

    /// Returns the bin of `key`, and true if the key is in the range. Otherwise the bin is an arbitrary number.
    #[inline(always)]
    pub(super) fn find(self, key: u32) -> (u32, bool) {
        let offset = key.wrapping_sub(self.lower);
        let doubled = offset << self.shift;
        let product = multiply_wide(doubled, self.high) + (multiply_wide(doubled, self.low) >> 32);
        ((product >> 32) as u32, offset <= self.last)
    }

    /// Returns the bin of `key`, or `None` if the key is outside the range.
    #[inline(always)]
    pub fn of(self, key: u32) -> Option<u32> {
        let (bin, is_inside) = self.find(key);
        if is_inside { Some(bin) } else { None }
    }
}

// SAFETY: both parts are 8-byte integers, and `encode` appends two slots.
unsafe impl KernelParam for EvenBins {
    type Head = u64;
    type Tail = u64;

    #[inline(always)]
    unsafe fn from_parts(range: u64, scale: u64) -> Self {
        let high = (scale >> 32) as u32;
        Self {
            lower: range as u32,
            last: (range >> 32) as u32,
            // The mask shows the compiler that the shift is less than 32.
            shift: high >> (SHIFT_AT - 32) & 31,
            low: scale as u32,
            high: high & ((1 << (SHIFT_AT - 32)) - 1),
        }
    }
}

// SAFETY: one slot holds the head and one the tail; the type has no pointer and no lifetime.
unsafe impl Argument for EvenBins {
    type For<'a> = Self;

    #[inline]
    fn encode(self, _name: &'static str, params: &mut Params) {
        params.push(u64::from(self.lower) | u64::from(self.last) << 32);
        params.push(u64::from(self.low) | u64::from(self.high) << 32 | u64::from(self.shift) << SHIFT_AT);
    }
}
