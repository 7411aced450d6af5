//! The shadow of a block's shared memory: the earlier accesses to each byte, and the initialised bytes.

use super::cells::Cells;
use super::copies::AsyncCopies;
use super::shadow::{self, Conflict, Finding, Toucher};
use super::stamp::Stamp;
use crate::watch::{Access, Touch};

/// The size of a page of shadowed shared memory in bytes.
const PAGE: usize = 1024;

struct Page {
    cells: Cells,
    /// The initialised bytes of the page, one bit per byte.
    written: [u64; PAGE / 64],
}

/// The shadow of a block's shared memory: the earlier accesses to each byte, by pages.
#[derive(Default)]
pub(super) struct BlockShadow {
    pages: Vec<Option<Page>>,
    spare: Vec<Vec<shadow::Cell>>,
    pub(super) copies: AsyncCopies,
}

impl BlockShadow {
    /// Resets the shadow for another block, whose memory is uninitialised.
    pub(super) fn begin(&mut self) {
        self.copies.clear();
        for page in &mut self.pages {
            self.spare.extend(page.take().map(|page| page.cells.into_memory()));
        }
    }

    /// Checks an access to shared memory and records it.
    #[inline]
    pub(super) fn touch(&mut self, touch: &Touch, toucher: &mut Toucher<'_>) -> Result<(), Finding> {
        let &Touch { access, address, bytes, .. } = touch;
        let number = address / PAGE;
        if !matches!(self.pages.get(number), Some(Some(_))) {
            self.add(number, bytes);
        }
        let Some(Some(page)) = self.pages.get_mut(number) else { return Ok(()) };
        let first = address % PAGE;
        let (word, mask) = (first / 64, (u64::MAX >> (64 - bytes)) << (first % 64));
        let written = page.written[word];
        let has_all = written & mask == mask;
        if (access.is_of_copy() || !has_all)
            && let Some(copy) = self.copies.under_way(address, bytes)
        {
            let is_own = (copy.begin.block, copy.begin.thread()) == (toucher.stamp.block, toucher.stamp.thread());
            // The checker reports a read by the copy's own thread as a read of uninitialised memory, not as a race.
            let is_allowed = is_own && (access == Access::Fill || toucher.uses(access));
            if !is_allowed {
                return Err(Finding::Race(Conflict { with: copy.begin, address }));
            }
        }
        if access.is_of_copy() {
            page.cells.touch(toucher, access, first, bytes, address).map_err(Finding::Race)?;
            if access == Access::Discard {
                self.copies.begin(address, bytes, toucher.stamp, written & mask != 0);
                page.written[word] = written & !mask;
            } else {
                self.copies.end(address, bytes);
                page.written[word] = written | mask;
            }
            return Ok(());
        }
        if !has_all {
            if toucher.uses(access) {
                let unwritten = (!written & mask).trailing_zeros() as usize - first % 64;
                let since = page.cells.last_write(first + unwritten);
                return Err(Finding::Uninitialised { address, since });
            }
            if access.writes() {
                toucher.initialises = access.is_atomic();
                page.written[word] = written | mask;
            }
        }
        page.cells.touch(toucher, access, first, bytes, address).map_err(Finding::Race)
    }

    fn page(&mut self, address: usize) -> Option<&mut Page> {
        self.pages.get_mut(address / PAGE)?.as_mut()
    }

    /// Returns a write to the accessed bytes for which `is` is true.
    pub(super) fn find_write(&self, touch: &Touch, is: impl Fn(&Stamp) -> bool) -> Option<Conflict> {
        let page = self.pages.get(touch.address / PAGE)?.as_ref()?;
        let (with, distance) = page.cells.find_write((touch.address % PAGE, touch.bytes), is)?;
        Some(Conflict { with, address: touch.address + distance })
    }

    /// Returns the number of the site of the last write to any of the words at `addresses`.
    pub(super) fn line_of_write(&mut self, addresses: &[usize]) -> Option<u32> {
        let mut writes = addresses.iter().filter_map(|&address| self.page(address)?.cells.last_write(address % PAGE));
        writes.next().map(|write| write.site())
    }

    /// Replaces the writes of the thread `by` (its block and number) to the words at `addresses` by `stamp`.
    pub(super) fn replace_writes(&mut self, addresses: &[usize], by: (u32, u32), stamp: Stamp) {
        for &address in addresses {
            let Some(page) = self.page(address) else { continue };
            let last = page.cells.last_write(address % PAGE);
            if last.is_some_and(|last| (last.block, last.thread()) == by) {
                page.cells.replace_write(address % PAGE, stamp);
            }
        }
    }

    #[cold]
    fn add(&mut self, number: usize, bytes: usize) {
        if self.pages.len() <= number {
            self.pages.resize_with(number + 1, || None);
        }
        let cells = Cells::new(PAGE, bytes, self.spare.pop().unwrap_or_default());
        self.pages[number] = Some(Page { cells, written: [0; PAGE / 64] });
    }
}
