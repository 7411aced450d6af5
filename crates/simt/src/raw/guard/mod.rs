//! Finds accesses to the launch's memory that are not instrumented, by protecting its pages.
//!
//! Marked functions report their accesses through pointers and slices. In a checked launch of a kernel with pointers,
//! the arrays of the launch and the block's shared memory are closed for short times. Each access to them then faults.
//! If the thread has reported the access, it is executed by a single step of the processor, and the array is closed
//! again. Any other access is noted, once per launch and array, and the array stays open from then on.
//!
//! Such a fault takes microseconds. Arrays are therefore closed only for the first accesses after each source site that
//! the launch reaches for the first time. Unreported accesses from there are found then.

mod closed;
pub(crate) mod reported;

use std::cell::{Cell, RefCell};
use std::ptr;

use rustc_hash::FxHashSet;

use self::closed::{Closed, open_foreign};

use crate::block::Block;
use crate::block::arena::Arena;
use crate::current::current;
use crate::grid::Grid;
use crate::on_drop::OnDrop;
use crate::raw::notes::NoteKind;
use crate::region::{self, ArrayPosition, Space};
use crate::source::Line;
use crate::watch::is_watching;

/// The number of accesses that are examined after the launch reaches a source site for the first time.
const ACCESSES: u32 = 8;
/// The maximum number of pages that one instruction accesses: two operands, each of which may cross a page boundary.
const PAGES: usize = 4;

/// An access that was not reported.
#[derive(Clone, Copy, Debug)]
struct Unseen {
    address: usize,
    is_written: bool,
    /// The block's position and the thread's linear index.
    thread: (u64, u32),
    at: Option<Line>,
    array: usize,
}

/// A reported access: the thread as in [`Unseen`], the address and number of bytes, and true if they are written.
type Known = ((u64, u32), (usize, usize), bool);

impl Unseen {
    fn is(&self, (thread, (start, bytes), is_written): Known) -> bool {
        self.thread == thread && self.address.wrapping_sub(start) < bytes && (is_written || !self.is_written)
    }
}

/// Guards the memory of one launch, which runs on one OS thread.
#[derive(Default)]
struct Guard {
    /// True if the kernel has pointers.
    is_on: Cell<bool>,
    /// The arrays that were passed to the launch, and the shared memory of each running block.
    arrays: RefCell<Vec<Closed>>,
    has_arrays: Cell<bool>,
    /// True while the simulator itself accesses memory.
    is_own: Cell<bool>,
    /// The number of accesses that are still examined. The arrays are open if it is 0.
    left: Cell<u32>,
    /// The pages that are open for one step of the processor; 0 for none.
    stepping: [Cell<usize>; PAGES],
    /// The unreported accesses, for as many arrays as one instruction may access.
    unseen: [Cell<Option<Unseen>>; PAGES],
    /// The source sites that the launch has reached.
    places: RefCell<FxHashSet<usize>>,
}

thread_local! {
    /// The guard of the launch that the OS thread runs.
    static GUARD: Cell<*const Guard> = const { Cell::new(ptr::null()) };
}

/// Returns the guard of the launch that the calling OS thread runs, if it is guarded.
#[inline(always)]
fn guard<'a>() -> Option<&'a Guard> {
    // SAFETY: `guarded` resets the pointer before it drops the guard.
    unsafe { GUARD.get().as_ref() }
}

/// Calls `run`, which runs the launch `grid` on the calling OS thread. Guards the launch if the system has the signals
/// for it.
pub(crate) fn guarded<R>(grid: &Grid<'_>, run: impl FnOnce() -> R) -> R {
    let guard = Guard::default();
    let guarding = OnDrop(|| {
        GUARD.set(ptr::null());
        guard.open();
    });
    if closed::IS_SUPPORTED {
        GUARD.set(&raw const guard);
    }
    let result = run();
    drop(guarding);
    guard.settle(grid, None, None);
    result
}

/// Notes that the current thread is about to get a pointer to global memory.
#[inline(always)]
pub fn exposing() {
    if is_watching() {
        turn_on();
    }
}

#[cold]
#[inline(never)]
fn turn_on() {
    if let Some(block) = current()
        && let Some(guard) = guard()
        && !guard.is_on.get()
        && guard.turn_on()
    {
        guard.close(block);
    }
}

/// Notes that the current thread is at `at`, where it uses a pointer or calls a function.
#[inline]
pub(super) fn reach(block: &Block, at: Line) {
    if let Some(guard) = guard()
        && guard.turn_on()
        && guard.places.borrow_mut().insert(ptr::from_ref(at).addr())
    {
        guard.close(block);
    }
}

/// Leaves the array that contains `address` open.
pub(super) fn leave_open(block: &Block, address: usize) {
    if let Some(guard) = guard() {
        guard.find_arrays(block);
        guard.arrays.borrow().iter().filter(|array| array.has(address)).for_each(Closed::leave_open);
    }
}

/// Runs `access`, in which the simulator accesses memory on a simulated thread for itself.
pub(crate) fn exempt<R>(access: impl FnOnce() -> R) -> R {
    let Some(guard) = guard() else { return access() };
    guard.is_own.set(true);
    let result = access();
    guard.is_own.set(false);
    result
}

/// Ends the guarding of a block.
pub(crate) fn end_block(block: &Block) {
    if let Some(guard) = guard() {
        guard.settle(block.grid(), Some(&block.context.arena), None);
    }
}

