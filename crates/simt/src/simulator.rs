//! The simulator: its settings and its launches.

mod initialised;
mod running;
mod weak;

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use self::running::Ran;
use crate::allocation::{Allocation, OutOfMemory};
use crate::block::{Block, Entry};
use crate::check::Checks;
use crate::choices::ChoiceLog;
use crate::current::is_simulated;
use crate::director::{Director, Trace};
use crate::endless::default_limit;
use crate::faults::older::OlderValues;
use crate::faults::{Fault, FaultKind};
use crate::geometry::{Dim3, KernelInfo, LaunchConfig};
use crate::grid::Grid;
use crate::last_writes::LastWrites;
use crate::launch_log::{LaunchLog, LaunchStats, LoggedLaunch};
use crate::limits::{max_cooperative_threads, validate};
use crate::memory_map::MemoryMap;
use crate::output::Output;
use crate::panic;
use crate::profile::Profiles;
use crate::raw::escaped_calls::Escaped;
use crate::raw::notes::{NoteKind, Notes};
use crate::region::Region;
use crate::reporter::{Reported, Reporter};
use crate::schedule::Schedule;
use crate::statics::{DeviceStatic, Statics};
use crate::synchronisations::Synchronisations;
use crate::threads::Threads;
use crate::unspecified::{OwnValues, Snapshot, Unspecified};
use crate::worker::stacks::STACKS;
use crate::worker::trap;

/// A simulator, which runs kernels on the CPU.
///
/// A clone shares the worker threads of the original simulator. The first launch that needs these threads starts them.
/// Several host threads may use one simulator at once.
#[derive(Clone)]
pub struct Simulator {
    schedule: Schedule,
    workers: usize,
    multiprocessors: Option<u32>,
    output: Output,
    checks: Option<Checks>,
    profiles: Option<Profiles>,
    /// The thread whose warp's steps profiles record, by its block and its index there; `None` for the first warp.
    drawn: Option<(Dim3, Dim3)>,
    last_writes: Option<LastWrites>,
    synchronisations: Option<Synchronisations>,
    log: Option<LaunchLog>,
    trace: Option<Trace>,
    /// The choices of a schedule that gives them.
    choices: Option<ChoiceLog>,
    older: Arc<Mutex<OlderValues>>,
    notes: Option<Notes>,
    reporter: Option<Reporter>,
    memory: MemoryMap,
    statics: Statics,
    /// The time after which a loop counts as endless, or `None` for the default.
    loop_limit: Option<Duration>,
    /// The worker pool: all workers except the launching thread. `None` if the OS could not start the threads.
    pool: Arc<OnceLock<Option<ThreadPool>>>,
}

