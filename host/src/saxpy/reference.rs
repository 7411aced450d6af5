//! The plain CPU answer, in double precision, and how far from it a result may be.
//!
//! The product of two `f32` is exact in `f64`, so that the reference is off by one rounding of `f64` alone. A kernel
//! rounds to `f32` once (fused multiply-add) or twice (product, then sum). Each rounding is off by at most ε/2 of what
//! it rounds, with ε = 2⁻²³, so that both kinds stay within `ε·(|a·x| + |y|)`, and one subnormal step where the result
//! is as small as that.

/// `a·x + y` for each element, in double precision.
///
/// # Panics
/// When `x` and `y` are not of the same length.
pub fn saxpy(a: f32, x: &[f32], y: &[f32]) -> Vec<f64> {
    assert_eq!(x.len(), y.len(), "x and y differ in length");
    x.iter().zip(y).map(|(&x, &y)| element(a, x, y)).collect()
}

/// `a·x + y` in double precision.
pub fn element(a: f32, x: f32, y: f32) -> f64 {
    f64::from(a) * f64::from(x) + f64::from(y)
}

/// How far from [`element`] a right result may be.
pub fn bound(a: f32, x: f32, y: f32) -> f64 {
    let subnormal_step = f64::from(f32::from_bits(1));
    f64::from(f32::EPSILON) * ((f64::from(a) * f64::from(x)).abs() + f64::from(y).abs()) + subnormal_step
}

/// How far results are from the reference.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Deviation {
    /// The largest error.
    pub largest: f64,
    /// The largest error as a multiple of what is allowed for its element: at most 1 for right results.
    pub of_bound: f64,
    /// The first wrong element, if there is one.
    pub wrong: Option<Wrong>,
}

/// An element that is further from the reference than it may be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wrong {
    /// Which one.
    pub index: usize,
    /// What it is.
    pub found: f32,
    /// What it should be.
    pub expected: f64,
}

impl Deviation {
    /// Adds that element `index` of a result for `a`, `x` and `y` is `found`. Elements come in ascending order.
    pub fn add(&mut self, index: usize, (a, x, y): (f32, f32, f32), found: f32) {
        let expected = element(a, x, y);
        let error = (f64::from(found) - expected).abs();
        let of_bound = error / bound(a, x, y);
        if of_bound > 1.0 || of_bound.is_nan() {
            self.wrong = self.wrong.or(Some(Wrong { index, found, expected }));
        }
        // `max` would pass over a NaN.
        self.largest = if error.is_nan() { f64::INFINITY } else { self.largest.max(error) };
        self.of_bound = if of_bound.is_nan() { f64::INFINITY } else { self.of_bound.max(of_bound) };
    }

    /// Adds what was found of the elements after these.
    pub fn merge(self, later: Self) -> Self {
        Self {
            largest: self.largest.max(later.largest),
            of_bound: self.of_bound.max(later.of_bound),
            wrong: self.wrong.or(later.wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of many magnitudes, among them ones whose sum cancels.
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
                deviation.add(0, (a, x, y), found);
                assert_eq!(deviation.wrong, None, "{a} * {x} + {y} = {found}: {deviation:?}");
                assert!(deviation.of_bound <= 1.0);
            }
        }
    }

    #[test]
    fn what_is_wrong_is_found() {
        for found in [0.0, 7.0, 7.0000005, f32::NAN, f32::INFINITY] {
            let mut deviation = Deviation::default();
            deviation.add(3, (2.0, 3.0, 1.0), 7.0);
            deviation.add(4, (2.0, 3.0, 1.0), found);
            deviation.add(5, (2.0, 3.0, 1.0), 7.0);
            let right = found == 7.0 || found == 7.0000005;
            assert_eq!(deviation.wrong.map(|wrong| wrong.index), (!right).then_some(4), "{found}");
            assert_eq!(deviation.of_bound <= 1.0, right, "{found}");
        }
        let mut deviation = Deviation::default();
        deviation.add(0, (2.0, 3.0, 1.0), 7.0 + 4e-6);
        assert!(deviation.wrong.is_some(), "{deviation:?}");
    }

    #[test]
    fn parts_are_merged_in_order() {
        let wrong = |index| Some(Wrong { index, found: 0.0, expected: 1.0 });
        let first = Deviation { largest: 1.0, of_bound: 0.5, wrong: None };
        let second = Deviation { largest: 0.5, of_bound: 2.0, wrong: wrong(7) };
        let third = Deviation { largest: 0.0, of_bound: 0.0, wrong: wrong(9) };
        let all = first.merge(second).merge(third);
        assert_eq!(all, Deviation { largest: 1.0, of_bound: 2.0, wrong: wrong(7) });
    }

    #[test]
    fn the_reference_is_exact_on_small_numbers() {
        assert_eq!(saxpy(2.0, &[1.0, -3.0], &[0.5, 6.0]), [2.5, 0.0]);
        assert!(saxpy(2.0, &[], &[]).is_empty());
    }
}
