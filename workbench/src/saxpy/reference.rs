//! The reference of saxpy, computed on the CPU in double precision, and the error bound of a kernel's result.
//!
//! The product of two `f32` is exact in `f64`, so the reference for `f32` has only one rounding to `f64`. A kernel
//! rounds to `f32` once (fused multiply-add) or twice (product, then sum). The error of a rounding is at most ε/2 of
//! the rounded value, with ε = 2⁻²³. Both kinds of kernels therefore stay within `ε·(|a·x| + |y|)`, plus one subnormal
//! step for tiny results. For `f64`, the reference is rounded once, and ε = 2⁻⁵².

use crate::deviation::Deviation;
use crate::inputs::{self, RandomVector};
use gridstride::numbers::Number;
use gridstride::saxpy::SaxpyElement;

/// A float type with a reference implementation of saxpy.
pub trait Reference: SaxpyElement {
    /// The smallest positive number of the type.
    const SUBNORMAL_STEP: f64;

    /// Returns `a·x + y`, computed in double precision.
    fn exact(a: Self, x: Self, y: Self) -> f64;
}

impl Reference for f32 {
    // This is 2⁻¹⁴⁹.
    const SUBNORMAL_STEP: f64 = f32::from_bits(1) as f64;

    fn exact(a: Self, x: Self, y: Self) -> f64 {
        f64::from(a) * f64::from(x) + f64::from(y)
    }
}

impl Reference for f64 {
    const SUBNORMAL_STEP: f64 = f64::from_bits(1);

    fn exact(a: Self, x: Self, y: Self) -> f64 {
        a.mul_add(x, y)
    }
}

/// Returns `a·x + y` for each element, in double precision.
///
/// # Panics
/// Panics if `x` and `y` differ in length.
pub fn saxpy<T: Reference>(a: T, x: &[T], y: &[T]) -> Vec<f64> {
    assert_eq!(x.len(), y.len(), "x and y must have the same length");
    x.iter().zip(y).map(|(&x, &y)| element(a, x, y)).collect()
}

/// Returns `a·x + y`, computed in double precision.
pub fn element<T: Reference>(a: T, x: T, y: T) -> f64 {
    T::exact(a, x, y)
}

/// Returns the largest allowed difference between a kernel's result for `a·x + y` and the result of [`element`].
pub fn bound<T: Reference>(a: T, x: T, y: T) -> f64 {
    let epsilon = <T as Number>::EPSILON.unwrap_or_default();
    epsilon * ((a.to_f64() * x.to_f64()).abs() + y.to_f64().abs()) + T::SUBNORMAL_STEP
}

/// Returns the deviation of `found` from `a·x + y` for the random vectors x and y, computed on all cores.
pub fn deviation<T: Reference>(a: T, x: RandomVector<T>, y: RandomVector<T>, found: &[T]) -> Deviation {
    deviation_from(0, a, x, y, found)
}

/// Like [`deviation`], but `found` has only the elements of the result from index `first` on.
pub(crate) fn deviation_from<T: Reference>(
    first: usize,
    a: T,
    x: RandomVector<T>,
    y: RandomVector<T>,
    found: &[T],
) -> Deviation {
    let of_part = |part: std::ops::Range<usize>| {
        let mut deviation = Deviation::default();
        for at in part {
            let index = first + at;
            let (x, y) = (x.element(index), y.element(index));
            deviation.add(index, found[at].to_f64(), element(a, x, y), bound(a, x, y));
        }
        deviation
    };
    inputs::in_parts(found.len(), of_part).into_iter().fold(Deviation::default(), Deviation::merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns triples (a, x, y) of numbers of many magnitudes. In some triples, the terms of `a·x + y` cancel.
    fn samples() -> impl Iterator<Item = (f32, f32, f32)> {
        let values = [0.0, 1.0, -1.0, 1.0 / 3.0, -0.7, 1e-30, 3e-39, 1e10, -12345.678, f32::EPSILON];
        values
            .into_iter()
            .flat_map(move |a| values.into_iter().flat_map(move |x| values.into_iter().map(move |y| (a, x, y))))
    }

    #[test]
    fn one_rounding_and_two_roundings_are_right() {
        for (a, x, y) in samples() {
            for found in [a.mul_add(x, y), a * x + y] {
                let mut deviation = Deviation::default();
                deviation.add(0, found.into(), element(a, x, y), bound(a, x, y));
                assert_eq!(deviation.wrong, None, "{a} * {x} + {y} = {found}: {deviation:?}");
            }
        }
    }

    #[test]
    fn doubles_have_a_bound_of_their_own() {
        for (a, x, y) in samples() {
            let (a, x, y) = (f64::from(a), f64::from(x), f64::from(y));
            for found in [a.mul_add(x, y), a * x + y] {
                let mut deviation = Deviation::default();
                deviation.add(0, found, element(a, x, y), bound(a, x, y));
                assert_eq!(deviation.wrong, None, "{a} * {x} + {y} = {found}: {deviation:?}");
            }
        }
        let mut deviation = Deviation::default();
        deviation.add(0, f64::from(0.1_f32), element(1.0, 0.1, 0.0), bound(1.0, 0.1, 0.0));
        assert!(deviation.wrong.is_some(), "single precision is not enough");
    }

    #[test]
    fn an_error_of_more_than_the_roundings_is_wrong() {
        for (found, right) in [(7.0, true), (7.000_000_5, true), (7.000_004, false), (0.0, false)] {
            let mut deviation = Deviation::default();
            deviation.add(0, found, element(2.0_f32, 3.0, 1.0), bound(2.0_f32, 3.0, 1.0));
            assert_eq!(deviation.wrong.is_none(), right, "{found}");
        }
    }

    #[test]
    fn the_reference_is_exact_on_small_numbers() {
        assert_eq!(saxpy(2.0_f32, &[1.0, -3.0], &[0.5, 6.0]), [2.5, 0.0]);
        assert!(saxpy::<f32>(2.0, &[], &[]).is_empty());
    }
}
