//! Sums of products of usual exponents, in vector instructions.
//!
//! The products of elements are exact in `f32`, and so are these times a power of two. The conversion to integers cuts
//! off the bits that the hardware cuts off, and the sum of the integers is exact. [`exact`](super::exact) computes what
//! is outside the exponents of `f32`.

use super::arithmetic::Precision;

/// The number of elements of the result that are computed together.
pub(super) const LANES: usize = 8;

/// The smallest and the largest power of two of the elements that are not 0.
#[derive(Clone, Copy)]
struct Range {
    min: f32,
    max: f32,
}

impl Range {
    const NONE: Self = Self { min: f32::MAX, max: 0.0 };

    fn with(self, power: f32) -> Self {
        let is_less = power < self.min && power != 0.0;
        Self { min: if is_less { power } else { self.min }, max: if power > self.max { power } else { self.max } }
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
    pub(super) fn new(elements: &[f32], min_exponent: i32) -> Self {
        let mut row = Self { values: [0.0; K], powers: [0.0; K], range: Range::NONE };
        for (i, &element) in elements.iter().enumerate() {
            row.values[i] = element;
            row.powers[i] = power(element, min_exponent);
            row.range = row.range.with(row.powers[i]);
        }
        row
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
    pub(super) fn new(b: &[f32], k: usize, min_exponent: i32) -> Self {
        let zeros = [[0.0; LANES]; K];
        let mut columns = Self { values: zeros, powers: zeros, range: Range::NONE };
        for (lane, column) in b.chunks_exact(k).enumerate() {
            for (i, &element) in column.iter().enumerate() {
                let power = power(element, min_exponent);
                columns.values[i][lane] = element;
                columns.powers[i][lane] = power;
                columns.range = columns.range.with(power);
            }
        }
        columns
    }

    /// Returns the sum of the products of `row` and each column, and of `c`, before the last rounding. Each sum is 0, or
    /// at least the smallest normal `f32`. Lanes with an unusual exponent, an infinity or a NaN are not right.
    #[inline]
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
        let mut scale = [0.0; LANES];
        for lane in 0..LANES {
            // The unit of the integers and the scale must be normal numbers. If all elements are 0, any will do.
            let is_zero = top[lane] == 0.0 && c[lane].to_bits() == 0;
            top[lane] = if is_zero { 1.0 } else { top[lane] };
            let is_right = top[lane] >= 2.0_f32.powi(precision.aligned - 126) && top[lane] < f32::INFINITY;
            let bits = (((254 + precision.aligned) as u32) << 23).wrapping_sub(top[lane].to_bits());
            scale[lane] = if is_right { f32::from_bits(bits) } else { 0.0 };
            sums.are_right[lane] = is_right;
        }
        let mut integers = [0; LANES];
        for lane in 0..LANES {
            for k in 0..K {
                let product = row.values[k] * self.values[k][lane] * scale[lane];
                // SAFETY: the product of the elements is finite, because the ranges are usual, and below 4 `top`. The
                // scale is 0, or at most 2^25 / `top`. The scaled product is therefore below 2^27.
                integers[lane] += unsafe { product.to_int_unchecked::<i32>() };
            }
        }
        for lane in 0..LANES {
            let c = if sums.are_right[lane] { c[lane] * scale[lane] } else { 0.0 };
            // SAFETY: where the lane is right, C is finite and below 2 `top`. The scaled C is therefore below 2^26.
            let c = unsafe { c.to_int_unchecked::<i32>() };
            let unit = f64::from(top[lane]) * f64::from(2.0_f32.powi(-precision.aligned));
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
#[inline]
fn power(element: f32, min_exponent: i32) -> f32 {
    let exponent = (element.to_bits() & 0x7F80_0000).max(((min_exponent + 127) as u32) << 23);
    if element == 0.0 { 0.0 } else { f32::from_bits(exponent) }
}
