//! The reference of segments, computed on the CPU in one loop.

use std::ops::Range;

use gpu::accumulate::Indexed;
use gpu::operator::Operator;
use gridstride::scan::ScanKind;

/// Returns the range of each segment.
pub fn ranges(offsets: &[usize]) -> impl Iterator<Item = Range<usize>> + '_ {
    offsets.windows(2).map(|bounds| bounds[0]..bounds[1])
}

/// Returns the combination of the elements of each segment, or the identity for a segment without elements.
pub fn reduced<T: Copy, O: Operator<T>>(x: &[T], offsets: &[usize]) -> Vec<T> {
    ranges(offsets).map(|range| x[range].iter().copied().reduce(O::combine).unwrap_or(O::IDENTITY)).collect()
}

/// Returns the scan of each segment. Elements in no segment become the identity.
pub fn scanned<T: Copy, O: Operator<T>>(kind: ScanKind, x: &[T], offsets: &[usize]) -> Vec<T> {
    let mut y = vec![O::IDENTITY; x.len()];
    for range in ranges(offsets) {
        let mut before = None;
        for i in range {
            let through = before.map_or(x[i], |before| O::combine(before, x[i]));
            y[i] = if kind == ScanKind::Inclusive { through } else { before.unwrap_or(O::IDENTITY) };
            before = Some(through);
        }
    }
    y
}

/// Returns the first position in each segment, and the element, for which `is_better(element, other)` is true for no
/// other element. Elements that do not equal themselves are skipped.
pub fn positions<T: Copy + PartialEq + Default>(
    x: &[T],
    offsets: &[usize],
    is_better: impl Fn(T, T) -> bool,
) -> Vec<Indexed<T>> {
    let position = |range: Range<usize>| {
        let mut best: Option<Indexed<T>> = None;
        for (index, &value) in x[range].iter().enumerate() {
            // NaN does not equal itself.
            if value.eq(&value) && best.is_none_or(|best| is_better(value, best.value)) {
                best = Some(Indexed { index: index as u64, value });
            }
        }
        best.unwrap_or(Indexed { index: Indexed::<T>::NONE, value: T::default() })
    };
    ranges(offsets).map(position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu::operator::Sum;

    #[test]
    fn segments_are_combined() {
        let (x, offsets) = ([1, 2, 4, 8, 16_u32], [1, 3, 3, 4]);
        assert_eq!(reduced::<_, Sum>(&x, &offsets), [6, 0, 8]);
        assert_eq!(scanned::<_, Sum>(ScanKind::Inclusive, &x, &offsets), [0, 2, 6, 8, 0]);
        assert_eq!(scanned::<_, Sum>(ScanKind::Exclusive, &x, &offsets), [0, 0, 2, 0, 0]);
        let found = positions(&[2.0, f32::NAN, 7.0, 7.0], &[0, 2, 2, 4], |a, b| a > b);
        assert_eq!(found.iter().map(|found| found.index).collect::<Vec<_>>(), [0, u64::MAX, 0]);
    }
}