impl Default for Simulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Simulator {
    /// Makes a simulator with one worker per core, the natural order, and output to standard output.
    pub fn new() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            schedule: Schedule::Natural,
            workers,
            multiprocessors: None,
            output: Output::default(),
            checks: None,
            profiles: None,
            last_writes: None,
            drawn: None,
            synchronisations: None,
            log: None,
            trace: None,
            choices: None,
            older: Arc::default(),
            notes: None,
            reporter: None,
            memory: MemoryMap::default(),
            statics: Statics::default(),
            loop_limit: None,
            pool: Arc::default(),
        }
    }

    /// Sets the order of blocks, warps and lanes: natural for seed 0, otherwise pseudo-random.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        self.with_schedule(if seed == 0 { Schedule::Natural } else { Schedule::Random(seed) })
    }

    /// Records the atomic accesses of launches in `trace`. Only checked launches, and launches under schedules in which
    /// threads yield, observe these accesses.
    pub(crate) fn with_trace(self, trace: Trace) -> Self {
        Self { trace: Some(trace), ..self }
    }

    /// Distributes the blocks of a launch over `workers` OS threads, including the launching thread.
    #[must_use]
    pub fn with_workers(self, workers: NonZeroUsize) -> Self {
        Self { workers: workers.get(), pool: Arc::default(), ..self }
    }

    /// Makes the simulator check launches for data races and reads of uninitialised memory. Checked launches run on the
    /// OS thread that launches them.
    ///
    /// Uninitialised reads are reported only for memory that this simulator or a clone of it has
    /// [allocated](Self::allocate).
    #[must_use]
    pub fn with_checks(self, checks: Checks) -> Self {
        Self { checks: Some(checks), memory: MemoryMap::default(), statics: Statics::default(), ..self }
    }

    /// Returns the number of multiprocessors of the simulated device. The default is the number of workers.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors.unwrap_or(u32::try_from(self.workers).unwrap_or(u32::MAX))
    }

    /// Returns the maximum number of threads of a cooperative launch.
    pub fn max_cooperative_threads(&self) -> usize {
        max_cooperative_threads()
    }

    /// Returns the options of the checker, or `None` if the simulator does not check launches.
    pub fn checks(&self) -> Option<Checks> {
        self.checks
    }

    /// Allocates `bytes` bytes of global memory, as [`Allocation::new`] does. A simulator with checks tracks which of
    /// these bytes are initialised.
    ///
    /// # Errors
    /// The errors of [`Allocation::new`].
    pub fn allocate(&self, bytes: usize) -> Result<Allocation, OutOfMemory> {
        match self.checks {
            Some(_) => Allocation::tracked(bytes, &self.memory),
            None => Allocation::new(bytes),
        }
    }

    /// Makes the simulator use separate memory for the static variables of kernel crates, with their initial values.
    /// Without this, a clone shares this memory with the original.
    #[must_use]
    pub fn with_own_statics(self) -> Self {
        Self { statics: Statics::default(), ..self }
    }

    /// Returns the address of the memory of the static variable `of`. The host and the kernels use the same address.
    ///
    /// # Errors
    /// The errors of [`allocate`](Self::allocate), because the first call for a static variable allocates its memory.
    pub fn static_address(&self, of: &'static DeviceStatic) -> Result<*mut u8, OutOfMemory> {
        self.statics.address(of, self.checks.map(|_| &self.memory))
    }

    /// Returns the number of OS threads that run blocks. A launch may use fewer OS threads if there are not enough
    /// stacks for large blocks.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Returns the schedule: the order in which blocks, warps and lanes run.
    pub fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// Returns the seed of the schedule, or 0 if it has none.
    pub fn seed(&self) -> u64 {
        self.schedule.seed()
    }

    /// Launches the kernel `kernel`: runs `body` once for each thread of `config`, and waits for all threads.
    ///
    /// In `body`, the functions of [`thread`](crate::thread) return the thread's index. Each simulated thread has 128
    /// KiB of stack.
    ///
    /// # Errors
    /// The fault of the first faulting block in the order of the schedule. After a fault, waiting threads are unwound,
    /// and threads that have not started do not run. If `config` is invalid or the launch comes from inside a kernel,
    /// the error is returned before any thread runs.
    pub fn launch<F: Fn() + Sync>(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        body: F,
    ) -> Result<LaunchStats, Fault> {
        self.launch_on(kernel, config, &[], body)
    }

    /// Launches a kernel like [`launch`](Self::launch), with `regions` as the arrays that are passed to the kernel.
    /// Reports use the names of the regions, and checks treat memory that is in no writable region as read-only. If
    /// `regions` is empty, reports name no arrays and all memory counts as writable.
    ///
    /// # Errors
    /// The errors of [`launch`](Self::launch).
    pub fn launch_on<F: Fn() + Sync>(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        regions: &[Region],
        body: F,
    ) -> Result<LaunchStats, Fault> {
        // The body is passed by pointer, so that the code that runs threads is compiled only once, here.
        let body: &(dyn Fn() + Sync) = &body;
        self.launch_threads(kernel, config, regions, |threads| threads.run(body))
    }

    /// Launches a kernel like [`launch_on`](Self::launch_on), for a body that another crate compiles. `run` must call
    /// [`Threads::run`] once with the body, so that the compiler can inline the body into the loop over threads.
    #[doc(hidden)]
    pub fn launch_threads(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        regions: &[Region],
        run: impl Fn(Threads<'_>) + Sync,
    ) -> Result<LaunchStats, Fault> {
        self.launch_entry(kernel, config, regions, &|block: &Block| run(Threads::new(block)))
    }

    fn launch_entry(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        regions: &[Region],
        entry: &Entry<'_>,
    ) -> Result<LaunchStats, Fault> {
        let config = config.for_kernel(kernel);
        let fault = |kind| Fault { kernel: kernel.name, block: None, thread: None, location: None, kind, older: None };
        if is_simulated() {
            let reason = "launched from inside a kernel: launch it from the host";
            return Err(fault(FaultKind::InvalidLaunch(reason.to_owned())));
        }
        validate(kernel, &config).map_err(fault)?;
        let limit = self.loop_limit.map_or_else(default_limit, Ok);
        let loop_limit = limit.map_err(|reason| fault(FaultKind::InvalidLaunch(reason)))?;
        panic::install_hook(is_simulated);
        trap::install();

        let begun = Instant::now();
        let blocks = config.grid.count() as u64;
        let schedule = if self.profiles.is_some() { Schedule::Natural } else { self.schedule };
        // A thread can yield only before an access that the simulator observes.
        let is_watched = self.checks.is_some() || self.profiles.is_some() || schedule.is_preemptive();
        let pool = if blocks > 1 && !is_watched && !config.is_cooperative && !config.has_clusters() {
            self.pool()
        } else {
            None
        };
        let workers = pool.map_or(1, |pool| pool.current_num_threads() + 1);
        let workers = workers.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        // All threads of the running blocks may wait at once. Half of all stacks are left to stalled blocks, other
        // launches, and the workers' caches.
        let workers = workers.min(STACKS.half() / config.block.count() as usize).max(1);
        // If there are no regions, nothing is known about the memory.
        let statics = if regions.is_empty() { Vec::new() } else { self.statics.regions() };
        let joined;
        let regions = if statics.is_empty() {
            regions
        } else {
            joined = [regions, &statics].concat();
            &joined
        };
        // The choices of a schedule that gives them continue from launch to launch, so that no launch is repeated.
        let snapshot = self.checks.filter(|_| self.choices.is_none()).and_then(|_| Snapshot::new(regions));
        let make_grid = |output, trace, own| {
            let mut grid = Grid::new(kernel, config, schedule, output, workers);
            grid.loop_limit = loop_limit;
            grid.unspecified = Unspecified::new(schedule, own);
            grid.regions = regions;
            grid.statics = Some((&self.statics, self.checks.map(|_| &self.memory)));
            grid.escaped = self.checks.map(|_| Escaped::new(self.memory.clone()));
            grid.synchronisations = self.synchronisations.as_ref();
            grid.last_writes = self.last_writes.as_ref();
            grid.director = Director::new(schedule, trace);
            grid
        };
        let run = |grid: &Grid<'_>, checks| self.run(grid, entry, pool.filter(|_| workers > 1), (is_watched, checks));
        let mut grid = make_grid(&self.output, self.trace.as_ref(), OwnValues::Never);
        let Ran { done, profile, older } = run(&grid, self.checks);
        if self.choices.as_ref().is_some_and(ChoiceLog::is_discarded) {
            let reason = "a load has read a store that was not executed later, or not as the memory model allows";
            return Err(fault(FaultKind::SimulatorLimit(reason.to_owned())));
        }
        let snapshot = snapshot.filter(|_| !grid.is_unrepeatable.load(Ordering::Relaxed));
        if let (Some(snapshot), Some(checks)) = (&snapshot, self.checks)
            && schedule == Schedule::Natural
            && checks.barriers_pass_fences
            && grid.uses_other_fence.load(Ordering::Relaxed)
            && !grid.has_fault()
            && running::may_repeat(kernel)
        {
            let formal = Checks { barriers_pass_fences: false, ..checks };
            let again = make_grid(&Output::Nothing, None, OwnValues::Never);
            snapshot.repeat(|| run(&again, Some(formal)));
            if let (Some(Fault { kind: FaultKind::Race(race), .. }), _) = again.into_fault() {
                grid.warn_at(race.here.location.clone(), NoteKind::FenceOfOther(race));
            }
        }
        if grid.has_printed() {
            self.output.flush();
        }
        for note in grid.take_notes() {
            self.report(Reported::Note(&note));
            match &self.notes {
                Some(notes) => notes.push(note),
                // Such a note is about the check and not about the kernel, and each launch would print it.
                None if matches!(note.kind, NoteKind::WeakMemoryInPart(_)) => {}
                None => eprintln!("{note}"),
            }
        }
        let (mut fault, sightings) = grid.into_fault();
        let repeat = |own| {
            let grid = make_grid(&Output::Nothing, None, own);
            run(&grid, self.checks);
            grid.into_fault().0
        };
        let snapshot = snapshot.filter(|_| !sightings.is_empty());
        let found = snapshot.and_then(|snapshot| snapshot.find_dependence(fault.as_ref(), &sightings, repeat));
        if let Some(fault) = &mut fault {
            fault.older = older.reason_of(fault).cloned().map(Box::new);
        }
        self.older.lock().unwrap_or_else(PoisonError::into_inner).append(older);
        match found.map(|found| found.into_fault(kernel.name)).or(fault) {
            Some(fault) => {
                self.report(Reported::Fault(&fault));
                Err(fault)
            }
            None => {
                if let (Some(profile), Some(profiles)) = (profile, &self.profiles) {
                    profiles.push(profile);
                }
                let stats = LaunchStats {
                    threads: done.blocks * config.block.count() as u64,
                    blocks: done.blocks,
                    barriers: done.barriers,
                    warp_operations: done.operations,
                };
                if let Some(log) = &self.log {
                    log.push(LoggedLaunch { kernel, config, stats, duration: begun.elapsed() });
                }
                Ok(stats)
            }
        }
    }

    fn report(&self, reported: Reported<'_>) {
        if let Some(reporter) = self.reporter {
            reporter(reported);
        }
    }
}

