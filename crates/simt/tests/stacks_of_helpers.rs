//! Tests the stacks that the helper threads of a launch take and keep. This test is a separate program, because these
//! stacks are half of all stacks that a process may have.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{KERNEL, simulator};
use simt::{Fault, LaunchConfig, Simulator, thread};

/// The number of workers of each simulator, as on a machine with 32 cores. A launch may use fewer, because its threads
/// may take only half of all stacks.
const WORKERS: usize = 32;

/// The number of threads of a block, all of which wait at once.
const THREADS: u32 = 1024;

/// The time without a further arrival after which the test assumes that all threads have arrived.
const QUIET: Duration = Duration::from_millis(50);

/// Holds blocks back until each participating worker runs one.
struct Gathering {
    begun: Instant,
    /// The time at which a thread last arrived, in microseconds since `begun`.
    last: AtomicU64,
    /// The number of blocks that are held back.
    blocks: AtomicU32,
    is_over: AtomicBool,
}

impl Gathering {
    fn new() -> Self {
        Self {
            begun: Instant::now(),
            last: AtomicU64::new(0),
            blocks: AtomicU32::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    fn since_begun(&self) -> u64 {
        self.begun.elapsed().as_micros() as u64
    }

    fn hold_back(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let quiet = self.since_begun().saturating_sub(self.last.load(Ordering::Relaxed));
            self.is_over.fetch_or(quiet >= QUIET.as_micros() as u64, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs a launch in which every worker runs a block at the same time.
    fn launch(&self, simulator: &Simulator) -> Result<(), Fault> {
        let gather = || {
            self.last.fetch_max(self.since_begun(), Ordering::Relaxed);
            if thread::thread_idx().x == THREADS - 1 && !self.is_over.load(Ordering::Relaxed) {
                self.blocks.fetch_add(1, Ordering::Relaxed);
                self.hold_back();
            }
            thread::sync_threads();
        };
        simulator.launch(&KERNEL, LaunchConfig::new(WORKERS as u32, THREADS), gather).map(drop)
    }
}

#[test]
fn helpers_leave_stacks_to_other_launches() {
    // Four launches run at once, and each may use half of all stacks.
    let gathering = Gathering::new();
    std::thread::scope(|scope| {
        let launches = [(); 4].map(|()| scope.spawn(|| gathering.launch(&simulator(WORKERS, 0))));
        for launch in launches {
            launch.join().unwrap().unwrap();
        }
    });
    // Simulators that stay alive launch in succession. Their helpers keep some stacks for the next launch, and leave
    // enough for other helpers.
    let simulators = [(); 4].map(|()| simulator(WORKERS, 0));
    let workers = simulators.each_ref().map(|simulator| {
        let gathering = Gathering::new();
        gathering.launch(simulator).unwrap();
        gathering.blocks.into_inner()
    });
    assert!(workers[0] == 1 || workers.iter().all(|&workers| workers > 1), "{workers:?}");
}
