//! Makes the atomic accesses: reads a write from the history of a location, and adds one to it.

use std::collections::VecDeque;

use super::location::{Entry, Location};
use super::{Missed, TAG, Weak, is_tracked};
use crate::block::context::BlockContext;
use crate::check::clock::Clocks;
use crate::check::history::{Past, Serial, Version};
use crate::check::stamp::Stamp;
use crate::check::sync::{Held, Objects, Publications};
use crate::region::Space;
use crate::watch::{Touch, Value};

/// An atomic access between its check and the exchange of its value.
pub(super) struct Current {
    space: Space,
    tag: u32,
    address: usize,
    bytes: usize,
    source: usize,
    /// The index at which the access inserts its write.
    position: usize,
    /// True if the access is a load that reads a promise, or a store that fulfils one.
    pub(super) is_promise: bool,
    serial: Serial,
    /// The new entry of a write, without its value.
    entry: Option<Entry>,
    /// The clocks of the value before the first write to the location. `None` if that value is uninitialised.
    before: Option<[Held; 2]>,
}

impl Weak {
    /// Begins an atomic access of the current thread, as [`must_wait`](Self::must_wait) has chosen. Returns the writes
    /// that the access reads and makes, and the access that wrote the value that it reads.
    pub(in crate::check) fn begin(&mut self, block: &BlockContext, touch: &Touch) -> Option<(Version, Option<Stamp>)> {
        (self.current, self.missed) = (None, None);
        if self.is_remote || !is_tracked(touch.access) {
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
        self.missed = missed.and_then(|entry| Some(Missed { other: entry.stamps?[0], is_early: false }));
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
        if is_promise && writes {
            self.missed = self.early_load();
        }
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
    pub(in crate::check) fn take_missed(&mut self) -> Option<Missed> {
        self.missed.take()
    }

    /// Orders the current access in both kinds of clocks. `objects`, `clocks` and `publications` are those of the race
    /// detector, and `stamp` is the access there. `is_first` is true if the access is the first write to its bytes.
    pub(in crate::check) fn order(
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
        self.note_use_of_promise(block, touch, stamp);
    }

    /// Returns the value that the current access reads. `newest` is the value in memory.
    pub(in crate::check) fn value_read(&mut self, newest: Value) -> Value {
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
    pub(in crate::check) fn value_written(&mut self, block: &BlockContext, old: Value, new: Value) -> bool {
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
