//! The simulator: its settings, and launches.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::allocation::{Allocation, OutOfMemory};
use crate::block::{Block, Entry};
use crate::check::{Checker, Checks};
use crate::current::is_simulated;
use crate::director::{Director, Trace};
use crate::faults::{Fault, FaultKind};
use crate::geometry::{KernelInfo, LaunchConfig};
use crate::grid::Grid;
use crate::launch_log::{LaunchLog, LaunchStats, LoggedLaunch};
use crate::limits::{max_cooperative_threads, validate};
use crate::memory_map::MemoryMap;
use crate::output::Output;
use crate::panic;
use crate::profile::{Profile, Profiler, Profiles};
use crate::raw::escaped_calls::Escaped;
use crate::raw::guard::guarded;
use crate::raw::notes::Notes;
use crate::region::Region;
use crate::reporter::{Reported, Reporter};
use crate::schedule::Schedule;
use crate::statics::{DeviceStatic, Statics};
use crate::synchronisations::Synchronisations;
use crate::threads::Threads;
use crate::watch::{EventMask, Watcher, begin_watching};
use crate::worker::pool::work_together;
use crate::worker::stacks::STACKS;
use crate::worker::{Done, trap, work};

/// Runs kernels on the CPU.
///
/// A clone shares the worker threads of the original. The first launch that needs them starts them. Several threads
/// may use one simulator at once.
#[derive(Clone)]
pub struct Simulator {
    schedule: Schedule,
    workers: usize,
    multiprocessors: Option<u32>,
    output: Output,
    checks: Option<Checks>,
    profiles: Option<Profiles>,
    synchronisations: Option<Synchronisations>,
    log: Option<LaunchLog>,
    trace: Option<Trace>,
    notes: Option<Notes>,
    reporter: Option<Reporter>,
    memory: MemoryMap,
    statics: Statics,
    /// The worker pool: all workers but the launching thread. `None` if the threads could not be started.
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
            synchronisations: None,
            log: None,
            trace: None,
            notes: None,
            reporter: None,
            memory: MemoryMap::default(),
            statics: Statics::default(),
            pool: Arc::default(),
        }
    }

    /// Sets the order of blocks, warps and lanes: natural for seed 0, otherwise pseudo-random.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        self.with_schedule(if seed == 0 { Schedule::Natural } else { Schedule::Random(seed) })
    }

    /// Records the atomic accesses of launches in `trace`. They are only observed in checked launches, and under
    /// schedules in which threads yield.
    pub(crate) fn with_trace(self, trace: Trace) -> Self {
        Self { trace: Some(trace), ..self }
    }

    /// Distributes blocks over `workers` OS threads, including the one that launches.
    #[must_use]
    pub fn with_workers(self, workers: NonZeroUsize) -> Self {
        Self { workers: workers.get(), pool: Arc::default(), ..self }
    }

    /// Checks launches for data races and reads of uninitialised memory. They run on the OS thread that launches them.
    ///
    /// Only memory from [`allocate`](Self::allocate) of this simulator or a clone is checked for uninitialised reads.
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

    /// Returns the checks, if launches are checked.
    pub fn checks(&self) -> Option<Checks> {
        self.checks
    }

    /// Allocates `bytes` bytes of global memory, as [`Allocation::new`] does. A simulator with checks tracks its
    /// initialised bytes.
    ///
    /// # Errors
    /// As for [`Allocation::new`].
    pub fn allocate(&self, bytes: usize) -> Result<Allocation, OutOfMemory> {
        match self.checks {
            Some(_) => Allocation::tracked(bytes, &self.memory),
            None => Allocation::new(bytes),
        }
    }

    /// Gives the simulator its own memory for the statics of kernel crates, with their initial values. Clones share the
    /// memory of the original.
    #[must_use]
    pub fn with_own_statics(self) -> Self {
        Self { statics: Statics::default(), ..self }
    }

    /// Returns the address of a static's memory, for the host and for kernels.
    ///
    /// # Errors
    /// As for [`allocate`](Self::allocate), on the first call for a static.
    pub fn static_address(&self, of: &'static DeviceStatic) -> Result<*mut u8, OutOfMemory> {
        self.statics.address(of, self.checks.map(|_| &self.memory))
    }

    /// Notes that the host, or code that the simulator does not observe, writes `bytes` bytes at the address `start`.
    /// Writes by kernels are noted automatically. [`Allocation::note_written`] does the same for an allocation.
    pub fn note_written(&self, start: usize, bytes: usize) {
        for written in self.memory.overlapping(start, bytes) {
            written.set(start, bytes);
        }
    }

    /// Notes that the host has copied the `bytes` bytes at the address `from`, a whole allocation, to another at `to`.
    /// Bytes that are uninitialised in the source become uninitialised in the target.
    pub fn note_copied(&self, to: usize, from: usize, bytes: usize) {
        let sources = self.memory.overlapping(from, bytes);
        for written in self.memory.overlapping(to, bytes) {
            match &*sources {
                [source] => written.copy(source),
                // Memory that is not tracked counts as initialised.
                _ => written.set(to, bytes),
            }
        }
    }

    /// Returns true if all of the `bytes` bytes at the address `start` are initialised. Memory that the simulator does
    /// not track counts as initialised, and it only tracks memory if it checks launches.
    pub fn is_written(&self, start: usize, bytes: usize) -> bool {
        self.memory.overlapping(start, bytes).iter().all(|written| written.is_all_set(start, bytes))
    }

    /// Returns the number of OS threads that run blocks. A launch may use fewer if there are not enough stacks for
    /// large blocks.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Returns the order of blocks, warps and lanes.
    pub fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// Returns the seed of the order, or 0 if it has none.
    pub fn seed(&self) -> u64 {
        self.schedule.seed()
    }

    /// Runs `body` once for each thread of `config`, as the kernel `kernel`, and waits for all of them.
    ///
    /// In `body`, [`thread`](crate::thread) returns the thread's index. Each simulated thread has 128 KiB of stack.
    ///
    /// # Errors
    /// The fault of the first block, in the order of the schedule, that has one. The other threads are then abandoned:
    /// waiting threads are unwound, and threads that have not started do not run. An invalid `config`, and a launch
    /// from inside a kernel, are errors before anything runs.
    pub fn launch<F: Fn() + Sync>(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        body: F,
    ) -> Result<LaunchStats, Fault> {
        self.launch_on(kernel, config, &[], body)
    }

    /// Like [`launch`](Self::launch), with the memory that is passed to the launch. Reports use the names of `regions`,
    /// and checks treat memory in no writable region as read-only. If `regions` is empty, nothing is known about the
    /// memory.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
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

    /// Like [`launch_on`](Self::launch_on), for a kernel that is compiled elsewhere. `run` must call [`Threads::run`]
    /// once, so that the body is inlined into the loop over threads.
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
        let fault = |kind| Fault { kernel: kernel.name, block: None, thread: None, location: None, kind };
        if is_simulated() {
            let reason = "launched from inside a kernel: launch it from the host";
            return Err(fault(FaultKind::InvalidLaunch(reason.to_owned())));
        }
        validate(kernel, &config).map_err(fault)?;
        panic::install_hook(is_simulated);
        trap::install();

        let begun = Instant::now();
        let blocks = config.grid.count() as u64;
        let schedule = if self.profiles.is_some() { Schedule::Natural } else { self.schedule };
        // A thread can only yield before an access that is observed.
        let is_watched = self.checks.is_some() || self.profiles.is_some() || schedule.is_preemptive();
        let pool = if blocks > 1 && !is_watched && !config.is_cooperative { self.pool() } else { None };
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
        let mut grid = Grid::new(kernel, config, schedule, &self.output, workers);
        grid.regions = regions;
        grid.statics = Some((&self.statics, self.checks.map(|_| &self.memory)));
        grid.escaped = self.checks.map(|_| Escaped::new(self.memory.clone()));
        grid.synchronisations = self.synchronisations.as_ref();
        grid.director = Director::new(schedule, self.trace.as_ref());
        let run = || match pool {
            Some(pool) if workers > 1 => (work_together(pool, &grid, entry, workers - 1), None),
            _ => {
                let mask = if self.profiles.is_some() { EventMask::Everything } else { EventMask::NoBranches };
                let _watching = is_watched.then(|| begin_watching(mask));
                self.work_watched(&grid, entry)
            }
        };
        let (done, profile) = if std::thread::panicking() {
            // A launch from a destructor during a panic: simulated threads cannot wait on an OS thread that unwinds.
            std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        } else {
            run()
        };
        if grid.has_printed() {
            self.output.flush();
        }
        for note in grid.take_notes() {
            self.report(Reported::Note(&note));
            match &self.notes {
                Some(notes) => notes.push(note),
                None => eprintln!("{note}"),
            }
        }
        match grid.into_fault() {
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

    /// Runs `grid` on this OS thread, with the watcher that the settings select.
    fn work_watched(&self, grid: &Grid<'_>, entry: &Entry<'_>) -> (Done, Option<Profile>) {
        if self.profiles.is_some() {
            let profiler = Profiler::new(grid);
            let done = work(grid, entry, Some(&profiler), 0);
            return (done, Some(profiler.into_profile()));
        }
        let checker = self.checks.map(|checks| Checker::new(checks, grid, self.memory.clone()));
        let run = || work(grid, entry, checker.as_ref().map(|checker| checker as &dyn Watcher), 0);
        (if checker.is_some() { guarded(grid, run) } else { run() }, None)
    }

    /// Returns the worker pool: the workers besides the launching thread. `None` if there are none.
    fn pool(&self) -> Option<&ThreadPool> {
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
    /// Sets the order of blocks, warps and lanes. With a schedule that lets threads yield before accesses, launches run
    /// on the OS thread that launches them, and much slower.
    fn with_schedule(schedule: Schedule) => schedule = schedule;
    /// Records in `synchronisations` those that launches reach, and leaves out the one that it names, if any.
    fn with_synchronisations(synchronisations: Synchronisations) => synchronisations = Some(synchronisations);
    /// Records the launches in `log`.
    fn with_log(log: LaunchLog) => log = Some(log);
    /// Collects the notes of launches in `notes` instead of printing them.
    fn with_notes(notes: Notes) => notes = Some(notes);
    /// Calls `reporter` with each fault and note of the launches.
    fn with_reporter(reporter: Reporter) => reporter = Some(reporter);
    /// Writes the output of kernels to `sink`.
    fn with_output(sink: Arc<Mutex<dyn Write + Send>>) => output = Output::Sink(sink);
    /// Counts what the memory system of a GPU would do, and adds a profile of each launch to `profiles`. Launches run
    /// on the OS thread that launches them, in the natural order, and are not checked for races.
    fn with_profiles(profiles: Profiles) => profiles = Some(profiles);
    /// Sets the number of multiprocessors of the simulated device, for plans. It does not change the speed.
    fn with_multiprocessors(multiprocessors: u32) => multiprocessors = Some(multiprocessors);
}
