//! Numbers for places of the source, which are shorter than their addresses.

use std::cell::Cell;
use std::collections::HashMap;

use super::stamp::Stamp;
use crate::hashing::Hashing;
use crate::source::Line;
use crate::watch::Access;

/// Places that are found without a search.
const RECENT: usize = 256;

/// A place of the source and what it does there.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) at: Line,
    pub(super) access: Access,
    /// The width of an atomic access, else 0.
    pub(super) bytes: usize,
}

/// The places that have been met.
pub(super) struct Sites {
    all: Vec<Site>,
    /// For each place of a store that of the load which the same thread has made from the same address before, and 1; or 0.
    loads: Vec<Cell<u32>>,
    numbers: HashMap<usize, u32, Hashing>,
    recent: Box<[(usize, u32); RECENT]>,
}

impl Sites {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), loads: Vec::new(), numbers: HashMap::default(), recent: Box::new([(0, 0); RECENT]) }
    }

    /// The place with this number.
    pub(super) fn get(&self, number: u32) -> Site {
        self.all[number as usize]
    }

    /// A thread stores at the place `store` to where it has loaded from at `load`.
    #[inline]
    pub(super) fn note_update(&self, store: u32, load: u32) {
        if let Some(noted) = self.loads.get(store as usize) {
            noted.set(load + 1);
        }
    }

    /// Whether a thread has stored at `store` to where it had loaded from at `load`.
    pub(super) fn is_update(&self, store: Site, load: Site) -> bool {
        let number = |site: Site| self.numbers.get(&key(site.at, site.access, site.bytes)).copied();
        let (Some(store), Some(load)) = (number(store), number(load)) else { return false };
        self.loads.get(store as usize).is_some_and(|noted| noted.get() == load + 1)
    }

    /// The number of a place, of which the parts are given, so that they stay in registers.
    #[inline(always)]
    pub(super) fn number(&mut self, at: Line, access: Access, bytes: usize) -> u32 {
        let key = key(at, access, bytes);
        match self.recent[slot(key)] {
            (recent, number) if recent == key => number,
            _ => self.find(key, at, access, bytes),
        }
    }

    #[cold]
    fn find(&mut self, key: usize, at: Line, access: Access, bytes: usize) -> u32 {
        let number = *self.numbers.entry(key).or_insert_with(|| {
            // Should there be more places than numbers, the last number is that of the latest.
            self.all.truncate(Stamp::SITES as usize - 1);
            self.all.push(Site { at, access, bytes });
            self.loads.resize(self.all.len(), Cell::new(0));
            self.all.len() as u32 - 1
        });
        self.recent[slot(key)] = (key, number);
        number
    }
}

/// Places are at multiples of 8, twice which leaves four bits to tell the access, and below 2⁵⁶.
#[inline(always)]
fn key(at: Line, access: Access, bytes: usize) -> usize {
    (2 * std::ptr::from_ref(at).addr()) ^ code(access) ^ (bytes << 58)
}

#[inline(always)]
fn slot(key: usize) -> usize {
    (key ^ (key >> 8)) / 16 % RECENT
}

#[inline(always)]
fn code(access: Access) -> usize {
    match access {
        Access::Load => 0,
        Access::Store => 1,
        Access::AtomicLoad(..) => 2 + 8 * usize::from(access.is_for_block()),
        Access::AtomicStore(..) => 3 + 8 * usize::from(access.is_for_block()),
        Access::Update(_) => 4 + 8 * usize::from(access.is_for_block()),
        Access::Discard => 5,
        Access::Arrive => 6,
        Access::Fill => 7,
    }
}
