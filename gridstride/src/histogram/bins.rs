//! The bins of a histogram, as the caller describes them on the host.

use gpu::histogram::EvenBins;

use super::bins_error::BinsError;
use crate::error::AlgorithmError;

/// Bins of equal width over the keys `lower..upper`. Key *k* is in bin ⌊(*k* − lower)·count / (upper − lower)⌋, where
/// count is the number of bins. A key outside the range is in no bin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bins {
    count: u32,
    lower: u32,
    upper: u64,
    even: EvenBins,
}

impl Bins {
    /// Returns `count` bins of equal width over `lower..upper`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Bins`] if `count` is 0 or above 65536, the range is empty, or `upper` is above 2³².
    pub fn even(count: u32, lower: u32, upper: u64) -> Result<Self, AlgorithmError> {
        match EvenBins::new(count, lower, upper) {
            Some(even) => Ok(Self { count, lower, upper, even }),
            None => Err(AlgorithmError::from(BinsError(format!(
                "a histogram cannot have {count} bins over {lower}..{upper}: use 1 to 65536 bins over a range that is \
                 not empty and ends at 4294967296 or below"
            )))),
        }
    }

    /// Returns the number of bins.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns the bin of `key`, or `None` if the key is in no bin. The method divides as in the definition of
    /// [`Bins`].
    pub fn of(self, key: u32) -> Option<usize> {
        let (key, lower) = (u64::from(key), u64::from(self.lower));
        let is_inside = lower <= key && key < self.upper;
        is_inside.then(|| ((key - lower) * u64::from(self.count) / (self.upper - lower)) as usize)
    }

    /// Returns the bins as an [`EvenBins`], the argument type of the kernels.
    pub fn even_bins(self) -> EvenBins {
        self.even
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the multiplication in the kernels gives the same bin as the division in [`Bins::of`]. The test uses
    /// the keys at the borders of each bin, where errors are likeliest, and some keys in between.
    #[test]
    fn kernels_find_the_bins_that_the_division_defines() {
        const ALL: u64 = 1 << 32;
        let mut key = 0x9e37_79b9_u32;
        for (lower, upper) in [
            (0, ALL),
            (0, ALL - 1),
            (1, ALL),
            (0, 1),
            (77, 78),
            (10, 12),
            (0, 256),
            (0, 65536),
            (5, 65540),
            (3, (1 << 31) + 3),
            (3, (1 << 31) + 4),
            (3, (1 << 31) + 2),
            (1000, 4_000_000_007),
            (u32::MAX, ALL),
            (u32::MAX - 99_991, ALL),
        ] {
            for count in [1, 2, 3, 7, 255, 256, 257, 1000, 8192, 58_113, 65_521, 65_535, 65_536] {
                let bins = Bins::even(count, lower, upper).unwrap();
                let check = |key: u32| {
                    let found = bins.even_bins().of(key).map(|bin| bin as usize);
                    assert_eq!(found, bins.of(key), "key {key}, {count} bins over {lower}..{upper}");
                };
                for bin in 0..=u64::from(count) {
                    // Checks the first key of the bin and its neighbours.
                    let border = u64::from(lower) + (bin * (upper - u64::from(lower))).div_ceil(u64::from(count));
                    for key in border.saturating_sub(2)..border + 2 {
                        check(key as u32);
                    }
                }
                for _ in 0..1000 {
                    key = key.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
                    check(key);
                    check(lower.wrapping_add(key % 1024));
                }
            }
        }
    }

    #[test]
    fn impossible_bins_are_refused() {
        for (count, lower, upper) in [(0, 0, 256), (65_537, 0, 256), (256, 9, 9), (256, 9, 8), (256, 0, (1 << 32) + 1)]
        {
            let message = Bins::even(count, lower, upper).unwrap_err().to_string();
            assert!(message.contains(&format!("{count} bins over {lower}..{upper}")), "{message}");
        }
    }
}
