//! The size of the stacks of simulated threads, and the number of stacks that a process may use.
//!
//! # Design
//!
//! The system limits the memory mappings of a process, and each stack takes two mappings. Helper threads may take
//! stacks only until three quarters of the budget are in use. A helper takes its stacks before it joins a launch, and
//! does not join if it gets none. The last quarter is for OS threads that launch. Simultaneous launches therefore never
//! fail because helpers have taken all stacks.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The stack size of a simulated thread in bytes.
pub(crate) const STACK_BYTES: usize = 128 * 1024;

/// The budget of stacks if the system's limit of mappings is unknown.
const DEFAULT_BUDGET: usize = 28_000;
/// The maximum budget of stacks. Each stack takes about 8 KiB of memory after a thread has run on it.
const MAX_BUDGET: usize = 1 << 16;
/// The minimum budget of stacks if the address space is limited.
const LEAST_BUDGET: usize = 64;
/// The number of bytes of a limited address space that stacks leave to the rest of the process: to what the checker
/// records, and to reports.
const RESERVE: usize = 48 << 20;
/// The size of a page of memory in bytes, on the systems that limit the address space.
const PAGE: usize = 4096;
/// The number of mappings that the budget leaves to the rest of the process.
const OTHER_MAPPINGS: usize = 8192;

/// The budget of stacks of this process.
pub(crate) static STACKS: LazyLock<Stacks> = LazyLock::new(|| Stacks::new(budget()));

/// Returns the number of stacks that the process may have. Linux limits the mappings of a process, and a stack with its
/// guard page takes two mappings. Other parts of the process would fail at the limit, so the simulator stays below it.
/// If the address space of the process is limited, stacks take at most half of what is left of it beyond a reserve.
fn budget() -> usize {
    let read = |path| std::fs::read_to_string(path).ok();
    let limit = read("/proc/sys/vm/max_map_count").and_then(|text| text.trim().parse::<usize>().ok());
    let budget =
        limit.map_or(DEFAULT_BUDGET, |limit| (limit.saturating_sub(OTHER_MAPPINGS) / 2).clamp(2048, MAX_BUDGET));
    let left =
        read("/proc/self/limits").zip(read("/proc/self/statm")).and_then(|(limits, usage)| left(&limits, &usage));
    let stacks = |left: usize| left.saturating_sub(RESERVE) / 2 / (STACK_BYTES + PAGE);
    left.map_or(budget, |left| stacks(left).clamp(LEAST_BUDGET, budget))
}

/// Returns the number of bytes that are left of the process's address space, or `None` if it is not limited. `limits`
/// and `usage` are the contents of `/proc/self/limits` and `/proc/self/statm`.
fn left(limits: &str, usage: &str) -> Option<usize> {
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: usize = limit.split_whitespace().next()?.parse().ok()?;
    let pages: usize = usage.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(pages.saturating_mul(PAGE)))
}

/// A budget of stacks, with the number of stacks taken from it.
///
/// A process may simulate many launches at once, each with helpers for every core. The last quarter of the budget is
/// reserved for the launching OS threads. If only this quarter is left, helpers do not start, and the launch continues
/// without them.
pub(crate) struct Stacks {
    budget: usize,
    /// The number of stacks that exist or are reserved for helpers.
    taken: AtomicUsize,
}

impl Stacks {
    const fn new(budget: usize) -> Self {
        Self { budget, taken: AtomicUsize::new(0) }
    }

    /// Returns half of the number of stacks in the budget.
    pub(crate) fn half(&self) -> usize {
        self.budget / 2
    }

    /// Returns three quarters of the budget. Helpers may take stacks only until this many are taken.
    fn for_helpers(&self) -> usize {
        self.budget / 4 * 3
    }

    /// Takes a stack from the budget. The caller must give it back.
    ///
    /// # Errors
    /// The number of stacks taken, if no stack is left.
    pub(crate) fn take(&self) -> Result<(), usize> {
        self.take_up_to(self.budget, 1)
    }

    /// Reserves `count` stacks for a helper, which the caller must give back. Returns false if the budget has not
    /// enough stacks left for helpers.
    pub(crate) fn promise(&self, count: usize) -> bool {
        self.take_up_to(self.for_helpers(), count).is_ok()
    }

    fn take_up_to(&self, max: usize, count: usize) -> Result<(), usize> {
        let take = |taken: usize| Some(taken + count).filter(|&taken| taken <= max);
        self.taken.try_update(Ordering::Relaxed, Ordering::Relaxed, take).map(drop)
    }

    pub(crate) fn give_back(&self, count: usize) {
        self.taken.fetch_sub(count, Ordering::Relaxed);
    }

    /// Returns the number of idle stacks that an OS thread may keep for the next launch. The number is `many` if at
    /// most half of the budget is taken, `few` if some stacks are left for helpers, and otherwise 0.
    pub(crate) fn keepable(&self, many: usize, few: usize) -> usize {
        match self.taken.load(Ordering::Relaxed) {
            taken if taken <= self.half() => many,
            taken if taken <= self.for_helpers() => few,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_stacks_are_taken_than_there_are() {
        let stacks = Stacks::new(3);
        assert_eq!([(); 4].map(|()| stacks.take()), [Ok(()), Ok(()), Ok(()), Err(3)]);
        stacks.give_back(1);
        assert_eq!([(); 2].map(|()| stacks.take()), [Ok(()), Err(3)]);
    }

    #[test]
    fn a_limited_address_space_leaves_some_bytes() {
        let limits =
            |soft| format!("Limit  Soft  Hard  Units\nMax address space  {soft}  unlimited  bytes\nMax locks 1 1 x");
        assert_eq!(left(&limits("1048576"), "100 50 3 0"), Some(1_048_576 - 409_600));
        assert_eq!(left(&limits("4096"), "100 50 3 0"), Some(0));
        assert_eq!(left(&limits("unlimited"), "100 50 3 0"), None);
        assert_eq!(left("", ""), None);
    }

    #[test]
    fn helpers_leave_a_quarter_to_launching_threads() {
        let stacks = Stacks::new(4096);
        assert!([(); 3].iter().all(|()| stacks.promise(1024)));
        assert!(!stacks.promise(1));
        assert!((0..1024).all(|_| stacks.take().is_ok()));
        assert_eq!(stacks.take(), Err(4096));
        // Stacks of launching threads are not available to helpers.
        stacks.give_back(1024);
        stacks.give_back(1024);
        assert!(stacks.promise(1023) && !stacks.promise(2) && stacks.promise(1));
    }

    #[test]
    fn the_fewer_stacks_are_left_the_fewer_are_kept() {
        let stacks = Stacks::new(8);
        let kept = [(); 8].map(|()| {
            stacks.take().unwrap();
            stacks.keepable(100, 10)
        });
        assert_eq!(kept, [100, 100, 100, 100, 10, 10, 0, 0]);
        stacks.give_back(4);
        assert_eq!(stacks.keepable(100, 10), 100);
    }
}
