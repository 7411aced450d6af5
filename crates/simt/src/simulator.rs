//! The simulator: settings, and launches.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::allocation::{Allocation, OutOfMemory};
use crate::block::{Block, Entry};
use crate::check::{Checker, Checks};
use crate::current::is_simulated;
use crate::director::Trace;
use crate::fault::{Fault, FaultKind};
use crate::geometry::{KernelInfo, LaunchConfig};
use crate::grid::Grid;
use crate::launch_log::{LaunchLog, LaunchStats, LoggedLaunch};
use crate::memory_map::MemoryMap;
use crate::output::Output;
use crate::panic;
use crate::profile::{Profile, Profiler, Profiles};
use crate::raw::escaped_calls::Escaped;
use crate::raw::guard::guarded;
use crate::raw::notes::Notes;
use crate::region::Region;
use crate::reporter::Reporter;
use crate::schedule::Schedule;
use crate::statics::{DeviceStatic, Statics};
use crate::synchronisations::Synchronisations;
use crate::threads::Threads;
use crate::validation::{max_cooperative_threads, validate};
use crate::watch::{EventMask, Watcher, Watching};
use crate::worker::pool::work_together;
use crate::worker::stacks::STACKS;
use crate::worker::{Done, trap, work};

/// Runs kernels on the CPU.
///
/// A clone shares the original's worker threads, which are started by the first launch that needs them. One simulator
/// may be used by several threads at once.
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
    pub(crate) reporter: Option<Reporter>,
    memory: MemoryMap,
    statics: Statics,
    /// The worker pool: all workers but the thread that launches. `None` if they could not be started.
    pool: Arc<OnceLock<Option<ThreadPool>>>,
}

impl Default for Simulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Simulator {
    /// A simulator with as many workers as the machine has cores, the natural order, and output to the standard output.
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

