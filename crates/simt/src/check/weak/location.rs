//! The writes to a location in coherence order.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::check::history::{Accesses, Past, Serial};
use crate::check::stamp::Stamp;
use crate::check::sync::Held;
use crate::raw::notes::HistoryLimit;
use crate::watch::{Touch, Value};

/// The maximum number of locations with a history, in global memory or in the shared memory of a block.
const MAX_LOCATIONS: usize = 1024;
/// The maximum number of writes in the history of a location.
const MAX_WRITES: usize = 16;

/// A write to a location.
pub(super) struct Entry {
    /// The number of the write, in the order of execution. 0 stands for the value before the first atomic write.
    pub(super) serial: Serial,
    pub(super) value: Value,
    /// The access in the race detector's epochs and in those of `weak`. `None` for the value before the first atomic
    /// write.
    pub(super) stamps: Option<[Stamp; 2]>,
    /// The first read of the value by each other thread.
    observers: Accesses,
    /// True if the write belongs to an update that read the write before it.
    pub(super) is_update: bool,
    /// The clocks that a read of the value acquires, for the race detector and for `weak`.
    pub(super) held: [Held; 2],
    /// True if the write is promised and not executed yet.
    pub(super) is_promised: bool,
    /// True for the value before a promise, until the first read of the promise notes it.
    pub(super) is_unset: bool,
    /// The number of choices that the run had made before the write was executed.
    pub(super) time: usize,
}

impl Entry {
    /// Makes the entry of a write, without its value.
    pub(super) fn new(serial: Serial, stamps: [Stamp; 2], held: [Held; 2], is_update: bool) -> Self {
        Self { stamps: Some(stamps), is_update, held, ..Self::promised(serial, 0) }.executed()
    }

    /// Makes the entry of a promised write.
    pub(super) fn promised(serial: Serial, value: Value) -> Self {
        let held = [Held::default(), Held::default()];
        let observers = Accesses::default();
        Self {
            serial,
            value,
            stamps: None,
            observers,
            is_update: false,
            held,
            is_promised: true,
            is_unset: false,
            time: 0,
        }
    }

    fn executed(self) -> Self {
        Self { is_promised: false, ..self }
    }

    /// Makes the entry of the value before the first atomic write.
    pub(super) fn initial(value: Value, held: [Held; 2]) -> Self {
        Self { held, ..Self::promised(0, value) }.executed()
    }

    /// Notes the read `stamp` of the value, by the thread with the past `past`.
    pub(super) fn observe(&mut self, stamp: &Stamp, past: &Past<'_>) {
        let is_own = |[_, own]: [Stamp; 2]| (own.block, own.thread()) == (stamp.block, stamp.thread());
        if !self.stamps.is_some_and(is_own) {
            self.observers.add_first(stamp, past);
        }
    }

    /// Returns true if the write precedes the thread with the past `past` in causality order.
    fn is_before(&self, past: &Past<'_>) -> bool {
        let is_known = !self.is_promised && self.stamps.is_none_or(|[_, own]| past.has_stamp(&own));
        is_known || self.observers.has_inside(past)
    }
}

/// A location: the bytes of an atomic access, and the writes to them in coherence order.
pub(super) struct Location {
    bytes: usize,
    pub(super) entries: VecDeque<Entry>,
    /// True if the history lacks a write that precedes the first entry.
    is_truncated: bool,
    /// True if another write could have followed directly on a write that the history lacks.
    has_lost_gap: bool,
    last_executed: Serial,
}

impl Location {
    /// Returns the number of the write to this location that was executed last.
    pub(super) fn last_executed(&self) -> Serial {
        self.last_executed
    }

    /// Returns the index of the last executed write in coherence order. Memory has its value.
    pub(super) fn last(&self) -> usize {
        self.entries.iter().rposition(|entry| !entry.is_promised).unwrap_or_default()
    }

    /// Returns the value in memory, the last executed one in coherence order.
    pub(super) fn value_in_memory(&self) -> Option<Value> {
        self.entries.get(self.last()).map(|entry| entry.value)
    }

    /// Returns the index of the promised write `serial`, if the thread with the past `past` may execute it now.
    pub(super) fn place_of_promise(&self, serial: Serial, past: &Past<'_>) -> Option<usize> {
        let place = self.entries.iter().position(|entry| entry.serial == serial)?;
        self.view(past).is_none_or(|view| view < place).then_some(place)
    }

    /// Replaces the promised write `place` by the executed one.
    pub(super) fn fulfil(&mut self, place: usize, entry: Entry) {
        self.last_executed = entry.serial;
        if let Some(promised) = self.entries.get_mut(place) {
            let observers = std::mem::take(&mut promised.observers);
            *promised = Entry { observers, ..entry };
        }
    }

    /// Returns the number of the last write in coherence order.
    pub(super) fn newest(&self) -> Serial {
        self.entries.back().map_or(0, |last| last.serial)
    }

    /// Returns the index of the latest write that precedes the thread with the past `past` in causality order.
    fn view(&self, past: &Past<'_>) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.is_before(past))
    }

