//! Chooses the ranges and marks of the axes of plots, and the texts of the marks.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use crate::report::grouped;

/// The approximate maximum number of marks on an axis.
const MAX_MARKS: f64 = 12.0;

/// An axis of a plot: its range and its marks.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Axis {
    /// The values at both ends of the axis, the left or lower end first.
    pub ends: (f64, f64),
    /// The values that have a mark.
    pub marks: Vec<f64>,
}

impl Axis {
    /// Returns an axis of exponents of two, a little wider than the range of the values and marked at whole exponents.
    pub fn powers_of_two(values: impl Iterator<Item = f64>) -> Self {
        let exponents = values.filter(|value| value.is_finite() && *value > 0.0).map(f64::log2);
        let (least, most) = extent(exponents).unwrap_or((0.0, 1.0));
        let (first, last) = (least.floor(), most.ceil().max(least.floor() + 1.0));
        let step = ((last - first + 1.0) / MAX_MARKS).ceil().max(1.0);
        let room = 0.02 * (last - first);
        Self { ends: (first - room, last + room), marks: multiples(first, last, step) }
    }

    /// Returns a linear axis that includes 0, marked at multiples of a round number.
    pub fn linear(values: impl Iterator<Item = f64>) -> Self {
        let (least, most) = extent(values.filter(|value| value.is_finite())).unwrap_or((0.0, 1.0));
        let (least, most) = (least.min(0.0), most.max(0.0));
        let length = if most > least { most - least } else { 1.0 };
        let begin = if least < 0.0 { least - 0.05 * length } else { 0.0 };
        let end = least + 1.06 * length;
        let step = round_step((end - begin) / MAX_MARKS);
        Self { ends: (begin, end), marks: multiples((begin / step).ceil() * step, end, step) }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (begin, end) = self.ends;
        let share = (value - begin) / (end - begin);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.ends.0..self.ends.1
    }
}

/// Returns `first`, `first + step` and so on, up to `last`.
fn multiples(first: f64, last: f64, step: f64) -> Vec<f64> {
    (0..1000).map(|i| first + f64::from(i) * step).take_while(|&mark| mark <= last).collect()
}

/// Returns the least number that is not below `step` and is 1, 2 or 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * power).find(|&round| round >= step).unwrap_or(10.0 * power)
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|value| (value, value)).reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

/// Returns the text of the mark at two to the power of `exponent`: `0.25`, `16`, `4,096` or `2²⁰`.
pub(super) fn power_mark(exponent: f64) -> String {
    match exponent as i32 {
        small @ ..0 => format!("{}", 2_f64.powi(small)),
        plain @ 0..=13 => grouped(1 << plain),
        large => {
            let digits = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
            let superscript =
                large.to_string().bytes().map(|digit| digits[usize::from(digit - b'0') % 10]).collect::<String>();
            format!("2{superscript}")
        }
    }
}

/// Returns the text of the mark at `value`: `0.25`, `1.5` or `4,000`.
pub(super) fn mark(value: f64) -> String {
    // A mark is a multiple of the step, which may be off by a rounding error.
    let rounded = (value * 1e6).round() / 1e6;
    if rounded.abs() < 1000.0 || rounded.fract() != 0.0 {
        return format!("{}", rounded + 0.0);
    }
    let sign = if rounded < 0.0 { "−" } else { "" };
    format!("{sign}{}", grouped(rounded.abs() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_marked_at_whole_exponents() {
        let axis = Axis::powers_of_two([1.0, 2.0, 4.0, 8.0, 16.0].into_iter());
        assert_eq!(axis.marks, [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert!(axis.range().contains(&0.0) && axis.range().contains(&4.0));
        let axis = Axis::powers_of_two((0..=40).map(|exponent| 2_f64.powi(exponent)));
        assert!(axis.marks.len() <= 12 && axis.marks[1] == 4.0, "{axis:?}");
        assert!(axis.range().contains(&40.0));
        for odd in [vec![], vec![0.0], vec![f64::NAN], vec![8.0]] {
            let axis = Axis::powers_of_two(odd.into_iter());
            assert!(axis.ends.1 > axis.ends.0 && axis.marks.len() >= 2, "{axis:?}");
        }
    }

    #[test]
    fn a_plain_axis_holds_zero_and_every_value() {
        for values in [vec![], vec![0.0], vec![5.0, 3.0], vec![-2.0, f64::NAN], vec![1e-9, f64::INFINITY], vec![1e300]]
        {
            let axis = Axis::linear(values.iter().copied());
            let range = axis.range();
            assert!(range.contains(&0.0) && range.end > range.start, "{values:?}: {range:?}");
            assert!(values.iter().filter(|value| value.is_finite()).all(|value| range.contains(value)), "{values:?}");
            assert!((4..=13).contains(&axis.marks.len()), "{axis:?}");
        }
        assert_eq!(
            Axis::linear([4230.0].into_iter()).marks,
            [0.0, 500.0, 1000.0, 1500.0, 2000.0, 2500.0, 3000.0, 3500.0, 4000.0]
        );
    }

    #[test]
    fn values_are_placed_in_proportion() {
        let axis = Axis { ends: (132.0, 0.0), marks: vec![] };
        assert_eq!([132.0, 66.0, 0.0].map(|value| axis.map(&value, (900, 100))), [900, 500, 100]);
    }

    #[test]
    fn marks_are_short() {
        for (exponent, text) in [(-2.0, "0.25"), (0.0, "1"), (12.0, "4,096"), (20.0, "2²⁰"), (31.0, "2³¹")] {
            assert_eq!(power_mark(exponent), text);
        }
        for (value, text) in
            [(0.0, "0"), (-0.0, "0"), (0.30000000000000004, "0.3"), (4000.0, "4,000"), (-2e6, "−2,000,000")]
        {
            assert_eq!(mark(value), text);
        }
    }
}
