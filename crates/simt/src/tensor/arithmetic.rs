//! The arithmetic of tensor cores.

/// Returns the sum of the products of `a` and `b`, and of `c`. The caller rounds it to the type of the sums.
///
/// Integers and small whole numbers are exact. The products of 16-bit and smaller floats are exact, and the sum is that
/// of `f64`, from left to right.
pub fn dot(a: &[f64], b: &[f64], c: f64) -> f64 {
    a.iter().zip(b).fold(c, |sum, (a, b)| sum + a * b)
}
