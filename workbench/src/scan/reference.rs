//! The reference of scan, computed on the CPU, and the error bound of a kernel's result.
//!
//! Integers, minima and maxima are exact in any grouping. In a sum of floats, the error of each addition is at most ε/2
//! of its result. A kernel adds in a tree whose depth is [`sum_depth`]. The error of a prefix is therefore at most
//! `depth · ε · Σ|x|`, summed over the prefix's elements. The reference adds in twice the precision of `f64`.
//! Sums of 16-bit floats are in `f32`, and each result is rounded once.

use std::ops::Range;

use gpu::operator::Operator;

use crate::deviation::Deviation;
use crate::inputs;
use gridstride::numbers::{Number, NumberType};
use gridstride::scan::{ScanKind, ScanRung, tile};

/// Returns the scan of `x`, computed element by element.
pub fn scan<T: Copy, O: Operator<T>>(kind: ScanKind, x: &[T]) -> Vec<T> {
    let mut prefix = O::IDENTITY;
    x.iter()
        .map(|&element| {
            let before = prefix;
            prefix = O::combine(prefix, element);
            choose(kind, before, prefix)
        })
        .collect()
}

fn choose<A>(kind: ScanKind, before: A, upto: A) -> A {
    match kind {
        ScanKind::Inclusive => upto,
        ScanKind::Exclusive => before,
    }
}

/// Returns the largest number of additions on the path from an element to prefix `index` of `n` elements of
/// `element_bytes` bytes.
///
/// In a tile, `LookBack` adds the elements of a thread, then by shuffles within a warp, then the sums of chunks and the
/// sums of warps. Two more additions add the sum of the earlier tiles. The look-back adds by shuffles. The look-back
/// also adds once per tile, because each tile's prefix may be computed from the previous tile's prefix.
///
/// For 16-bit floats, `LookBack` adds the elements of a vector to the prefix of the vector one after the other.
///
/// In a tile, `Pipelined` adds in the same way as `LookBack`. `Pipelined` combines the sums of other tiles by shuffles,
/// by one addition per 32 tiles, and by one addition per tile.
pub fn sum_depth(rung: ScanRung, index: usize, n: usize, element_bytes: usize) -> f64 {
    let levels = f64::from(n.next_power_of_two().ilog2());
    match rung {
        ScanRung::NaiveBlock | ScanRung::Naive => levels,
        ScanRung::WorkEfficient => 2.0 * levels,
        ScanRung::LookBack => {
            let vector = 16 / element_bytes;
            let again = if element_bytes == 2 { vector } else { 0 };
            (vector - 1 + 5 + 8 + 8 + 2 + 5 + again) as f64 + (index / tile(rung, n, element_bytes)) as f64
        }
        ScanRung::Pipelined => {
            let vector = 16 / element_bytes;
            let tiles = index / tile(rung, n, element_bytes);
            (vector - 1 + 5 + 8 + 8 + 2 + 5 + tiles.div_ceil(32) + tiles) as f64
        }
    }
}

/// Compares `found`, the scan of `element(0)`, `element(1)`, …, with the reference. The partial results of the scan
/// must not round. This is the case for integers, minima and maxima. Uses all cores.
pub fn compare_exact<T: Number, O: Operator<T>>(
    kind: ScanKind,
    element: impl Fn(usize) -> T + Sync,
    found: &[T],
) -> Deviation {
    compare_exact_from::<T, O>(0, kind, element, found)
}

/// Like [`compare_exact`], but `found` has only the elements of the scan from index `first` on.
pub(super) fn compare_exact_from<T: Number, O: Operator<T>>(
    first: usize,
    kind: ScanKind,
    element: impl Fn(usize) -> T + Sync,
    found: &[T],
) -> Deviation {
    let fold = |part: Range<usize>, start| part.fold(start, |prefix, index| O::combine(prefix, element(index)));
    let compare = |part: Range<usize>, mut prefix: T| {
        let mut deviation = Deviation::default();
        for index in part {
            let before = prefix;
            prefix = O::combine(prefix, element(index));
            deviation.add_exact(index, found[index - first], choose(kind, before, prefix));
        }
        deviation
    };
    in_two_passes(first, found.len(), O::IDENTITY, &fold, O::combine, &compare)
}

