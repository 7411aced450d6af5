//! Closed memory: protected pages. Every access to these pages faults.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::allocation::PAGE;
use crate::block::arena::{Arena, LIMIT};
use crate::raw::known::{self, Known};
use crate::region::Region;

/// True if the platform can handle an access to closed memory and can single-step the processor.
pub(super) const IS_SUPPORTED: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Returns true if a debugger traces the process.
pub(super) fn is_traced() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter_map(|line| line.strip_prefix("TracerPid:")).any(|tracer| tracer.trim() != "0")
}

/// The maximum number of arrays that can be closed at a time in the process. Further arrays stay open.
const MAX_CLOSED: usize = 256;

/// The closed memory of all launches of the process. Each entry has the address of the first byte, or 0 if the entry is
/// free, and the number of bytes. The list covers the whole process, because an OS thread outside of the launch may
/// also fault in this memory.
static ALL: [[AtomicUsize; 2]; MAX_CLOSED] = [const { [AtomicUsize::new(0), AtomicUsize::new(0)] }; MAX_CLOSED];

/// Memory that the guard can close: the pages of an array that was passed to a launch, or of a block's shared memory.
#[derive(Debug)]
pub(super) struct Closed {
    start: usize,
    bytes: usize,
    slot: &'static [AtomicUsize; 2],
    /// True if the guard must not close the memory again.
    pub(super) stays_open: Cell<bool>,
}

impl Closed {
    /// Adds to `all` the allocations of those `regions` that share no page with other memory. Adds each allocation
    /// once.
    pub(super) fn add(all: &mut Vec<Self>, regions: &[Region]) {
        for region in regions {
            if region.bytes > 0
                && !all.iter().any(|array| array.has(region.start))
                && let Some(Known::Live(start, bytes)) = known::look_up(region.start)
                && start.is_multiple_of(PAGE)
            {
                all.extend(Self::new(start, bytes));
            }
        }
    }

    /// Adds a block's whole shared memory to `all`, unless it was added before.
    pub(super) fn add_shared(all: &mut Vec<Self>, arena: &Arena) {
        let start = arena.base().addr();
        if !all.iter().any(|array| array.start == start) {
            all.extend(Self::new(start, LIMIT));
        }
    }

    fn new(start: usize, bytes: usize) -> Option<Self> {
        Some(Self { start, bytes: bytes.next_multiple_of(PAGE), slot: take(start)?, stays_open: Cell::new(false) })
    }

    pub(super) fn has(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    pub(super) fn close(&self) {
        self.slot[1].store(self.bytes, Ordering::SeqCst);
        protect(self.start, self.bytes, false);
    }

    /// Opens the memory for the rest of the launch.
    pub(super) fn leave_open(&self) {
        if !self.stays_open.replace(true) {
            self.open();
        }
    }

    pub(super) fn open(&self) {
        protect(self.start, self.bytes, true);
        self.slot[1].store(0, Ordering::SeqCst);
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        self.open();
        self.slot[0].store(0, Ordering::SeqCst);
    }
}

/// Reserves an entry of `ALL` for memory that begins at `start`. Returns `None` if all entries are in use.
fn take(start: usize) -> Option<&'static [AtomicUsize; 2]> {
    ALL.iter().find(|slot| slot[0].compare_exchange(0, start, Ordering::SeqCst, Ordering::SeqCst).is_ok())
}

/// Opens the page of `address` and returns true, if a launch has closed this page. Otherwise returns false. The signal
/// handler calls this function.
pub(crate) fn open_foreign(address: usize) -> bool {
    let is_closed = ALL.iter().any(|[start, bytes]| {
        let start = start.load(Ordering::SeqCst);
        start != 0 && address.wrapping_sub(start) < bytes.load(Ordering::SeqCst)
    });
    if is_closed {
        open_page(page_of(address));
    }
    is_closed
}

pub(super) fn page_of(address: usize) -> usize {
    address / PAGE * PAGE
}

pub(super) fn open_page(page: usize) {
    protect(page, PAGE, true);
}

pub(super) fn close_page(page: usize) {
    protect(page, PAGE, false);
}

/// Opens or closes the pages of `bytes` bytes at `start`.
#[cfg(unix)]
fn protect(start: usize, bytes: usize, is_open: bool) {
    let access = if is_open { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
    // SAFETY: the pages belong to one allocation, which was allocated for reading and writing. An access to them while
    // they are closed reaches the handler, which opens them. If the system refuses the call, they do not change.
    unsafe { libc::mprotect(std::ptr::without_provenance_mut(start), bytes, access) };
}

#[cfg(not(unix))]
fn protect(_start: usize, _bytes: usize, _is_open: bool) {}
