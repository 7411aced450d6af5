//! Promises: a load reads a store that is executed later, as PTX's memory model allows (load buffering).
//!
//! # Design
//!
//! A schedule with a promise names the load, the store and its value (see `choices`). The load adds the store to the
//! history of its location, where other threads may read it, too. The *writer* has to execute this store later, with
//! this value; this fulfils the promise. A run that does not is discarded: its results and faults do not count.
//!
//! - No value comes out of thin air, because the search takes promises from runs without the load's value. In such a
//!   run the writer came to the store, from the load on, without a read of anything that another thread had done since.
//! - A promise is fulfilled at its place in the coherence order. If the writer has seen that place or a later one, or
//!   the value itself, the run is discarded. So it is if a fence orders the load before the store: the load is an
//!   observer of the store, and observers count as seen.
//! - A reader acquires what the writer has released before the reader's fence or acquiring load. If the writer executes
//!   a fence or a releasing store after that, which the reader would have had to acquire, the run is discarded. In the
//!   model, an execution has an order in which this is not so, because its synchronisation has no cycle.
//! - Barriers and warp operations of the writer's block or of a reader's block must not come between the load and the
//!   store.
//! - A fault that ends the launch before the store does not count, because the store is not certain then. A load that
//!   is executed after the store could have led to the same fault.

use rustc_hash::FxHashMap;

use super::location::Entry;
use super::{Missed, Weak, WeakBlock};
use crate::block::context::BlockContext;
use crate::check::history::{Past, Serial};
use crate::check::stamp::Stamp;
use crate::check::sync::Held;
use crate::check::{Resident, State};
use crate::choices::{LoadMade, Promise, StoreMade, ThreadId};
use crate::memory::Scope;
use crate::region::Space;
use crate::watch::{Access, MemoryOrder, Touch, Value};

/// The maximum number of a promised store among the atomic accesses of its thread, and of a load that reads it. A
/// thread with more accesses usually has loops.
const MAX_ACCESS: u16 = 16;

/// A location: the block if it is in shared memory, and the address.
type Key = (Option<u32>, usize);

/// A thread that has read the promise.
struct Reader {
    tag: u32,
    block: u32,
    thread: u32,
    /// The first read.
    stamp: Stamp,
    /// True if the thread has acquired what the writer had released: by an acquiring load, or a fence after the load.
    has_acquired: bool,
}

/// A promise that a load has read.
pub(super) struct Promised {
    pub(super) promise: Promise,
    space: Space,
    /// The tag of the reader's block.
    tag: u32,
    address: usize,
    key: Key,
    /// The number of the store in the history, before it is executed.
    pub(super) serial: Serial,
    /// The clocks that a read of the promise acquires, for the race detector and for `weak`.
    pub(super) held: [Held; 2],
    readers: Vec<Reader>,
    /// True if the readers have not read `held` yet.
    is_new: bool,
    is_fulfilled: bool,
}

/// The accesses of a thread.
#[derive(Clone, Copy, Default)]
struct ThreadAccesses {
    /// The number of atomic accesses.
    count: u16,
    /// The number of choices before the last event of another thread on which this thread may depend.
    since: usize,
}

/// The promises of a launch, and what is needed to find further ones.
#[derive(Default)]
pub(super) struct Promises {
    promised: Option<Promised>,
    threads: FxHashMap<ThreadId, ThreadAccesses>,
    /// For each block the number of choices before its last barrier or warp operation.
    met: FxHashMap<u32, usize>,
    locations: FxHashMap<Key, u32>,
}

impl Promised {
    /// Returns the entry of the promised write in the history of its location.
    pub(super) fn entry(&self) -> Entry {
        Entry::promised(self.serial, self.promise.value.into())
    }
}

impl Promises {
    /// Returns the promise that is not fulfilled yet.
    pub(super) fn outstanding(&self) -> Option<&Promised> {
        self.promised.as_ref().filter(|promised| !promised.is_fulfilled)
    }

    fn outstanding_mut(&mut self) -> Option<&mut Promised> {
        self.promised.as_mut().filter(|promised| !promised.is_fulfilled)
    }

    /// Returns the number of the promise that the next access of `thread`, a store to `address`, has to fulfil.
    pub(super) fn due(&self, thread: ThreadId, address: (Space, usize)) -> Option<Serial> {
        let promised = self.outstanding().filter(|promised| (promised.space, promised.address) == address)?;
        let is_due = self.count(thread) == promised.promise.access && thread == promised.promise.thread;
        is_due.then_some(promised.serial)
    }

    fn count(&self, thread: ThreadId) -> u16 {
        self.threads.get(&thread).map_or(0, |accesses| accesses.count)
    }

    /// Returns the number of choices before the last event of another thread on which `thread` may depend.
    fn since(&self, thread: ThreadId) -> usize {
        let own = self.threads.get(&thread).map_or(0, |accesses| accesses.since);
        own.max(self.met.get(&thread.0).copied().unwrap_or_default())
    }
}

