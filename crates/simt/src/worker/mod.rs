//! A worker: one OS thread that runs blocks, one at a time, until the grid has none left.

mod cooperative;
mod done;
mod fibre;
mod interleave;
mod outcome;
pub(crate) mod pool;
pub(crate) mod stacks;
pub(crate) mod trap;

pub(crate) use self::done::Done;
pub(crate) use self::outcome::Outcome;
pub(crate) use self::stacks::STACK_BYTES;

use std::cell::Cell;
use std::rc::Rc;

use self::fibre::Fibres;
use self::stacks::STACKS;
use crate::block::{Block, Entry, Parts, Pause};
use crate::current::{Slot, with_slot};
use crate::faults::FaultKind;
use crate::grid::Grid;
use crate::lanes::MAX_THREADS;
use crate::on_drop::OnDrop;
use crate::raw::guard;
use crate::watch::Watcher;

/// After this many polls without progress a block counts as stalled, that is, waiting for another block. Another OS
/// thread may be running that other block.
const PATIENCE: u64 = 4096;
/// Replaces [`PATIENCE`] if no other OS thread runs blocks. Only another block of this OS thread can then change the
/// polled value.
const PATIENCE_ALONE: u64 = 8;
/// A launch counts as deadlocked after this many rounds over all stalled blocks and [`VAIN_POLLS`] polls without
/// progress.
pub(crate) const VAIN_ROUNDS: u64 = 64;
/// A launch counts as deadlocked after this many polls and [`VAIN_ROUNDS`] rounds over all stalled blocks without
/// progress.
pub(crate) const VAIN_POLLS: u64 = 1 << 17;
/// Replaces [`VAIN_ROUNDS`] if all threads do nothing but wait. Each block must then have made as many polls for each
/// of its threads, so that every thread has read what it waits for.
pub(crate) const VAIN_ROUNDS_OF_WAITS: u64 = 4;
/// A hold ends after this many rounds over all stalled blocks without progress, or in which a block has used its whole
/// turn.
pub(crate) const VAIN_ROUNDS_WITH_HOLDS: u64 = 2;
/// The maximum number of fibres that an OS thread keeps for the next launch.
pub(crate) const MAX_FIBRES: usize = 4096;
/// The maximum number of fibres that an OS thread keeps for the next launch, if more than half of the process's stacks
/// are in use.
const MAX_FIBRES_WHEN_SCARCE: usize = 128;
/// The value of [`Resident::fibres`] for a thread without a fibre.
const NONE: u32 = u32::MAX;

/// The fibres and data structures of blocks that an OS thread reuses in its next launch.
#[derive(Default)]
struct Cache {
    fibres: Fibres,
    parts: Vec<Parts>,
}

thread_local! {
    static CACHE: Cell<Option<Box<Cache>>> = const { Cell::new(None) };
}

/// A block that has begun, and the fibres of its waiting threads.
pub(crate) struct Resident {
    /// The block. The frames of its waiting threads also refer to it.
    pub(crate) block: Rc<Block>,
    /// The fibre of each waiting thread, or `NONE` for a thread that does not wait.
    fibres: Box<[u32]>,
    /// The number of polls that the block has made since it last made progress, over all its turns.
    pub(crate) vain_polls: u64,
    progress: u64,
}

impl Cache {
    fn of_this_thread() -> Box<Self> {
        CACHE.try_with(Cell::take).ok().flatten().unwrap_or_default()
    }

    fn keep(self: Box<Self>) {
        // If the OS thread is about to end, the cache is dropped.
        let _ending = CACHE.try_with(|kept| kept.set(Some(self)));
    }
}

/// Runs blocks of `grid` on the calling OS thread, as worker `number`, until no blocks are left.
pub(crate) fn work(grid: &Grid<'_>, entry: &Entry<'_>, watcher: Option<&dyn Watcher>, number: usize) -> Done {
    work_in(Cache::of_this_thread(), grid, entry, watcher, number)
}

