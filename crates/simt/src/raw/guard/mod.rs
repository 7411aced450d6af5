//! Accesses of the launch's memory that nobody has told of, found by the pages that they are in.
//!
//! What a marked function accesses by pointers and slices it tells of. In a launch that is checked, and whose kernel has
//! pointers, the arrays that the launch was given, and the block's shared memory, are closed now and then: each access to
//! them is a fault of the processor then. Where the thread has told of the access, it is made, by a single step of the
//! processor, and the array closed again. Any other is noted, once per launch and array, which stays open from then on.
//!
//! Such a fault takes microseconds. So arrays are closed for the first accesses after each place in the source that the
//! launch comes to for the first time, and open otherwise: whoever accesses them from there is met then.

mod closed;
pub(crate) mod told;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ptr;

use self::closed::{Closed, pass_on_others};
use crate::block::Block;
use crate::block::arena::Arena;
use crate::current::current;
use crate::grid::Grid;
use crate::hashing::Hashing;
use crate::raw::notes::NoteKind;
use crate::region::{self, Space};
use crate::source::Line;
use crate::watch::is_watching;

/// Accesses that are looked at after the launch has come to a place for the first time.
const ACCESSES: u32 = 8;
/// Pages that one instruction accesses at most: from two places, each of which may go over the end of a page.
const PAGES: usize = 4;

/// An access that nobody has told of.
#[derive(Clone, Copy, Debug)]
struct Unseen {
    address: usize,
    is_written: bool,
    /// The block's position, and the thread in it, and where that was seen last.
    thread: (u64, u32),
    at: Option<Line>,
    array: usize,
}

/// An access that a thread tells of: the thread, as above, the first byte, the number of bytes, and whether they are written.
type Known = ((u64, u32), (usize, usize), bool);

impl Unseen {
    fn is(&self, (thread, (start, bytes), is_written): Known) -> bool {
        self.thread == thread && self.address.wrapping_sub(start) < bytes && (is_written || !self.is_written)
    }
}

/// Guards the memory of one launch, which runs on one OS thread.
#[derive(Default)]
struct Guard {
    /// Whether the kernel has got pointers.
    is_on: Cell<bool>,
    /// What the launch was given, and the shared memory of each block that runs.
    arrays: RefCell<Vec<Closed>>,
    has_arrays: Cell<bool>,
    /// The simulator itself accesses memory.
    is_own: Cell<bool>,
    /// Accesses that are still looked at. The arrays are open where there is none.
    left: Cell<u32>,
    /// Pages that are open for one step of the processor. Null for none.
    stepping: [Cell<usize>; PAGES],
    /// What has been found, for as many arrays as one instruction may access.
    unseen: [Cell<Option<Unseen>>; PAGES],
    /// The places that the launch has come to.
    places: RefCell<HashSet<usize, Hashing>>,
}

thread_local! {
    /// That of the launch that the OS thread runs.
    static GUARD: Cell<*const Guard> = const { Cell::new(ptr::null()) };
}

/// That of the launch that the calling OS thread runs, if it is guarded.
#[inline(always)]
fn guard<'a>() -> Option<&'a Guard> {
    // SAFETY: `guarded` keeps the pointer only for as long as the guard is there.
    unsafe { GUARD.get().as_ref() }
}

/// Runs the launch `grid` by `run`, on the calling OS thread, guarded where the system has the signals for it.
pub(crate) fn guarded<R>(grid: &Grid<'_>, run: impl FnOnce() -> R) -> R {
    /// The guard of the OS thread, as long as it lives.
    struct Guarding<'a>(&'a Guard);
    impl Drop for Guarding<'_> {
        fn drop(&mut self) {
            GUARD.set(ptr::null());
            self.0.open();
        }
    }
    let guard = Guard::default();
    let guarding = Guarding(&guard);
    if closed::IS_SUPPORTED {
        GUARD.set(&raw const guard);
    }
    let result = run();
    drop(guarding);
    guard.settle(grid, None, None);
    result
}

/// The current thread gets a pointer to global memory.
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

/// The current thread has come to `at`, where it does something with a pointer or calls somebody else.
#[inline]
pub(super) fn come_to(block: &Block, at: Line) {
    if let Some(guard) = guard()
        && guard.turn_on()
        && guard.places.borrow_mut().insert(ptr::from_ref(at).addr())
    {
        guard.close(block);
    }
}

/// Leaves the array that has `address` open.
pub(super) fn let_go(block: &Block, address: usize) {
    if let Some(guard) = guard() {
        guard.find_arrays(block);
        guard.arrays.borrow().iter().filter(|array| array.has(address)).for_each(Closed::let_go);
    }
}

