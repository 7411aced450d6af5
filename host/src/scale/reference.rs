//! The plain CPU answer, in a type that holds the product exactly, then brought back to the element's type.

use crate::numbers::Number;

/// The product of two elements as a kernel is to give it, exactly.
pub trait Product: Number {
    /// `s·x`: of floats the nearest float, of integers the lower bits.
    fn product(s: Self, x: Self) -> Self;
}

impl Product for f32 {
    fn product(s: Self, x: Self) -> Self {
        // 48 bits of a product fit the significand of a double.
        (f64::from(s) * f64::from(x)) as f32
    }
}

impl Product for i32 {
    fn product(s: Self, x: Self) -> Self {
        (i64::from(s) * i64::from(x)) as i32
    }
}

/// `s·x` for each element.
pub fn scale<T: Product>(s: T, x: &[T]) -> Vec<T> {
    x.iter().map(|&x| T::product(s, x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_rounded_once_or_wrap() {
        assert_eq!(scale(0.1_f32, &[3.0, -0.0, f32::MAX, 1e-45]), [0.3_f32.next_up(), -0.0, 3.402_823_5e37, 0.0]);
        assert_eq!(scale(i32::MAX, &[0, 1, 2, -1, i32::MIN]), [0, i32::MAX, -2, -i32::MAX, i32::MIN]);
        assert!(scale::<i32>(3, &[]).is_empty());
    }
}
