//! The reference of the matrix product, computed on the CPU in double precision, and the error bound of a result.
//!
//! A product of two numbers of up to 32 bits has at most 48 significant bits and is exact in `f64`. A kernel rounds
//! each of the *k* additions of a sum, in any order, so its error is at most *k*·ε·Σ|*a*·*b*| and, for *C*, ε/2 of the
//! result, where ε is 2⁻²³ for sums in `f32` and 2⁻⁵² for `f64`. Tensor cores may round towards zero; ε includes that.
//! In `tf32` each operand has another error of up to 2⁻¹⁰ of it. Sums of integers wrap and have no error.

use std::ops::Range;

use crate::deviation::Deviation;
use crate::inputs::{self, RandomVector};
use gridstride::matmul::Layout;
use gridstride::numbers::Number;

/// The largest number of multiplications for which all elements are compared.
const MAX_MULTIPLICATIONS: u64 = 1 << 25;

/// The smallest number of compared elements of a larger product.
const MIN_SAMPLES: usize = 1024;

/// The matrices of a product in host memory, and the layouts of *A* and *B*.
#[derive(Clone, Copy)]
pub struct Product<'a, T> {
    /// *A* and *B*.
    pub operands: [&'a [T]; 2],
    /// The layouts of *A* and *B*.
    pub layouts: [Layout; 2],
    /// The relative error of an addition of the kernel.
    pub epsilon: f64,
    /// The relative error of a product of the kernel.
    pub rounding: f64,
}

impl<T: Number> Product<'_, T> {
    /// Returns the element of *C* in a row and a column, and the sum of the products' magnitudes.
    pub fn element(&self, row: usize, column: usize) -> (f64, f64) {
        let [a, b] = self.layouts.map(|layout| layout.strides());
        let (mut sum, mut magnitude) = (0.0, 0.0);
        for i in 0..self.layouts[0].columns() {
            let left = self.operands[0][a.index(0, row, i)].to_f64();
            let right = self.operands[1][b.index(0, i, column)].to_f64();
            sum += left * right;
            magnitude += (left * right).abs();
        }
        (sum, magnitude)
    }

    /// Returns the deviation of `found`, a row-major *C*, computed on all cores. In a large product only a random
    /// sample of its elements is compared.
    pub fn deviation<C: Number>(&self, found: &[C]) -> Deviation {
        self.deviation_from(0, found)
    }

    /// Like [`deviation`](Self::deviation), but for rows of *C* that begin with row `first`.
    pub fn deviation_from<C: Number>(&self, first: usize, found: &[C]) -> Deviation {
        let (n, k) = (self.layouts[1].columns(), self.layouts[0].columns());
        let indices = samples(found.len(), k);
        let count = indices.as_ref().map_or(found.len(), Vec::len);
        let of_part = |part: Range<usize>| {
            let mut deviation = Deviation::default();
            for number in part {
                let index = indices.as_ref().map_or(number, |indices| indices[number]);
                let (found, (expected, magnitude)) = (found[index], self.element(first + index / n, index % n));
                let index = first * n + index;
                match C::EPSILON {
                    None => deviation.add_exact(index, found, C::from_f64(expected)),
                    Some(of_result) => {
                        let bound = (k as f64 * self.epsilon + self.rounding) * magnitude;
                        // Small results in 16 bits may be subnormal.
                        let step = if of_result > 1e-4 { 2.0_f64.powi(-24) } else { f64::from(f32::MIN_POSITIVE) };
                        let bound = bound + of_result * (expected.abs() + bound) + step;
                        deviation.add_rounded(index, found, expected, bound);
                    }
                }
            }
            deviation
        };
        inputs::in_parts(count, of_part).into_iter().fold(Deviation::default(), Deviation::merge)
    }
}

/// Returns the indices of the compared elements of a large product, in ascending order.
fn samples(len: usize, k: usize) -> Option<Vec<usize>> {
    let max = (MAX_MULTIPLICATIONS / k.max(1) as u64) as usize;
    let count = max.max(MIN_SAMPLES);
    (len > count).then(|| {
        let random = RandomVector::<u64>::new(0, 9);
        // The corners are always among them.
        let mut indices: Vec<usize> = (0..count).map(|number| (random.bits(number) % len as u64) as usize).collect();
        indices.extend([0, len - 1]);
        indices.sort_unstable();
        indices.dedup();
        indices
    })
}
