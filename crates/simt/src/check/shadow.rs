//! The shadow of memory: for every few bytes, the earlier accesses with which a later access could race.
//!
//! Memory is divided into pages, and pages into cells. All cells of a page have the size of its narrowest access. Every
//! access therefore covers whole cells, and neighbours that are accessed separately never share a cell.

mod atomics;

use super::history::{Group, History, Past, Version};
use super::sites::Sites;
use super::stamp::Stamp;
use crate::watch::Access;

/// The tag of a [`Stamp`] that stands for no access.
pub(super) const NONE: u32 = 0;
/// The tag of a plain write, or of plain reads by one or several threads.
pub(super) const PLAIN: u32 = 1;
/// The tag of the last atomic write.
const ATOMIC: u32 = 2;
/// The tag of a history. The number of the history is stored in place of the block.
pub(super) const HISTORY: u32 = 3;
/// The tag of a plain read that no thread can ever have in its past. This read subsumes all later reads, because a
/// write that races with a later read also races with this read.
const UNPUBLISHED: u32 = 4;

const EMPTY: Stamp = Stamp::new(0, 0, 0, 0, NONE);

/// An earlier access that races with the current one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub(super) with: Stamp,
    /// The address of the cell of memory on which the accesses race.
    pub(super) address: usize,
}

/// An error that the checker finds in an access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Finding {
    Race(Conflict),
    /// An atomic read of memory that was uninitialised before the launch. Nothing orders the read after the first
    /// atomic write to this memory.
    Early(Conflict),
    /// A read of uninitialised bytes from `address` on. `since` is the last write to them, if known, such as the
    /// beginning of an asynchronous copy.
    Uninitialised {
        address: usize,
        since: Option<Stamp>,
    },
    /// A write by a thread that precedes the access of an asynchronous operation without a proxy fence.
    Unfenced(Conflict),
    /// An access to global memory by a thread that has not waited for the previous launches.
    BeforeDependencies,
}

/// The accesses to a cell, which is a few bytes of memory.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    /// The last plain write to the cell, if any.
    pub(super) write: Stamp,
    /// The accesses after the last plain write: none, plain reads, one atomic write, or a history.
    pub(super) since: Stamp,
    /// The mask of the threads that made the plain reads in `since`.
    threads: u64,
}

pub(super) const FRESH: Cell = Cell { write: EMPTY, since: EMPTY, threads: 0 };

/// The access histories of cells. Each has a number.
#[derive(Default)]
pub(super) struct Histories {
    all: Vec<History>,
    free: Vec<u32>,
}

impl Histories {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.all.push(History::default());
            self.all.len() as u32 - 1
        })
    }

    fn give_back(&mut self, number: u32) {
        self.all[number as usize].clear();
        self.free.push(number);
    }

    pub(super) fn copy(&mut self, number: u32) -> u32 {
        let copy = self.take();
        self.all[copy as usize] = self.all[number as usize].clone();
        copy
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
    }
}

/// The state of an access while the checker compares it with the earlier accesses to its cells.
pub(super) struct Toucher<'a> {
    pub(super) past: Past<'a>,
    pub(super) stamp: Stamp,
    pub(super) histories: &'a mut Histories,
    /// Set to true if this access is a plain write to a cell that atomics have written.
    pub(super) overwrites_atomic: bool,
    /// The source sites of the launch, which record the scope and the width of earlier atomics.
    pub(super) sites: &'a Sites,
    /// True if the launch has made atomic accesses of block scope.
    pub(super) has_narrow: bool,
    /// True if the cell's page may have atomic accesses of several widths.
    pub(super) is_mixed: bool,
    /// True if the kernel ignores the value that an atomic update returns.
    pub(super) is_unused: bool,
    /// The atomic write whose value this access reads. Set only if this access is atomic.
    pub(super) found: Option<Stamp>,
    /// Set to true if this access is an atomic write and the first write to any of its bytes.
    pub(super) initialises: bool,
    /// In a launch that explores weak memory, the atomic writes that this access reads and makes.
    pub(super) version: Option<Version>,
}

