//! The search for data races, and for reads of what nobody wrote.
//!
//! Two accesses to one byte race if at least one is a write, not both are atomic, and neither happened before the other. What
//! happened before what follows from the barriers, warp operations, atomics and fences that the threads made, never from
//! the order in which the simulator has run them: so a race is found in whatever order the threads run, as long as both
//! accesses are made. And as every access is compared with all before it that could race with it, and ordered by exactly
//! what orders it, what is reported is a race.
//!
//! `clock` and `knowledge` say what happened before what, `sync` how atomics and fences bring that about, `stamp`, `history`
//! and `shadow` keep the accesses, `global` and `block_shadow` do so for the two kinds of memory.

mod block_shadow;
mod clock;
mod global;
mod hashing;
mod history;
mod knowledge;
mod report;
mod shadow;
mod sites;
mod stamp;
mod sync;

use std::cell::RefCell;

use self::block_shadow::BlockShadow;
use self::clock::Clocks;
use self::global::Global;
use self::history::Past;
use self::shadow::{Conflict, Histories, PLAIN, Toucher};
use self::sites::{Site, Sites};
use self::stamp::Stamp;
use self::sync::{Lives, Objects, fence};
use crate::block::Block;
use crate::fault::{FaultKind, Line, Space};
use crate::geometry::LaunchConfig;
use crate::lanes::Extent;
use crate::memory_map::MemoryMap;
use crate::observe::{Access, Touch};
use crate::region::Region;
use crate::rendezvous::Operation;
use crate::simulator::Checks;

pub(crate) use self::report::fmt_element;
pub use self::report::{Element, Race, RaceAccess, RaceSide, Remedy};

/// Whether an access reads.
#[inline(always)]
fn is_read(access: Access) -> bool {
    matches!(access, Access::Load | Access::AtomicLoad(_) | Access::Update)
}

/// Whether an access writes.
#[inline(always)]
fn is_write(access: Access) -> bool {
    matches!(access, Access::Store | Access::Discard | Access::AtomicStore(_) | Access::Update)
}

#[inline(always)]
fn is_atomic(access: Access) -> bool {
    !matches!(access, Access::Load | Access::Store | Access::Discard)
}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug)]
enum Finding {
    Race(Conflict),
    /// A read of bytes from `address` on of which some have not been written.
    Uninitialised {
        address: usize,
    },
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
}

/// Follows one launch.
pub(crate) struct Checker {
    checks: Checks,
    extent: Extent,
    regions: Vec<Region>,
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
}

impl Checker {
    pub(crate) fn new(checks: Checks, config: LaunchConfig, regions: &[Region], memory: MemoryMap) -> Self {
        let state = State {
            residents: Vec::new(),
            vacant: Vec::new(),
            lives: Lives::default(),
            global: Global::new(regions, memory),
            histories: Histories::default(),
            objects: Objects::default(),
            sites: Sites::new(),
        };
        Self { checks, extent: Extent::new(config.block), regions: regions.to_vec(), state: RefCell::new(state) }
    }

    pub(crate) fn begin_block(&self, block: &Block) {
        let state = &mut *self.state.borrow_mut();
        let index = state.vacant.pop().unwrap_or_else(|| {
            state.residents.push(Resident::default());
            state.residents.len() as u32 - 1
        });
        block.checker_index.set(index);
        let resident = &mut state.residents[index as usize];
        resident.clocks.begin(number(block), self.extent.threads);
        resident.shared.begin();
        resident.histories.clear();
        resident.objects.clear();
        state.lives.begin(number(block));
    }

    pub(crate) fn end_block(&self, block: &Block) {
        let state = &mut *self.state.borrow_mut();
        state.lives.end(number(block));
        state.vacant.push(block.checker_index.get());
    }

    /// The current thread is about to make an access. Raises a fault if that is a race.
    pub(crate) fn touch(&self, block: &Block, touch: &Touch) {
        let mut finding = self.state.borrow_mut().touch(block, touch);
        if let Err(Finding::Uninitialised { .. }) = finding {
            // Whoever writes it may just not have run yet: then nothing orders that write before this read, which is a
            // race, and the report names both.
            block.let_others_run();
            finding = self.state.borrow_mut().touch(block, touch);
        }
        if let Err(finding) = finding {
            let kind = self.kind(block, touch, finding);
            block.raise(kind, touch.at);
        }
    }

