//! Explores weak memory: an atomic read may return an older value than the one in memory, as on a GPU.
//!
//! # Design
//!
//! The simulator runs the threads of a launch one after another, and an access changes memory at once. PTX's memory
//! model allows more: a read may return any write that is not overwritten for its thread, and a write may be older than
//! writes that were executed before it. In some [schedules](crate::Schedule) the checker therefore makes choices, as in
//! the view machines of promising semantics:
//!
//! - Each *location*, an address that atomics write, has a history of its writes in coherence order (`location`).
//!   A thread has a *view* of each location: the latest write that precedes the thread in causality order. A read may
//!   return the write of the view or any later one. A store may be inserted anywhere behind the view. An update is
//!   inserted directly behind the write that it reads, and nothing is ever inserted between the two. Memory holds the
//!   last write of the coherence order.
//! - A view is not stored. A write precedes a thread in causality order if the thread's vector clock includes the write
//!   or a read of its value (PTX's observation order, followed by base causality order). These clocks are kept by the
//!   same code as those of the race detector (`clock`, `sync`), but in other objects: here a sequentially consistent
//!   fence (`fence.sc`) also acquires the clocks of all earlier ones of a scope that includes both, and publishes its
//!   own. The race detector does not use this order, because a race must be found in every order of the fences.
//! - A read of an older write also acquires what that write has released, and not more, in both kinds of clocks.
//! - A load returns older values only a few times per newest write, so that loops that wait end.
//!
//! The choices come from a [`Policy`]: always the oldest write, random ones, or given ones. The search of a thorough
//! check gives choices. Then a thread may also wait before a read until another write to the location is executed, and
//! before a sequentially consistent fence until another such fence is executed. With these two kinds of waits, every
//! execution whose program order, reads-from order and fence order have no common cycle is reached by some choices: run
//! the threads in a fixed order, and let each wait until the write that it reads, or the fence before its own, is
//! there.
//!
//! A load may also return a store that is executed after it, if a search has found that the store does not depend on
//! the load (`promises`). This is load buffering.
//!
//! Only atomic accesses have such choices (volatile ones are relaxed atomics here). A plain access that could return
//! several values is a data race and reported as such. The words of barriers in shared memory (`mbarrier`) have no
//! histories, and accesses to the shared memory of other blocks read the newest value.

mod accesses;
mod choosing;
pub(super) mod location;
pub(super) mod policy;
mod promises;

use rustc_hash::FxHashMap;

use self::accesses::Current;
use self::location::Locations;
use self::policy::Policy;
use self::promises::Promises;
use super::clock::Clocks;
use super::clusters::order;
use super::history::Serial;
use super::phases::{BarrierId, Phases};
use super::stamp::Stamp;
use super::sync::{Objects, Publications, fence};
use super::vector_clock::VectorClock;
use crate::block::context::BlockContext;
use crate::memory::Scope;
use crate::raw::notes::HistoryLimit;
use crate::region::Space;
use crate::source::Line;
use crate::watch::{Access, MemoryOrder, Touch};

/// The tag of the stamps in the histories of locations. They are in no shadow, so that the tag has no meaning.
const TAG: u32 = 2;

/// The state for one running block.
#[derive(Default)]
struct WeakBlock {
    clocks: Clocks,
    objects: Objects,
    locations: Locations,
    phases: Phases,
    /// The accesses that precede the last sequentially consistent fence of the block's threads, and thus all earlier
    /// ones.
    sequential: VectorClock,
    /// True if that fence had block scope.
    is_narrow: bool,
    /// The threads that wait because of a choice.
    waits: FxHashMap<u32, Serial>,
}

/// The choices of the next access.
#[derive(Clone, Copy, Debug)]
struct Pick {
    /// The index of the write that the access reads.
    source: usize,
    /// The index at which a store is inserted.
    position: usize,
    /// True if a load reads a new promise, or a store fulfils one.
    is_promise: bool,
}

/// An access that did not read the newest write, or a store that took effect before another access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missed {
    /// The first write in coherence order that the access missed, or a load that has read a store before its execution.
    pub(super) other: Stamp,
    /// True if `other` is such a load.
    pub(super) is_early: bool,
}

/// The reads of a thread at a source site: the block of a location in shared memory, the address, the thread's block
/// and number, and the site.
type ReadKey = (Option<u32>, usize, u64, u32);

/// The exploration of weak memory in one launch.
pub(super) struct Weak {
    policy: Policy,
    /// The option [`Checks::barriers_pass_fences`](crate::Checks::barriers_pass_fences).
    passes_fences: bool,
    residents: Vec<WeakBlock>,
    publications: Publications,
    objects: Objects,
    locations: Locations,
    sequential: VectorClock,
    serial: Serial,
    fences: Serial,
    pick: Option<Pick>,
    promises: Promises,
    current: Option<Current>,
    /// How often each thread has read older values at an address and source site, and the newest write then.
    stale: FxHashMap<ReadKey, (Serial, u32)>,
    missed: Option<Missed>,
    /// True while the memory of two blocks is exchanged, so that a thread accesses another block's shared memory.
    is_remote: bool,
    /// The first limit by which an access had fewer choices, and the access.
    limit: Option<(HistoryLimit, Line)>,
}

/// Returns true if the checker keeps a history of the locations of `access`.
fn is_tracked(access: Access) -> bool {
    matches!(
        access,
        Access::AtomicLoad(MemoryOrder::Relaxed | MemoryOrder::AcquireRelease, _)
            | Access::AtomicStore(..)
            | Access::Update(_)
    )
}

