//! What the workers of one launch share: which block is next, whose turn it is, and the first fault.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::allocation::OutOfMemory;
use crate::director::{Director, Trace};
use crate::fault::Fault;
use crate::geometry::{Dim3, KernelInfo, LaunchConfig};
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

/// A worker that runs no block, or has not begun.
const NOWHERE: u64 = u64::MAX;

/// One launch.
///
/// Blocks have *positions*: the order in which the schedule has them run. Workers take positions one by one. A block
/// that is about to do something that other blocks can see waits for its turn: until no other worker is at an
/// earlier position. Each worker publishes its position when it has taken the next one, never in between, so a
/// position that others read is never later than the block that the worker really runs.
pub(crate) struct Grid<'a> {
    pub(crate) kernel: &'static KernelInfo,
    pub(crate) config: LaunchConfig,
    /// The memory that the launch was given.
    pub(crate) regions: &'a [Region],
    pub(crate) schedule: Schedule,
    pub(crate) synchronisations: Option<&'a Synchronisations>,
    pub(crate) director: Option<Director>,
    statics: Option<(&'a Statics, Option<&'a MemoryMap>)>,
    /// In a checked launch, what it cannot check.
    pub(crate) escaped: Option<Escaped>,
    warnings: Mutex<Vec<Note>>,
    output: &'a Output,
    blocks: u64,
    pub(crate) order: BlockOrder,
    next: AtomicU64,
    places: Box<[Place]>,
    /// Counts what could let a stalled block go on.
    activity: AtomicU64,
    no_progress: AtomicBool,
    has_printed: AtomicBool,
    /// The position of the fault that ends the launch; `NOWHERE` as long as there is none.
    fault_position: AtomicU64,
    fault: Mutex<Option<(u64, Fault)>>,
}

/// Where a worker is. On cache lines of its own, as each worker writes its place for every block.
#[repr(align(128))]
struct Place {
    position: AtomicU64,
    /// 0: busy; `a + 1`: could make no progress since the activity was `a`; `NOWHERE`: takes no part.
    idle: AtomicU64,
}

