//! Gives each source site a number, which takes less memory than the address of a `Location`.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::stamp::Stamp;
use crate::source::Line;
use crate::watch::Access;

/// The size of a cache of recently used sites, by hash key.
const RECENT: usize = 256;

/// A source site and the kind of access that is made there.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) at: Line,
    pub(super) access: Access,
    /// The width of the access in bytes if it is atomic, otherwise 0.
    pub(super) bytes: usize,
}

/// The source sites at which the launch has accessed memory so far.
pub(super) struct Sites {
    all: Vec<Site>,
    /// For each site that stores to an address: the site at which the same thread loaded from this address before. Each
    /// element is the number of the load's site plus 1, or 0 if there was no such load.
    loads: Vec<Cell<u32>>,
    numbers: FxHashMap<usize, u32>,
    recent: Box<[(usize, u32); RECENT]>,
    /// The number of blocks per cluster.
    cluster_blocks: u32,
}

impl Sites {
    /// Makes an empty list for a launch with `cluster_blocks` blocks per cluster.
    pub(super) fn new(cluster_blocks: u32) -> Self {
        let recent = Box::new([(0, 0); RECENT]);
        Self { all: Vec::new(), loads: Vec::new(), numbers: FxHashMap::default(), recent, cluster_blocks }
    }

    /// Returns true if the blocks with these numbers are in one cluster.
    pub(super) fn are_of_cluster(&self, blocks: [u32; 2]) -> bool {
        blocks[0] / self.cluster_blocks == blocks[1] / self.cluster_blocks
    }

    /// Returns the site with the number `number`.
    pub(super) fn get(&self, number: u32) -> Site {
        self.all[number as usize]
    }

    /// Records that a thread stores to an address from which it has loaded before. `store` and `load` are the numbers
    /// of the two source sites.
    #[inline]
    pub(super) fn note_update(&self, store: u32, load: u32) {
        if let Some(noted) = self.loads.get(store as usize) {
            noted.set(load + 1);
        }
    }

    /// Returns true if a thread has stored at the site `store` to an address from which it had loaded before by a plain
    /// load.
    pub(super) fn updates(&self, store: Site) -> bool {
        let number = self.numbers.get(&key(store.at, store.access, store.bytes));
        let noted = number.and_then(|&number| self.loads.get(number as usize)).map_or(0, Cell::get);
        noted != 0 && self.get(noted - 1).access == Access::Load
    }

    /// Returns true if a thread has stored at the site `store` to an address from which it had loaded at the site
    /// `load`.
    pub(super) fn is_update(&self, store: Site, load: Site) -> bool {
        let number = |site: Site| self.numbers.get(&key(site.at, site.access, site.bytes)).copied();
        let (Some(store), Some(load)) = (number(store), number(load)) else { return false };
        self.loads.get(store as usize).is_some_and(|noted| noted.get() == load + 1)
    }

    /// Returns the number of a site. The fields of the site are separate parameters, so that they stay in registers.
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
            // If there are more sites than numbers, the last number is reused for each new site.
            self.all.truncate(Stamp::SITES as usize - 1);
            self.all.push(Site { at, access, bytes });
            self.loads.resize(self.all.len(), Cell::new(0));
            self.all.len() as u32 - 1
        });
        self.recent[slot(key)] = (key, number);
        number
    }
}

/// Returns the hash key of a site. `Location`s are aligned to 8 bytes and lie below 2⁵⁶, so doubling the address leaves
/// four bits for the kind of access.
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
    let scope = if access.is_for_cluster() { 11 } else { 8 * usize::from(access.is_for_block()) };
    match access {
        Access::Load => 0,
        Access::Store => 1,
        Access::AtomicLoad(..) => 2 + scope,
        Access::AtomicStore(..) => 3 + scope,
        Access::Update(_) => 4 + scope,
        Access::Discard => 5,
        Access::Arrive => 6,
        Access::Fill => 7,
        Access::Borrow => 8,
        Access::ReadOnlyLoad => 9,
        // No width reaches the highest bit.
        Access::AsyncRead => 1 << 63,
        Access::AsyncWrite => 1 << 63 | 1,
        Access::ProductRead => 1 << 63 | 2,
    }
}
