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
//! Load buffering is not explored: a read never returns a write that is executed after it, even though PTX allows this
//! if the write does not depend on the read. The same holds for orders of fences that contradict the order of
//! execution.
//!
//! Only atomic accesses have such choices (volatile ones are relaxed atomics here). A plain access that could return
//! several values is a data race and reported as such. The words of barriers in shared memory (`mbarrier`) have no
//! histories.

mod choosing;
pub(super) mod location;
pub(super) mod policy;
mod promises;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use self::location::{Entry, Location, Locations};
use self::policy::Policy;
use self::promises::Promises;
use super::clock::Clocks;
use super::history::{Past, Serial, Version};
use super::named::Named;
use super::stamp::Stamp;
use super::sync::{Held, Objects, Publications, fence};
use super::vector_clock::VectorClock;
use crate::block::context::BlockContext;
use crate::memory::Scope;
use crate::raw::notes::HistoryLimit;
use crate::region::Space;
use crate::source::Line;
use crate::watch::{Access, MemoryOrder, Touch, Value};

/// The tag of the stamps in the histories of locations. They are in no shadow, so that the tag has no meaning.
const TAG: u32 = 2;

/// The state for one running block.
#[derive(Default)]
struct WeakBlock {
    clocks: Clocks,
    objects: Objects,
    locations: Locations,
    named: Named,
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

/// An atomic access between its check and the exchange of its value.
struct Current {
    space: Space,
    tag: u32,
    address: usize,
    bytes: usize,
    source: usize,
    /// The index at which the access inserts its write.
    position: usize,
    /// True if the access is a load that reads a promise, or a store that fulfils one.
    is_promise: bool,
    serial: Serial,
    /// The new entry of a write, without its value.
    entry: Option<Entry>,
    /// The clocks of the value before the first write to the location. `None` if that value is uninitialised.
    before: Option<[Held; 2]>,
}

/// An access that did not read the newest write, or a store that was inserted before another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missed {
    /// The first write in coherence order that the access missed.
    pub(super) write: Stamp,
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
        let WeakBlock { clocks, objects, locations, named, sequential, is_narrow, waits } =
            &mut self.residents[tag as usize];
        *is_narrow = false;
        clocks.begin(number, threads, self.passes_fences);
        objects.clear();
        locations.clear();
        named.begin();
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

    pub(super) fn end_phase(&mut self, tag: u32, address: usize, number: u32) {
        self.residents[tag as usize].objects.end_phase(address, number);
    }

    pub(super) fn named_arrival(&mut self, tag: u32, thread: u32, id: usize) {
        let WeakBlock { named, clocks, .. } = &mut self.residents[tag as usize];
        named.arrive(clocks, thread, id);
    }

    pub(super) fn end_named_phase(&mut self, tag: u32, id: usize) {
        self.residents[tag as usize].named.end_phase(id);
    }

