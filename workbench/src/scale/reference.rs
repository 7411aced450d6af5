//! The reference of scale, computed on the CPU: the exact product in a wider type, converted to the element type.

use gridstride::numbers::Number;

/// An element type with a reference implementation of the product.
pub trait Product: Number {
    /// Returns the float nearest to `s·x`, or the lower bits of an integer product.
    fn product(s: Self, x: Self) -> Self;
}

impl Product for f32 {
    fn product(s: Self, x: Self) -> Self {
        // The 48 bits of a product fit in the significand of an `f64`.
        (f64::from(s) * f64::from(x)) as f32
    }
}

impl Product for i32 {
    fn product(s: Self, x: Self) -> Self {
        (i64::from(s) * i64::from(x)) as i32
    }
}

/// Returns the vector of the reference products `s·x[i]`.
pub fn scale<T: Product>(s: T, x: &[T]) -> Vec<T> {
    x.iter().map(|&x| T::product(s, x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_rounded_once_or_wrap() {
        let up = 1.0 + f32::EPSILON;
        let found: Vec<u32> =
            scale(up, &[up, -0.0, f32::MAX, f32::from_bits(1)]).into_iter().map(f32::to_bits).collect();
        let expected = [1.0 + 2.0 * f32::EPSILON, -0.0, f32::INFINITY, f32::from_bits(1)];
        assert_eq!(found, expected.map(f32::to_bits));
        assert_eq!(scale(i32::MAX, &[0, 1, 2, -1, i32::MIN]), [0, i32::MAX, -2, -i32::MAX, i32::MIN]);
        assert!(scale::<i32>(3, &[]).is_empty());
    }
}
