//! Fibres: stacks of their own, on which simulated threads run.
//!
//! A fibre runs threads one after the other. Only when a thread waits does it keep its fibre, and another fibre goes
//! on with the next thread; so a kernel without barriers runs on one fibre, at the cost of one call per thread.

use std::io;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::stacks::STACKS;
use super::trap::Trappable;
use crate::block::{Block, Pause};
use crate::current::current;
use crate::fault::FaultKind;
use crate::panic::{Unwind, describe};

/// Bytes of stack that a simulated thread has.
pub(crate) const STACK_BYTES: usize = 128 * 1024;

struct Fibre {
    coroutine: Coroutine<(), Pause, (), ColouredStack>,
    is_idle: bool,
}

impl Fibre {
    /// # Errors
    /// When the system has no memory for a stack.
    fn new(number: usize) -> io::Result<Self> {
        let stack = ColouredStack::new(number)?;
        Ok(Self { coroutine: Coroutine::with_stack(stack, |yielder, ()| live(yielder)), is_idle: true })
    }

    #[inline]
    fn resume(&mut self) -> Pause {
        self.is_idle = false;
        match self.coroutine.resume(()) {
            CoroutineResult::Yield(pause @ (Pause::Waiting | Pause::Leaving)) => pause,
            CoroutineResult::Yield(Pause::Idle) | CoroutineResult::Return(()) => {
                self.is_idle = true;
                Pause::Idle
            }
        }
    }
}

impl Drop for Fibre {
    fn drop(&mut self) {
        if self.is_idle && self.coroutine.started() {
            // SAFETY: an idle fibre is suspended in `live`, outside of a kernel; no frame there owns anything.
            unsafe { self.coroutine.force_reset() };
        }
    }
}

/// What a fibre does all its life: runs threads of the current block.
///
/// Inlined, so that the compiler sees that it never unwinds and leaves out the coroutine's own `catch_unwind`: each frame
/// fewer under a waiting thread is less for the cache to hold.
#[inline(always)]
fn live(yielder: &Yielder<(), Pause>) {
    while let Some(block) = current() {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| block.run(yielder))) {
            if !payload.is::<Unwind>() {
                record_panic(block, &*payload);
            }
            // A payload may panic as it is dropped. What that panics with is not dropped at all.
            if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(second);
            }
        }
        yielder.suspend(Pause::Idle);
    }
}

#[cold]
fn record_panic(block: &Block, payload: &(dyn std::any::Any + Send)) {
    let (message, location) = describe(payload);
    block.record(block.fault_of(block.thread(), location, FaultKind::Panic(message)));
}

/// Stacks of OS threads that have ended, for those that begin: a mapping of memory and its first use take longer than the
/// threads of many a small launch.
static SPARE: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());
/// The most of them.
const MAX_SPARE: usize = 4096;

fn spare() -> MutexGuard<'static, Vec<DefaultStack>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stack that begins some cache lines further down than its neighbours, so that the innermost frames of many
/// fibres do not all compete for the same lines of the cache.
struct ColouredStack {
    inner: ManuallyDrop<DefaultStack>,
    colour: usize,
}

impl ColouredStack {
    /// The distance between the tops of neighbouring stacks, modulo a page: more than the frames of a thread that
    /// waits at a barrier take.
    const STEP: usize = 7 * 64;
    const PAGE: usize = 4096;

    /// One of those that have been taken of [`STACKS`], to which it goes back. No memory is mapped while there is a spare stack,
    /// so that there are never more mappings than stacks that may be taken.
    fn new(number: usize) -> io::Result<Self> {
        let colour = if cfg!(windows) { 0 } else { number * Self::STEP % Self::PAGE };
        let spare = spare().pop();
        let stack = spare.map_or_else(|| DefaultStack::new(STACK_BYTES + Self::PAGE), Ok);
        Ok(Self { inner: ManuallyDrop::new(stack.inspect_err(|_| STACKS.give_back(1))?), colour })
    }
}