    /// The same simulator, with the order of blocks, warps and lanes that `seed` gives: the natural order for 0, a
    /// pseudo-random one for any other.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        self.with_schedule(if seed == 0 { Schedule::Natural } else { Schedule::Random(seed) })
    }

    /// The same simulator, with blocks, warps and lanes in the order of `schedule`. With one that lets threads give way
    /// before an access, launches run on the OS thread that launches, and much slower.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// The same simulator, which notes its launches' synchronisations in `synchronisations`, and may leave one out for it.
    #[must_use]
    pub fn with_synchronisations(self, synchronisations: Synchronisations) -> Self {
        Self { synchronisations: Some(synchronisations), ..self }
    }

    /// The same simulator, which notes its launches in `log`.
    #[must_use]
    pub fn with_log(self, log: LaunchLog) -> Self {
        Self { log: Some(log), ..self }
    }

    /// The same simulator, which keeps its launches' atomic accesses in `trace`, where it is checked or threads give way.
    pub(crate) fn with_trace(self, trace: Trace) -> Self {
        Self { trace: Some(trace), ..self }
    }

    /// The same simulator, which notes in `notes` what its launches have to say that is no fault, and does not print it.
    #[must_use]
    pub fn with_notes(self, notes: Notes) -> Self {
        Self { notes: Some(notes), ..self }
    }

    /// The same simulator with blocks spread over `workers` OS threads, one of which is the one that launches.
    #[must_use]
    pub fn with_workers(self, workers: NonZeroUsize) -> Self {
        Self { workers: workers.get(), pool: Arc::default(), ..self }
    }

    /// The same simulator, with what kernels print written to `sink`.
    #[must_use]
    pub fn with_output(self, sink: Arc<Mutex<dyn Write + Send>>) -> Self {
        Self { output: Output::Sink(sink), ..self }
    }

    /// The same simulator, which looks for data races and reads of memory that nobody has written. Its launches run on
    /// the OS thread that launches. Memory must come from [`allocate`](Self::allocate) of this simulator or a clone for
    /// the simulator to know what of it has been written.
    #[must_use]
    pub fn with_checks(self, checks: Checks) -> Self {
        Self { checks: Some(checks), memory: MemoryMap::default(), statics: Statics::default(), ..self }
    }

    /// The same simulator, which counts what the memory system of a GPU would do, and leaves a profile of each launch in
    /// `profiles`. Its launches run on the OS thread that launches, in the natural order, and are not checked for races.
    #[must_use]
    pub fn with_profiles(self, profiles: Profiles) -> Self {
        Self { profiles: Some(profiles), ..self }
    }

    /// The same simulator as a device of `multiprocessors` multiprocessors, for plans that fill a device: it runs no
    /// faster.
    #[must_use]
    pub fn with_multiprocessors(self, multiprocessors: u32) -> Self {
        Self { multiprocessors: Some(multiprocessors), ..self }
    }

    /// How many multiprocessors the simulated device has: as many as workers, if nothing else was said.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors.unwrap_or(u32::try_from(self.workers).unwrap_or(u32::MAX))
    }

    /// How many threads a cooperative launch may have in all.
    pub fn max_cooperative_threads(&self) -> usize {
        max_cooperative_threads()
    }

    /// What launches look for, if they are checked.
    pub fn checks(&self) -> Option<Checks> {
        self.checks
    }

    /// Allocates `bytes` bytes of global memory, as [`Allocation::new`] does. A simulator that checks its launches knows
    /// what of it has been written.
    ///
    /// # Errors
    /// As for [`Allocation::new`].
    pub fn allocate(&self, bytes: usize) -> Result<Allocation, OutOfMemory> {
        match self.checks {
            Some(_) => Allocation::tracked(bytes, &self.memory),
            None => Allocation::new(bytes),
        }
    }

    /// The same simulator with memory of its own for the statics of kernel crates, which begin as they are declared. A clone
    /// shares the original's.
    #[must_use]
    pub fn with_own_statics(self) -> Self {
        Self { statics: Statics::default(), ..self }
    }

    /// The address of a static's memory, as the host and kernels find it.
    ///
    /// # Errors
    /// As for [`allocate`](Self::allocate), when it is first asked for.
    pub fn static_address(&self, of: &'static DeviceStatic) -> Result<*mut u8, OutOfMemory> {
        self.statics.address(of, self.checks.map(|_| &self.memory))
    }

    /// Notes that `bytes` bytes at the address `start` are about to be written, or have been, by the host or unseen by the
    /// simulator. Else it knows what kernels write; [`Allocation::note_written`] does the same where that is at hand.
    pub fn note_written(&self, start: usize, bytes: usize) {
        for written in self.memory.overlapping(start, bytes) {
            written.set(start, bytes);
        }
    }

    /// Notes that the host has copied the `bytes` bytes at the address `from`, all of an allocation, to another at `to`: what
    /// nobody has written there is unwritten here, too.
    pub fn note_copied(&self, to: usize, from: usize, bytes: usize) {
        let sources = self.memory.overlapping(from, bytes);
        for written in self.memory.overlapping(to, bytes) {
            match &*sources {
                [source] => written.copy(source),
                // What is not known counts as written.
                _ => written.set(to, bytes),
            }
        }
    }

    /// Whether somebody has written all of the `bytes` bytes at the address `start`. Memory that the simulator does not know
    /// counts as written, and it knows none unless it checks launches.
    pub fn is_written(&self, start: usize, bytes: usize) -> bool {
        self.memory.overlapping(start, bytes).iter().all(|written| written.is_all_set(start, bytes))
    }

    /// On how many OS threads blocks run. A launch may use fewer, if the system does not allow the stacks that so many
    /// large blocks need.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The order of blocks, warps and lanes.
    pub fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// The seed of that order; 0 where it has none.
    pub fn seed(&self) -> u64 {
        self.schedule.seed()
    }

    /// Runs `body` once for each thread of `config`, as the kernel `kernel`, and waits for all of them.
    ///
    /// `body` learns which thread it is from [`thread`](crate::thread). Each simulated thread has 128 KiB of stack.
    ///
    /// # Errors
    /// The fault of the first block, in the order of the schedule, that has one; then the other threads are abandoned:
    /// those that wait are unwound, those that have not begun are not run. An invalid `config`, and a launch from
    /// inside of a kernel, are errors before anything runs.
    pub fn launch<F: Fn() + Sync>(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        body: F,
    ) -> Result<LaunchStats, Fault> {
        self.launch_on(kernel, config, &[], body)
    }

    /// As [`launch`](Self::launch), with the memory that the launch is given: reports name it, and checks take what no
    /// writable region shows for read-only. No regions mean that nothing is known.
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
        // By a pointer: what runs threads is compiled here once, and not for each body in the crate that has it.
        let body: &(dyn Fn() + Sync) = &body;
        self.launch_threads(kernel, config, regions, |threads| threads.run(body))
    }

    /// As [`launch_on`](Self::launch_on), for a kernel that is compiled elsewhere: `run` calls [`Threads::run`] once, so that
    /// the body stands inside the loop over the threads.
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
            let reason = "launched from inside of a kernel; launch it from the host";
            return Err(fault(FaultKind::InvalidLaunch(reason.to_owned())));
        }
        validate(kernel, &config).map_err(fault)?;
        panic::install_hook(is_simulated);
        trap::install();

        let begun = Instant::now();
        let blocks = config.grid.count() as u64;
        let schedule = if self.profiles.is_some() { Schedule::Natural } else { self.schedule };
        // A thread can give way only before an access that is seen.
        let is_watched = self.checks.is_some() || self.profiles.is_some() || schedule.is_preemptive();
        let pool = if blocks > 1 && !is_watched && !config.is_cooperative { self.pool() } else { None };
        let workers = pool.map_or(1, |pool| pool.current_num_threads() + 1);
        let workers = workers.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        // All threads of the blocks that run may have to wait at once; half of all stacks are left to stalled blocks,
        // other launches, and what workers keep.
        let workers = workers.min(STACKS.half() / config.block.count() as usize).max(1);
        // No regions mean that nothing is known.
        let statics = if regions.is_empty() { Vec::new() } else { self.statics.regions() };
        let joined;
        let regions = if statics.is_empty() {
            regions
        } else {
            joined = [regions, &statics].concat();
            &joined
        };
        let mut grid = Grid::new(kernel, config, schedule, &self.output, workers)
            .with_regions(regions)
            .with_statics(&self.statics, self.checks.map(|_| &self.memory))
            .with_escaped(self.checks.map(|_| Escaped::new(self.memory.clone())))
            .with_synchronisations(self.synchronisations.as_ref())
            .with_trace(self.trace.as_ref());
        let run = || match pool {
            Some(pool) if workers > 1 => (work_together(pool, &grid, entry, workers - 1), None),
            _ => {
                let told = if self.profiles.is_some() { EventMask::Everything } else { EventMask::NoBranches };
                let _watching = is_watched.then(|| Watching::begin(told));
                self.work_watched(&grid, entry)
            }
        };
        let (done, profile) = if std::thread::panicking() {
            // A launch from a destructor during a panic: on an OS thread that unwinds no simulated thread would wait.
            std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        } else {
            run()
        };
        if grid.has_printed() {
            self.output.flush();
        }
        for note in grid.take_notes() {
            self.report_note(&note);
            match &self.notes {
                Some(notes) => notes.push(note),
                None => eprintln!("{note}"),
            }
        }
        match grid.into_fault() {
            Some(fault) => Err(self.report_fault(fault)),
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

    /// Runs `grid` on this OS thread, followed by the watcher that the settings ask for.
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

    /// The worker pool: the workers besides the launching thread. `None` if there are none.
    fn pool(&self) -> Option<&ThreadPool> {
        let build = || {
            let others = self.workers - 1;
            let name = |worker| format!("simt worker {}", worker + 1);
            // Without the threads the launching thread does all the work.
            ThreadPoolBuilder::new().num_threads(others).thread_name(name).build().ok()
        };
        if self.workers > 1 { self.pool.get_or_init(build).as_ref() } else { None }
    }
}
