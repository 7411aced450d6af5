//! Memory that is closed: whose pages nobody may access.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::allocation::PAGE;
use crate::block::arena::{Arena, LIMIT};
use crate::raw::known::{self, Known};
use crate::region::Region;

/// Whether a fault leads to a handler that can have one step made.
pub(super) const IS_SUPPORTED: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Whether a debugger follows the process.
pub(super) fn is_traced() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter_map(|line| line.strip_prefix("TracerPid:")).any(|tracer| tracer.trim() != "0")
}

/// Arrays that may be closed at one time in the process. Others are never.
const MOST: usize = 256;

/// What is closed, in all launches of the process: the first byte, or 0, and the number of bytes. A fault there may be
/// of an OS thread that has nothing to do with the launch.
static ALL: [[AtomicUsize; 2]; MOST] = [const { [AtomicUsize::new(0), AtomicUsize::new(0)] }; MOST];

/// The pages of an array that a launch was given, or of a block's shared memory.
#[derive(Debug)]
pub(super) struct Closed {
    start: usize,
    bytes: usize,
    slot: &'static [AtomicUsize; 2],
    /// Whether it is to stay open.
    pub(super) is_let_go: Cell<bool>,
}

impl Closed {
    /// Adds those of `regions` that are in allocations which have pages of their own. Of those that overlap, the first.
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

    /// Adds all of a block's shared memory, if it is not among them.
    pub(super) fn add_shared(all: &mut Vec<Self>, arena: &Arena) {
        let start = arena.base().addr();
        if !all.iter().any(|array| array.start == start) {
            all.extend(Self::new(start, LIMIT));
        }
    }

    fn new(start: usize, bytes: usize) -> Option<Self> {
        Some(Self { start, bytes: bytes.next_multiple_of(PAGE), slot: take(start)?, is_let_go: Cell::new(false) })
    }

    pub(super) fn has(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    pub(super) fn close(&self) {
        self.slot[1].store(self.bytes, Ordering::SeqCst);
        protect(self.start, self.bytes, false);
    }

    /// Opens it for good.
    pub(super) fn let_go(&self) {
        if !self.is_let_go.replace(true) {
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

/// A place in the list for what begins at `start`.
fn take(start: usize) -> Option<&'static [AtomicUsize; 2]> {
    ALL.iter().find(|slot| slot[0].compare_exchange(0, start, Ordering::SeqCst, Ordering::SeqCst).is_ok())
}

/// In a signal's handler: opens the page of `address` if a launch has closed it. Gives whether one has.
pub(crate) fn pass_on_others(address: usize) -> bool {
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

/// Lets everybody access the pages of `bytes` bytes at `start`, or nobody.
#[cfg(unix)]
fn protect(start: usize, bytes: usize, is_open: bool) {
    let access = if is_open { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
    // SAFETY: the pages are an allocation's own, which was given them for reading and writing; whoever accesses them
    // while they are closed is met by the handler, which opens them. Where the system refuses, they stay as they are.
    unsafe { libc::mprotect(std::ptr::without_provenance_mut(start), bytes, access) };
}

#[cfg(not(unix))]
fn protect(_start: usize, _bytes: usize, _is_open: bool) {}