impl Drop for ColouredStack {
    fn drop(&mut self) {
        // SAFETY: nobody uses `inner` after this.
        let stack = unsafe { ManuallyDrop::take(&mut self.inner) };
        let mut spare = spare();
        // Windows moves a stack's guard page as the stack grows.
        if !cfg!(windows) && spare.len() < MAX_SPARE {
            spare.push(stack);
        } else {
            drop(stack);
        }
        // Only now may somebody take one instead, and find it spare.
        STACKS.give_back(1);
    }
}

// SAFETY: the stack is the inner one less `colour` bytes at its top, a multiple of 64 and so of the alignment that
// stacks need. It keeps the guard page, and more than the least size.
unsafe impl Stack for ColouredStack {
    #[inline]
    fn base(&self) -> StackPointer {
        let base = self.inner.base();
        StackPointer::new(base.get() - self.colour).unwrap_or(base)
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.inner.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.inner.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.inner.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

/// The fibres of one OS thread.
#[derive(Default)]
pub(crate) struct Fibres {
    fibres: Vec<Fibre>,
    trappable: Rc<Trappable>,
    idle: Vec<u32>,
    /// Stacks that are promised for more fibres.
    promised: usize,
}

impl Fibres {
    /// Takes an idle fibre, the one that ran last if there are several.
    ///
    /// # Errors
    /// When the system has no memory for another stack.
    #[inline]
    pub(crate) fn take_idle(&mut self) -> io::Result<u32> {
        match self.idle.pop() {
            Some(fibre) => Ok(fibre),
            None => self.make(),
        }
    }

    /// Reserves stacks for `threads` threads of a helper, until the next [`shrink`](Self::shrink). Gives false if there are
    /// not so many left.
    pub(crate) fn promise(&mut self, threads: usize) -> bool {
        let missing = threads.saturating_sub(self.fibres.len() + self.promised);
        let is_promised = STACKS.promise(missing);
        if is_promised {
            self.promised += missing;
        }
        is_promised
    }

    #[cold]
    fn make(&mut self) -> io::Result<u32> {
        if self.promised > 0 {
            self.promised -= 1;
        } else {
            STACKS.take().map_err(|stacks| {
                io::Error::new(io::ErrorKind::OutOfMemory, format!("{stacks} threads wait already, the most that can"))
            })?;
        }
        let number = self.fibres.len();
        let fibre = Fibre::new(number)?;
        self.trappable.set(number, fibre.coroutine.trap_handler());
        self.fibres.push(fibre);
        Ok(number as u32)
    }

    /// Runs `fibre` until it pauses, for the block that is current.
    #[inline]
    pub(crate) fn resume(&mut self, fibre: u32) -> Pause {
        let pause = self.fibres[fibre as usize].resume();
        if pause == Pause::Idle && (!self.fibres[fibre as usize].coroutine.done() || self.replace(fibre as usize)) {
            self.idle.push(fibre);
        }
        pause
    }

    /// Replaces a fibre that a trap has ended by a new one, if the system has memory for that.
    #[cold]
    fn replace(&mut self, number: usize) -> bool {
        let fibre = STACKS.take().ok().and_then(|()| Fibre::new(number).ok());
        fibre.is_some_and(|fibre| {
            self.trappable.set(number, fibre.coroutine.trap_handler());
            self.fibres[number] = fibre;
            true
        })
    }

    /// The fibres, for a trap to end.
    pub(super) fn trappable(&self) -> Rc<Trappable> {
        Rc::clone(&self.trappable)
    }

    /// Gives all but `kept` fibres back to the system, and what was promised. All must be idle.
    pub(crate) fn shrink(&mut self, kept: usize) {
        STACKS.give_back(std::mem::take(&mut self.promised));
        if self.fibres.len() > kept {
            self.fibres.truncate(kept);
            self.trappable.truncate(kept);
            let is_usable = |&number: &u32| !self.fibres[number as usize].coroutine.done();
            self.idle = (0..self.fibres.len() as u32).filter(is_usable).collect();
        }
    }
}

impl Drop for Fibres {
    fn drop(&mut self) {
        STACKS.give_back(self.promised);
    }
}
