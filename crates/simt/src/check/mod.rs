//! The checker, which finds data races and reads of uninitialised memory.
//!
//! Two accesses to one byte race if at least one is a write, at least one is not atomic, and neither happened before
//! the other. The happens-before order follows from the barriers, warp operations, atomics and fences that the threads
//! executed. It never follows from the order in which the simulator ran the threads. The checker therefore finds a race
//! under any schedule in which both accesses are made. The checker compares every access with all earlier ones that
//! could race with it. The order is exact, so every reported race is real.
//!
//! The modules `clock`, `block_clock` and `vector_clock` represent the happens-before order. `sync` has the rules of
//! atomics and fences. `messages` records the atomic writes that threads have read. `initial` records the first atomic
//! writes to uninitialised memory. `stamp`, `history` and `shadow` define how accesses are recorded. `accesses` checks
//! and records each access. `global` records accesses to global memory, `block_shadow` records accesses to shared
//! memory, and `copies` records asynchronous copies. `read_only` records loads of memory that the launch must not
//! write. `report` makes the faults. `weak` lets atomic reads return older values in some schedules.
//!
//! # Design
//!
//! - Atomics of different widths race with each other. An atomic or fence of block scope orders nothing for other
//!   blocks, and such an atomic races with atomics of other blocks. If one thread uses several scopes at one address,
//!   the checker keeps only the thread's last atomic there.
//! - A barrier in shared memory (`mbarrier`) stores the clocks of the threads that arrived before the end of its last
//!   phase. A wait acquires these clocks.
//! - Shuffles and votes order memory unless the check is strict. GPUs give this order and programs rely on it, but
//!   CUDA's documentation does not promise it. The kernels in `gpu` pass both the default check and the strict check.
//! - The checker is tested in four ways. Tests leave out the barriers, warp synchronisations and fences of the kernels,
//!   one at a time, selected by source line at run time. The checker must notice each omission. The checker must report
//!   the faulty kernels at their lines. The checker must classify some hundred small kernels correctly. For random
//!   programs, a brute-force search by the definition above must find the same races.

mod accesses;
mod agents;
mod arrivals;
mod block_clock;
mod block_shadow;
mod cells;
mod clock;
mod clusters;
mod copies;
mod dependencies;
mod global;
mod history;
mod initial;
mod meetings;
mod messages;
mod options;
mod phases;
mod read_only;
mod report;
mod resident;
mod shadow;
mod sites;
mod stamp;
mod sync;
mod thread_clocks;
mod vector_clock;
mod weak;
mod writes;

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use self::agents::Agents;
use self::clusters::Departed;
use self::global::Global;
use self::initial::Initial;
pub use self::options::Checks;
use self::phases::BarrierId;
use self::read_only::ReadOnly;
use self::resident::Resident;
use self::shadow::{Finding, Histories};
use self::sites::Sites;
use self::sync::{Objects, Publications, fence};
use self::weak::Weak;
use self::weak::policy::Policy;
use self::writes::Writes;
use crate::block::context::BlockContext;
use crate::choices::ChoiceLog;
use crate::faults::FaultKind;
use crate::faults::older::OlderValues;
use crate::faults::wait::PhaseWait;
use crate::geometry::Dim3;
use crate::grid::Grid;
use crate::lanes::{Extent, Thread};
use crate::memory::Scope;
use crate::memory_map::MemoryMap;
use crate::order::BlockOrder;
use crate::raw::notes::HistoryLimit;
use crate::region::Region;
use crate::source::Line;
use crate::statics::Statics;
use crate::synchronisations::SyncKind;
use crate::watch::{BarrierDivergence, LateAccess, Next, PhaseRead, Touch, Value, Watcher};

/// The maximum number of blocks whose writes are kept after the block has ended.
const MAX_ENDED: usize = 1024;

/// The watcher that checks one launch.
pub(crate) struct Checker {
    checks: Checks,
    extent: Extent,
    /// The extent of the grid in blocks.
    grid: Dim3,
    is_cooperative: bool,
    /// The number of blocks per cluster.
    cluster_blocks: u32,
    /// The order in which the blocks of the grid run.
    order: BlockOrder,
    regions: Vec<Region>,
    /// The static variables of the launch. `regions` lacks a static variable whose memory is allocated during the
    /// launch.
    statics: Option<Statics>,
    /// True if the launch explores weak memory.
    is_weak: bool,
    /// The accesses that did not see the newest write, in the order of execution.
    older: RefCell<OlderValues>,
    state: RefCell<State>,
}

struct State {
    residents: Vec<Resident>,
    /// The indices of the elements of `residents` that no block uses.
    vacant: Vec<u32>,
    publications: Publications,
    global: Global,
    read_only: ReadOnly,
    departed: Departed,
    agents: Agents,
    /// The writes of blocks that have ended, by the block's number.
    ended_writes: FxHashMap<u32, Writes>,
    /// The access histories of the cells of global memory.
    histories: Histories,
    /// The atomic objects in global memory.
    objects: Objects,
    initial: Initial,
    sites: Sites,
    /// True if the launch has made an atomic access of block scope to global memory.
    has_narrow: bool,
    /// True if an atomic write has published accesses because of another thread's fence before a barrier.
    uses_other_fence: bool,
    /// True if the launch has made an atomic access of system scope, and may communicate with other devices or the
    /// host.
    has_system: bool,
    /// The exploration of weak memory, if the schedule asks for it.
    weak: Option<Box<Weak>>,
}

