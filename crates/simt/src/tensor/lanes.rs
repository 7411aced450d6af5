//! Sums of products of usual exponents, in vector instructions.
//!
//! The products of elements are exact in `f32`, and so are these times a power of two. The conversion to integers cuts
//! off the bits that the hardware cuts off, and the sum of the integers is exact. [`exact`](super::exact) computes what
//! is outside the exponents of `f32`.

use super::arithmetic::Precision;
use super::rounding::power_of_two;

/// The number of elements of the result that are computed together.
pub(super) const LANES: usize = 8;

/// The smallest and the largest power of two of the elements that are not 0.
#[derive(Clone, Copy)]
struct Range {
    min: f32,
    max: f32,
}

impl Range {
    /// Returns the range of powers of two and zeros.
    #[inline(always)]
    fn new(powers: &[f32]) -> Self {
        // The bits of floats that are not negative have the floats' order, and integers have vector instructions.
        let (mut min, mut max) = (f32::MAX.to_bits() as i32, 0);
        for power in powers {
            let bits = power.to_bits() as i32;
            min = min.min(if bits == 0 { i32::MAX } else { bits });
            max = max.max(bits);
        }
        Self { min: f32::from_bits(min as u32), max: f32::from_bits(max as u32) }
    }

    /// True if every product of an element of each range is 0 or a normal number.
    fn is_usual(self, other: Self) -> bool {
        self.max * other.max < 2.0_f32.powi(126) && self.min * other.min >= f32::MIN_POSITIVE
    }
}

/// A row of the first factor, with zeros up to `K` elements.
pub(super) struct Row<const K: usize> {
    values: [f32; K],
    powers: [f32; K],
    range: Range,
}

impl<const K: usize> Row<K> {
    /// Takes elements of a format whose smallest normal number has the exponent `min_exponent`.
    #[inline(always)]
    pub(super) fn new(elements: &[f32], min_exponent: i32) -> Self {
        let mut values = [0.0; K];
        values[..elements.len()].copy_from_slice(elements);
        let powers = values.map(|value| power(value, min_exponent));
        Self { values, powers, range: Range::new(&powers) }
    }
}

/// [`LANES`] columns of the second factor, with zeros up to `K` elements.
pub(super) struct Columns<const K: usize> {
    values: [[f32; LANES]; K],
    powers: [[f32; LANES]; K],
    range: Range,
}

impl<const K: usize> Columns<K> {
    /// Takes up to [`LANES`] columns of `k` elements, which are one after the other in `b`.
    #[inline(always)]
    pub(super) fn new(b: &[f32], k: usize, min_exponent: i32) -> Self {
        let mut values = [[0.0; LANES]; K];
        for (lane, column) in b.chunks_exact(k).enumerate() {
            for (values, &element) in values.iter_mut().zip(column) {
                values[lane] = element;
            }
        }
        let powers = values.map(|values| values.map(|value| power(value, min_exponent)));
        Self { values, powers, range: Range::new(powers.as_flattened()) }
    }

    /// Returns the sum of the products of `row` and each column, and of `c`, before the last rounding. Each sum is 0,
    /// or at least the smallest normal `f32`. Lanes with an unusual exponent, an infinity or a NaN are not right.
    #[inline(always)]
    pub(super) fn dot(&self, row: &Row<K>, c: &[f32; LANES], min_exponent: i32, precision: Precision) -> Sums {
        let mut sums = Sums { values: [0.0; LANES], are_right: [false; LANES] };
        if !row.range.is_usual(self.range) {
            return sums;
        }
        // The loops over `k` are unrolled, and those over the lanes become vector instructions.
        let mut top = [0.0; LANES];
        for lane in 0..LANES {
            let mut largest = power(c[lane], min_exponent);
            for k in 0..K {
                let power = row.powers[k] * self.powers[k][lane];
                largest = if power > largest { power } else { largest };
            }
            top[lane] = largest;
        }
        // The unit of the integers and the scale must be normal numbers.
        let least = power_of_two(precision.aligned - 126) as f32;
        let mut scale = [0.0; LANES];
        for lane in 0..LANES {
            // If all elements are 0, any unit will do.
            let is_zero = top[lane] == 0.0 && c[lane].to_bits() == 0;
            top[lane] = if is_zero { 1.0 } else { top[lane] };
            let is_right = top[lane] >= least && top[lane] < f32::INFINITY;
            let bits = (((254 + precision.aligned) as u32) << 23).wrapping_sub(top[lane].to_bits());
            scale[lane] = if is_right { f32::from_bits(bits) } else { 0.0 };
            sums.are_right[lane] = is_right;
        }
        let mut integers = [0; LANES];
        for lane in 0..LANES {
            for k in 0..K {
                let product = row.values[k] * self.values[k][lane] * scale[lane];
                // SAFETY: the product of the elements is finite, because the ranges are usual, and below 4 `top`. The
                // scale is 0, or at most 2^25 / `top`. The scaled product is therefore below 2^27. (Factors have at
                // most 11 bits, so the sum of 16 products is below 2^31; with 32 products, the scale is 2^13 / `top`.)
                integers[lane] += unsafe { product.to_int_unchecked::<i32>() };
            }
        }
        for lane in 0..LANES {
            let c = if sums.are_right[lane] { c[lane] * scale[lane] } else { 0.0 };
            // SAFETY: where the lane is right, C is finite and below 2 `top`. The scaled C is therefore below 2^26.
            let c = unsafe { c.to_int_unchecked::<i32>() };
            let unit = f64::from(top[lane]) * power_of_two(-precision.aligned);
            sums.values[lane] = (f64::from(integers[lane]) + f64::from(c)) * unit;
        }
        sums
    }
}

/// Sums of [`LANES`] lanes.
pub(super) struct Sums {
    pub(super) values: [f64; LANES],
    /// True for each lane whose value is right.
    pub(super) are_right: [bool; LANES],
}

/// Returns the power of two by which the hardware aligns `element`: the exponent, at least `min_exponent`; 0 for 0.
#[inline(always)]
fn power(element: f32, min_exponent: i32) -> f32 {
    let exponent = (element.to_bits() & 0x7F80_0000).max(((min_exponent + 127) as u32) << 23);
    if element == 0.0 { 0.0 } else { f32::from_bits(exponent) }
}
