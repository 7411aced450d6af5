//! The reference of reduce, computed on all CPU cores, and the error bound of a kernel's result.
//!
//! | | reference result | bound of the error |
//! |---|---|---|
//! | integers | modulo 2^w | 0, because the result is exact |
//! | min, max | the least or greatest number; NaN is ignored | 0, because the result is exact |
//! | minimum, maximum | the least or greatest number, or NaN if there is one | 0, because the result is exact |
//! | sum of floats | in double precision with compensation (Neumaier) | *r*·ε·Σ\|x\| |
//! | product of floats | in double precision with compensation (Ogita, Rump, Oishi) | *d*·\|Πx\| |
//!
//! ε is the distance from 1 to the next number of the type, so that one rounding has a relative error of at most ε/2.
//! [`Plan::roundings`](gridstride::reduce::Plan::roundings) returns *r*, the largest number of roundings on the path
//! from an element to the result.
//!
//! A reduction of `f16` or `bf16` has the bound of one in `f32`, and one rounding of the result in addition.
//!
//! A product of *k* factors other than 1 is rounded *k* − 1 times in a tree of any shape. Every rounding affects the
//! product, so *d* is (1 + ε/2)^(*k*−1) − 1. Multiplication by 1 is exact. Most inputs of a long product are therefore
//! 1.

use cuda_std::{bf16, f16};
use gpu::operator::{Max, Maximum, Min, Minimum, Operator, Product, Sum};

use crate::deviation::Deviation;
use crate::inputs::in_parts;
use gridstride::numbers::{NamedOperator, Number, NumberType};

/// The reference result: an exact value, or a float with the data for its error bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Answer<T> {
    /// The exact result, for integers, minima and maxima.
    Exact(T),
    /// The sum of floats.
    Sum {
        /// The value of the sum.
        value: f64,
        /// The sum of the absolute values of all elements.
        magnitude: f64,
    },
    /// The product of floats.
    Product {
        /// The value of the product.
        value: f64,
        /// The number of factors other than 1.
        factors: usize,
    },
}

impl<T: Number> Answer<T> {
    /// Returns the error bound of a result with at most `roundings` roundings on the path from an element to the
    /// result.
    pub fn bound(&self, roundings: usize) -> f64 {
        let (epsilon, of_result) = match T::TYPE {
            // Half the distance of the numbers beside the result, or of the least numbers of `f16`.
            NumberType::F16 | NumberType::Bf16 => (f64::from(f32::EPSILON), T::EPSILON.unwrap_or(0.0) / 2.0),
            _ => (T::EPSILON.unwrap_or(0.0), 0.0),
        };
        let least_step = if of_result > 0.0 { 2_f64.powi(-25) } else { 0.0 };
        match *self {
            Self::Exact(_) => 0.0,
            Self::Sum { value, magnitude } => {
                let of_sums = roundings as f64 * epsilon * magnitude;
                of_sums + of_result * (value.abs() + of_sums) + least_step
            }
            Self::Product { value, factors } => {
                let of_products = (factors.saturating_sub(1) as f64 * (epsilon / 2.0).ln_1p()).exp_m1();
                // The reference itself is rounded once.
                let of_answer = if factors > 1 { f64::EPSILON } else { 0.0 };
                value.abs() * (of_products + of_answer + of_result * (1.0 + of_products)) + least_step
            }
        }
    }

    /// Returns the deviation of the result `found`. The path from an element to the result has at most `roundings`
    /// roundings.
    pub fn deviation(&self, found: T, roundings: usize) -> Deviation {
        let mut deviation = Deviation::default();
        match *self {
            Self::Exact(expected) => deviation.add_exact(0, found, expected),
            Self::Sum { value, .. } | Self::Product { value, .. } => {
                deviation.add_rounded(0, found, value, self.bound(roundings));
            }
        }
        deviation
    }
}

/// An operator with a reference implementation for `T`, which shares no code with the kernels.
pub trait Reference<T: Number>: Operator<T> + NamedOperator {
    /// The intermediate result of the reference for a segment.
    type Part: Send + Sync;

    /// Returns the intermediate result of a segment, whose elements are combined one after the other.
    fn of(elements: impl Iterator<Item = T>) -> Self::Part;

    /// Combines the intermediate results of a segment and of the segment after it.
    fn merge(earlier: Self::Part, later: Self::Part) -> Self::Part;

    /// Converts the intermediate result of all elements to the reference result.
    fn answer(all: Self::Part) -> Answer<T>;
}

/// Returns the reference result for `element(0)` to `element(n − 1)`.
pub fn reduce<T: Number, O: Reference<T>>(n: usize, element: impl Fn(usize) -> T + Sync) -> Answer<T> {
    let parts = in_parts(n, |part| O::of(part.map(&element)));
    let all = parts.into_iter().reduce(O::merge).unwrap_or_else(|| O::of(std::iter::empty()));
    O::answer(all)
}