/// Runs blocks of `grid` like [`work`], on a helper thread. Does nothing if the budget has not enough stacks for the
/// threads of a block.
pub(crate) fn work_as_helper(grid: &Grid<'_>, entry: &Entry<'_>, number: usize) -> Done {
    let mut cache = Cache::of_this_thread();
    if !cache.fibres.promise(grid.config.block.count() as usize) {
        cache.keep();
        return Done::default();
    }
    work_in(cache, grid, entry, None, number)
}

fn work_in(
    cache: Box<Cache>,
    grid: &Grid<'_>,
    entry: &Entry<'_>,
    watcher: Option<&dyn Watcher>,
    number: usize,
) -> Done {
    let trappable = cache.fibres.trappable();
    let trapping = trap::begin(&trappable);
    let mut worker = Worker { grid, entry, watcher, number, cache, done: Done::default() };
    grid.enter(number);
    let presence = OnDrop(|| grid.leave(number));
    match grid.schedule {
        _ if grid.config.is_cooperative => worker.run_cooperative(),
        _ if grid.config.has_clusters() => worker.run_clusters(),
        schedule if schedule.alternates_blocks() => worker.run_interleaved(),
        _ => worker.run(),
    }
    drop(presence);
    drop(trapping);
    let Worker { mut cache, done, .. } = worker;
    // Half of all stacks may be idle between launches, unless many launches run at once.
    let kept = (STACKS.half() / grid.workers()).min(STACKS.keepable(MAX_FIBRES, MAX_FIBRES_WHEN_SCARCE));
    cache.fibres.shrink(kept);
    cache.keep();
    done
}

pub(crate) struct Worker<'a> {
    pub(crate) grid: &'a Grid<'a>,
    entry: &'a Entry<'a>,
    pub(crate) watcher: Option<&'a dyn Watcher>,
    pub(crate) number: usize,
    cache: Box<Cache>,
    done: Done,
}

