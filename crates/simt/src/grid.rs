//! The state that the workers of one launch share: the next block, the turns, and the first fault.
//!
//! # Design
//!
//! A launch on any number of cores has the same result as a launch that runs one block after another. Before a block
//! first synchronises through global memory, it waits for its turn, which comes when every earlier block has finished.
//! A block that only polls, or makes very many synchronising accesses, passes its turn on (see `block::turn`).

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::allocation::OutOfMemory;
use crate::director::Director;
use crate::faults::Fault;
use crate::geometry::{Dim3, KernelInfo, LaunchConfig};
use crate::lanes::Thread;
use crate::last_writes::LastWrites;
use crate::memory_map::MemoryMap;
use crate::order::BlockOrder;
use crate::output::Output;
use crate::raw::escaped_calls::Escaped;
use crate::raw::notes::{Note, NoteKind};
use crate::region::{Region, Space};
use crate::schedule::Schedule;
use crate::source::{Line, SourceLocation};
use crate::statics::{DeviceStatic, Statics};
use crate::synchronisations::Synchronisations;
use crate::unspecified::{OwnValues, Sighting, Unspecified};

/// The position of a worker that runs no block.
const NOWHERE: u64 = u64::MAX;

/// A launch that runs, and the state that its workers share.
///
/// Blocks have *positions* in the order in which the schedule runs them. Workers take positions one by one. Before a
/// block makes a change that other blocks can see, it waits for its turn. The turn comes when no other worker is at an
/// earlier position.
///
/// A worker first takes a position and then publishes it. Until it has published the new position, other workers read
/// its old one, which is lower.
pub(crate) struct Grid<'a> {
    pub(crate) kernel: &'static KernelInfo,
    pub(crate) config: LaunchConfig,
    /// The regions of global memory that were passed to the launch.
    pub(crate) regions: &'a [Region],
    pub(crate) schedule: Schedule,
    pub(crate) synchronisations: Option<&'a Synchronisations>,
    pub(crate) last_writes: Option<&'a LastWrites>,
    pub(crate) director: Option<Director>,
    /// The kernel's static variables, and the map that records their initialised bytes, if there is such a map.
    pub(crate) statics: Option<(&'a Statics, Option<&'a MemoryMap>)>,
    /// In a checked launch, the calls that pass pointers to functions whose accesses the simulator does not observe.
    pub(crate) escaped: Option<Escaped>,
    pub(crate) unspecified: Unspecified,
    /// In a watched launch, the last atomic access that has changed the value at each address. The first part of a key
    /// distinguishes global memory (0) and the shared memory of the blocks.
    pub(crate) changes: Mutex<FxHashMap<(u64, usize), Changer>>,
    /// Set to true if the order of the launch may depend on fences that barriers have passed on.
    pub(crate) uses_other_fence: AtomicBool,
    /// Set to true if the launch may communicate with other devices or the host, so that it cannot be repeated.
    pub(crate) is_unrepeatable: AtomicBool,
    /// The time after which a loop counts as endless.
    pub(crate) loop_limit: Duration,
    warnings: Mutex<Vec<Note>>,
    output: &'a Output,
    blocks: u64,
    pub(crate) order: BlockOrder,
    next: AtomicU64,
    slots: Box<[WorkerSlot]>,
    /// The number of events so far that may let a stalled block continue.
    activity: AtomicU64,
    waits: ChoiceWaits,
    /// The number of slices of synchronising accesses since a block or a hold has last ended.
    slices: AtomicU64,
    /// The number of blocks that have ended.
    ended: AtomicU64,
    no_progress: AtomicBool,
    has_printed: AtomicBool,
    /// The position of the block whose fault ends the launch, or `NOWHERE`.
    fault_position: AtomicU64,
    fault: Mutex<Option<(u64, Fault)>>,
}

/// The index of a block, a thread of the block, and the source line of the thread's atomic access.
pub(crate) type Changer = (Dim3, Thread, Line);

