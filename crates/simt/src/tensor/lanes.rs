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

/// A row of the first factor. [`load`](Self::load) replaces it.
pub(super) struct Row {
    values: Vec<f32>,
    powers: Vec<f32>,
    range: Range,
}

impl Row {
    /// Returns a row of `k` zeros.
    pub(super) fn new(k: usize) -> Self {
        Self { values: vec![0.0; k], powers: vec![0.0; k], range: Range::NONE }
    }

    /// Replaces the elements, in a format whose smallest normal number has the exponent `min_exponent`.
    pub(super) fn load(&mut self, elements: &[f32], min_exponent: i32) {
        self.values.copy_from_slice(elements);
        self.range = Range::NONE;
        for (to, &element) in self.powers.iter_mut().zip(elements) {
            *to = power(element, min_exponent);
            self.range = self.range.with(*to);
        }
    }
}

/// [`LANES`] columns of the second factor.
pub(super) struct Columns {
    values: Vec<[f32; LANES]>,
    powers: Vec<[f32; LANES]>,
    range: Range,
}

impl Columns {
    /// Collects up to [`LANES`] columns of `k` elements, which are one after the other in `b`.
    pub(super) fn new(b: &[f32], k: usize, min_exponent: i32) -> Self {
        let zeros = || vec![[0.0; LANES]; k];
        let mut columns = Self { values: zeros(), powers: zeros(), range: Range::NONE };
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

    /// Returns the sum of the products of `row` and each column, and of `c`, before the last rounding; or `None` for a
    /// lane with an unusual exponent, infinity or NaN. Each sum is 0, or at least the smallest normal `f32`.
    #[inline]
    pub(super) fn dot(&self, row: &Row, c: &[f32; LANES], min_exponent: i32, precision: Precision) -> Sums {
        if !row.range.is_usual(self.range) {
            return Sums { values: [0.0; LANES], are_right: [false; LANES] };
        }
        let mut top = c.map(|c| power(c, min_exponent));
        for (a, b) in row.powers.iter().zip(&self.powers) {
            for (top, b) in top.iter_mut().zip(b) {
                *top = if a * b > *top { a * b } else { *top };
            }
        }
        // The units of the integers, and 1 / unit, must be normal numbers.
        let are_right = top.map(|top| top >= 2.0_f32.powi(precision.aligned - 126) && top < f32::INFINITY);
        let mut scale = [0.0; LANES];
        for ((scale, top), is_right) in scale.iter_mut().zip(top).zip(are_right) {
            let bits = (((254 + precision.aligned) as u32) << 23).wrapping_sub(top.to_bits());
            *scale = if is_right { f32::from_bits(bits) } else { 0.0 };
        }
        let mut sums = [0; LANES];
        for (a, b) in row.values.iter().zip(&self.values) {
            for ((sum, b), scale) in sums.iter_mut().zip(b).zip(&scale) {
                // SAFETY: the product is finite, because the ranges are usual. It is below 4 `top`, and the scale is 0,
                // or 2^25 / `top` or less. The scaled product is therefore below 2^27.
                *sum += unsafe { (a * b * scale).to_int_unchecked::<i32>() };
            }
        }
        let mut values = [0.0; LANES];
        for lane in 0..LANES {
            // A NaN becomes 0, and C is at most twice `top`.
            let c = (c[lane] * scale[lane]) as i32;
            let unit = f64::from(top[lane]) * f64::from(2.0_f32.powi(-precision.aligned));
            values[lane] = (f64::from(sums[lane]) + f64::from(c)) * unit;
        }
        Sums { values, are_right }
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
