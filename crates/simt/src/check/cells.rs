//! The cells of a page of shadow memory. Each cell records the accesses to a few bytes.

use super::shadow::{Cell, Conflict, FRESH, HISTORY, Histories, NONE, Toucher};
use super::stamp::Stamp;
use crate::watch::Access;

/// The cells of a page of shadow memory.
pub(super) struct Cells {
    cells: Vec<Cell>,
    /// The base-2 logarithm of the number of bytes that a cell covers.
    shift: u32,
    /// The width of the last atomic access to the page in bytes, or 0.
    width: usize,
    /// True if atomic accesses of several widths have been made to the page.
    is_mixed: bool,
}

impl Cells {
    /// Makes the cells of a page of `bytes` bytes, for a first access of `width` bytes. Reuses the memory of `cells`.
    pub(super) fn new(bytes: usize, width: usize, mut cells: Vec<Cell>) -> Self {
        let shift = width.trailing_zeros();
        cells.clear();
        cells.resize(bytes >> shift, FRESH);
        Self { cells, shift, width: 0, is_mixed: false }
    }

    pub(super) fn into_memory(self) -> Vec<Cell> {
        self.cells
    }

    /// Returns the last plain write to byte `first` of the page.
    pub(super) fn last_write(&self, first: usize) -> Option<Stamp> {
        let cell = &self.cells[first >> self.shift];
        (cell.write.tag() != NONE).then_some(cell.write)
    }

    /// Returns the first plain write to `bytes` bytes of the page, from byte `first` on, for which `is` is true, and
    /// its distance from that byte.
    pub(super) fn find_write(
        &self,
        (first, bytes): (usize, usize),
        is: impl Fn(&Stamp) -> bool,
    ) -> Option<(Stamp, usize)> {
        let cells = first >> self.shift..(first + bytes).div_ceil(1 << self.shift);
        cells.into_iter().find_map(|index| {
            let write = &self.cells[index].write;
            (write.tag() != NONE && is(write)).then(|| (*write, (index << self.shift).saturating_sub(first)))
        })
    }

    /// Makes `stamp` the plain write to the cell of byte `first`.
    pub(super) fn replace_write(&mut self, first: usize, stamp: Stamp) {
        self.cells[first >> self.shift].write = stamp;
    }

    /// Checks and records `access` to `bytes` bytes of the page. `first` is the offset of the first byte in the page,
    /// and `address` is the address of this byte.
    #[inline]
    pub(super) fn touch(
        &mut self,
        toucher: &mut Toucher<'_>,
        access: Access,
        first: usize,
        bytes: usize,
        address: usize,
    ) -> Result<(), Conflict> {
        if access.is_atomic() {
            if self.width != bytes {
                self.is_mixed |= self.width != 0;
                self.width = bytes;
            }
            toucher.is_mixed = self.is_mixed;
        }
        if bytes >> self.shift == 1 {
            let cell = &mut self.cells[first >> self.shift];
            return toucher.touch(cell, access).map_err(|with| Conflict { with, address });
        }
        self.touch_many(toucher, access, first, bytes, address)
    }

    #[inline(never)]
    fn touch_many(
        &mut self,
        toucher: &mut Toucher<'_>,
        access: Access,
        first: usize,
        bytes: usize,
        address: usize,
    ) -> Result<(), Conflict> {
        if bytes >> self.shift == 0 {
            self.split(bytes.trailing_zeros(), toucher.histories);
        }
        for index in 0..bytes >> self.shift {
            let cell = &mut self.cells[(first >> self.shift) + index];
            let conflict = |with| Conflict { with, address: address + (index << self.shift) };
            toucher.touch(cell, access).map_err(conflict)?;
        }
        Ok(())
    }

    /// Divides each cell into smaller cells. Each smaller cell gets a copy of the history.
    fn split(&mut self, shift: u32, histories: &mut Histories) {
        let parts = 1 << (self.shift - shift);
        let mut cells = Vec::with_capacity(self.cells.len() * parts);
        for &cell in &self.cells {
            cells.push(cell);
            for _ in 1..parts {
                let mut copy = cell;
                if cell.since.tag() == HISTORY {
                    copy.since.block = histories.copy(cell.since.block);
                }
                cells.push(copy);
            }
        }
        (self.cells, self.shift) = (cells, shift);
    }
}