/// Notes a reported access: the current thread is about to access `bytes` bytes at the host's `address`.
#[inline]
pub(crate) fn report(block: &Block, (address, bytes): (usize, usize), is_written: bool) {
    if let Some(guard) = guard()
        && guard.is_on.get()
    {
        let thread = block.thread().linear();
        guard.settle(
            block.grid(),
            Some(&block.context.arena),
            Some(((block.position(), thread), (address, bytes), is_written)),
        );
        block.reported.note(thread, (address, bytes), is_written);
    }
}

impl Guard {
    /// Turns the guard on. Returns false under a debugger, which would stop at each fault: the launch is then not
    /// guarded.
    fn turn_on(&self) -> bool {
        if !self.is_on.replace(true) && closed::is_traced() {
            GUARD.set(ptr::null());
            return false;
        }
        true
    }

    /// Finds the memory to close: the launch's arrays, once, and the block's shared memory.
    fn find_arrays(&self, block: &Block) {
        let mut arrays = self.arrays.borrow_mut();
        if !self.has_arrays.replace(true) {
            Closed::add(&mut arrays, block.grid().regions);
        }
        Closed::add_shared(&mut arrays, &block.context.arena);
    }

    /// Closes all memory for the next accesses.
    fn close(&self, block: &Block) {
        self.find_arrays(block);
        self.left.set(ACCESSES);
        self.arrays.borrow().iter().filter(|array| !array.stays_open.get()).for_each(Closed::close);
    }

    fn open(&self) {
        self.left.set(0);
        self.arrays.borrow().iter().for_each(Closed::open);
    }

    /// Adds notes for the recorded accesses, outside of the signal handler. An access that the thread reports now gets
    /// no note: the compiler has moved the access before the report.
    fn settle(&self, grid: &Grid<'_>, arena: Option<&Arena>, reported: Option<Known>) {
        for unseen in self.unseen.iter().filter_map(Cell::take) {
            if reported.is_some_and(|reported| unseen.is(reported)) {
                if let Some(array) = self.arrays.borrow().get(unseen.array) {
                    array.stays_open.set(false);
                    if self.left.get() > 0 {
                        array.close();
                    }
                }
                continue;
            }
            let Unseen { address, is_written, at, .. } = unseen;
            if let Some(escaped) = grid.escaped.as_ref().filter(|_| is_written) {
                escaped.count_as_written(grid.regions, address);
            }
            let shared = arena.and_then(|arena| {
                let offset = address.checked_sub(arena.base().addr()).filter(|&offset| offset < arena.len())?;
                Some((Space::Shared, arena.array_at(offset)))
            });
            let (space, array) = match shared {
                Some((space, array)) => (space, array.and_then(|(position, _)| position.named())),
                None => {
                    let position = region::locate(grid.regions, address);
                    (Space::Global, position.and_then(ArrayPosition::named))
                }
            };
            grid.warn(at, NoteKind::Unseen { space, array, is_written });
        }
    }

    /// Handles an access to closed memory at `address`. If it was reported, opens the memory for one step of the
    /// processor, after which [`step`](Self::step) closes it again. Returns true if a step is to follow, and `None` if
    /// the memory is not the guard's.
    ///
    /// Called in a signal handler: it must not allocate or block.
    fn allow_access(&self, block: &Block, address: usize, is_written: bool) -> Option<bool> {
        let arrays = self.arrays.try_borrow().ok()?;
        let index = arrays.iter().position(|array| array.has(address))?;
        let array = &arrays[index];
        let thread = block.thread();
        if self.is_own.get() || block.reported.has(thread.linear(), address, is_written) != Some(false) {
            let page = closed::page_of(address);
            let free = self.stepping.iter().find(|slot| slot.get() == 0);
            if let Some(free) = free
                && self.left.get() > 0
            {
                free.set(page);
                closed::open_page(page);
                return Some(true);
            }
        } else if let Some(free) = self.unseen.iter().find(|slot| slot.get().is_none()) {
            let (at, thread) = (block.seen(thread), (block.position(), thread.linear()));
            free.set(Some(Unseen { address, is_written, thread, at, array: index }));
        }
        array.stays_open.set(true);
        array.open();
        Some(self.is_stepping())
    }

    fn is_stepping(&self) -> bool {
        self.stepping.iter().any(|slot| slot.get() != 0)
    }

    /// Closes the memory again after a step. Returns false if no step was requested. Called in a signal handler.
    fn step(&self) -> bool {
        if !self.is_stepping() {
            return false;
        }
        self.left.set(self.left.get().saturating_sub(1));
        for slot in &self.stepping {
            let page = slot.replace(0);
            let is_closed = |array: &Closed| array.has(page) && !array.stays_open.get();
            if page != 0 && self.left.get() > 0 && self.arrays.borrow().iter().any(is_closed) {
                closed::close_page(page);
            }
        }
        if self.left.get() == 0 {
            self.open();
        }
        true
    }
}

/// Handles a fault at `address` in a signal handler. Returns the result of [`Guard::allow_access`]. Opens memory that a
/// launch of another OS thread has closed.
pub(crate) fn allow_access(address: usize, is_written: bool) -> Option<bool> {
    let own = guard().zip(current()).and_then(|(guard, block)| guard.allow_access(block, address, is_written));
    own.or_else(|| open_foreign(address).then_some(false))
}

/// Handles a step of the processor in a signal handler. Returns false if no step was requested.
pub(crate) fn step() -> bool {
    guard().is_some_and(Guard::step)
}