/// The state of a worker. Each `WorkerSlot` has its own cache lines, because every worker writes its state once per
/// block.
#[repr(align(128))]
struct WorkerSlot {
    position: AtomicU64,
    /// 0 if the worker is busy, and `NOWHERE` if the worker does not participate. Otherwise `a + 1`: the worker's
    /// blocks have made no progress since the counter `activity` had the value `a`.
    idle: AtomicU64,
}

/// The threads that wait because of a choice (see [`Watcher::must_wait`](crate::watch::Watcher::must_wait)).
#[derive(Default)]
struct ChoiceWaits {
    waiting: AtomicU64,
    /// The number of times that all waits were ended because no thread could continue.
    ended: AtomicU64,
}

/// The error of a block that need not continue, because a block at the same or an earlier position has faulted.
#[derive(Debug)]
pub(crate) struct Cancelled;

impl<'a> Grid<'a> {
    pub(crate) fn new(
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        schedule: Schedule,
        output: &'a Output,
        workers: usize,
    ) -> Self {
        let blocks = config.grid.count() as u64;
        let slot = || WorkerSlot { position: AtomicU64::new(NOWHERE), idle: AtomicU64::new(NOWHERE) };
        Self {
            kernel,
            config,
            schedule,
            synchronisations: None,
            last_writes: None,
            director: None,
            statics: None,
            escaped: None,
            unspecified: Unspecified::new(schedule, OwnValues::Never),
            changes: Mutex::default(),
            uses_other_fence: AtomicBool::new(false),
            is_unrepeatable: AtomicBool::new(false),
            loop_limit: Duration::MAX,
            warnings: Mutex::default(),
            regions: &[],
            output,
            blocks,
            order: BlockOrder::new(schedule, config.grid, config.cluster),
            next: AtomicU64::new(0),
            slots: (0..workers).map(|_| slot()).collect(),
            activity: AtomicU64::new(0),
            waits: ChoiceWaits::default(),
            slices: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            no_progress: AtomicBool::new(false),
            has_printed: AtomicBool::new(false),
            fault_position: AtomicU64::new(NOWHERE),
            fault: Mutex::new(None),
        }
    }