    /// Returns true if an update has read the write `index`. No write can then follow directly.
    fn is_updated(&self, index: usize) -> bool {
        self.entries.get(index + 1).is_some_and(|next| next.is_update)
    }

    /// Returns the indices of the writes that the thread with the past `past` may read, the newest first. An update
    /// cannot read a write that another update has read.
    pub(super) fn sources(&self, past: &Past<'_>, is_update: bool) -> Vec<usize> {
        let last = self.entries.len() - 1;
        // The usual case: all writes are updates.
        if is_update && self.entries.iter().skip(1).all(|entry| entry.is_update) {
            return vec![last];
        }
        let view = self.view(past).unwrap_or(0);
        (view..self.entries.len()).rev().filter(|&index| !(is_update && self.is_updated(index))).collect()
    }

    /// Returns the indices at which the thread with the past `past` may insert a store, the last first.
    pub(super) fn positions(&self, past: &Past<'_>) -> Vec<usize> {
        let first = self.view(past).map_or(usize::from(self.is_truncated), |view| view + 1);
        (first..=self.entries.len()).rev().filter(|&index| index == 0 || !self.is_updated(index - 1)).collect()
    }

    /// Inserts a write. Removes the oldest write if the history has become too long.
    pub(super) fn insert(&mut self, position: usize, entry: Entry) {
        self.last_executed = entry.serial;
        self.entries.insert(position.min(self.entries.len()), entry);
        if self.entries.len() > MAX_WRITES {
            let is_updated = self.is_updated(0);
            let removed = self.entries.pop_front();
            let was_first = !self.is_truncated && removed.is_some_and(|entry| entry.stamps.is_some());
            self.has_lost_gap |= !is_updated || was_first;
            self.is_truncated = true;
        }
    }

    /// Returns true if the thread with the past `past` could have chosen a write that the history lacks: to read it, or
    /// to write directly after it.
    fn is_cut(&self, past: &Past<'_>, writes: bool) -> bool {
        (if writes { self.has_lost_gap } else { self.is_truncated }) && self.view(past).is_none()
    }
}

/// The locations in global memory or in the shared memory of a block, by address.
#[derive(Default)]
pub(super) struct Locations {
    all: FxHashMap<usize, Location>,
    /// The sum of the different widths of the locations, in bytes.
    widths: usize,
    /// The addresses of further locations, which have no history because there are too many. The value is true if
    /// updates alone have written the location: then each of them reads the newest value.
    left_out: FxHashMap<usize, bool>,
}

impl Locations {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.left_out.clear();
        self.widths = 0;
    }

    /// Returns the location of `bytes` bytes at `address`. Removes locations of other widths that overlap it.
    pub(super) fn get(&mut self, address: usize, bytes: usize) -> Option<&Location> {
        if self.widths & !bytes != 0 {
            self.remove_others(address, bytes);
        }
        self.all.get(&address)
    }

    /// Returns the limit because of which the thread with the past `past` has fewer choices for its next access, if
    /// there is one.
    pub(super) fn limit(&self, touch: &Touch, past: &Past<'_>) -> Option<HistoryLimit> {
        let (access, address) = (touch.access, touch.address);
        match self.all.get(&address) {
            Some(location) => location.is_cut(past, access.writes()).then_some(HistoryLimit::Writes(MAX_WRITES)),
            None if self.left_out.is_empty() => None,
            None => {
                let is_update = access.reads() && access.writes();
                let is_left_out = self.left_out.get(&address).is_some_and(|&are_updates| !(are_updates && is_update));
                is_left_out.then_some(HistoryLimit::Words(MAX_LOCATIONS))
            }
        }
    }

    /// Returns true if no location was left out.
    pub(super) fn is_complete(&self) -> bool {
        self.left_out.is_empty()
    }

    pub(super) fn get_mut(&mut self, address: usize) -> Option<&mut Location> {
        self.all.get_mut(&address)
    }

    #[cold]
    fn remove_others(&mut self, address: usize, bytes: usize) {
        if self.all.get(&address).is_none_or(|location| location.bytes != bytes) {
            self.remove_overlapping(address, bytes);
        }
    }

    /// Removes the locations that overlap the `bytes` bytes at `address`.
    pub(super) fn remove_overlapping(&mut self, address: usize, bytes: usize) {
        // The widest location has 16 bytes.
        for start in (address & !15)..address + bytes {
            if self.all.get(&start).is_some_and(|location| start + location.bytes > address) {
                self.all.remove(&start);
            }
        }
    }

    /// Adds a location of `bytes` bytes at `address` with its `first` atomic write, and with the value before, if that
    /// value is initialised. Leaves the location out if there are too many.
    pub(super) fn add(&mut self, address: usize, bytes: usize, before: Option<Entry>, first: Entry) {
        self.remove_overlapping(address, bytes);
        if self.all.len() >= MAX_LOCATIONS {
            *self.left_out.entry(address).or_insert(true) &= first.is_update;
            return;
        }
        self.widths |= bytes;
        let last_executed = first.serial;
        let entries = before.into_iter().chain([first]).collect();
        self.all.insert(address, Location { bytes, entries, is_truncated: false, has_lost_gap: false, last_executed });
    }
}