impl Weak {
    pub(super) fn me(&self, block: &BlockContext) -> ThreadId {
        (self.residents[block.tag.get() as usize].clocks.block, block.thread().linear())
    }

    /// Notes an atomic access of `thread`, which may depend on events of other threads before the choice `since`.
    pub(super) fn note_access(&mut self, thread: ThreadId, since: usize) {
        if self.policy.is_exhaustive() {
            let accesses = self.promises.threads.entry(thread).or_default();
            accesses.count = accesses.count.saturating_add(1);
            accesses.since = accesses.since.max(since);
        }
    }

    fn key(&self, block: &BlockContext, (space, address): (Space, usize)) -> Key {
        ((space == Space::Shared).then_some(self.me(block).0), address)
    }

    /// Returns the number of the location `at` in the run.
    fn location_number(&mut self, block: &BlockContext, at: (Space, usize)) -> u32 {
        let key = self.key(block, at);
        let Self { promises, policy, .. } = self;
        *promises.locations.entry(key).or_insert_with(|| policy.new_location())
    }

    /// Returns the clocks of `weak` that a read of the promise acquires now.
    fn held_now(&self, promised: &Promised) -> Held {
        let objects = match promised.space {
            Space::Global => &self.objects,
            Space::Shared => &self.residents[promised.tag as usize].objects,
        };
        let (block, thread) = promised.promise.thread;
        let writer = self.residents.iter().find(|resident| resident.clocks.block == block);
        writer.map_or_else(Held::default, |writer| objects.relaxed(&writer.clocks, thread, promised.address))
    }

    /// Makes the next choice of a load, if it reads a new promise: adds the promise to the history. `options` is the
    /// number of the other options. Returns the place of the promise in the history.
    pub(super) fn read_promise(&mut self, block: &BlockContext, touch: &Touch, options: usize) -> Option<usize> {
        let (promise, option) = self.policy.promise()?;
        let (key, (number, thread)) = (self.key(block, (touch.space, touch.address)), self.me(block));
        self.policy.choose(usize::from(option) + 1);
        let tag = block.tag.get();
        let WeakBlock { locations: own, clocks, .. } = &mut self.residents[tag as usize];
        let locations = if touch.space == Space::Global { &mut self.locations } else { own };
        let past = Past { clocks, publications: &self.publications, block: number, thread };
        let place = usize::from(option).checked_sub(options).and_then(|position| {
            let places = locations.get(touch.address, touch.bytes).map(|location| location.positions(&past));
            // Without a history, the promise follows the initial value.
            places.unwrap_or(vec![1]).get(position).copied()
        });
        let Some(place) = place.filter(|_| promise.thread != (number, thread)) else {
            self.policy.discard();
            return None;
        };
        self.serial += 1;
        if let Some(location) = locations.get_mut(touch.address) {
            location.entries.insert(place, Entry::promised(self.serial, promise.value.into()));
        }
        self.promises.promised = Some(Promised {
            promise,
            space: touch.space,
            tag,
            address: touch.address,
            key,
            serial: self.serial,
            held: [Held::default(), Held::default()],
            is_new: true,
            readers: Vec::new(),
            is_fulfilled: false,
        });
        Some(place)
    }

    /// Records the next choice, of a load that may read a promise. `options` is the number of the options without a
    /// promise, and `positions` the number of places that the promised store may take.
    pub(super) fn note_load(&mut self, block: &BlockContext, touch: &Touch, options: usize, positions: usize) {
        let thread = self.me(block);
        if touch.bytes <= size_of::<u64>() && self.promises.count(thread) < MAX_ACCESS {
            let location = self.location_number(block, (touch.space, touch.address));
            let (option, positions) = (options as u16, positions as u16);
            self.policy.note_load(|choice| LoadMade { thread, location, choice, option, positions });
        }
    }

    /// Notes that the current access reads or fulfils the promise, or synchronises by its location.
    pub(super) fn note_use_of_promise(&mut self, block: &BlockContext, touch: &Touch, stamp: Stamp) {
        let Some(is_promise) = self.current.as_ref().map(|current| current.is_promise) else { return };
        let (me, tag, key) = (self.me(block), block.tag.get(), self.key(block, (touch.space, touch.address)));
        let Some(promised) = self.promises.outstanding_mut().filter(|promised| promised.key == key) else { return };
        let fulfils = is_promise && touch.access.writes();
        if is_promise && !fulfils && !promised.readers.iter().any(|reader| (reader.block, reader.thread) == me) {
            promised.readers.push(Reader { tag, block: me.0, thread: me.1, stamp, has_acquired: false });
        }
        match touch.access {
            Access::AtomicLoad(MemoryOrder::AcquireRelease, _) => {
                let readers = promised.readers.iter_mut().filter(|reader| (reader.block, reader.thread) == me);
                readers.for_each(|reader| reader.has_acquired = true);
            }
            // An earlier releasing store at the location would also release for the promised one.
            Access::AtomicStore(MemoryOrder::AcquireRelease, _)
                if me == promised.promise.thread
                    && (!fulfils || promised.readers.iter().any(|reader| reader.has_acquired)) =>
            {
                self.policy.discard();
            }
            _ => {}
        }
    }

