//! The deviation of a result from its reference.
//!
//! # Design
//!
//! A bound limits the rounding error of a correct result. A kernel that loses a small element may stay within the
//! bound. The suites therefore also sum integers, and floats whose sums do not round. The reference modules of reduce
//! and of scan explain the bounds of these algorithms.

use std::fmt;

use gridstride::numbers::Number;

use crate::inputs;

/// The deviation of a result from its reference. The error of each element is compared with the element's own bound.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Deviation {
    /// The largest error of an element.
    pub largest_error: f64,
    /// The largest ratio of an element's error to its bound; at most 1 for a correct result.
    pub of_bound: f64,
    /// The number of wrong elements.
    pub wrong_elements: u64,
    /// The first wrong element, if there is one.
    pub wrong: Option<Wrong>,
}

/// A wrong element, whose error exceeds the bound of the element.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Wrong {
    /// The index of the element.
    pub index: usize,
    /// The value of the element in the result.
    pub found: String,
    /// The value of the element in the reference.
    pub expected: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "element {} is {}, and should be {}", self.index, self.found, self.expected)
    }
}

impl Deviation {
    /// Adds element `index`. Its value `found` must be within `bound` of `expected`. Elements must be added in
    /// ascending order. NaN matches NaN, and an infinity matches itself.
    pub fn add(&mut self, index: usize, found: f64, expected: f64, bound: f64) {
        let same = found == expected || (found.is_nan() && expected.is_nan());
        let error = if same { 0.0 } else { (found - expected).abs() };
        let of_bound = if same { 0.0 } else { error / bound };
        if of_bound > 1.0 || of_bound.is_nan() {
            self.add_wrong(index, found, expected);
        }
        // `max` would ignore a NaN.
        self.largest_error = if error.is_nan() { f64::INFINITY } else { self.largest_error.max(error) };
        self.of_bound = if of_bound.is_nan() { f64::INFINITY } else { self.of_bound.max(of_bound) };
    }

    /// Adds element `index` as [`add`](Self::add) does. Its value `found` was rounded to `T`: an infinity is right if a
    /// value within `bound` of `expected` rounds to it.
    pub fn add_rounded<T: Number>(&mut self, index: usize, found: T, expected: f64, bound: f64) {
        let found = found.to_f64();
        let overflows = found.is_infinite() && bound.is_finite() && {
            T::from_f64(expected + bound.copysign(found)).to_f64() == found
        };
        self.add(index, found, if overflows { found } else { expected }, bound);
    }

    /// Returns the deviation of `found` from `expected(0)`, `expected(1)`, …, computed on all cores. Each element must
    /// equal the expected value; 0 equals −0.
    pub fn of_exact<T: PartialEq + fmt::Display + Copy + Sync>(
        found: &[T],
        expected: impl Fn(usize) -> T + Sync,
    ) -> Self {
        let of_part = |part: std::ops::Range<usize>| {
            let mut deviation = Self::default();
            for index in part {
                deviation.add_exact(index, found[index], expected(index));
            }
            deviation
        };
        inputs::in_parts(found.len(), of_part).into_iter().fold(Self::default(), Self::merge)
    }

    /// Adds element `index`. Its value `found` must equal `expected`.
    pub fn add_exact<T: PartialEq + fmt::Display>(&mut self, index: usize, found: T, expected: T) {
        if found != expected {
            self.of_bound = f64::INFINITY;
            self.largest_error = f64::INFINITY;
            self.add_wrong(index, found, expected);
        }
    }

    fn add_wrong(&mut self, index: usize, found: impl fmt::Display, expected: impl fmt::Display) {
        self.wrong_elements += 1;
        if self.wrong.is_none() {
            self.wrong = Some(Wrong { index, found: found.to_string(), expected: expected.to_string() });
        }
    }