/// Compares `found` with the reference, on all cores. `found` is the scan by `rung` of the floats `element(0)`,
/// `element(1)`, ….
pub fn compare_sums<T: Number>(
    rung: ScanRung,
    kind: ScanKind,
    element: impl Fn(usize) -> T + Sync,
    found: &[T],
) -> Deviation {
    let depth = |index| sum_depth(rung, index, found.len(), size_of::<T>());
    compare_sums_from(0, depth, kind, element, found)
}

/// Like [`compare_sums`], but `found` has only the elements of the scan from index `first` on. `depth` returns the
/// largest number of additions on the path to an element of `found`.
pub(super) fn compare_sums_from<T: Number>(
    first: usize,
    depth: impl Fn(usize) -> f64 + Sync,
    kind: ScanKind,
    element: impl Fn(usize) -> T + Sync,
    found: &[T],
) -> Deviation {
    let (epsilon, rounding) = epsilons::<T>();
    let add = |prefix: Sums, index| prefix.plus(element(index).to_f64());
    let fold = |part: Range<usize>, start| part.fold(start, add);
    let compare = |part: Range<usize>, mut prefix: Sums| {
        let mut deviation = Deviation::default();
        for index in part {
            let before = prefix;
            prefix = add(prefix, index);
            let Sums { sum, magnitude } = choose(kind, before, prefix);
            let at = index - first;
            let added = depth(at) * epsilon * magnitude;
            // The last term is the rounding of the reference to `f64`.
            let bound = added + rounding * (sum.high.abs() + added) + f64::EPSILON * sum.high.abs();
            deviation.add_rounded(index, found[at], sum.high, bound);
        }
        deviation
    };
    in_two_passes(first, found.len(), Sums::default(), &fold, Sums::merge, &compare)
}

/// Returns ε of the type in which elements of `T` are added, and the largest relative error of a sum that is then
/// rounded to `T`.
fn epsilons<T: Number>() -> (f64, f64) {
    let epsilon = T::EPSILON.unwrap_or(0.0);
    match T::TYPE {
        NumberType::F16 | NumberType::Bf16 => (f32::EPSILON.into(), epsilon / 2.0),
        _ => (epsilon, 0.0),
    }
}

/// Compares the `n` elements from index `first` on in two passes. In the first pass, every core combines the elements
/// of its segment, beginning with `start`. In the second pass, every core compares its segment, beginning with the
/// combination of all earlier segments.
fn in_two_passes<A: Copy + Send + Sync>(
    first: usize,
    n: usize,
    start: A,
    fold: &(dyn Fn(Range<usize>, A) -> A + Sync),
    merge: fn(A, A) -> A,
    compare: &(dyn Fn(Range<usize>, A) -> Deviation + Sync),
) -> Deviation {
    let moved = |part: Range<usize>| first + part.start..first + part.end;
    let totals = inputs::in_parts(n, |part| (part.start, fold(moved(part), start)));
    let mut prefix = inputs::in_parts(first, |part| fold(part, start)).into_iter().fold(start, merge);
    let prefixes: Vec<(usize, A)> = totals
        .into_iter()
        .map(|(first, total)| {
            let before = prefix;
            prefix = merge(prefix, total);
            (first, before)
        })
        .collect();
    let of_part = |part: Range<usize>| {
        let at = prefixes.partition_point(|&(first, _)| first < part.start);
        compare(moved(part), prefixes.get(at).map_or(start, |&(_, before)| before))
    };
    inputs::in_parts(n, of_part).into_iter().fold(Deviation::default(), Deviation::merge)
}

/// The sum of numbers and the sum of their magnitudes.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sum: Double,
    magnitude: f64,
}