setters! { Simulator []
    /// Sets the time after which a loop without a memory access counts as endless. The default is 10 seconds, or the
    /// value of the environment variable `GRIDSTRIDE_LOOP_SECONDS`.
    fn with_loop_limit(limit: Duration) => loop_limit = Some(limit);
    /// Records every barrier and fence that launches reach in `synchronisations`. If that value names one to leave out,
    /// launches skip it.
    fn with_synchronisations(synchronisations: Synchronisations) => synchronisations = Some(synchronisations);
    /// Records each launch that ends without a fault in `log`.
    fn with_log(log: LaunchLog) => log = Some(log);
    /// Collects the notes of launches in `notes` instead of printing them.
    fn with_notes(notes: Notes) => notes = Some(notes);
    /// Calls `reporter` with each fault and note of the launches.
    fn with_reporter(reporter: Reporter) => reporter = Some(reporter);
    /// Writes the messages that kernels print to `sink`.
    fn with_output(sink: Arc<Mutex<dyn Write + Send>>) => output = Output::Sink(sink);
    /// Sets the number of multiprocessors of the simulated device, by which the host plans launches. The speed of the
    /// simulation does not depend on this number.
    fn with_multiprocessors(multiprocessors: u32) => multiprocessors = Some(multiprocessors);
}