macro_rules! exact {
    ($operator:ident $type:ident |$a:ident, $b:ident| $combine:expr, $start:expr) => {
        impl Reference<$type> for $operator {
            type Part = $type;

            fn of(elements: impl Iterator<Item = $type>) -> $type {
                elements.fold($start, |$a, $b| $combine)
            }

            fn merge($a: $type, $b: $type) -> $type {
                $combine
            }

            fn answer(all: $type) -> Answer<$type> {
                Answer::Exact(all)
            }
        }
    };
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        exact! { Sum $type |a, b| a.wrapping_add(b), 0 }
        exact! { Product $type |a, b| a.wrapping_mul(b), 1 }
        exact! { Min $type |a, b| if b < a { b } else { a }, $type::MAX }
        exact! { Max $type |a, b| if b > a { b } else { a }, $type::MIN }
    )*};
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        // A comparison with NaN is false, so the result stays a number.
        exact! { Min $type |a, b| if b < a { b } else { a }, $type::INFINITY }
        exact! { Max $type |a, b| if b > a { b } else { a }, -$type::INFINITY }

        impl Reference<$type> for Sum {
            type Part = CompensatedSum;

            fn of(elements: impl Iterator<Item = $type>) -> CompensatedSum {
                let mut sum = CompensatedSum::default();
                elements.for_each(|x| sum.add(x.to_f64()));
                sum
            }

            fn merge(mut earlier: CompensatedSum, later: CompensatedSum) -> CompensatedSum {
                earlier.add(later.sum);
                earlier.correction += later.correction;
                // `add` counted the magnitude of the later sum, but the magnitudes of its terms are needed.
                earlier.magnitude += later.magnitude - later.sum.abs();
                earlier
            }

            fn answer(all: CompensatedSum) -> Answer<$type> {
                Answer::Sum { value: all.value(), magnitude: all.magnitude }
            }
        }

        impl Reference<$type> for Product {
            type Part = CompensatedProduct;

            fn of(elements: impl Iterator<Item = $type>) -> CompensatedProduct {
                let mut product = CompensatedProduct { product: 1.0, correction: 0.0, factors: 0 };
                for x in elements.map(Number::to_f64).filter(|&x| x != 1.0) {
                    product.multiply(x);
                    product.factors += 1;
                }
                product
            }

            fn merge(mut earlier: CompensatedProduct, later: CompensatedProduct) -> CompensatedProduct {
                let correction = earlier.product * later.correction;
                earlier.multiply(later.product);
                earlier.correction += correction;
                earlier.factors += later.factors;
                earlier
            }

            fn answer(all: CompensatedProduct) -> Answer<$type> {
                Answer::Product { value: all.value(), factors: all.factors }
            }
        }
    )*};
}

integers! { u32 i32 u64 i64 u8 i8 }
floats! { f32 f64 f16 bf16 }

macro_rules! propagating {
    ($($type:ident)*) => {$(
        // Once the result is NaN, no comparison changes it.
        exact! { Minimum $type |a, b| if b < a || b.is_nan() { b } else { a }, $type::INFINITY }
        exact! { Maximum $type |a, b| if b > a || b.is_nan() { b } else { a }, $type::NEG_INFINITY }
    )*};
}

propagating! { f32 f64 }

/// Returns the index of the first element that precedes all others, or `None` if there is none. `precedes(a, b)` orders
/// two numbers that are not NaN.
pub fn first_position<T: Number>(
    n: usize,
    element: impl Fn(usize) -> T + Sync,
    precedes: impl Fn(T, T) -> bool + Sync,
) -> Option<usize> {
    let better = |best: Option<usize>, other: usize| match best {
        Some(best) if !precedes(element(other), element(best)) => Some(best),
        _ => Some(other),
    };
    let is_number = |index: &usize| !element(*index).to_f64().is_nan();
    let parts = in_parts(n, |part| part.filter(is_number).fold(None, better));
    parts.into_iter().flatten().fold(None, better)
}

/// A sum of floats with a correction, which accumulates the rounding errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompensatedSum {
    sum: f64,
    correction: f64,
    magnitude: f64,
}

impl CompensatedSum {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let (larger, smaller) = if self.sum.abs() >= x.abs() { (self.sum, x) } else { (x, self.sum) };
        self.correction += (larger - sum) + smaller;
        self.sum = sum;
        self.magnitude += x.abs();
    }

    fn value(self) -> f64 {
        // An infinite sum or NaN gets no correction.
        if self.sum.is_finite() && self.correction != 0.0 { self.sum + self.correction } else { self.sum }
    }
}

