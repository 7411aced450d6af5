//! Runs work in parallel on all cores.

use anyhow::Result;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

/// Applies `work` to each item on all cores and returns the results in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync + Send) -> Vec<Result<R>> {
    items.par_iter().with_max_len(1).map(work).collect()
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn work_in_parallel_keeps_its_order() {
        let items: Vec<u32> = (0..100).collect();
        let results = map(&items, |item| if *item == 7 { bail!("seven") } else { Ok(item * 2) });
        for (item, result) in items.iter().zip(results) {
            match result {
                Ok(double) => assert_eq!(double, item * 2),
                Err(error) => assert!(*item == 7 && error.to_string() == "seven"),
            }
        }
        assert!(map(&[] as &[u32], |_| Ok(())).is_empty());
    }
}