impl Sums {
    fn plus(self, x: f64) -> Self {
        Self { sum: self.sum.plus(x), magnitude: self.magnitude + x.abs() }
    }

    fn merge(self, later: Self) -> Self {
        Self { sum: self.sum.plus(later.sum.high).plus(later.sum.low), magnitude: self.magnitude + later.magnitude }
    }
}

/// A number with twice the precision of `f64`: `high + low`, where `high` is the `f64` nearest to the number.
#[derive(Clone, Copy, Debug, Default)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    /// Adds `x` by Knuth's two-sum, which computes the rounding error of `high + x` exactly.
    fn plus(self, x: f64) -> Self {
        let sum = self.high + x;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (x - part);
        let low = self.low + error;
        let high = sum + low;
        Self { high, low: low - (high - sum) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::Ladder;
    use gpu::operator::{Max, Product, Sum};

    #[test]
    fn the_scan_is_that_of_small_numbers() {
        assert_eq!(scan::<_, Sum>(ScanKind::Inclusive, &[3, 1, 4]), [3, 4, 8]);
        assert_eq!(scan::<_, Product>(ScanKind::Exclusive, &[3, 1, 4]), [1, 3, 3]);
        assert_eq!(scan::<_, Max>(ScanKind::Exclusive, &[3_i64, 1, 4]), [i64::MIN, 3, 3]);
        assert!(scan::<f32, Sum>(ScanKind::Inclusive, &[]).is_empty());
    }

    #[test]
    fn a_double_keeps_what_an_f64_loses() {
        let terms = [1e16, 1.0, 1.0, 1.0, -1e16, 1e-20];
        let sum = terms.iter().fold(Double::default(), |sum, &x| sum.plus(x));
        assert_eq!((sum.high, sum.low), (3.0, 1e-20));
    }

    #[test]
    fn one_wrong_element_is_found_wherever_it_is() {
        for n in [1, 2, 3, 1000] {
            let x: Vec<i64> = (0..n as i64).map(|i| i * i - 700 * i).collect();
            for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                let right = scan::<_, Sum>(kind, &x);
                assert_eq!(compare_exact::<i64, Sum>(kind, |i| x[i], &right), Deviation::default());
                for wrong in [0, n / 2, n - 1] {
                    let mut found = right.clone();
                    found[wrong] += 1;
                    let deviation = compare_exact::<i64, Sum>(kind, |i| x[i], &found);
                    assert_eq!(deviation.wrong.unwrap().index, wrong);
                }
            }
        }
    }

    #[test]
    fn sums_are_right_within_their_bound_and_wrong_beyond() {
        let x: Vec<f32> = (0..1000).map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0).collect();
        for &kernel in ScanRung::ALL {
            for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                let prefix = |i: usize| x[..i + 1 - kind.shift()].iter().map(|&x| f64::from(x)).sum::<f64>();
                let mut found: Vec<f32> = (0..1000).map(|i| prefix(i) as f32).collect();
                let deviation = compare_sums(kernel, kind, |i| x[i], &found);
                assert!(deviation.wrong.is_none() && deviation.of_bound < 0.2, "{deviation:?}");
                let magnitude: f64 = x[..701 - kind.shift()].iter().map(|&x| f64::from(x.abs())).sum();
                let bound = sum_depth(kernel, 700, 1000, 4) * f64::from(f32::EPSILON) * magnitude;
                found[700] = (prefix(700) + 1.1 * bound) as f32;
                assert_eq!(compare_sums(kernel, kind, |i| x[i], &found).wrong.unwrap().index, 700);
                found[700] = (prefix(700) - 0.9 * bound) as f32;
                assert!(compare_sums(kernel, kind, |i| x[i], &found).wrong.is_none());
                found[3] = f32::NAN;
                assert_eq!(compare_sums(kernel, kind, |i| x[i], &found).wrong.unwrap().index, 3);
            }
        }
    }
}
