//! Sums of products of any elements, one at a time, for what [`lanes`](super::lanes) does not compute.

use super::arithmetic::Precision;
use super::rounding::power_of_two;

/// Returns the sum of the products of `row` and `column`, and of `c`, before the last rounding.
///
/// `min_exponents` are the exponents of the smallest normal numbers of the formats of the row, the column and `c`.
#[cold]
pub(super) fn dot(row: &[f32], column: &[f32], c: f32, min_exponents: [i32; 3], precision: Precision) -> f64 {
    // The products of finite elements are finite and exact in `f64`.
    let products = || row.iter().zip(column).map(|(a, b)| f64::from(*a) * f64::from(*b));
    let terms = || products().chain([f64::from(c)]);
    if let Some(sum) = terms().filter(|term| !term.is_finite()).reduce(|sum, term| sum + term) {
        return sum;
    }
    let [of_a, of_b, of_c] = min_exponents;
    let exponents = row.iter().zip(column).filter(|(a, b)| **a != 0.0 && **b != 0.0);
    let exponents = exponents.map(|(a, b)| exponent(*a, of_a) + exponent(*b, of_b));
    let Some(top) = exponents.chain((c != 0.0).then(|| exponent(c, of_c))).max() else { return 0.0 };
    let scale = power_of_two(precision.aligned - top);
    terms().map(|term| (term * scale) as i64).sum::<i64>() as f64 / scale
}

/// Returns the exponent of a finite number that is not 0, at least `min_exponent`.
fn exponent(value: f32, min_exponent: i32) -> i32 {
    let bits = f64::from(value).to_bits();
    (((bits >> 52) & 0x7FF) as i32 - 1023).max(min_exponent)
}
