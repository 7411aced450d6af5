//! Finds accesses to a launch's memory that the kernel's instrumentation does not report, by protecting the pages of
//! this memory.
//!
//! Functions that are marked as device code report their accesses through pointers and slices. In a checked launch of a
//! kernel with pointers, the guard closes the launch's arrays and the block's shared memory for short times. Each
//! access to closed memory faults. If the thread has reported the access, the guard opens the page, lets the processor
//! execute one instruction, and closes the page again. The guard notes any other access once per launch and array, and
//! leaves the array open from then on.
//!
//! Such a fault takes microseconds. The guard therefore closes arrays only when the launch reaches a source site for
//! the first time, and opens them again after a few accesses. This is enough to find unreported accesses that the code
//! at this site makes.

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

/// The number of accesses that the guard examines after the launch reaches a source site for the first time.
const ACCESSES: u32 = 8;
/// The maximum number of pages that one instruction accesses. An instruction has up to two operands in memory, and each
/// may cross a page boundary.
const PAGES: usize = 4;

/// An access that the thread did not report.
#[derive(Clone, Copy, Debug)]
struct Unseen {
    address: usize,
    is_written: bool,
    /// The position of the thread's block, and the thread's linear index in the block.
    thread: (u64, u32),
    at: Option<Line>,
    array: usize,
}

/// A reported access: the thread as in [`Unseen`], the address and the number of bytes, and true if the access is a
/// write.
type Known = ((u64, u32), (usize, usize), bool);

impl Unseen {
    fn is(&self, (thread, (start, bytes), is_written): Known) -> bool {
        self.thread == thread && self.address.wrapping_sub(start) < bytes && (is_written || !self.is_written)
    }
}

/// The guard of one launch, which closes and opens the launch's memory. The launch must run on one OS thread.
#[derive(Default)]
struct Guard {
    /// True if the kernel has used pointers, so that the launch needs the guard.
    is_on: Cell<bool>,
    /// The arrays that were passed to the launch, and the shared memory of each running block.
    arrays: RefCell<Vec<Closed>>,
    has_arrays: Cell<bool>,
    /// True while the simulator itself accesses memory.
    is_own: Cell<bool>,
    /// The number of further accesses that the guard examines. If this number is 0, the arrays are readable
    /// and writable, and the guard sees no access.
    left: Cell<u32>,
    /// The addresses of the pages that are open for one step of the processor. An unused entry is 0.
    stepping: [Cell<usize>; PAGES],
    /// The unreported accesses for which `settle` has added no note yet. One instruction makes at most `PAGES` such
    /// accesses.
    unseen: [Cell<Option<Unseen>>; PAGES],
    /// The source sites that the launch has reached.
    places: RefCell<FxHashSet<usize>>,
}

thread_local! {
    /// The guard of the launch that the OS thread runs.
    static GUARD: Cell<*const Guard> = const { Cell::new(ptr::null()) };
}

/// Returns the guard of the launch that the calling OS thread runs, or `None` if the launch is not guarded.
#[inline(always)]
fn guard<'a>() -> Option<&'a Guard> {
    // SAFETY: `guarded` resets the pointer before it drops the guard.
    unsafe { GUARD.get().as_ref() }
}

/// Calls `run`, which must run the launch `grid` on the calling OS thread. Guards the launch if the platform supports
/// guards.
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

/// Notes that the current thread is about to obtain a pointer to global memory.
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

/// Notes that the current thread has reached the source site `at`, where it uses a pointer or calls a function.
#[inline]
pub(super) fn reach(block: &Block, at: Line) {
    if let Some(guard) = guard()
        && guard.turn_on()
        && guard.places.borrow_mut().insert(ptr::from_ref(at).addr())
    {
        guard.close(block);
    }
}

/// Opens the array that contains `address` for the rest of the launch.
pub(super) fn leave_open(block: &Block, address: usize) {
    if let Some(guard) = guard() {
        guard.find_arrays(block);
        guard.arrays.borrow().iter().filter(|array| array.has(address)).for_each(Closed::leave_open);
    }
}

/// Runs `access`, in which the simulator itself accesses memory. The guard does not count these accesses as accesses of
/// the kernel.
pub(crate) fn exempt<R>(access: impl FnOnce() -> R) -> R {
    let Some(guard) = guard() else { return access() };
    guard.is_own.set(true);
    let result = access();
    guard.is_own.set(false);
    result
}

/// Adds the notes for unreported accesses of `block`, which has ended.
pub(crate) fn end_block(block: &Block) {
    if let Some(guard) = guard() {
        guard.settle(block.grid(), Some(&block.context.arena), None);
    }
}

/// Notes a reported access: the current thread is about to access `bytes` bytes at the host address `address`.
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
    /// Turns the guard on. Returns false if a debugger traces the process, because the debugger would stop at each
    /// fault. The launch is then not guarded.
    fn turn_on(&self) -> bool {
        if !self.is_on.replace(true) && closed::is_traced() {
            GUARD.set(ptr::null());
            return false;
        }
        true
    }

    /// Adds the memory to close to `arrays`: the launch's arrays on the first call, and the block's shared memory.
    fn find_arrays(&self, block: &Block) {
        let mut arrays = self.arrays.borrow_mut();
        if !self.has_arrays.replace(true) {
            Closed::add(&mut arrays, block.grid().regions);
        }
        Closed::add_shared(&mut arrays, &block.context.arena);
    }

    /// Closes all memory of the launch and of `block` for the next accesses.
    fn close(&self, block: &Block) {
        self.find_arrays(block);
        self.left.set(ACCESSES);
        self.arrays.borrow().iter().filter(|array| !array.stays_open.get()).for_each(Closed::close);
    }

    fn open(&self) {
        self.left.set(0);
        self.arrays.borrow().iter().for_each(Closed::open);
    }

    /// Adds notes for the accesses that the signal handler has recorded. An access that the thread reports only now
    /// gets no note, because the compiler has moved the access before its report.
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

    /// Handles an access to closed memory at `address`. If the thread has reported the access, opens the memory for one
    /// step of the processor, after which [`step`](Self::step) closes the memory again. Returns true if the processor
    /// must single-step next, and `None` if this guard has not closed the memory.
    ///
    /// The signal handler calls this function, so it must not allocate or block.
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

    /// Closes the memory again after a step of the processor. Returns false if the guard requested no step. The signal
    /// handler calls this function.
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

/// Handles a fault at `address` for the signal handler. Returns the result of [`Guard::allow_access`]. If a launch of
/// another OS thread has closed the memory, opens the memory and returns false.
pub(crate) fn allow_access(address: usize, is_written: bool) -> Option<bool> {
    let own = guard().zip(current()).and_then(|(guard, block)| guard.allow_access(block, address, is_written));
    own.or_else(|| open_foreign(address).then_some(false))
}

/// Handles a single step of the processor for the signal handler. Returns false if no guard requested a step.
pub(crate) fn step() -> bool {
    guard().is_some_and(Guard::step)
}