impl Checker {
    /// Returns true if the order of the launch may depend on fences that barriers have passed on.
    pub(crate) fn uses_other_fence(&self) -> bool {
        self.state.borrow().uses_other_fence
    }

    /// Returns true if the launch may communicate with other devices or the host, so that it cannot be repeated.
    pub(crate) fn is_unrepeatable(&self) -> bool {
        self.state.borrow().has_system
    }

    /// Makes a checker for the launch of `grid`. `memory` is the map of the simulator's global memory, and `choices`
    /// has the choices of a schedule that gives them.
    pub(crate) fn new(checks: Checks, grid: &Grid<'_>, memory: MemoryMap, choices: Option<&ChoiceLog>) -> Self {
        let weak = Policy::new(grid.schedule, choices);
        let weak = weak.map(|policy| Box::new(Weak::new(policy, checks.barriers_pass_fences)));
        let is_weak = weak.is_some();
        let state = State {
            residents: Vec::new(),
            vacant: Vec::new(),
            publications: Publications::default(),
            global: Global::new(grid.regions, memory),
            read_only: ReadOnly::default(),
            departed: Departed::default(),
            agents: Agents::default(),
            ended_writes: FxHashMap::default(),
            histories: Histories::default(),
            objects: Objects::default(),
            initial: Initial::default(),
            sites: Sites::new(grid.config.cluster.count() as u32),
            has_narrow: false,
            uses_other_fence: false,
            has_system: false,
            weak,
        };
        Self {
            checks,
            extent: Extent::new(grid.config.block),
            grid: grid.config.grid,
            is_cooperative: grid.config.is_cooperative,
            cluster_blocks: grid.config.cluster.count() as u32,
            order: grid.order,
            regions: grid.regions.to_vec(),
            statics: grid.statics().cloned(),
            is_weak,
            older: RefCell::default(),
            state: RefCell::new(state),
        }
    }

    /// Notes the end of the launch.
    pub(crate) fn end(&self) {
        if let Some(weak) = &self.state.borrow().weak {
            weak.end();
        }
    }

    /// Returns the first limit by which an access had fewer values to choose from than the memory model allows, and the
    /// access.
    pub(crate) fn history_limit(&self) -> Option<(HistoryLimit, Line)> {
        self.state.borrow().weak.as_ref()?.limit()
    }

    /// Returns the accesses that did not see the newest write.
    pub(crate) fn into_older(self) -> OlderValues {
        self.older.into_inner()
    }
}

impl Watcher for Checker {
    fn begin_block(&self, block: &BlockContext) {
        let state = &mut *self.state.borrow_mut();
        let index = state.vacant.pop().unwrap_or_else(|| {
            state.residents.push(Resident::default());
            state.residents.len() as u32 - 1
        });
        block.tag.set(index);
        let resident = &mut state.residents[index as usize];
        resident.begin(number(block), self.extent.threads, self.checks.barriers_pass_fences);
        state.publications.begin(number(block));
        if let Some(weak) = &mut state.weak {
            weak.begin_block(index, number(block), self.extent.threads);
        }
    }

    fn end_block(&self, block: &BlockContext) {
        let state = &mut *self.state.borrow_mut();
        state.depart(block, self.cluster_of(number(block)));
        state.publications.end(number(block));
        if let Some(weak) = &mut state.weak {
            weak.end_block(number(block));
        }
        let writes = &mut state.residents[block.tag.get() as usize].writes;
        if writes.is_used() && state.ended_writes.len() < MAX_ENDED {
            state.ended_writes.insert(number(block), std::mem::take(writes));
        }
        state.vacant.push(block.tag.get());
    }

    fn access(&self, block: &BlockContext, touch: &Touch) -> Next {
        let finding = self.state.borrow_mut().touch(block, touch);
        match finding {
            Ok(()) if self.is_weak && touch.access.is_atomic() => {
                self.note_older(block, touch);
                Next::Continue
            }
            Ok(()) => Next::Continue,
            // A thread that has not run yet may write these bytes. Nothing orders that write before this read, so the
            // two race, and the report names both accesses.
            Err(Finding::Uninitialised { .. }) => Next::LetOthersRun,
            Err(race) => self.fault(block, block, touch, race),
        }
    }

    #[cold]
    fn access_again(&self, block: &BlockContext, touch: &Touch) -> Next {
        let finding = self.state.borrow_mut().touch(block, touch);
        finding.map_or_else(|finding| self.fault(block, block, touch, finding), |()| Next::Continue)
    }

    fn remote_access(&self, block: &BlockContext, owner: &BlockContext, touch: &Touch) -> Next {
        self.check_remote(block, owner, touch, true)
    }