    pub(super) fn named_wait(&mut self, tag: u32, thread: u32, id: usize) {
        let WeakBlock { named, clocks, .. } = &mut self.residents[tag as usize];
        named.wait(clocks, thread, id);
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

    /// Begins an atomic access of the current thread, as [`must_wait`](Self::must_wait) has chosen. Returns the writes
    /// that the access reads and makes, and the access that wrote the value that it reads.
    pub(super) fn begin(&mut self, block: &BlockContext, touch: &Touch) -> Option<(Version, Option<Stamp>)> {
        (self.current, self.missed) = (None, None);
        if !is_tracked(touch.access) {
            self.policy.note_other();
            self.note_access(self.me(block), self.policy.count());
            return None;
        }
        let (pick, me) = (self.pick.take(), self.me(block));
        let locations = match touch.space {
            Space::Global => &mut self.locations,
            Space::Shared => &mut self.residents[block.tag.get() as usize].locations,
        };
        let is_known = locations.is_complete();
        let location = locations.get(touch.address, touch.bytes);
        let none = VecDeque::new();
        let entries = location.map_or(&none, |location| &location.entries);
        let last = location.map_or(0, Location::last);
        let source = pick.map_or(last, |pick| pick.source);
        let (reads, writes) = (touch.access.reads(), touch.access.writes());
        let position = if reads { source + 1 } else { pick.map_or(entries.len(), |pick| pick.position) };
        let is_older = if reads { source < last } else { position < entries.len() };
        let is_promise = pick.is_some_and(|pick| pick.is_promise)
            || (reads && entries.get(source).is_some_and(|entry| entry.is_promised));
        let missed = entries.get(if reads { source + 1 } else { position }).filter(|_| is_older);
        self.missed = missed.and_then(|entry| Some(Missed { write: entry.stamps?[0] }));
        self.serial += u32::from(writes);
        let serial = if writes { self.serial } else { 0 };
        let read = entries.get(source).filter(|_| reads);
        let oldest = entries.iter().map(|entry| entry.serial).min().unwrap_or(serial);
        let version = Version { reads: read.map_or(0, |entry| entry.serial), writes: serial, oldest };
        let found = read.and_then(|entry| Some(entry.stamps?[0]));
        // The choices before the write that the thread reads, unless it is its own.
        let is_own = |[_, own]: [Stamp; 2]| (own.block, own.thread()) == me;
        let since = match read {
            Some(read) if read.stamps.is_some_and(is_own) => 0,
            Some(read) => read.time,
            None if is_known => 0,
            None => self.policy.count(),
        };
        self.note_access(me, since);
        let &Touch { space, address, bytes, .. } = touch;
        let tag = block.tag.get();
        self.current = Some(Current {
            space,
            tag,
            address,
            bytes,
            source,
            position,
            is_promise,
            serial,
            entry: None,
            before: None,
        });
        Some((version, found))
    }

    /// Returns the write that the current access missed, if it did not read or follow the newest one.
    pub(super) fn take_missed(&mut self) -> Option<Missed> {
        self.missed.take()
    }

    /// Orders the current access in both kinds of clocks. `objects`, `clocks` and `publications` are those of the race
    /// detector, and `stamp` is the access there. `is_first` is true if the access is the first write to its bytes.
    pub(super) fn order(
        &mut self,
        (objects, clocks, publications): (&mut Objects, &mut Clocks, &mut Publications),
        block: &BlockContext,
        touch: &Touch,
        (stamp, is_first): (Stamp, bool),
    ) {
        let &Touch { access, address, .. } = touch;
        let thread = block.thread().linear();
        let resident = &mut self.residents[block.tag.get() as usize];
        let own_clocks = &mut resident.clocks;
        let own = Stamp::new(own_clocks.block, thread, own_clocks.epoch(thread), stamp.site(), TAG);
        let (own_objects, locations) = match touch.space {
            Space::Global => (&mut self.objects, &mut self.locations),
            Space::Shared => (&mut resident.objects, &mut resident.locations),
        };
        let promise = self.current.as_ref().filter(|current| current.is_promise && access.reads());
        let promise = promise.and_then(|_| self.promises.outstanding());
        if let Some(promise) = promise
            && locations.get_mut(address).is_none()
        {
            // The value before is known when the access reads it.
            let mut before = Entry::initial(0, [objects.held(address), own_objects.held(address)]);
            before.is_unset = true;
            locations.add(address, touch.bytes, Some(before), promise.entry());
        }
        let mut location = self.current.as_ref().and_then(|_| locations.get_mut(address));
        let source = self.current.as_ref().map_or(0, |current| current.source);
        let is_at_end = match (&self.current, &location) {
            (Some(current), Some(location)) if access.reads() => current.source == location.last(),
            (Some(current), Some(location)) => current.position > location.last(),
            _ => true,
        };
        let is_new = access.writes() && location.is_none() && !is_first;
        let before = if is_at_end && !is_new { None } else { Some([objects.held(address), own_objects.held(address)]) };
        if let Some(location) = &location
            && access.reads()
            && !is_at_end
        {
            let [held, own_held] = promise.map_or(&location.entries[source].held, |promise| &promise.held);
            objects.replace_held(address, held.clone());
            own_objects.replace_held(address, own_held.clone());
        }
        if let Some(location) = &mut location
            && access.reads()
        {
            let past = Past { clocks: own_clocks, publications: &self.publications, block: own_clocks.block, thread };
            location.entries[source].observe(&own, &past);
        }
        objects.order(clocks, publications, thread, address, access);
        own_objects.order(own_clocks, &mut self.publications, thread, address, access);
        if let Some(current) = &mut self.current
            && access.writes()
        {
            let held = [objects.held(address), own_objects.held(address)];
            let mut entry = Entry::new(current.serial, [stamp, own], held, access.reads());
            entry.time = self.policy.count();
            current.entry = Some(entry);
            current.before = before.clone().filter(|_| is_new);
        }
        if !is_at_end && let Some([held, own_held]) = before {
            objects.replace_held(address, held);
            own_objects.replace_held(address, own_held);
        }
        self.note_use_of_promise(block, touch);
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
        locations.remove_overlapping(touch.address, touch.bytes);
    }

    fn locations(&mut self, space: Space, tag: u32) -> &mut Locations {
        match space {
            Space::Global => &mut self.locations,
            Space::Shared => &mut self.residents[tag as usize].locations,
        }
    }

    /// Returns the value that the current access reads. `newest` is the value in memory.
    pub(super) fn value_read(&mut self, newest: Value) -> Value {
        let Some(&Current { space, tag, address, source, .. }) = self.current.as_ref() else { return newest };
        let locations = self.locations(space, tag);
        let Some(location) = locations.get_mut(address) else { return newest };
        if let Some(first) = location.entries.front_mut().filter(|first| first.is_unset) {
            (first.value, first.is_unset) = (newest, false);
        }
        if location.value_in_memory().is_some_and(|value| value != newest) {
            // Code that the checker does not observe has written the memory.
            locations.remove_overlapping(address, 1);
            return newest;
        }
        location.entries.get(source).map_or(newest, |entry| entry.value)
    }

    /// Adds the write of the current access to the history of its location. Returns true if memory takes its value.
    pub(super) fn value_written(&mut self, block: &BlockContext, old: Value, new: Value) -> bool {
        let Some(Current { space, tag, address, bytes, position, is_promise, entry: Some(mut entry), before, .. }) =
            self.current.take()
        else {
            return true;
        };
        entry.value = new;
        if is_promise {
            self.fulfil(new, &entry.held);
        } else if !entry.is_update && self.policy.is_exhaustive() {
            self.note_store(block, (space, address, bytes), new);
        }
        let locations = self.locations(space, tag);
        match locations.get_mut(address) {
            Some(location) if location.value_in_memory() == Some(old) => {
                let is_last = position > location.last();
                if is_promise {
                    location.fulfil(position, entry);
                } else {
                    location.insert(position, entry);
                }
                is_last
            }
            _ => {
                locations.add(address, bytes, before.map(|held| Entry::initial(old, held)), entry);
                true
            }
        }
    }
}
