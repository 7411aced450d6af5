//! The random inputs of a scan. The inputs are chosen so that the result changes if a kernel loses an element or uses
//! an element twice.

use crate::inputs::RandomVector;
use gridstride::numbers::{Number, NumberType, OperatorName};

/// The random vector of `n` elements that is scanned by an operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanInput<T> {
    random: RandomVector<T>,
    n: usize,
    operator: OperatorName,
    is_exact: bool,
}

impl<T: Number> ScanInput<T> {
    /// Returns the vector that is scanned in measurements. For a sum, the vector's floats are in −1..1. Only scans that
    /// compute sums of floats round.
    pub(super) fn new(operator: OperatorName, seed: u64, n: usize) -> Self {
        Self { random: RandomVector::new(seed, 0), n, operator, is_exact: false }
    }

    /// Returns the vector for which no partial result rounds.
    pub(super) fn exact(self) -> Self {
        Self { is_exact: true, ..self }
    }

    /// Returns element `index` of the vector.
    pub(super) fn element(&self, index: usize) -> T {
        if self.is_exact {
            return self.exact_element(index);
        }
        let bits = self.random.bits(index);
        match (self.operator, T::EPSILON) {
            (OperatorName::Sum, _) => self.random.element(index),
            // The number is odd, so no product is 0.
            (OperatorName::Product, None) => T::from_random(bits | 1 << (64 - 8 * size_of::<T>())),
            (OperatorName::Product, Some(_)) => self.exact_element(index),
            (OperatorName::Min | OperatorName::Minimum, _) => self.rank(!self.rising(index, bits)),
            (OperatorName::Max | OperatorName::Maximum, _) => self.rank(self.rising(index, bits)),
        }
    }

    /// Returns element `index` of the vector for which no partial result rounds. Prefixes of sums are random multiples
    /// of 2⁻¹⁹ in −1/2..1/2, or of 2⁻⁷ for 16-bit floats. Prefixes of products are random powers of two. An element is
    /// the difference or ratio of two prefixes.
    fn exact_element(&self, index: usize) -> T {
        let prefix = |index: usize| self.random.bits(index);
        let before = |value: fn(u64) -> f64, none| index.checked_sub(1).map_or(none, |index| value(prefix(index)));
        match self.operator {
            OperatorName::Product => {
                let value: fn(u64) -> f64 = |bits| 2_f64.powi((bits >> 60) as i32 - 8);
                T::from_f64(value(prefix(index)) / before(value, 1.0))
            }
            _ => {
                let value: fn(u64) -> f64 = match size_of::<T>() {
                    2 => |bits| (bits >> 57) as f64 / f64::from(1 << 7) - 0.5,
                    _ => |bits| (bits >> 45) as f64 / f64::from(1 << 19) - 0.5,
                };
                T::from_f64(value(prefix(index)) - before(value, 0.0))
            }
        }
    }

    /// Returns a value that rises from 0 to 2⁶⁴ over the vector, with random steps back. Many elements therefore exceed
    /// all earlier elements.
    fn rising(&self, index: usize, bits: u64) -> u64 {
        let step = u64::MAX / (self.n as u64).max(1);
        (index as u64 * step).saturating_sub(bits % (step / 2).saturating_mul(16).max(1))
    }

    /// Returns the number at position `rank` among the ordered values of `T`.
    fn rank(&self, rank: u64) -> T {
        match T::TYPE {
            NumberType::I32 | NumberType::I64 => T::from_random(rank ^ 1 << 63),
            _ => T::from_random(rank),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::{bf16, f16};
    use gpu::operator::{Max, Min, Operator, Product, Sum};
    use gridstride::numbers::NamedOperator;

    fn records<T: Number, O: NamedOperator + Operator<T>>() -> usize {
        let input = ScanInput::<T>::new(O::NAME, 3, 10_000);
        let mut extreme = O::IDENTITY;
        (0..10_000)
            .filter(|&index| {
                let before = extreme;
                extreme = O::combine(extreme, input.element(index));
                extreme != before
            })
            .count()
    }

    #[test]
    fn extremes_are_surpassed_again_and_again() {
        for count in [
            records::<f32, Min>(),
            records::<f64, Max>(),
            records::<i32, Min>(),
            records::<i64, Max>(),
            records::<u32, Max>(),
            records::<u64, Min>(),
        ] {
            assert!(count > 1000 && count < 9000, "{count}");
        }
    }

    #[test]
    fn exact_prefixes_are_exact_and_all_different_from_each_other() {
        fn check<T: Number, O: NamedOperator + Operator<T>>(operation: fn(f64, f64) -> f64, start: f64, least: f64) {
            let input = ScanInput::<T>::new(O::NAME, 7, 10_000);
            let (mut prefix, mut expected, mut largest) = (O::IDENTITY, start, 0.0_f64);
            for index in 0..10_000 {
                let element = input.exact_element(index);
                prefix = O::combine(prefix, element);
                expected = operation(expected, element.to_f64());
                assert_eq!(prefix.to_f64(), expected, "{index}");
                largest = largest.max(expected);
            }
            assert!((least..=1000.0).contains(&largest), "{largest}");
        }
        check::<f32, Sum>(|a, b| a + b, 0.0, 0.49);
        check::<f64, Sum>(|a, b| a + b, 0.0, 0.49);
        check::<f16, Sum>(|a, b| a + b, 0.0, 0.49);
        check::<bf16, Sum>(|a, b| a + b, 0.0, 0.49);
        check::<f32, Product>(|a, b| a * b, 1.0, 128.0);
        check::<f64, Product>(|a, b| a * b, 1.0, 128.0);
    }

    #[test]
    fn integer_factors_are_odd() {
        let narrow = ScanInput::<i32>::new(OperatorName::Product, 1, 100);
        let wide = ScanInput::<u64>::new(OperatorName::Product, 1, 100);
        assert!((0..100).all(|index| narrow.element(index) & 1 == 1 && wide.element(index) & 1 == 1));
    }
}
