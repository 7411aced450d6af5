//! Fibres: coroutines, each with a stack, on which simulated threads run.
//!
//! A fibre runs threads one after the other. If a thread must wait, it keeps its fibre, and another fibre continues
//! with the next thread. The threads of a kernel without barriers therefore all run on one fibre, at the cost of one
//! call per thread.

use std::io;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::stacks::{STACK_BYTES, STACKS};
use super::trap::Trappable;
use crate::block::{Block, Pause};
use crate::current::current;
use crate::faults::FaultKind;
use crate::panic::{Unwind, describe};

struct Fibre {
    coroutine: Coroutine<(), Pause, (), ColouredStack>,
    is_idle: bool,
}

impl Fibre {
    /// Makes a fibre with a new stack.
    ///
    /// # Errors
    /// When the system has no memory for another stack.
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
            // SAFETY: an idle fibre is suspended in `live`, outside of a kernel, where no frame owns a value.
            unsafe { self.coroutine.force_reset() };
        }
    }
}

/// The main function of a fibre: runs threads of the current block.
///
/// This function is inlined, so that the compiler sees that it never unwinds and omits the coroutine's own
/// `catch_unwind`. Without the frame of that call, a waiting thread takes less space in the cache.
#[inline(always)]
fn live(yielder: &Yielder<(), Pause>) {
    while let Some(block) = current() {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| block.run(yielder))) {
            if !payload.is::<Unwind>() {
                record_panic(block, &*payload);
            }
            // Dropping a payload may panic. The payload of that panic is not dropped.
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

/// The stacks of dropped fibres, which new fibres reuse. Mapping a stack and using it for the first time takes longer
/// than running the threads of many small launches.
static SPARE: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());
/// The maximum number of stacks in `SPARE`.
const MAX_SPARE: usize = 4096;

fn spare() -> MutexGuard<'static, Vec<DefaultStack>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stack that begins a few cache lines below the top of its mapping. This distance differs between fibres, so that
/// their innermost frames do not compete for the same cache lines.
struct ColouredStack {
    inner: ManuallyDrop<DefaultStack>,
    colour: usize,
}

impl ColouredStack {
    /// The number of bytes by which each stack starts lower in its page than the stack before. A thread that waits at a
    /// barrier uses fewer bytes of stack.
    const STEP: usize = 7 * 64;
    const PAGE: usize = 4096;

    /// Makes the stack of fibre number `number`. The caller must have taken a stack from the budget [`STACKS`], and
    /// dropping the stack gives it back. Reuses a spare stack before it maps memory, so that there are never more
    /// mappings than the budget has stacks.
    fn new(number: usize) -> io::Result<Self> {
        let colour = if cfg!(windows) { 0 } else { number * Self::STEP % Self::PAGE };
        let spare = spare().pop();
        let stack = spare.map_or_else(|| DefaultStack::new(STACK_BYTES + Self::PAGE), Ok);
        Ok(Self { inner: ManuallyDrop::new(stack.inspect_err(|_| STACKS.give_back(1))?), colour })
    }
}

impl Drop for ColouredStack {
    fn drop(&mut self) {
        // SAFETY: `inner` is not used after this.
        let stack = unsafe { ManuallyDrop::take(&mut self.inner) };
        let mut spare = spare();
        // Windows moves a stack's guard page as the stack grows.
        if !cfg!(windows) && spare.len() < MAX_SPARE {
            spare.push(stack);
        } else {
            drop(stack);
        }
        // This comes last, so that the thread that takes a stack from the budget next finds the spare stack.
        STACKS.give_back(1);
    }
}

// SAFETY: the stack is the inner one without `colour` bytes at its top, a multiple of 64 and so of the required
// alignment. It keeps the guard page and more than the minimum size.
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
    /// The number of stacks that are reserved for further fibres of this OS thread.
    promised: usize,
}

impl Fibres {
    /// Takes the idle fibre that ran last and returns its number. Makes a fibre if none is idle.
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

    /// Reserves stacks for `threads` threads of a helper, until the next [`shrink`](Self::shrink). Returns false if the
    /// budget does not have enough stacks left.
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
                io::Error::new(
                    io::ErrorKind::OutOfMemory,
                    format!("{stacks} threads already wait, which is the maximum"),
                )
            })?;
        }
        let number = self.fibres.len();
        let fibre = Fibre::new(number)?;
        self.trappable.set(number, fibre.coroutine.trap_handler());
        self.fibres.push(fibre);
        Ok(number as u32)
    }

    /// Runs threads of the current block on `fibre` until the fibre pauses.
    #[inline]
    pub(crate) fn resume(&mut self, fibre: u32) -> Pause {
        let pause = self.fibres[fibre as usize].resume();
        if pause == Pause::Idle && (!self.fibres[fibre as usize].coroutine.done() || self.replace(fibre as usize)) {
            self.idle.push(fibre);
        }
        pause
    }

    /// Replaces a fibre that a trap has ended with a new one. Returns false if the system has not enough memory.
    #[cold]
    fn replace(&mut self, number: usize) -> bool {
        let fibre = STACKS.take().ok().and_then(|()| Fibre::new(number).ok());
        fibre.is_some_and(|fibre| {
            self.trappable.set(number, fibre.coroutine.trap_handler());
            self.fibres[number] = fibre;
            true
        })
    }

    /// Returns the fibres in the form in which the trap handler needs them.
    pub(super) fn trappable(&self) -> Rc<Trappable> {
        Rc::clone(&self.trappable)
    }

    /// Frees all but `kept` fibres, and gives the reserved stacks back. All fibres must be idle.
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