impl Weak {
    pub(super) fn new(policy: Policy, passes_fences: bool) -> Self {
        Self {
            policy,
            passes_fences,
            residents: Vec::new(),
            publications: Publications::default(),
            objects: Objects::default(),
            locations: Locations::default(),
            sequential: VectorClock::default(),
            serial: 0,
            fences: 0,
            pick: None,
            promises: Promises::default(),
            current: None,
            stale: FxHashMap::default(),
            missed: None,
            is_remote: false,
            limit: None,
        }
    }

    /// Returns the first limit by which an access had fewer choices than the memory model allows, and the access.
    /// Returns `None` if the choices are given: then the search knows of the limit.
    pub(super) fn limit(&self) -> Option<(HistoryLimit, Line)> {
        self.limit
    }

    pub(super) fn begin_block(&mut self, tag: u32, number: u32, threads: u32) {
        if self.residents.len() <= tag as usize {
            self.residents.resize_with(tag as usize + 1, WeakBlock::default);
        }
        let WeakBlock { clocks, objects, locations, phases, sequential, is_narrow, waits } =
            &mut self.residents[tag as usize];
        *is_narrow = false;
        clocks.begin(number, threads, self.passes_fences);
        objects.clear();
        locations.clear();
        phases.begin(number);
        *sequential = VectorClock::default();
        waits.clear();
        self.publications.begin(number);
    }

    pub(super) fn end_block(&mut self, number: u32) {
        self.publications.end(number);
    }

    pub(super) fn clocks(&mut self, tag: u32) -> &mut Clocks {
        &mut self.residents[tag as usize].clocks
    }

    pub(super) fn grid_barrier(&mut self, tags: impl Iterator<Item = u32> + Clone) {
        let mut all = VectorClock::default();
        for tag in tags.clone() {
            let clocks = &self.residents[tag as usize].clocks;
            clocks.publish_all(&mut all);
            self.publications.publish(clocks.block, clocks.base());
        }
        tags.for_each(|tag| self.residents[tag as usize].clocks.learn_all(&all));
    }

    pub(super) fn arrive(&mut self, tag: u32, thread: u32, barrier: BarrierId) {
        let (clocks, phases) = self.meeting(tag);
        phases.arrive(clocks, thread, barrier);
    }

    /// Returns what the meetings of the block with the index `tag` change.
    pub(super) fn meeting(&mut self, tag: u32) -> (&mut Clocks, &mut Phases) {
        self.note_meeting(tag);
        let WeakBlock { phases, clocks, .. } = &mut self.residents[tag as usize];
        (clocks, phases)
    }

    /// Orders the accesses before a phase of a cluster's barrier before the later ones, like
    /// [`clusters::order`](order).
    pub(super) fn cluster_barrier(&mut self, blocks: &[(usize, bool)], departed: VectorClock) {
        blocks.iter().for_each(|&(tag, _)| self.note_meeting(tag as u32));
        order(&mut self.residents, |one| (&mut one.clocks, &mut one.phases), &mut self.publications, blocks, departed);
    }

    /// Exchanges the states of the shared memory of the two blocks with the indices `tags`. A second call ends the
    /// exchange.
    pub(super) fn exchange_memory(&mut self, tags: [usize; 2]) {
        self.is_remote = !self.is_remote;
        if let Ok([one, other]) = self.residents.get_disjoint_mut(tags) {
            std::mem::swap(&mut one.objects, &mut other.objects);
            std::mem::swap(&mut one.locations, &mut other.locations);
            std::mem::swap(&mut one.phases, &mut other.phases);
        }
    }

    pub(super) fn end_phase(&mut self, tag: u32, number: u32, barrier: BarrierId) {
        self.residents[tag as usize].phases.end_phase(barrier, number);
    }

    pub(super) fn wait(&mut self, tag: u32, thread: u32, barrier: BarrierId) {
        let (clocks, phases) = self.meeting(tag);
        phases.wait(clocks, thread, barrier);
    }

    /// Records that `thread` executes a fence.
    pub(super) fn fence(&mut self, tag: u32, thread: u32, scope: Scope, is_sequential: bool) {
        let WeakBlock { clocks, sequential, is_narrow, .. } = &mut self.residents[tag as usize];
        let is_wide = scope != Scope::Block;
        if is_sequential {
            self.fences += 1;
            let known = &mut clocks.vectors_mut(thread).known;
            // A fence of device scope is included in the last one of the device.
            if !is_wide || *is_narrow {
                known.join(sequential);
            }
            if is_wide {
                known.join(&self.sequential);
            }
        }
        fence(clocks, thread, scope);
        if is_sequential {
            // The fence includes all earlier ones of its scope.
            let fenced = clocks.vectors(thread).fenced_in_block();
            (*sequential, *is_narrow) = (fenced.clone(), !is_wide);
            if is_wide {
                self.sequential = fenced.clone();
                if let Some(highest) = fenced.highest(clocks.block) {
                    self.publications.publish(clocks.block, highest);
                }
            }
        }
    }

    /// Notes a plain write to the `bytes` bytes at `address`, which atomics have written before.
    pub(super) fn overwrite(&mut self, block: &BlockContext, touch: &Touch) {
        let resident = &mut self.residents[block.tag.get() as usize];
        let (objects, locations) = match touch.space {
            Space::Global => (&mut self.objects, &mut self.locations),
            Space::Shared => (&mut resident.objects, &mut resident.locations),
        };
        for address in touch.address..touch.address + touch.bytes {
            objects.overwrite(address);
        }
        if touch.space == Space::Shared {
            resident.phases.overwrite(touch.address);
        }
        locations.remove_overlapping(touch.address, touch.bytes);
    }

    fn locations(&mut self, space: Space, tag: u32) -> &mut Locations {
        match space {
            Space::Global => &mut self.locations,
            Space::Shared => &mut self.residents[tag as usize].locations,
        }
    }
}