/// Returns true if the bytes of `access` must be initialised. `is_unused` is true if the kernel ignores the value that
/// an atomic update returns.
#[inline(always)]
pub(super) fn uses(access: Access, is_unused: bool) -> bool {
    access.reads() && !(is_unused && matches!(access, Access::Update(_)))
}

impl<'a> Toucher<'a> {
    pub(super) fn new(
        (past, stamp): (Past<'a>, Stamp),
        histories: &'a mut Histories,
        sites: &'a Sites,
        is_unused: bool,
    ) -> Self {
        Self {
            past,
            stamp,
            histories,
            overwrites_atomic: false,
            sites,
            has_narrow: false,
            is_mixed: false,
            is_unused,
            found: None,
            initialises: false,
            version: None,
        }
    }
}

impl Toucher<'_> {
    /// Returns true if the bytes of `access` must be initialised.
    #[inline(always)]
    pub(super) fn uses(&self, access: Access) -> bool {
        uses(access, self.is_unused)
    }

    /// Checks `access` to `cell` and records it.
    #[inline(always)]
    pub(super) fn touch(&mut self, cell: &mut Cell, access: Access) -> Result<(), Stamp> {
        match access {
            Access::Load | Access::AsyncRead | Access::ProductRead => self.load(cell),
            Access::ReadOnlyLoad => self.load_unwritten(cell),
            Access::Store | Access::Borrow | Access::Fill | Access::AsyncWrite => self.store(cell),
            // Recorded even after a store in the same epoch, because it undoes that store.
            Access::Discard => self.store_anew(cell),
            Access::AtomicLoad(..) => self.atomic_load(cell),
            Access::AtomicStore(..) => self.atomic_write(cell, false),
            Access::Update(_) | Access::Arrive => self.atomic_write(cell, true),
        }
    }

    #[inline(always)]
    fn check(&self, earlier: &Stamp) -> Result<(), Stamp> {
        let is_over = earlier.block == self.past.block && earlier.epoch < self.past.clocks.base();
        if is_over || self.past.has_stamp(earlier) { Ok(()) } else { Err(*earlier) }
    }

    #[inline(always)]
    fn check_write(&self, cell: &Cell) -> Result<(), Stamp> {
        if cell.write.tag() == NONE { Ok(()) } else { self.check(&cell.write) }
    }

    /// Returns a plain read of `cell` that is not in the past of the current thread. The cell must have no history.
    #[inline(always)]
    fn read_outside(&self, cell: &Cell) -> Option<Stamp> {
        Group { stamp: cell.since, threads: cell.threads }.first_outside(&self.past)
    }

    #[inline(always)]
    fn load(&mut self, cell: &mut Cell) -> Result<(), Stamp> {
        let stamp = self.stamp;
        if cell.since.tag() == PLAIN && cell.since.is_of_set(&stamp) {
            if cell.threads & stamp.bit() != 0 {
                return Ok(());
            }
            if cell.since.is_like(&stamp) {
                self.check_write(cell)?;
                cell.threads |= stamp.bit();
                return Ok(());
            }
        }
        match cell.since.tag() {
            NONE => {}
            PLAIN if cell.since.block == stamp.block && cell.since.epoch < self.past.clocks.base() => {}
            _ => return self.load_after_others(cell),
        }
        self.check_write(cell)?;
        (cell.since, cell.threads) = (stamp, stamp.bit());
        Ok(())
    }

    /// Records a load of a cell that the launch must not write.
    #[inline(never)]
    fn load_unwritten(&mut self, cell: &mut Cell) -> Result<(), Stamp> {
        if cell.write.tag() != NONE {
            return Err(cell.write);
        }
        self.atomic_write_in(cell).map_or(Ok(()), Err)?;
        self.load(cell)
    }