/// A product of floats with a correction, which accumulates the rounding errors.
#[derive(Clone, Copy, Debug)]
pub struct CompensatedProduct {
    product: f64,
    correction: f64,
    /// The number of factors other than 1.
    factors: usize,
}

impl CompensatedProduct {
    fn multiply(&mut self, x: f64) {
        let product = self.product * x;
        self.correction = self.correction.mul_add(x, self.product.mul_add(x, -product));
        self.product = product;
    }

    fn value(self) -> f64 {
        if self.product.is_finite() && self.correction != 0.0 { self.product + self.correction } else { self.product }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T: Number, O: Reference<T>>(x: &[T]) -> Answer<T> {
        reduce::<T, O>(x.len(), |index| x[index])
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(of::<_, Sum>(&[u32::MAX, 3]), Answer::Exact(2));
        assert_eq!(of::<_, Product>(&[i64::MIN, 3, -1]), Answer::Exact(i64::MIN));
        assert_eq!(of::<_, Min>(&[3_i32, -7, 5]), Answer::Exact(-7));
        assert_eq!(of::<_, Max>(&[] as &[i32]), Answer::Exact(i32::MIN));
    }

    #[test]
    fn rounding_errors_are_corrected() {
        let sum = of::<_, Sum>(&[1.0, 1e100, 1.0, -1e100]);
        assert_eq!(sum, Answer::Sum { value: 2.0, magnitude: 2e100 + 2.0 });
        // The first two factors give 1 − 2⁻⁶⁰, which a double rounds to 1. The exact product of all three rounds to 1 +
        // 2⁻⁵².
        let tiny = 2f64.powi(-30);
        let Answer::Product { value, factors: 3 } = of::<f64, Product>(&[1.0 + tiny, 1.0 - tiny, 1.0 + f64::EPSILON])
        else {
            panic!("not a product");
        };
        assert_eq!(value, 1.0 + f64::EPSILON);
        let many: Vec<f64> = (0..1000).flat_map(|_| [1.1, 1.0 / 1.1]).collect();
        let one = 1.1_f64 * (1.0 / 1.1);
        let Answer::Product { value, .. } = of::<f64, Product>(&many) else { panic!("not a product") };
        // Each pair is exactly 1 + e for the same tiny e.
        let e = 1.1_f64.mul_add(1.0 / 1.1, -1.0);
        assert!((value - (1.0 + 1000.0 * e)).abs() <= f64::EPSILON, "{value} {one}");
    }

    #[test]
    fn infinities_and_nan_come_through() {
        let value = |x: &[f32]| match of::<f32, Sum>(x) {
            Answer::Sum { value, .. } => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(value(&[1.0, f32::INFINITY, 2.0]), f64::INFINITY);
        assert!(value(&[f32::NEG_INFINITY, f32::INFINITY]).is_nan());
        assert_eq!(of::<_, Min>(&[f32::NAN, 2.0, f32::NAN]), Answer::Exact(2.0));
        assert_eq!(of::<_, Min>(&[f64::NAN]), Answer::Exact(f64::INFINITY));
        assert_eq!(of::<_, Max>(&[] as &[f64]), Answer::Exact(f64::NEG_INFINITY));
    }

    #[test]
    fn segments_combine_to_the_whole() {
        let x: Vec<f64> = (0..1000).map(|i| f64::from(i * i % 97) / 97.0 - 0.3).collect();
        let mut parts = CompensatedSum::default();
        for part in x.chunks(77) {
            parts = <Sum as Reference<f64>>::merge(parts, <Sum as Reference<f64>>::of(part.iter().copied()));
        }
        let whole = <Sum as Reference<f64>>::of(x.iter().copied());
        assert!((parts.value() - whole.value()).abs() <= f64::EPSILON * whole.value().abs());
        assert!((parts.magnitude - whole.magnitude).abs() <= 1e-12 * whole.magnitude);
    }

    #[test]
    fn bounds_follow_rounding() {
        let sum = Answer::<f32>::Sum { value: 1.0, magnitude: 8.0 };
        assert_eq!(sum.bound(3), 24.0 * f64::from(f32::EPSILON));
        assert_eq!(sum.deviation(1.0, 3).wrong, None);
        assert!(sum.deviation(1.0 + 32.0 * f32::EPSILON, 3).wrong.is_some());
        let product = |factors| Answer::<f32>::Product { value: -2.0, factors }.bound(0);
        assert_eq!(product(1), 0.0);
        // The bound allows two roundings, each with an error of at most ε/2.
        assert!((product(3) / (2.0 * f64::from(f32::EPSILON)) - 1.0).abs() < 1e-6);
        assert!(product(1024) < 2e-4);
        assert!(Answer::Exact(5_u64).deviation(4, 9).wrong.is_some());
    }
}