    pub(crate) fn barrier(&self, block: &Block, _at: Line) {
        self.state.borrow_mut().resident(block).clocks.barrier();
    }

    pub(crate) fn warp_operation(&self, block: &Block, warp: usize, lanes: u32, operation: Operation, _at: Line) {
        if operation == Operation::Sync || self.checks.shuffles_order_memory {
            self.state.borrow_mut().resident(block).clocks.warp_operation(warp, lanes);
        }
    }

    pub(crate) fn fence(&self, block: &Block, _at: Line) {
        let state = &mut *self.state.borrow_mut();
        fence(&mut state.resident(block).clocks, block.thread.get().linear());
    }

    #[cold]
    fn kind(&self, block: &Block, touch: &Touch, finding: Finding) -> FaultKind {
        let Conflict { with, address } = match finding {
            Finding::Uninitialised { address } => {
                let Element { array, index, .. } = self.element(block, touch, address);
                return FaultKind::Uninitialised { space: touch.space, array, index };
            }
            Finding::Race(conflict) => conflict,
        };
        let here = block.thread.get();
        let other = self.state.borrow().sites.get(with.site());
        let (_, other_block) = block.grid().block_at(with.block.into());
        let race = Race {
            space: touch.space,
            element: self.element(block, touch, address),
            here: RaceSide {
                block: block.index.get(),
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
            remedy: Remedy::between((number(block), here.linear()), (with.block, with.thread())),
        };
        FaultKind::Race(Box::new(race))
    }

    /// What the byte at `address` belongs to.
    fn element(&self, block: &Block, touch: &Touch, address: usize) -> Element {
        let found = match touch.space {
            Space::Shared => {
                let place = block.arena.locate(address, touch.bytes);
                place.and_then(|place| Some((place.name?, place.index)))
            }
            Space::Global => {
                let holds = |region: &&Region| address.wrapping_sub(region.start) < region.bytes;
                let fits = |region: &&Region| region.is_writable || !is_write(touch.access);
                let mut regions = self.regions.iter().filter(holds);
                let region = regions.clone().find(fits).or_else(|| regions.next());
                region.map(|region| (region.name, (address - region.start) / region.element.max(1)))
            }
        };
        match found {
            Some((array, index)) => Element { array: Some(array), index, address },
            None => Element { array: None, index: address, address },
        }
    }
}

impl State {
    fn resident(&mut self, block: &Block) -> &mut Resident {
        &mut self.residents[block.checker_index.get() as usize]
    }

    #[inline]
    fn touch(&mut self, block: &Block, touch: &Touch) -> Result<(), Finding> {
        let site = self.sites.number(Site { at: touch.at, access: touch.access });
        let thread = block.thread.get().linear();
        let Resident { clocks, shared, histories, objects } = &mut self.residents[block.checker_index.get() as usize];
        let stamp = Stamp::new(clocks.block, thread, clocks.clock(thread), site, PLAIN);
        let past = Past { clocks, lives: &self.lives, block: clocks.block, thread };
        let (objects, overwrites_atomic) = match touch.space {
            Space::Global => {
                let histories = &mut self.histories;
                let mut toucher = Toucher { past, stamp, histories, overwrites_atomic: false };
                self.global.touch(touch, &mut toucher)?;
                (&mut self.objects, toucher.overwrites_atomic)
            }
            Space::Shared => {
                let mut toucher = Toucher { past, stamp, histories, overwrites_atomic: false };
                shared.touch(touch, &mut toucher)?;
                (objects, toucher.overwrites_atomic)
            }
        };
        if is_atomic(touch.access) {
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
fn number(block: &Block) -> u32 {
    block.position() as u32
}

fn kind_of(access: Access) -> RaceAccess {
    match access {
        Access::Load => RaceAccess::Load,
        Access::Store | Access::Discard => RaceAccess::Store,
        Access::AtomicLoad(_) => RaceAccess::AtomicLoad,
        Access::AtomicStore(_) => RaceAccess::AtomicStore,
        Access::Update => RaceAccess::AtomicUpdate,
    }
}
