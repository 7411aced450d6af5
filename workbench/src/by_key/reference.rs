//! The reference of by key, computed on the CPU in one loop.

use gpu::operator::Operator;

/// The results of an algorithm by key.
#[derive(Clone, PartialEq, Debug)]
pub struct ByKeyResults<K, T> {
    /// The inclusive scan of each run.
    pub inclusive: Vec<T>,
    /// The exclusive scan of each run.
    pub exclusive: Vec<T>,
    /// The keys of the runs.
    pub keys: Vec<K>,
    /// The combined values of each run.
    pub reduced: Vec<T>,
}

/// Returns the scans and the reduction of the `values` of each run of equal `keys`. The operator is only called with
/// values.
pub fn by_key<K: Copy + PartialEq, T: Copy, O: Operator<T>>(keys: &[K], values: &[T]) -> ByKeyResults<K, T> {
    let (mut inclusive, mut exclusive) = (Vec::new(), Vec::new());
    let (mut run_keys, mut reduced) = (Vec::new(), Vec::new());
    for (index, (&key, &value)) in keys.iter().zip(values).enumerate() {
        let begins = index == 0 || keys[index - 1] != key;
        let before = if begins { None } else { inclusive.last().copied() };
        if begins {
            run_keys.push(key);
            reduced.push(value);
        }
        let through = before.map_or(value, |before| O::combine(before, value));
        exclusive.push(before.unwrap_or(O::IDENTITY));
        inclusive.push(through);
        if let Some(last) = reduced.last_mut() {
            *last = through;
        }
    }
    ByKeyResults { inclusive, exclusive, keys: run_keys, reduced }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu::operator::Sum;

    #[test]
    fn runs_are_combined() {
        let found = by_key::<_, u32, Sum>(&[7, 7, 2, 7], &[1, 2, 4, 8]);
        assert_eq!((found.inclusive, found.exclusive), (vec![1, 3, 4, 8], vec![0, 1, 0, 0]));
        assert_eq!((found.keys, found.reduced), (vec![7, 2, 7], vec![3, 4, 8]));
    }
}