    fn remote_access_again(&self, block: &BlockContext, owner: &BlockContext, touch: &Touch) -> Next {
        self.check_remote(block, owner, touch, false)
    }

    fn access_after_end(&self, block: &BlockContext) -> Option<LateAccess> {
        self.late_access(block)
    }

    fn cluster_arrival(&self, block: &BlockContext, thread: Thread, is_relaxed: bool) {
        self.state.borrow_mut().arrive_in_cluster(block, thread.linear(), is_relaxed);
    }

    fn cluster_barrier(&self, blocks: &[(&BlockContext, Option<Line>)]) {
        let cluster = blocks.first().map(|(block, _)| self.cluster_of(number(block)));
        cluster.into_iter().for_each(|cluster| self.state.borrow_mut().cluster_barrier(blocks, cluster));
    }

    fn cluster_wait(&self, block: &BlockContext) {
        self.state.borrow_mut().wait(block, BarrierId::Cluster);
    }

    fn dependencies(&self, block: &BlockContext) -> Next {
        let state = &mut *self.state.borrow_mut();
        match state.resident(block).dependencies.wait(block.thread()) {
            Some(site) => Next::FaultAt(Box::new(FaultKind::BeforeDependencies), state.sites.get(site).at),
            None => Next::Continue,
        }
    }

    fn allowed_divergence(&self) -> BarrierDivergence {
        if self.checks.warps_may_part { BarrierDivergence::Warps } else { BarrierDivergence::Forbidden }
    }

    fn barrier(&self, block: &BlockContext, _at: Line) {
        self.state.borrow_mut().barrier(block);
    }

    fn grid_barrier(&self, blocks: &[&BlockContext]) {
        self.state.borrow_mut().grid_barrier(blocks);
    }

    fn warp_operation(&self, block: &BlockContext, warp: usize, lanes: u32, kind: SyncKind, _at: Line) {
        let state = &mut *self.state.borrow_mut();
        if let Some(weak) = &mut state.weak {
            weak.note_meeting(block.tag.get());
        }
        if kind == SyncKind::Warp || (kind != SyncKind::Collective && self.checks.shuffles_order_memory) {
            state.resident(block).clocks.warp_operation(warp, lanes);
            if let Some(weak) = &mut state.weak {
                weak.clocks(block.tag.get()).warp_operation(warp, lanes);
            }
        }
    }

    fn end_phase(&self, block: &BlockContext, address: usize) {
        let state = &mut *self.state.borrow_mut();
        state.resident(block).arrivals.end_phase(address);
        state.end_phase(block, BarrierId::Shared(address));
    }

    fn phase_read(&self, block: &BlockContext, address: usize, read: PhaseRead) {
        self.state.borrow_mut().resident(block).arrivals.phase_read(address, block.thread().linear(), read);
    }

    fn phase_wait(&self, block: &BlockContext, thread: Thread, address: usize) -> Option<PhaseWait> {
        self.state.borrow_mut().resident(block).arrivals.phase_wait(address, thread.linear(), &self.extent)
    }

    fn named_arrival(&self, block: &BlockContext, id: usize) {
        self.state.borrow_mut().arrival(block, BarrierId::Named(id));
    }

    fn end_named_phase(&self, block: &BlockContext, id: usize) {
        self.state.borrow_mut().end_phase(block, BarrierId::Named(id));
    }

    fn named_wait(&self, block: &BlockContext, id: usize) {
        self.state.borrow_mut().wait(block, BarrierId::Named(id));
    }

    fn must_wait(&self, block: &BlockContext, touch: Option<&Touch>, is_over: bool) -> bool {
        let state = &mut *self.state.borrow_mut();
        let State { weak, sites, .. } = state;
        let Some(weak) = weak else { return false };
        let touch = touch.map(|touch| (touch, sites.number(touch.at, touch.access, touch.bytes)));
        let must_wait = weak.must_wait(block, touch, is_over);
        state.pass_on_promise(false);
        must_wait
    }

    fn value_read(&self, _block: &BlockContext, newest: Value) -> Value {
        self.state.borrow_mut().weak.as_mut().map_or(newest, |weak| weak.value_read(newest))
    }

    fn value_written(&self, block: &BlockContext, old: Value, new: Value) -> bool {
        let state = &mut *self.state.borrow_mut();
        let takes_value = state.weak.as_mut().is_none_or(|weak| weak.value_written(block, old, new));
        state.pass_on_promise(false);
        takes_value
    }

    fn fence(&self, block: &BlockContext, scope: Scope, is_sequential: bool) {
        let state = &mut *self.state.borrow_mut();
        let (resident, thread) = (state.resident(block), block.thread().linear());
        resident.messages.fence(thread);
        fence(&mut resident.clocks, thread, scope);
        if let Some(weak) = &mut state.weak {
            weak.fence(block.tag.get(), thread, scope, is_sequential);
            if weak.note_fence(number(block), thread, scope) {
                state.pass_on_promise(true);
            }
        }
    }
}

/// Returns the number of `block`: its position in the order in which the grid's blocks run. No launch has 2³² blocks.
fn number(block: &BlockContext) -> u32 {
    block.position() as u32
}
