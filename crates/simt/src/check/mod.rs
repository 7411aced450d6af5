//! The search for data races, and for reads of what nobody wrote.
//!
//! Two accesses to one byte race if at least one is a write, not both are atomic, and neither happened before the other. What
//! happened before what follows from the barriers, warp operations, atomics and fences that the threads made, never from
//! the order in which the simulator has run them: so a race is found in whatever order the threads run, as long as both
//! accesses are made. And as every access is compared with all before it that could race with it, and ordered by exactly
//! what orders it, what is reported is a race.
//!
//! `clock`, `block_clock` and `vector_clock` say what happened before what, and `sync` how atomics and fences order accesses.
//! `messages` keeps which atomic writes a thread has observed, ordered or not. `stamp`, `history` and `shadow` keep the accesses,
//! `global` and `block_shadow` those to the two kinds of memory.

mod block_clock;
mod block_shadow;
mod cells;
mod clock;
mod global;
mod hashing;
mod history;
mod messages;
mod shadow;
mod sites;
mod stamp;
mod sync;
mod vector_clock;

use std::cell::RefCell;

use self::block_shadow::BlockShadow;
use self::clock::Clocks;
use self::global::Global;
use self::history::Past;
use self::messages::Messages;
use self::shadow::{Conflict, Finding, Histories, PLAIN, Toucher};
use self::sites::{Site, Sites};
use self::stamp::Stamp;
use self::sync::{Lives, Objects, fence};
use self::vector_clock::VectorClock;
use crate::block::context::BlockContext;
use crate::fault::{CopyUnderWay, FaultKind};
use crate::geometry::Dim3;
use crate::grid::Grid;
use crate::lanes::Extent;
use crate::memory::Scope;
use crate::memory_map::MemoryMap;
use crate::order::BlockOrder;
use crate::race::{Element, Race, RaceAccess, RaceSide};
use crate::region::{Region, Space};
use crate::remedy::Remedy;
use crate::source::{Line, is_same_line};
use crate::statics::Statics;
use crate::synchronisations::SyncKind;
use crate::watch::{Access, Apart, MemoryOrder, Next, Touch, Watcher};

/// What a checked launch looks for besides the faults that every launch finds: data races, and reads of memory that
/// nobody has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Whether a shuffle or a vote orders the memory accesses of the lanes that take part, as a warp synchronisation does.
    /// Programs rely on it, and GPUs do it; CUDA's documentation does not promise it.
    pub shuffles_order_memory: bool,
    /// Whether the warps of a block may come to one line of a block barrier by different calls, or in different iterations of
    /// a loop. GPUs count warps at a barrier; CUDA's documentation has all threads of the block at one. Where they may not, a
    /// launch warns of it ([`NoteKind::WarpsApart`](crate::NoteKind::WarpsApart)) and goes on. Lanes of one warp must come
    /// together in any case.
    pub warps_may_part: bool,
}

impl Checks {
    /// Nothing counts but what CUDA's documentation promises.
    pub const STRICT: Self = Self { shuffles_order_memory: false, warps_may_part: false };
}

impl Default for Checks {
    fn default() -> Self {
        Self { shuffles_order_memory: true, warps_may_part: true }
    }
}

/// A block that runs.
#[derive(Default)]
struct Resident {
    clocks: Clocks,
    shared: BlockShadow,
    /// Of cells in shared memory.
    histories: Histories,
    /// The atomics in shared memory.
    objects: Objects,
    messages: Messages,
}

/// Follows one launch.
pub(crate) struct Checker {
    checks: Checks,
    extent: Extent,
    /// The grid, in blocks, and the order in which these run.
    grid: Dim3,
    order: BlockOrder,
    regions: Vec<Region>,
    /// Those that first got memory when the launch had begun are not among the regions.
    statics: Option<Statics>,
    state: RefCell<State>,
}

struct State {
    residents: Vec<Resident>,
    /// Those of them that no block uses.
    vacant: Vec<u32>,
    lives: Lives,
    global: Global,
    /// Of cells in global memory.
    histories: Histories,
    /// The atomics in global memory.
    objects: Objects,
    sites: Sites,
    /// Whether there has been an access to global memory that is atomic for its own block alone.
    has_narrow: bool,
}

impl Checker {
    /// Follows the launch of `grid`, whose simulator has allocated `memory`.
    pub(crate) fn new(checks: Checks, grid: &Grid<'_>, memory: MemoryMap) -> Self {
        let state = State {
            residents: Vec::new(),
            vacant: Vec::new(),
            lives: Lives::default(),
            global: Global::new(grid.regions, memory),
            histories: Histories::default(),
            objects: Objects::default(),
            sites: Sites::new(),
            has_narrow: false,
        };
        Self {
            checks,
            extent: Extent::new(grid.config.block),
            grid: grid.config.grid,
            order: grid.order,
            regions: grid.regions.to_vec(),
            statics: grid.statics().cloned(),
            state: RefCell::new(state),
        }
    }