/// What the simulator does in a simulated thread that is not the thread's own doing.
pub(crate) fn own<R>(access: impl FnOnce() -> R) -> R {
    let Some(guard) = guard() else { return access() };
    guard.is_own.set(true);
    let result = access();
    guard.is_own.set(false);
    result
}

/// The block is done with.
pub(crate) fn end_block(block: &Block) {
    if let Some(guard) = guard() {
        guard.settle(block.grid(), Some(&block.context.arena), None);
    }
}

/// The current thread is about to access `bytes` bytes at the host's `address`, as it has told.
#[inline]
pub(crate) fn tell(block: &Block, (address, bytes): (usize, usize), is_written: bool) {
    if let Some(guard) = guard()
        && guard.is_on.get()
    {
        let thread = block.thread().linear();
        guard.settle(
            block.grid(),
            Some(&block.context.arena),
            Some(((block.position(), thread), (address, bytes), is_written)),
        );
        block.told.note(thread, (address, bytes), is_written);
    }
}

impl Guard {
    /// Gives false under a debugger, which would stop at each fault: then there is no guard any more.
    fn turn_on(&self) -> bool {
        if !self.is_on.replace(true) && closed::is_traced() {
            GUARD.set(ptr::null());
            return false;
        }
        true
    }

    /// Finds what is to be closed: what the launch was given, once, and the block's shared memory.
    fn find_arrays(&self, block: &Block) {
        let mut arrays = self.arrays.borrow_mut();
        if !self.has_arrays.replace(true) {
            Closed::add(&mut arrays, block.grid().regions);
        }
        Closed::add_shared(&mut arrays, &block.context.arena);
    }

    /// Closes all for the next accesses.
    fn close(&self, block: &Block) {
        self.find_arrays(block);
        self.left.set(ACCESSES);
        self.arrays.borrow().iter().filter(|array| !array.is_let_go.get()).for_each(Closed::close);
    }

    fn open(&self) {
        self.left.set(0);
        self.arrays.borrow().iter().for_each(Closed::open);
    }

    /// Notes what has been found, now that no signal is handled. Where the thread tells of it now, after the compiler has
    /// had it made before, there is nothing to note.
    fn settle(&self, grid: &Grid<'_>, arena: Option<&Arena>, told: Option<Known>) {
        for unseen in self.unseen.iter().filter_map(Cell::take) {
            if told.is_some_and(|told| unseen.is(told)) {
                if let Some(array) = self.arrays.borrow().get(unseen.array) {
                    array.is_let_go.set(false);
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
                Some((space, array)) => (space, array.and_then(|(place, _)| Some((place.name?, place.index)))),
                None => {
                    let place = region::locate(grid.regions, address);
                    (Space::Global, place.and_then(|place| Some((place.name?, place.index))))
                }
            };
            grid.warn(at, NoteKind::Unseen { space, array, is_written });
        }
    }

    /// An access at `address` has met closed memory: has it made, and everything closed again when [`step`](Self::step) is
    /// called after one step. Gives whether there is to be one, and nothing where the memory is not the guard's.
    ///
    /// Is called by a signal's handler, and so allocates nothing and waits for nobody.
    fn let_pass(&self, block: &Block, address: usize, is_written: bool) -> Option<bool> {
        let arrays = self.arrays.try_borrow().ok()?;
        let index = arrays.iter().position(|array| array.has(address))?;
        let array = &arrays[index];
        let thread = block.thread();
        if self.is_own.get() || block.told.has(thread.linear(), address, is_written) != Some(false) {
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
        array.is_let_go.set(true);
        array.open();
        Some(self.is_stepping())
    }

    fn is_stepping(&self) -> bool {
        self.stepping.iter().any(|slot| slot.get() != 0)
    }

    /// After the step. Gives false if there was to be none. Is called by a signal's handler, too.
    fn step(&self) -> bool {
        if !self.is_stepping() {
            return false;
        }
        self.left.set(self.left.get().saturating_sub(1));
        for slot in &self.stepping {
            let page = slot.replace(0);
            let is_closed = |array: &Closed| array.has(page) && !array.is_let_go.get();
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

/// In a signal's handler: a fault at `address`. Gives what [`Guard::let_pass`] does; memory that a launch of another OS thread
/// has closed is opened.
pub(crate) fn let_pass(address: usize, is_written: bool) -> Option<bool> {
    let own = guard().zip(current()).and_then(|(guard, block)| guard.let_pass(block, address, is_written));
    own.or_else(|| pass_on_others(address).then_some(false))
}

/// In a signal's handler: the processor has made a step. Gives false if nobody has asked for one.
pub(crate) fn step() -> bool {
    guard().is_some_and(Guard::step)
}