/// The launch has ended early: a block that is no later in the order has faulted.
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
        let place = || Place { position: AtomicU64::new(NOWHERE), idle: AtomicU64::new(NOWHERE) };
        Self {
            kernel,
            config,
            schedule,
            synchronisations: None,
            director: Director::new(schedule, None),
            statics: None,
            escaped: None,
            warnings: Mutex::default(),
            regions: &[],
            output,
            blocks,
            order: BlockOrder::new(schedule, blocks),
            next: AtomicU64::new(0),
            places: (0..workers).map(|_| place()).collect(),
            activity: AtomicU64::new(0),
            no_progress: AtomicBool::new(false),
            has_printed: AtomicBool::new(false),
            fault_position: AtomicU64::new(NOWHERE),
            fault: Mutex::new(None),
        }
    }

    /// What it has to say that is no fault.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        let mut notes = self.escaped.take().map_or_else(Vec::new, |escaped| escaped.notes(self.kernel, self.regions));
        let warnings = mem::take(self.warnings.get_mut().unwrap_or_else(PoisonError::into_inner));
        // What has been said of an array already is not said again.
        let is_known = |name: Option<&str>, space| {
            // What is handed of shared memory has no name there.
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

    /// Warns of `at`, once; where that is not known, of the kernel.
    pub(crate) fn warn(&self, at: Option<Line>, kind: NoteKind) {
        let KernelInfo { file, line, .. } = *self.kernel;
        let location =
            at.map_or_else(|| SourceLocation { file: file.to_owned(), line, column: 1 }, SourceLocation::from);
        let note = Note { kernel: self.kernel, location, kind };
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !warnings.iter().any(|other| {
            (&other.location, mem::discriminant(&other.kind)) == (&note.location, mem::discriminant(&note.kind))
        }) {
            warnings.push(note);
        }
    }

    /// The same launch, which notes in `escaped` what it cannot check.
    pub(crate) fn with_escaped(self, escaped: Option<Escaped>) -> Self {
        Self { escaped, ..self }
    }

    /// The same launch, which was given `regions`.
    pub(crate) fn with_regions(self, regions: &'a [Region]) -> Self {
        Self { regions, ..self }
    }

    /// The same launch, which notes and leaves out what `synchronisations` says.
    pub(crate) fn with_synchronisations(self, synchronisations: Option<&'a Synchronisations>) -> Self {
        Self { synchronisations, ..self }
    }

    /// The same launch, whose atomic accesses `trace` is to keep.
    pub(crate) fn with_trace(self, trace: Option<&Trace>) -> Self {
        Self { director: Director::new(self.schedule, trace), ..self }
    }

    /// The same launch, whose kernel finds its statics in `statics`; `map`, if any, is told what of them has been written.
    pub(crate) fn with_statics(self, statics: &'a Statics, map: Option<&'a MemoryMap>) -> Self {
        Self { statics: Some((statics, map)), ..self }
    }

    /// The address of a static.
    pub(crate) fn static_address(&self, of: &'static DeviceStatic) -> Result<*mut u8, OutOfMemory> {
        match self.statics {
            Some((statics, map)) => statics.address(of, map),
            None => Err(OutOfMemory { requested: of.bytes, available: 0 }),
        }
    }

    /// Where the kernel finds its statics.
    pub(crate) fn statics(&self) -> Option<&Statics> {
        self.statics.map(|(statics, _)| statics)
    }

    /// Writes a message to the output.
    pub(crate) fn print(&self, message: &str) {
        self.has_printed.store(true, Ordering::Relaxed);
        self.output.write(message);
    }

    /// Whether any block has printed.
    pub(crate) fn has_printed(&self) -> bool {
        self.has_printed.load(Ordering::Relaxed)
    }

    /// How many workers take part at most.
    pub(crate) fn workers(&self) -> usize {
        self.places.len()
    }

    /// Whether every block has the turn from the start, because they run one after the other.
    pub(crate) fn is_sequential(&self) -> bool {
        self.workers() == 1
    }

    /// The linear index, and the index, of the block at `position`.
    pub(crate) fn block_at(&self, position: u64) -> (u64, Dim3) {
        self.order.place_at(position, self.config.grid)
    }

    /// `worker` begins to take blocks.
    pub(crate) fn enter(&self, worker: usize) {
        // Before the worker takes its first block its position is the earliest there is. A block that has found this
        // worker NOWHERE had been taken before this store, so whatever this worker takes comes later. This needs the
        // single order of SeqCst over this store, the read in `wait_for_turn` and the counter.
        self.places[worker].idle.store(0, Ordering::SeqCst);
        self.places[worker].position.store(0, Ordering::SeqCst);
    }

    /// The position of the next block for `worker`, or `None` when there is none, or a fault has ended the launch.
    pub(crate) fn take(&self, worker: usize) -> Option<u64> {
        let position = if self.has_fault() { NOWHERE } else { self.next.fetch_add(1, Ordering::SeqCst) };
        if position < self.blocks {
            self.places[worker].position.store(position, Ordering::Release);
            Some(position)
        } else {
            self.places[worker].position.store(NOWHERE, Ordering::Release);
            None
        }
    }

    /// `worker` is done with this launch.
    pub(crate) fn leave(&self, worker: usize) {
        self.note_activity();
        self.places[worker].position.store(NOWHERE, Ordering::SeqCst);
        self.places[worker].idle.store(NOWHERE, Ordering::SeqCst);
    }

    /// Blocks this OS thread until no other worker is at an earlier position.
    ///
    /// # Errors
    /// [`Cancelled`] when the block at `position` has no need to go on.
    pub(crate) fn wait_for_turn(&self, worker: usize, position: u64) -> Result<(), Cancelled> {
        let mut attempts = 0_u32;
        loop {
            if self.is_cancelled(position) {
                return Err(Cancelled);
            }
            let others = self.places.iter().enumerate().filter(|&(other, _)| other != worker);
            if others.map(|(_, place)| place.position.load(Ordering::SeqCst)).all(|other| other >= position) {
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

    /// Something happened that could let a stalled block go on.
    pub(crate) fn note_activity(&self) {
        self.activity.fetch_add(1, Ordering::SeqCst);
    }

    /// How often something happened that could let a stalled block go on.
    pub(crate) fn activity(&self) -> u64 {
        self.activity.load(Ordering::SeqCst)
    }

    /// No block can go on: ends a hold, so that the thread can that waits there. Gives whether there is one.
    pub(crate) fn end_hold(&self) -> bool {
        self.director.as_ref().is_some_and(Director::end_hold)
    }

    /// `worker` has only stalled blocks, and none of them could go on since the activity was `activity`. If the same
    /// holds for all others, no block will ever go on: see [`Grid::has_no_progress`].
    pub(crate) fn note_idle(&self, worker: usize, activity: u64) {
        let mark = activity + 1;
        self.places[worker].idle.store(mark, Ordering::SeqCst);
        let all_idle = self.places.iter().all(|place| {
            let idle = place.idle.load(Ordering::SeqCst);
            idle == mark || idle == NOWHERE
        });
        if all_idle && self.activity() == activity {
            self.no_progress.store(true, Ordering::SeqCst);
        }
    }

    /// Whether all workers have found that no block can go on.
    pub(crate) fn has_no_progress(&self) -> bool {
        self.no_progress.load(Ordering::SeqCst)
    }

    /// Records that the block at `position` ended with `fault`. The earliest block's fault is the launch's.
    pub(crate) fn record(&self, position: u64, fault: Fault) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|&(other, _)| position < other) {
            *first = Some((position, fault));
        }
        self.fault_position.fetch_min(position, Ordering::SeqCst);
    }

    /// Whether some block has faulted.
    pub(crate) fn has_fault(&self) -> bool {
        self.fault_position.load(Ordering::Relaxed) != NOWHERE
    }

    /// Whether the block at `position` has no need to go on, as an earlier one has faulted.
    pub(crate) fn is_cancelled(&self, position: u64) -> bool {
        self.fault_position.load(Ordering::Relaxed) < position
    }

    /// The fault that ended the launch, if any.
    pub(crate) fn into_fault(self) -> Option<Fault> {
        self.fault.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(_, fault)| fault)
    }
}
