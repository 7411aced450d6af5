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
/// The number of mappings that the budget leaves to the rest of the process.
const OTHER_MAPPINGS: usize = 8192;

/// The budget of stacks of this process.
pub(crate) static STACKS: LazyLock<Stacks> = LazyLock::new(|| Stacks::new(budget()));

/// Returns the number of stacks that the process may have. Linux limits the mappings of a process, and a stack with its
/// guard page takes two mappings. Other parts of the process would fail at the limit, so the simulator stays below it.
fn budget() -> usize {
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
    let limit = limit.and_then(|text| text.trim().parse::<usize>().ok());
    limit.map_or(DEFAULT_BUDGET, |limit| (limit.saturating_sub(OTHER_MAPPINGS) / 2).clamp(2048, MAX_BUDGET))
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