    #[cold]
    fn fault(&self, block: &BlockContext, touch: &Touch, finding: Finding) -> Next {
        Next::Fault(Box::new(self.kind(block, touch, finding)))
    }

    fn kind(&self, block: &BlockContext, touch: &Touch, finding: Finding) -> FaultKind {
        let Conflict { with, address } = match finding {
            Finding::Uninitialised { address, since } => {
                let Element { array, element_type, index, .. } = self.element(block, touch, address);
                let copy = since.and_then(|since| self.copy_of(&since)).map(Box::new);
                return FaultKind::Uninitialised { space: touch.space, array, element_type, index, copy };
            }
            Finding::Race(conflict) => conflict,
        };
        let here = block.thread();
        let other = self.state.borrow().sites.get(with.site());
        let (_, other_block) = self.order.place_at(with.block.into(), self.grid);
        let race = Race {
            space: touch.space,
            element: self.element(block, touch, address),
            here: RaceSide {
                block: block.index(),
                thread: here.index(),
                location: touch.at.into(),
                access: kind_of(touch.access),
            },
            there: RaceSide {
                block: other_block,
                thread: self.extent.thread(with.thread()).index(),
                location: other.at.into(),
                access: kind_of(other.access),
            },
            remedy: self.remedy(block, touch, (&with, other)),
        };
        FaultKind::Race(Box::new(race))
    }

    /// What would order an access and an earlier one, `with` at `other`.
    fn remedy(&self, block: &BlockContext, touch: &Touch, (with, other): (&Stamp, Site)) -> Remedy {
        let (accesses, thread) = ([touch.access, other.access], block.thread().linear());
        if accesses.iter().all(|access| access.is_atomic()) {
            return if touch.bytes == other.bytes { Remedy::WiderScope } else { Remedy::OneWidth };
        }
        let state = self.state.borrow();
        let Resident { clocks, messages, .. } = &state.residents[block.tag.get() as usize];
        if let Some(is_acquired) = messages.tells_of(thread, with, clocks.block) {
            return match (clocks.is_pending(thread, with), is_acquired) {
                (true, _) => Remedy::Acquire,
                (false, true) => Remedy::Release,
                (false, false) => Remedy::ReleaseAndAcquire,
            };
        }
        if !touch.access.writes() && other.access == Access::Discard {
            return Remedy::WaitForCopyAndBarrier;
        }
        if accesses == [Access::Store; 2] && is_same_line(touch.at, other.at) {
            return Remedy::OneThread;
        }
        Remedy::between((number(block), thread), (with.block, with.thread()))
    }

    /// The asynchronous copy that an access was the beginning of, if it was.
    fn copy_of(&self, stamp: &Stamp) -> Option<CopyUnderWay> {
        let Site { at, access, .. } = self.state.borrow().sites.get(stamp.site());
        let thread = self.extent.thread(stamp.thread()).index();
        (access == Access::Discard).then(|| CopyUnderWay { thread, location: at.into() })
    }

    /// What the byte at `address` belongs to.
    fn element(&self, block: &BlockContext, touch: &Touch, address: usize) -> Element {
        let found = match touch.space {
            Space::Shared => {
                let place = block.arena.locate(address, touch.bytes);
                place.and_then(|place| Some((place.name?, place.of, place.index)))
            }
            Space::Global => {
                let holds = |region: &&Region| address.wrapping_sub(region.start) < region.bytes;
                let fits = |region: &&Region| region.is_writable || !touch.access.writes();
                let mut regions = self.regions.iter().filter(holds);
                let given = regions.clone().find(fits).or_else(|| regions.next()).copied();
                let region = given.or_else(|| self.statics.as_ref()?.at(address));
                region.map(|region| (region.name, None, (address - region.start) / region.element.max(1)))
            }
        };
        match found {
            Some((array, element_type, index)) => Element { array: Some(array), element_type, index, address },
            None => Element { array: None, element_type: None, index: address, address },
        }
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
        resident.clocks.begin(number(block), self.extent.threads);
        resident.shared.begin();
        resident.histories.clear();
        resident.objects.clear();
        resident.messages.begin(self.extent.threads);
        state.lives.begin(number(block));
    }

    fn end_block(&self, block: &BlockContext) {
        let state = &mut *self.state.borrow_mut();
        state.lives.end(number(block));
        state.vacant.push(block.tag.get());
    }