    /// Notes that the promised store has been executed with `value`. `held` are its clocks.
    pub(super) fn fulfil(&mut self, value: Value, held: &[Held; 2]) {
        if let Some(promised) = self.promises.outstanding_mut() {
            promised.is_fulfilled = true;
            promised.held = held.clone();
            promised.is_new = true;
            if value != promised.promise.value.into() {
                self.policy.discard();
            }
        }
    }

    /// Notes a store that the search may promise in other runs.
    pub(super) fn note_store(
        &mut self,
        block: &BlockContext,
        (space, address, bytes): (Space, usize, usize),
        value: Value,
    ) {
        let thread = self.me(block);
        let access = self.promises.count(thread).saturating_sub(1);
        if let Ok(value) = u64::try_from(value)
            && bytes <= size_of::<u64>()
            && access < MAX_ACCESS
        {
            let location = self.location_number(block, (space, address));
            let promise = Promise { thread, access, value };
            let (at, since) = (self.policy.count(), self.promises.since(thread));
            self.policy.note_store(StoreMade { location, promise, at, since });
        }
    }

    /// Notes a fence of `thread` of `block`. Returns true if readers of a promise must read its new clocks.
    pub(in crate::check) fn note_fence(&mut self, block: u32, thread: u32, scope: Scope) -> bool {
        let Some(promised) = self.promises.outstanding_mut() else { return false };
        let writer = promised.promise.thread;
        let includes = |other: u32| scope != Scope::Block || other == block;
        for reader in promised.readers.iter_mut().filter(|reader| (reader.block, reader.thread) == (block, thread)) {
            reader.has_acquired |= includes(writer.0);
        }
        if writer != (block, thread) {
            return false;
        }
        if promised.readers.iter().any(|reader| reader.has_acquired && includes(reader.block)) {
            self.policy.discard();
        }
        true
    }

    /// Notes a barrier, or an operation of a warp, in the block with `tag`.
    pub(in crate::check) fn note_meeting(&mut self, tag: u32) {
        if !self.policy.is_exhaustive() {
            return;
        }
        let (number, now) = (self.residents[tag as usize].clocks.block, self.policy.count());
        self.promises.met.insert(number, now);
        let is_of_block = |promised: &Promised| {
            promised.promise.thread.0 == number || promised.readers.iter().any(|reader| reader.block == number)
        };
        if self.promises.outstanding().is_some_and(is_of_block) {
            self.policy.discard();
        }
    }

    /// Notes a race at the `bytes` bytes at `address`. The race detector does not know which threads have read a
    /// promise, so that such a race does not count.
    pub(in crate::check) fn note_race(&self, address: usize, bytes: usize) {
        let is_at = |promised: &Promised| (address..address + bytes).contains(&promised.address);
        if self.promises.promised.as_ref().is_some_and(is_at) {
            self.policy.discard();
        }
    }

    /// Notes the end of the launch, by which a promise must be fulfilled.
    pub(in crate::check) fn end(&self) {
        if self.promises.outstanding().is_some() {
            self.policy.discard();
        }
    }

    /// Returns the first load that has read the promise, if the current access fulfils it.
    pub(super) fn early_load(&self) -> Option<Missed> {
        let reader = self.promises.outstanding()?.readers.first()?;
        Some(Missed { other: reader.stamp, is_early: true })
    }
}

impl State {
    /// Gives a new promise the clocks that its writer would release now. If `is_fence` is true, the writer has executed
    /// a fence; if the promise has just been fulfilled, it has its final clocks. Both are for the readers to acquire.
    pub(in crate::check) fn pass_on_promise(&mut self, is_fence: bool) {
        let Self { weak: Some(weak), residents, objects, .. } = self else { return };
        let Some(promised) = weak.promises.promised.as_ref().filter(|promised| promised.is_new || is_fence) else {
            return;
        };
        let (block, thread) = promised.promise.thread;
        let held = if promised.is_fulfilled {
            promised.held.clone()
        } else {
            let writer = residents.iter().find(|resident| resident.clocks.block == block);
            let objects = match promised.space {
                Space::Global => &*objects,
                Space::Shared => &residents[promised.tag as usize].memory.objects,
            };
            let held = |writer: &Resident| objects.relaxed(&writer.clocks, thread, promised.address);
            [writer.map_or_else(Held::default, held), weak.held_now(promised)]
        };
        for reader in &promised.readers {
            let clocks = [&mut residents[reader.tag as usize].clocks, &mut weak.residents[reader.tag as usize].clocks];
            for (clocks, held) in clocks.into_iter().zip(&held) {
                if clocks.block == reader.block {
                    held.read_by(clocks, reader.thread, promised.address);
                }
            }
        }
        if let Some(promised) = &mut weak.promises.promised {
            promised.held = held;
            promised.is_new = false;
        }
    }
}
