//! Runs a grid with the watcher that the simulator's settings select.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Simulator;
use crate::block::Entry;
use crate::check::{Checker, Checks};
use crate::faults::older::OlderValues;
use crate::geometry::{Dim3, KernelInfo};
use crate::grid::Grid;
use crate::last_writes::LastWrites;
use crate::profile::{Profile, Profiler, Profiles};
use crate::raw::guard::guarded;
use crate::raw::notes::NoteKind;
use crate::watch::{EventMask, Watcher, begin_watching};
use crate::worker::pool::work_together;
use crate::worker::{Done, work};

/// The maximum number of launches of a kernel that are repeated to find fences of other threads.
const MAX_REPEATS: u32 = 16;

/// Returns true for the first calls with `kernel`. Each such launch is repeated, which takes as long as the launch.
pub(super) fn may_repeat(kernel: &'static KernelInfo) -> bool {
    static REPEATS: Mutex<BTreeMap<usize, u32>> = Mutex::new(BTreeMap::new());
    let mut repeats = REPEATS.lock().unwrap_or_else(PoisonError::into_inner);
    let repeats = repeats.entry(std::ptr::from_ref(kernel).addr()).or_default();
    *repeats += 1;
    *repeats <= MAX_REPEATS
}

/// The result of running a launch.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) done: Done,
    pub(super) profile: Option<Profile>,
    pub(super) older: OlderValues,
}

impl Simulator {
    /// Runs `grid` on the calling OS thread, and on those of `pool` if there is one.
    pub(super) fn run(
        &self,
        grid: &Grid<'_>,
        entry: &Entry<'_>,
        pool: Option<&ThreadPool>,
        (is_watched, checks): (bool, Option<Checks>),
    ) -> Ran {
        let run = || match pool {
            Some(pool) => Ran { done: work_together(pool, grid, entry, grid.workers() - 1), ..Ran::default() },
            None => {
                let mask = match checks {
                    _ if self.profiles.is_some() => EventMask::Everything,
                    Some(_) if grid.schedule.has_weak_memory() => EventMask::WeakMemory,
                    _ => EventMask::NoBranches,
                };
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
    fn work_watched(&self, grid: &Grid<'_>, entry: &Entry<'_>, checks: Option<Checks>) -> Ran {
        if self.profiles.is_some() {
            let profiler = Profiler::new(grid, self.drawn);
            let done = work(grid, entry, Some(&profiler), 0);
            return Ran { done, profile: Some(profiler.into_profile()), ..Ran::default() };
        }
        let checker = checks.map(|checks| Checker::new(checks, grid, self.memory.clone(), self.choices.as_ref()));
        let run = || work(grid, entry, checker.as_ref().map(|checker| checker as &dyn Watcher), 0);
        let done = if checker.is_some() { guarded(grid, run) } else { run() };
        if let Some(checker) = &checker {
            grid.uses_other_fence.store(checker.uses_other_fence(), Ordering::Relaxed);
            grid.is_unrepeatable.store(checker.is_unrepeatable(), Ordering::Relaxed);
            checker.end();
            if let Some((limit, at)) = checker.history_limit() {
                grid.warn(Some(at), NoteKind::WeakMemoryInPart(limit));
            }
        }
        Ran { done, profile: None, older: checker.map_or_else(OlderValues::default, Checker::into_older) }
    }

    /// Returns the worker pool: all workers except the launching thread. Returns `None` if there are no such workers.
    pub(super) fn pool(&self) -> Option<&ThreadPool> {
        let build = || {
            let others = self.workers - 1;
            let name = |worker| format!("simt worker {}", worker + 1);
            // If the threads cannot be started, the launching thread does all the work.
            ThreadPoolBuilder::new().num_threads(others).thread_name(name).build().ok()
        };
        if self.workers > 1 { self.pool.get_or_init(build).as_ref() } else { None }
    }
}

setters! { Simulator []
    /// Counts the memory requests, sectors and bank conflicts that launches would cause on a GPU, and adds a profile of
    /// each launch to `profiles`. Launches run on the OS thread that launches them, in the natural order, and are not
    /// checked for races.
    fn with_profiles(profiles: Profiles) => profiles = Some(profiles);
    /// Chooses the warp whose steps profiles record: that of `thread`, which is the index of a block and the index of a
    /// thread in it. Otherwise profiles record the first warp.
    fn with_steps_of(thread: (Dim3, Dim3)) => drawn = Some(thread);
    /// Records in `writes` the last write to each address of global memory.
    fn with_last_writes(writes: LastWrites) => last_writes = Some(writes);
}