    /// Removes and returns the launch's notes. A note is a warning that is not a fault.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        let mut notes = self.escaped.take().map_or_else(Vec::new, |escaped| escaped.notes(self.kernel, self.regions));
        let warnings = mem::take(self.warnings.get_mut().unwrap_or_else(PoisonError::into_inner));
        // An array that already has a note gets no second one.
        let is_known = |name: Option<&str>, space| {
            // A note for an array in shared memory has no array name.
            let is_it = |array: Option<&str>| array == name || (array.is_none() && space == Space::Shared);
            notes.iter().any(|note| matches!(note.kind, NoteKind::NotChecked { array, .. } if is_it(array)))
        };
        let is_new = |note: &Note| match note.kind {
            NoteKind::Unseen { space, array, .. } => !is_known(array.map(|(name, _)| name), space),
            _ => true,
        };
        let warnings: Vec<_> = warnings.into_iter().filter(is_new).collect();
        notes.extend(warnings);
        notes
    }

    /// Adds a warning about the source line `at`, or about the kernel if `at` is `None`. Each line gets at most one
    /// warning of each kind.
    pub(crate) fn warn(&self, at: Option<Line>, kind: NoteKind) {
        let KernelInfo { file, line, .. } = *self.kernel;
        let location =
            at.map_or_else(|| SourceLocation { file: file.to_owned(), line, column: 1 }, SourceLocation::from);
        self.warn_at(location, kind);
    }

    /// Adds a warning at `location`, unless the launch has one of the same kind there.
    pub(crate) fn warn_at(&self, location: SourceLocation, kind: NoteKind) {
        let note = Note { kernel: self.kernel, location, kind };
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !warnings.iter().any(|other| {
            (&other.location, mem::discriminant(&other.kind)) == (&note.location, mem::discriminant(&note.kind))
        }) {
            warnings.push(note);
        }
    }

    /// Returns the address of the memory of the static variable `of` on the simulated device.
    pub(crate) fn static_address(&self, of: &'static DeviceStatic) -> Result<*mut u8, OutOfMemory> {
        match self.statics {
            Some((statics, map)) => statics.address(of, map),
            None => Err(OutOfMemory { requested: of.bytes, available: 0 }),
        }
    }

    /// Returns the static variables that the launch can access, with their memory.
    pub(crate) fn statics(&self) -> Option<&Statics> {
        self.statics.map(|(statics, _)| statics)
    }

    /// Writes a message of a kernel to the output.
    pub(crate) fn print(&self, message: &str) {
        self.has_printed.store(true, Ordering::Relaxed);
        self.output.write(message);
    }

    /// Returns true if any block of the launch has printed a message.
    pub(crate) fn has_printed(&self) -> bool {
        self.has_printed.load(Ordering::Relaxed)
    }

    /// Returns the maximum number of workers of the launch.
    pub(crate) fn workers(&self) -> usize {
        self.slots.len()
    }

    /// Returns true if one worker runs the blocks one after the other.
    pub(crate) fn is_sequential(&self) -> bool {
        self.workers() == 1
    }

    /// Returns the linear index of the block at `position`, and the block's index in three dimensions.
    pub(crate) fn block_at(&self, position: u64) -> (u64, Dim3) {
        self.order.index_at(position, self.config.grid)
    }

    /// Marks `worker` as participating, before it takes its first block.
    pub(crate) fn enter(&self, worker: usize) {
        // Until the worker takes its first block, its position is 0, the earliest. A block that has read NOWHERE for
        // this worker was taken before this store, so every block that this worker takes comes later. This relies on
        // the single order of SeqCst over this store, the read in `wait_for_turn` and the counter.
        self.slots[worker].idle.store(0, Ordering::SeqCst);
        self.slots[worker].position.store(0, Ordering::SeqCst);
    }

    /// Takes the position of the next block for `worker`. Returns `None` if no block is left or a fault has ended the
    /// launch.
    pub(crate) fn take(&self, worker: usize) -> Option<u64> {
        let position = if self.has_fault() { NOWHERE } else { self.next.fetch_add(1, Ordering::SeqCst) };
        if position < self.blocks {
            self.slots[worker].position.store(position, Ordering::Release);
            Some(position)
        } else {
            self.slots[worker].position.store(NOWHERE, Ordering::Release);
            None
        }
    }

    /// Marks `worker` as not participating in this launch any more.
    pub(crate) fn leave(&self, worker: usize) {
        self.note_activity();
        self.slots[worker].position.store(NOWHERE, Ordering::SeqCst);
        self.slots[worker].idle.store(NOWHERE, Ordering::SeqCst);
    }

    /// Blocks the calling OS thread until no other worker is at a position before `position`.
    ///
    /// # Errors
    /// [`Cancelled`] when the block at `position` need not continue.
    pub(crate) fn wait_for_turn(&self, worker: usize, position: u64) -> Result<(), Cancelled> {
        let mut attempts = 0_u32;
        loop {
            if self.is_cancelled(position) {
                return Err(Cancelled);
            }
            let others = self.slots.iter().enumerate().filter(|&(other, _)| other != worker);
            if others.map(|(_, slot)| slot.position.load(Ordering::SeqCst)).all(|other| other >= position) {
                return Ok(());
            }
            attempts += 1;
            match attempts {
                0..100 => std::hint::spin_loop(),
                100..1000 => std::thread::yield_now(),
                _ => {
                    attempts = 1000;
                    std::thread::sleep(std::time::Duration::from_micros(50));
                }
            }
        }
    }

    /// Increments the count of events that may let a stalled block continue.
    pub(crate) fn note_activity(&self) {
        self.activity.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of events so far that may let a stalled block continue.
    pub(crate) fn activity(&self) -> u64 {
        self.activity.load(Ordering::SeqCst)
    }

    /// Ends a hold so that the held thread can continue. A worker calls this function when no block can continue.
    /// Returns false if no thread is held.
    pub(crate) fn end_hold(&self) -> bool {
        let mut has_ended = self.director.as_ref().is_some_and(Director::end_hold);
        if !has_ended && self.waits.waiting.load(Ordering::Relaxed) > 0 {
            self.waits.ended.fetch_add(1, Ordering::Relaxed);
            has_ended = true;
        }
        if has_ended {
            self.slices.store(0, Ordering::Relaxed);
        }
        has_ended
    }

    /// Notes that a block has ended.
    pub(crate) fn note_end(&self) {
        self.slices.store(0, Ordering::Relaxed);
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a slice of the synchronising accesses of a block has ended. Returns true if a search ends the launch
    /// because there were too many since a block has last ended.
    pub(crate) fn note_slice(&self) -> bool {
        let slices = self.slices.fetch_add(1, Ordering::Relaxed) + 1;
        let begun = self.next.load(Ordering::Relaxed).min(self.blocks);
        let running = begun.saturating_sub(self.ended.load(Ordering::Relaxed)).max(1);
        self.director.as_ref().is_some_and(|director| director.exceeds_limit(slices.div_ceil(running)))
    }

    /// Calls `wait`, in which the current thread waits because of a choice. Returns true if the wait was ended because
    /// no thread could continue.
    pub(crate) fn wait_by_choice(&self, wait: impl FnOnce()) -> bool {
        let ended = self.waits.ended.load(Ordering::Relaxed);
        self.waits.waiting.fetch_add(1, Ordering::Relaxed);
        wait();
        self.waits.waiting.fetch_sub(1, Ordering::Relaxed);
        self.waits.ended.load(Ordering::Relaxed) != ended
    }

    /// Notes that all blocks of `worker` are stalled. No block of the worker could continue since [`Grid::activity`]
    /// returned `activity`. If the same is true for all workers, no block will ever continue: see
    /// [`Grid::has_no_progress`].
    pub(crate) fn note_idle(&self, worker: usize, activity: u64) {
        let mark = activity + 1;
        self.slots[worker].idle.store(mark, Ordering::SeqCst);
        let all_idle = self.slots.iter().all(|slot| {
            let idle = slot.idle.load(Ordering::SeqCst);
            idle == mark || idle == NOWHERE
        });
        if all_idle && self.activity() == activity {
            self.no_progress.store(true, Ordering::SeqCst);
        }
    }

    /// Returns true if all workers have found that no block can continue.
    pub(crate) fn has_no_progress(&self) -> bool {
        self.no_progress.load(Ordering::SeqCst)
    }

    /// Records that the block at `position` ended with `fault`. The launch reports the fault of the earliest block.
    pub(crate) fn record(&self, position: u64, fault: Fault) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|&(other, _)| position < other) {
            *first = Some((position, fault));
        }
        self.fault_position.fetch_min(position, Ordering::SeqCst);
    }

    /// Returns true if any block has faulted.
    pub(crate) fn has_fault(&self) -> bool {
        self.fault_position.load(Ordering::Relaxed) != NOWHERE
    }

    /// Returns true if the block at `position` need not continue, because an earlier block has faulted.
    pub(crate) fn is_cancelled(&self, position: u64) -> bool {
        self.fault_position.load(Ordering::Relaxed) < position
    }

    /// Returns the fault that ended the launch, if any, and the shuffles with unspecified values.
    pub(crate) fn into_fault(self) -> (Option<Fault>, Vec<Sighting>) {
        let fault = self.fault.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(_, fault)| fault);
        (fault, self.unspecified.into_sightings())
    }
}