    /// Returns the deviation of all elements of `self` and of `later`. The elements of `later` must have higher
    /// indices.
    pub fn merge(self, later: Self) -> Self {
        Self {
            largest_error: self.largest_error.max(later.largest_error),
            of_bound: self.of_bound.max(later.of_bound),
            wrong_elements: self.wrong_elements + later.wrong_elements,
            wrong: self.wrong.or(later.wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_elements_are_found() {
        for (found, right) in
            [(7.0, true), (7.09, true), (7.2, false), (0.0, false), (f64::NAN, false), (f64::INFINITY, false)]
        {
            let mut deviation = Deviation::default();
            deviation.add(3, 7.0, 7.0, 0.1);
            deviation.add(4, found, 7.0, 0.1);
            deviation.add(5, 7.0, 7.0, 0.1);
            assert_eq!(deviation.wrong.as_ref().map(|wrong| wrong.index), (!right).then_some(4), "{found}");
            assert_eq!(deviation.of_bound <= 1.0, right, "{found}");
        }
    }

    #[test]
    fn special_values_are_right_where_they_are_expected() {
        let mut deviation = Deviation::default();
        deviation.add(0, f64::NAN, f64::NAN, 0.0);
        deviation.add(1, f64::INFINITY, f64::INFINITY, 0.0);
        assert_eq!(deviation, Deviation::default());
        deviation.add(2, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(deviation.wrong.unwrap().index, 2);
    }

    #[test]
    fn an_infinity_is_right_if_the_result_type_overflows() {
        // The largest `f16` is 65504, and 65520 is the first number that rounds to infinity.
        for (found, expected, right) in [
            (f64::NEG_INFINITY, -124_519.5, true),
            (f64::NEG_INFINITY, -65_519.0, true),
            (f64::NEG_INFINITY, -65_000.0, false),
            (f64::INFINITY, -124_519.5, false),
            (-65_504.0, -124_519.5, false),
        ] {
            let mut deviation = Deviation::default();
            deviation.add_rounded(0, cuda_std::f16::from_f64(found), expected, 32.0);
            assert_eq!(deviation.wrong.is_none(), right, "{found} for {expected}");
        }
    }

    #[test]
    fn an_exact_element_has_no_tolerance() {
        let mut deviation = Deviation::default();
        deviation.add_exact(0, 5_u64, 5);
        assert_eq!(deviation, Deviation::default());
        deviation.add_exact(1, u64::MAX, u64::MAX - 1);
        assert_eq!(
            deviation.wrong.unwrap().to_string(),
            format!("element 1 is {}, and should be {}", u64::MAX, u64::MAX - 1)
        );
    }

    #[test]
    fn parts_are_merged_in_order() {
        let mut parts = [Deviation::default(), Deviation::default(), Deviation::default()];
        parts[1].add(7, 1.0, 2.0, 0.5);
        parts[2].add(9, 1.0, 4.0, 0.5);
        let [first, second, third] = parts;
        let all = first.merge(second).merge(third);
        assert_eq!((all.largest_error, all.of_bound, all.wrong_elements), (3.0, 6.0, 2));
        assert_eq!(all.wrong.unwrap().index, 7);
    }

    #[test]
    fn every_wrong_element_is_counted() {
        let found: Vec<u16> = (0..1000).collect();
        assert_eq!(Deviation::of_exact(&found, |index| index as u16), Deviation::default());
        let deviation = Deviation::of_exact(&found, |index| if index % 10 == 7 { 0 } else { index as u16 });
        assert_eq!(deviation.wrong_elements, 100);
        assert_eq!(deviation.wrong.unwrap().to_string(), "element 7 is 7, and should be 0");
    }

    #[test]
    fn a_difference_of_one_bit_is_wrong() {
        let found = [1.0_f32, 2.0, 3.0];
        assert_eq!(Deviation::of_exact(&found, |index| index as f32 + 1.0), Deviation::default());
        let deviation = Deviation::of_exact(&found, |index| (index as f32 + 1.0).next_up());
        assert_eq!(deviation.wrong_elements, 3);
    }
}
