//! The shadow of global memory: the earlier accesses to each byte, and the initialised bytes.

use std::cell::Cell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cells::Cells;
use super::shadow::{self, Conflict, Finding, Toucher};
use super::stamp::Stamp;
use crate::memory_map::{MemoryMap, Written};
use crate::region::Region;
use crate::watch::Touch;

/// The size of a page of shadowed global memory in bytes.
const PAGE: usize = 4096;
/// The size of a cache of recently accessed pages. The lowest bits of a page's number are its index in the cache.
const RECENT: usize = 64;
/// The maximum number of pages of shadow memory that an OS thread keeps for later launches.
const MAX_SPARE_PAGES: usize = 2048;

thread_local! {
    /// The shadow memory of earlier launches, which later launches reuse.
    static SPARE: Cell<Vec<Vec<shadow::Cell>>> = const { Cell::new(Vec::new()) };
}

struct Page {
    cells: Option<Cells>,
    /// The allocations in the page that had uninitialised bytes when the launch first accessed the page.
    fresh: Vec<Arc<Written>>,
    /// The bytes of the page that the launch may write: all, some or none.
    writable: Writable,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writable {
    All,
    None,
    Some,
}

/// The shadow of global memory during a launch.
pub(super) struct Global {
    pages: Vec<Page>,
    numbers: FxHashMap<usize, u32>,
    recent: [(usize, u32); RECENT],
    spare: Vec<Vec<shadow::Cell>>,
    memory: MemoryMap,
    /// The memory that the launch may write, if known, as ordered ranges of start and end addresses.
    writable: Option<Vec<(usize, usize)>>,
    /// The start and end addresses of all regions that the launch declares.
    shown: Vec<(usize, usize)>,
}

impl Global {
    pub(super) fn new(regions: &[Region], memory: MemoryMap) -> Self {
        Self {
            pages: Vec::new(),
            numbers: FxHashMap::default(),
            recent: [(usize::MAX, 0); RECENT],
            spare: SPARE.try_with(Cell::take).unwrap_or_default(),
            memory,
            writable: (!regions.is_empty()).then(|| writable(regions)),
            shown: regions.iter().map(|region| (region.start, region.start.saturating_add(region.bytes))).collect(),
        }
    }

    /// Checks an access to global memory and records it. Returns false for a read of memory that the launch cannot
    /// write, which is not recorded.
    #[inline]
    pub(super) fn touch(&mut self, touch: &Touch, toucher: &mut Toucher<'_>) -> Result<bool, Finding> {
        let &Touch { access, address, bytes, .. } = touch;
        let number = address / PAGE;
        let index = match self.recent[number % RECENT] {
            (recent, index) if recent == number => index,
            _ => self.find(number),
        };
        let page = &mut self.pages[index as usize];
        if !page.fresh.is_empty() {
            toucher.initialises = page.note(touch, toucher.uses(access))?;
        }
        if page.writable != Writable::All && !access.writes() {
            let is_constant = || match &self.writable {
                Some(writable) => !writable.iter().any(|&(start, end)| start < address + bytes && address < end),
                None => false,
            };
            if page.writable == Writable::None || is_constant() {
                return Ok(false);
            }
        }
        let cells = page.cells.get_or_insert_with(|| Cells::new(PAGE, bytes, self.spare.pop().unwrap_or_default()));
        let race = |conflict: Conflict| Finding::Race(conflict);
        cells.touch(toucher, access, address % PAGE, bytes, address).map_err(race)?;
        Ok(true)
    }

    /// Returns a write to the accessed bytes for which `is` is true.
    pub(super) fn find_write(&self, touch: &Touch, is: impl Fn(&Stamp) -> bool) -> Option<Conflict> {
        let &index = self.numbers.get(&(touch.address / PAGE))?;
        let cells = self.pages[index as usize].cells.as_ref()?;
        let (with, distance) = cells.find_write((touch.address % PAGE, touch.bytes), is)?;
        Some(Conflict { with, address: touch.address + distance })
    }

    #[cold]
    fn find(&mut self, number: usize) -> u32 {
        let index = match self.numbers.get(&number) {
            Some(&index) => index,
            None => {
                let index = self.pages.len() as u32;
                self.pages.push(self.page(number * PAGE));
                self.numbers.insert(number, index);
                index
            }
        };
        self.recent[number % RECENT] = (number, index);
        index
    }

    /// Makes the shadow of the page that begins at the address `start`.
    fn page(&self, start: usize) -> Page {
        let end = start.saturating_add(PAGE);
        let writable = match &self.writable {
            None => Writable::All,
            Some(writable) if writable.iter().any(|&(first, last)| first <= start && end <= last) => Writable::All,
            Some(writable) if writable.iter().any(|&(first, last)| first < end && start < last) => Writable::Some,
            // Memory outside of all regions can be accessed only through pointers. It counts as writable.
            Some(_) if !self.shown.iter().any(|&(first, last)| first < end && start < last) => Writable::All,
            Some(_) => Writable::None,
        };
        let mut fresh = self.memory.overlapping(start, PAGE);
        fresh.retain(|written| !written.is_all_set(start, PAGE));
        Page { cells: None, fresh, writable }
    }
}

impl Page {
    /// Marks the bytes of a write as initialised. `is_used` is true if the access uses the old bytes, which must then
    /// be initialised. Returns true if the access is the first atomic write to any of its bytes.
    ///
    /// # Errors
    /// [`Finding::Uninitialised`] if the access uses a byte that is not initialised.
    #[inline]
    fn note(&mut self, touch: &Touch, is_used: bool) -> Result<bool, Finding> {
        let &Touch { access, address, bytes, .. } = touch;
        let mut is_first = false;
        for written in &self.fresh {
            if written.contains(address) {
                if is_used && !written.is_access_set(address, bytes) {
                    return Err(Finding::Uninitialised { address, since: None });
                }
                if access.writes() {
                    is_first |= access.is_atomic() && !written.is_access_set(address, bytes);
                    written.set_access(address, bytes);
                }
            }
        }
        Ok(is_first)
    }
}

impl Drop for Global {
    fn drop(&mut self) {
        let mut spare = std::mem::take(&mut self.spare);
        let used = self.pages.drain(..).filter_map(|page| page.cells.map(Cells::into_memory));
        spare.extend(used);
        spare.truncate(MAX_SPARE_PAGES);
        // If the OS thread is about to end, the pages are dropped.
        let _ending = SPARE.try_with(|retained| retained.set(spare));
    }
}

/// Returns the ranges of addresses of the writable `regions`, ordered and merged where they touch.
fn writable(regions: &[Region]) -> Vec<(usize, usize)> {
    let writable = regions.iter().filter(|region| region.is_writable && region.bytes > 0);
    let mut all: Vec<_> = writable.map(|region| (region.start, region.start.saturating_add(region.bytes))).collect();
    all.sort_unstable();
    all.dedup_by(|next, before| {
        let meets = next.0 <= before.1;
        if meets {
            before.1 = before.1.max(next.1);
        }
        meets
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writable_regions_are_joined() {
        let region = |start, bytes, is_writable| Region { name: "", start, bytes, element: 4, is_writable };
        let regions = [
            region(100, 10, true),
            region(0, 50, false),
            region(105, 20, true),
            region(30, 8, true),
            region(7, 0, true),
        ];
        assert_eq!(writable(&regions), [(30, 38), (100, 125)]);
    }
}
