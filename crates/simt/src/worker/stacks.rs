//! How many stacks a process has, and which threads may take more.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stacks that there may be where the system does not tell.
const DEFAULT_BUDGET: usize = 28_000;
/// The most stacks that there ever are: each takes some 8 KiB once a thread has run on it.
const MAX_BUDGET: usize = 1 << 16;
/// Mappings that are left to the rest of the process.
const OTHER_MAPPINGS: usize = 8192;

/// Those of this process.
pub(crate) static STACKS: LazyLock<Stacks> = LazyLock::new(|| Stacks::new(budget()));

/// How many stacks the process may have. Linux limits the mappings of a process, of which a stack is two, with its
/// guard page. Other parts of the process fail when there are none left, so the simulator stays away from the limit.
fn budget() -> usize {
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
    let limit = limit.and_then(|text| text.trim().parse::<usize>().ok());
    limit.map_or(DEFAULT_BUDGET, |limit| (limit.saturating_sub(OTHER_MAPPINGS) / 2).clamp(2048, MAX_BUDGET))
}

/// Counts stacks against a budget.
///
/// A process may simulate many launches at once, each with helpers for every core. The last quarter of all stacks is
/// for the OS threads that launch: helpers for whom there are no others stay away, and the launch goes on without them.
pub(crate) struct Stacks {
    budget: usize,
    /// Those there are, and those that helpers have been promised.
    taken: AtomicUsize,
}

impl Stacks {
    const fn new(budget: usize) -> Self {
        Self { budget, taken: AtomicUsize::new(0) }
    }

    /// Half of all.
    pub(crate) fn half(&self) -> usize {
        self.budget / 2
    }

    /// What helpers may have, together with everybody else.
    fn for_helpers(&self) -> usize {
        self.budget / 4 * 3
    }

    /// Takes a stack, which is to be given back.
    ///
    /// # Errors
    /// If all have been taken: their number.
    pub(crate) fn take(&self) -> Result<(), usize> {
        self.take_up_to(self.budget, 1)
    }

    /// Takes `count` stacks for a helper, which are to be given back. Gives whether there are so many for helpers.
    pub(crate) fn promise(&self, count: usize) -> bool {
        self.take_up_to(self.for_helpers(), count).is_ok()
    }

    fn take_up_to(&self, most: usize, count: usize) -> Result<(), usize> {
        let take = |taken: usize| Some(taken + count).filter(|&taken| taken <= most);
        self.taken.try_update(Ordering::Relaxed, Ordering::Relaxed, take).map(drop)
    }

    pub(crate) fn give_back(&self, count: usize) {
        self.taken.fetch_sub(count, Ordering::Relaxed);
    }

    /// How many of its idle stacks an OS thread may keep for the next launch: `many`, `few` if more than half of all
    /// are taken, or none if there are none left for helpers.
    pub(crate) fn kept(&self, many: usize, few: usize) -> usize {
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
    fn helpers_leave_a_quarter_to_those_who_launch() {
        let stacks = Stacks::new(4096);
        assert!([(); 3].iter().all(|()| stacks.promise(1024)));
        assert!(!stacks.promise(1));
        assert!((0..1024).all(|_| stacks.take().is_ok()));
        assert_eq!(stacks.take(), Err(4096));
        // What those who launch have taken, helpers cannot have either.
        stacks.give_back(1024);
        stacks.give_back(1024);
        assert!(stacks.promise(1023) && !stacks.promise(2) && stacks.promise(1));
    }

    #[test]
    fn the_fewer_stacks_are_left_the_fewer_are_kept() {
        let stacks = Stacks::new(8);
        let kept = [(); 8].map(|()| {
            stacks.take().unwrap();
            stacks.kept(100, 10)
        });
        assert_eq!(kept, [100, 100, 100, 100, 10, 10, 0, 0]);
        stacks.give_back(4);
        assert_eq!(stacks.kept(100, 10), 100);
    }
}
