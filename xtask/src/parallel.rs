//! Work on all cores.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

/// The results of `work` for each item, in order, with a worker per core.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Vec<Result<R>> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let workers = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(items.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((item, slot)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    items.get(at).zip(results.get(at))
                } {
                    let result = work(item);
                    *slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
                }
            });
        }
    });
    let result = |slot: Mutex<Option<Result<R>>>| {
        slot.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).context("a worker ended early").flatten()
    };
    results.into_iter().map(result).collect()
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
