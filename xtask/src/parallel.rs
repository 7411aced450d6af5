//! Work on all cores.

use anyhow::Result;
use rayon::iter::{ParallelBridge, ParallelIterator};

/// The results of `work` for each item, in order, with a worker per core. Work begins in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Vec<Result<R>> {
    let results = items.iter().enumerate().par_bridge().map(|(at, item)| (at, work(item)));
    let mut results: Vec<(usize, Result<R>)> = results.collect();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
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