impl Worker<'_> {
    fn run(&mut self) {
        let mut spare = None;
        let mut stalled = Vec::new();
        while let Some(position) = self.grid.take(self.number) {
            let mut resident = spare.take().unwrap_or_else(|| self.make_resident());
            resident.begin(position);
            match self.run_alone(&mut resident, self.patience()) {
                Outcome::Stalled | Outcome::TurnOver => {
                    self.retry(&mut stalled);
                    resident.block.is_stalled.set(true);
                    stalled.push(resident);
                }
                Outcome::Finished
                | Outcome::Failed
                | Outcome::Preempted
                | Outcome::AtGridBarrier
                | Outcome::AtClusterBarrier => {
                    spare = Some(resident);
                    self.retry(&mut stalled);
                }
            }
        }
        self.finish(&mut stalled);
        if let Some(resident) = spare {
            self.retire(resident);
        }
    }

    /// Returns the number of polls without progress after which a block counts as stalled.
    pub(crate) fn patience(&self) -> u64 {
        if self.grid.is_sequential() { PATIENCE_ALONE } else { PATIENCE }
    }

    pub(crate) fn make_resident(&mut self) -> Resident {
        let parts = self.cache.parts.pop().unwrap_or_default();
        // SAFETY: grid, entry and watcher outlive this worker, whose blocks are all retired when `run` returns.
        let block = unsafe { Block::new(self.grid, self.entry, self.watcher, self.number, parts) };
        let fibres = vec![NONE; MAX_THREADS].into_boxed_slice();
        Resident { block: Rc::new(block), fibres, vain_polls: 0, progress: 0 }
    }

    pub(crate) fn retire(&mut self, resident: Resident) {
        self.done.barriers += resident.block.counts.barriers.get();
        self.done.operations += resident.block.counts.operations.get();
        self.cache.parts.extend(Rc::into_inner(resident.block).map(Block::into_parts));
    }

    /// Runs each stalled block again, beginning with the block that stalled most recently, and retires the blocks that
    /// end. If each block of a chain waits for a block that stalled later, all blocks of the chain can end in one call.
    /// Returns true if a block has used its whole turn.
    fn retry(&mut self, stalled: &mut Vec<Resident>) -> bool {
        let mut is_turn_over = false;
        for index in (0..stalled.len()).rev() {
            let outcome = self.run_alone(&mut stalled[index], 1);
            is_turn_over |= matches!(outcome, Outcome::TurnOver);
            if !matches!(outcome, Outcome::Stalled | Outcome::TurnOver) {
                let resident = stalled.remove(index);
                self.retire(resident);
            }
        }
        is_turn_over
    }

    /// Runs the stalled blocks until they have ended or no block of the grid can continue. Called when no blocks are
    /// left to start.
    pub(crate) fn finish(&mut self, stalled: &mut Vec<Resident>) {
        // The writes of this worker's blocks may let other blocks continue.
        self.grid.note_activity();
        let mut since = self.grid.activity();
        let (mut rounds, mut polls, mut busy_rounds) = (0, 0, 0);
        while !stalled.is_empty() {
            if self.grid.has_no_progress() || self.grid.has_fault() {
                return self.give_up(stalled);
            }
            // A block that yields before each access has no polling thread now, but polls in each round.
            polls += stalled.iter().map(|resident| u64::from(resident.block.run_queue.polling()).max(1)).sum::<u64>();
            rounds += 1;
            busy_rounds += u64::from(self.retry(stalled));
            let now = self.grid.activity();
            if busy_rounds >= VAIN_ROUNDS_WITH_HOLDS && self.grid.end_hold() {
                (rounds, polls, busy_rounds) = (0, 0, 0);
            } else if now != since {
                since = now;
                (rounds, polls) = (0, 0);
            } else if rounds >= VAIN_ROUNDS_WITH_HOLDS && self.grid.end_hold() {
                (rounds, polls) = (0, 0);
            } else if rounds >= VAIN_ROUNDS && polls >= VAIN_POLLS
                || rounds >= VAIN_ROUNDS_OF_WAITS && stalled.iter().all(Resident::only_waits)
            {
                self.grid.note_idle(self.number, since);
            } else if rounds % 16 == 0 && !self.grid.is_sequential() {
                std::thread::yield_now();
            }
        }
    }

    /// Runs the block like [`Worker::advance`], but continues the block when it yields to another block.
    pub(crate) fn run_alone(&mut self, resident: &mut Resident, patience: u64) -> Outcome {
        let mut first = resident.vain_polls;
        resident.block.begin_turn();
        loop {
            match self.advance(resident, patience) {
                Outcome::Preempted => {
                    first = first.min(resident.vain_polls);
                    if resident.vain_polls - first >= patience {
                        return Outcome::Stalled;
                    }
                }
                other => return other,
            }
        }
    }

    /// Runs the block until it ends, waits at a barrier of the grid, has polled `patience` times without progress, has
    /// used its turn, or yields to another block.
    pub(crate) fn advance(&mut self, resident: &mut Resident, patience: u64) -> Outcome {
        let mut vain_polls = 0;
        loop {
            if self.run_pending(resident) == Pause::Leaving {
                return Outcome::Preempted;
            }
            if resident.block.is_abandoned() {
                return self.abandon(resident);
            }
            if resident.block.run_queue.exited() == resident.block.context.extent.threads {
                resident.block.membership.has_ended.set(true);
                if let Some(fault) = resident.block.access_after_end() {
                    resident.block.record(fault);
                    return self.abandon(resident);
                }
                self.done.blocks += 1;
                self.grid.note_end();
                guard::end_block(&resident.block);
                resident.block.notify(|watcher, block| watcher.end_block(block));
                return Outcome::Finished;
            }
            let block = &resident.block;
            if block.barrier.waits_for_grid.get() {
                return Outcome::AtGridBarrier;
            }
            let polling = block.run_queue.polling();
            if polling == 0 || (block.barrier.arrived.get() > 0 && block.run_queue.exited() > 0) {
                if polling == 0 && block.is_at_cluster_barrier() {
                    return Outcome::AtClusterBarrier;
                }
                block.record(block.deadlock());
                return self.abandon(resident);
            }
            let progress = block.counts.progress.get();
            if progress != resident.progress {
                resident.progress = progress;
                resident.vain_polls = 0;
                vain_polls = 0;
            }
            if vain_polls >= patience {
                return Outcome::Stalled;
            }
            if block.is_turn_over() {
                return Outcome::TurnOver;
            }
            if self.grid.is_cancelled(block.position()) {
                return self.abandon(resident);
            }
            vain_polls += u64::from(polling);
            resident.vain_polls += u64::from(polling);
            block.run_queue.wake_polling();
        }
    }

    /// Runs pending threads of the block until none is left, the block ends early, or it yields to another block.
    /// Returns `Leaving` if the block yields.
    fn run_pending(&mut self, resident: &mut Resident) -> Pause {
        with_slot(|slot| self.run_pending_in(slot, resident))
    }

    #[inline(always)]
    fn run_pending_in(&mut self, slot: &Slot<'_>, resident: &mut Resident) -> Pause {
        let Resident { block, fibres, .. } = resident;
        let pool = &mut self.cache.fibres;
        while let Some(next) = block.take_next() {
            let waiting = std::mem::replace(&mut fibres[next as usize], NONE);
            let fibre = if waiting == NONE {
                block.start(next);
                match pool.take_idle() {
                    Ok(fibre) => fibre,
                    Err(error) => {
                        let reason = format!(
                            "no stack for another waiting thread ({error}); free memory, raise `ulimit -v` or \
                             `vm.max_map_count`, or launch smaller blocks"
                        );
                        let kind = FaultKind::HostMemory(reason);
                        block.record(block.fault_of(block.thread(), None, kind));
                        return Pause::Idle;
                    }
                }
            } else {
                waiting
            };
            let pause = slot.run_as(block, || pool.resume(fibre));
            if pause == Pause::Idle {
                trap::record(block);
            } else {
                fibres[block.thread().linear() as usize] = fibre;
            }
            if pause == Pause::Leaving || block.is_abandoned() {
                return pause;
            }
        }
        Pause::Idle
    }

    /// Ends the block early and unwinds its waiting threads, so that their values are dropped.
    #[cold]
    pub(super) fn abandon(&mut self, resident: &mut Resident) -> Outcome {
        let Resident { block, fibres, .. } = resident;
        block.abandon();
        let pool = &mut self.cache.fibres;
        for waiting in fibres.iter_mut().filter(|fibre| **fibre != NONE) {
            let fibre = std::mem::replace(waiting, NONE);
            // A thread that catches its unwinding is unwound again wherever it waits next.
            while with_slot(|slot| slot.run_as(block, || pool.resume(fibre))) != Pause::Idle {}
            // A trap here is ignored, because the block already has a fault.
            trap::take();
        }
        guard::end_block(block);
        block.rendezvous.clear();
        block.notify(|watcher, block| watcher.end_block(block));
        if let Some(fault) = block.fault.take() {
            self.grid.record(block.position(), fault);
        }
        Outcome::Failed
    }
}

impl Resident {
    /// Returns true if no thread of the block does anything but wait, and each has found several times that its wait is
    /// not over.
    pub(crate) fn only_waits(&self) -> bool {
        let enough = VAIN_ROUNDS_OF_WAITS * u64::from(self.block.context.extent.threads);
        let has_progress = self.block.counts.progress.get() != self.progress;
        !has_progress && self.vain_polls >= enough && self.block.only_waits()
    }

    pub(crate) fn begin(&mut self, position: u64) {
        self.block.begin(position);
        self.vain_polls = 0;
        self.progress = self.block.counts.progress.get();
    }
}
