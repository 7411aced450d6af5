//! The reference of histogram, computed on the CPU with one division per key.

use gpu::histogram::Key;

use gridstride::histogram::Bins;

/// Returns the number of `keys` in each of `bins`. Keys outside all bins are not counted.
pub fn histogram<K: Key>(keys: &[K], bins: Bins) -> Vec<u32> {
    let mut counts = vec![0; bins.count() as usize];
    for &key in keys {
        if let Some(bin) = bins.of(key.value()) {
            counts[bin] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_counted_where_they_belong() {
        let bins = Bins::even(3, 10, 16).unwrap();
        assert_eq!(histogram::<u8>(&[9, 10, 11, 12, 13, 14, 15, 15, 16, 255], bins), [2, 2, 3]);
        assert_eq!(histogram::<u32>(&[], bins), [0, 0, 0]);
        let all = Bins::even(2, 0, 1 << 32).unwrap();
        assert_eq!(histogram(&[0, (1 << 31) - 1, 1 << 31, u32::MAX], all), [2, 2]);
    }
}