    #[inline(never)]
    fn load_after_others(&mut self, cell: &mut Cell) -> Result<(), Stamp> {
        let Self { past, stamp, .. } = *self;
        match cell.since.tag() {
            UNPUBLISHED => return self.check_write(cell),
            HISTORY => {
                if self.histories.all[cell.since.block as usize].reads.is_last(&stamp) {
                    return Ok(());
                }
                self.check_write(cell)?;
                let history = &mut self.histories.all[cell.since.block as usize];
                if history.is_plain() && history.reads.add_like_last(&stamp) {
                    return Ok(());
                }
            }
            PLAIN => {
                self.check_write(cell)?;
                if past.is_unpublished(&cell.since) {
                    cell.since = cell.since.with_tag(UNPUBLISHED);
                    return Ok(());
                }
                if self.read_outside(cell).is_none() {
                    (cell.since, cell.threads) = (stamp, stamp.bit());
                    return Ok(());
                }
            }
            _ => self.check_write(cell)?,
        }
        let history = self.history(cell);
        if let Some(earlier) = history.atomic_write_outside(&past) {
            return Err(earlier);
        }
        history.reads.add(&stamp, &past);
        if let Some(unpublished) = history.reads.unpublished()
            && history.is_plain()
        {
            self.histories.give_back(cell.since.block);
            cell.since = unpublished.with_tag(UNPUBLISHED);
        }
        Ok(())
    }

    #[inline(always)]
    fn store(&mut self, cell: &mut Cell) -> Result<(), Stamp> {
        if cell.since.tag() == NONE && cell.write.tag() != NONE && cell.write.is_same_epoch(&self.stamp) {
            return Ok(());
        }
        self.store_anew(cell)
    }

    #[inline(always)]
    fn store_anew(&mut self, cell: &mut Cell) -> Result<(), Stamp> {
        self.check_write(cell)?;
        match cell.since.tag() {
            NONE => {}
            PLAIN => {
                if cell.since.is_of_set(&self.stamp) && cell.threads & self.stamp.bit() != 0 {
                    self.sites.note_update(self.stamp.site(), cell.since.site());
                }
                self.read_outside(cell).map_or(Ok(()), Err)?;
            }
            _ => self.store_after_others(cell.since)?,
        }
        (cell.write, cell.since) = (self.stamp, EMPTY);
        Ok(())
    }

    #[inline(never)]
    fn store_after_others(&mut self, since: Stamp) -> Result<(), Stamp> {
        if since.tag() == UNPUBLISHED {
            return Err(since);
        }
        self.note_own_atomic(since);
        if since.tag() == ATOMIC {
            self.overwrites_atomic = true;
            return self.check(&since);
        }
        let history = &self.histories.all[since.block as usize];
        let earlier = history.reads.first_outside(&self.past);
        let earlier = earlier.or_else(|| history.atomic_write_outside(&self.past));
        if let Some(earlier) = earlier.or_else(|| history.atomic_read_outside(&self.past)) {
            if let Some(own) = history.reads.of_same(&self.stamp) {
                self.sites.note_update(self.stamp.site(), own.site());
            }
            return Err(earlier);
        }
        self.overwrites_atomic |= history.has_atomic_writes();
        self.histories.give_back(since.block);
        Ok(())
    }

    /// Returns the history of `cell`. If the cell has none, makes one from the cell's accesses so far.
    fn history(&mut self, cell: &mut Cell) -> &mut History {
        let since = cell.since;
        if since.tag() != HISTORY {
            let number = self.histories.take();
            let history = &mut self.histories.all[number as usize];
            match since.tag() {
                PLAIN => history.reads.push(Group { stamp: since, threads: cell.threads }),
                ATOMIC => history.begin_with_write(&since),
                _ => {}
            }
            cell.since = Stamp::new(number, 0, 0, 0, HISTORY);
        }
        &mut self.histories.all[cell.since.block as usize]
    }
}