    fn access(&self, block: &BlockContext, touch: &Touch) -> Next {
        let finding = self.state.borrow_mut().touch(block, touch);
        match finding {
            Ok(()) => Next::GoOn,
            // Whoever writes it may just not have run yet: then nothing orders that write before this read, which is a
            // race, and the report names both.
            Err(Finding::Uninitialised { .. }) => Next::LetOthersRun,
            Err(race) => self.fault(block, touch, race),
        }
    }

    #[cold]
    fn access_again(&self, block: &BlockContext, touch: &Touch) -> Next {
        let finding = self.state.borrow_mut().touch(block, touch);
        finding.map_or_else(|finding| self.fault(block, touch, finding), |()| Next::GoOn)
    }

    fn allows_apart(&self) -> Apart {
        if self.checks.warps_may_part { Apart::Warps } else { Apart::Nobody }
    }

    fn barrier(&self, block: &BlockContext, _at: Line) {
        self.state.borrow_mut().resident(block).clocks.barrier();
    }

    fn grid_barrier(&self, blocks: &[&BlockContext]) {
        let state = &mut *self.state.borrow_mut();
        let mut all = VectorClock::default();
        for &block in blocks {
            let clocks = &state.residents[block.tag.get() as usize].clocks;
            clocks.tell_all(&mut all);
            state.lives.tell(clocks.block, clocks.base());
        }
        for &block in blocks {
            state.resident(block).clocks.learn_all(&all);
        }
    }

    fn warp_operation(&self, block: &BlockContext, warp: usize, lanes: u32, kind: SyncKind, _at: Line) {
        if kind == SyncKind::Warp || self.checks.shuffles_order_memory {
            self.state.borrow_mut().resident(block).clocks.warp_operation(warp, lanes);
        }
    }

    fn end_phase(&self, block: &BlockContext, address: usize) {
        self.state.borrow_mut().resident(block).objects.end_phase(address, number(block));
    }

    fn fence(&self, block: &BlockContext, scope: Scope) {
        let state = &mut *self.state.borrow_mut();
        let (resident, thread) = (state.resident(block), block.thread().linear());
        resident.messages.fence(thread);
        fence(&mut resident.clocks, thread, scope);
    }
}

impl State {
    fn resident(&mut self, block: &BlockContext) -> &mut Resident {
        &mut self.residents[block.tag.get() as usize]
    }

    #[inline(always)]
    fn touch(&mut self, block: &BlockContext, touch: &Touch) -> Result<(), Finding> {
        let bytes = if touch.access.is_atomic() { touch.bytes } else { 0 };
        let site = self.sites.number(Site { at: touch.at, access: touch.access, bytes });
        let is_unused = block.unused.is_noted(block.thread());
        let thread = block.thread().linear();
        let found;
        let Resident { clocks, shared, histories, objects, messages } = &mut self.residents[block.tag.get() as usize];
        let stamp = Stamp::new(clocks.block, thread, clocks.epoch(thread), site, PLAIN);
        let past = Past { clocks, lives: &self.lives, block: clocks.block, thread };
        let (objects, overwrites_atomic) = match touch.space {
            Space::Global => {
                let histories = &mut self.histories;
                self.has_narrow |= touch.access.is_for_block();
                let mut toucher = Toucher::new((past, stamp), histories, &self.sites, is_unused);
                toucher.has_narrow = self.has_narrow;
                self.global.touch(touch, &mut toucher)?;
                found = toucher.found;
                (&mut self.objects, toucher.overwrites_atomic)
            }
            Space::Shared => {
                let mut toucher = Toucher::new((past, stamp), histories, &self.sites, is_unused);
                shared.touch(touch, &mut toucher)?;
                found = toucher.found;
                (objects, toucher.overwrites_atomic)
            }
        };
        if touch.access.is_atomic() {
            // Who arrives at a barrier and waits has read no flag.
            if !matches!(touch.access, Access::Arrive | Access::AtomicLoad(MemoryOrder::Phase, _)) {
                messages.note(thread, &stamp, found, touch.access);
            }
            objects.order(clocks, &mut self.lives, thread, touch.address, touch.access);
        } else if overwrites_atomic {
            for address in touch.address..touch.address + touch.bytes {
                objects.overwrite(address);
            }
        }
        Ok(())
    }
}

/// The block's number: its place in the order of the grid. No launch gets to 2³² blocks.
fn number(block: &BlockContext) -> u32 {
    block.position() as u32
}

fn kind_of(access: Access) -> RaceAccess {
    match access {
        Access::Load => RaceAccess::Load,
        Access::Store | Access::Discard => RaceAccess::Store,
        Access::AtomicLoad(..) => RaceAccess::AtomicLoad,
        Access::AtomicStore(..) => RaceAccess::AtomicStore,
        Access::Update(_) | Access::Arrive => RaceAccess::AtomicUpdate,
    }
}
