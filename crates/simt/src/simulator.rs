//! The simulator: settings, and launches.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::block::{Block, Entry};
use crate::crew::work_together;
use crate::current::is_simulated;
use crate::fault::{Fault, FaultKind};
use crate::fibre::budget;
use crate::geometry::{KernelInfo, LaunchConfig};
use crate::grid::Grid;
use crate::output::Output;
use crate::panic;
use crate::validation::validate;
use crate::worker::work;

/// Runs kernels on the CPU.
///
/// A clone shares the original's worker threads, which are started by the first launch that needs them. One simulator
/// may be used by several threads at once.
#[derive(Clone)]
pub struct Simulator {
    seed: u64,
    workers: usize,
    output: Output,
    /// The workers but one, which is the thread that launches; `None` if they could not be started.
    pool: Arc<OnceLock<Option<ThreadPool>>>,
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchStats {
    /// Threads run.
    pub threads: u64,
    /// Blocks run.
    pub blocks: u64,
    /// Block barriers completed, counted once for each block.
    pub barriers: u64,
    /// Warp operations completed, counted once for each group of lanes that met.
    pub warp_operations: u64,
}

impl Default for Simulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Simulator {
    /// A simulator with as many workers as the machine has cores, seed 0, and output to the standard output.
    pub fn new() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { seed: 0, workers, output: Output::default(), pool: Arc::default() }
    }

    /// The same simulator, with the order of blocks, warps and lanes that `seed` gives: the natural order for 0, a
    /// pseudo-random one for any other.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
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

    /// On how many OS threads blocks run. A launch may use fewer, if the system does not allow the stacks that so many
    /// large blocks need.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The seed that determines the order of blocks, warps and lanes.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs `body` once for each thread of `config`, as the kernel `kernel`, and waits for all of them.
    ///
    /// `body` learns which thread it is from [`thread`](crate::thread). Each simulated thread has 128 KiB of stack; a thread that
    /// needs more ends the process, as a stack overflow does anywhere.
    ///
    /// # Errors
    /// The fault of the first block, in the order of the seed, that has one; then the other threads are abandoned:
    /// those that wait are unwound, those that have not begun are not run. An invalid `config`, and a launch from
    /// inside of a kernel, are errors before anything runs.
    pub fn launch<F: Fn() + Sync>(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        body: F,
    ) -> Result<LaunchStats, Fault> {
        self.launch_entry(kernel, config, &|block: &Block| {
            loop {
                body();
                if !block.exit_and_start_next() {
                    break;
                }
            }
        })
    }

    fn launch_entry(
        &self,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        entry: &Entry<'_>,
    ) -> Result<LaunchStats, Fault> {
        let fault = |kind| Fault { kernel: kernel.name, block: None, thread: None, location: None, kind };
        if is_simulated() {
            let reason = "launched from inside of a kernel; launch it from the host";
            return Err(fault(FaultKind::InvalidLaunch(reason.to_owned())));
        }
        validate(kernel, &config).map_err(fault)?;
        panic::install_hook(is_simulated);

        let blocks = config.grid.count() as u64;
        let pool = if blocks > 1 { self.pool() } else { None };
        let workers = pool.map_or(1, |pool| pool.current_num_threads() + 1);
        let workers = workers.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        // All threads of the blocks that run may have to wait at once; half of all stacks are left to stalled blocks,
        // other launches, and what workers keep.
        let workers = workers.min(budget() / 2 / config.block.count() as usize).max(1);
        let grid = Grid::new(kernel, config, self.seed, &self.output, workers);
        let run = || match pool {
            Some(pool) if workers > 1 => work_together(pool, &grid, entry, workers - 1),
            _ => work(&grid, entry, 0),
        };
        let done = if std::thread::panicking() {
            // A launch from a destructor during a panic: on an OS thread that unwinds no simulated thread would wait.
            std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        } else {
            run()
        };
        if grid.has_printed() {
            self.output.flush();
        }
        match grid.into_fault() {
            Some(fault) => Err(fault),
            None => Ok(LaunchStats {
                threads: done.blocks * config.block.count() as u64,
                blocks: done.blocks,
                barriers: done.barriers,
                warp_operations: done.operations,
            }),
        }
    }

    /// The workers besides the launching thread, or `None` if there are none.
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
