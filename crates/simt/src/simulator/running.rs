//! Runs a grid with the watcher that the simulator's settings select.

use std::sync::atomic::Ordering;

use rayon::ThreadPool;

use super::Simulator;
use crate::block::Entry;
use crate::check::{Checker, Checks};
use crate::grid::Grid;
use crate::profile::{Profile, Profiler};
use crate::raw::guard::guarded;
use crate::watch::{EventMask, Watcher, begin_watching};
use crate::worker::pool::work_together;
use crate::worker::{Done, work};

impl Simulator {
    /// Runs `grid` on the calling OS thread, and on those of `pool` if there is one.
    pub(super) fn run(
        &self,
        grid: &Grid<'_>,
        entry: &Entry<'_>,
        pool: Option<&ThreadPool>,
        (is_watched, checks): (bool, Option<Checks>),
    ) -> (Done, Option<Profile>) {
        let run = || match pool {
            Some(pool) => (work_together(pool, grid, entry, grid.workers() - 1), None),
            None => {
                let mask = if self.profiles.is_some() { EventMask::Everything } else { EventMask::NoBranches };
                let _watching = is_watched.then(|| begin_watching(mask));
                self.work_watched(grid, entry, checks)
            }
        };
        if std::thread::panicking() {
            // A destructor launches during a panic. Simulated threads cannot wait on an OS thread that unwinds.
            std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        } else {
            run()
        }
    }

    /// Runs `grid` on the calling OS thread, with the watcher that the simulator's settings select.
    fn work_watched(&self, grid: &Grid<'_>, entry: &Entry<'_>, checks: Option<Checks>) -> (Done, Option<Profile>) {
        if self.profiles.is_some() {
            let profiler = Profiler::new(grid);
            let done = work(grid, entry, Some(&profiler), 0);
            return (done, Some(profiler.into_profile()));
        }
        let checker = checks.map(|checks| Checker::new(checks, grid, self.memory.clone()));
        let run = || work(grid, entry, checker.as_ref().map(|checker| checker as &dyn Watcher), 0);
        let done = if checker.is_some() { guarded(grid, run) } else { run() };
        if let Some(checker) = &checker {
            grid.uses_other_fence.store(checker.uses_other_fence(), Ordering::Relaxed);
            grid.is_unrepeatable.store(checker.is_unrepeatable(), Ordering::Relaxed);
        }
        (done, None)
    }
}
