//! The block whose thread an OS thread simulates now.

use std::cell::Cell;
use std::ptr;

use crate::block::Block;

thread_local! {
    static CURRENT: Cell<*const Block> = const { Cell::new(ptr::null()) };
}

/// The block whose thread the calling OS thread simulates now.
#[inline]
pub(crate) fn current<'a>() -> Option<&'a Block> {
    let block = CURRENT.get();
    // SAFETY: CURRENT is set by `Slot::run_as` alone, for the time in which a fibre of that block runs, and the caller
    // is such a fibre: a suspended fibre is resumed with CURRENT set to the same block again. So the block outlives
    // every use that a simulated thread makes of it, and it is never borrowed mutably.
    unsafe { block.as_ref() }
}

/// Whether the calling OS thread simulates a thread.
#[inline]
pub(crate) fn is_simulated() -> bool {
    !CURRENT.get().is_null()
}

/// [`current`], for what makes sense in a kernel alone.
#[inline]
#[track_caller]
pub(crate) fn expect_current<'a>(function: &str) -> &'a Block {
    match current() {
        Some(block) => block,
        None => outside(function),
    }
}

#[cold]
#[track_caller]
fn outside(function: &str) -> ! {
    panic!("simt::{function} called outside of a kernel")
}

/// Where an OS thread keeps its current block. Who switches between threads all the time finds it once.
pub(crate) struct Slot<'a>(&'a Cell<*const Block>);

/// Calls `f` with the slot of the calling OS thread.
#[inline]
pub(crate) fn with_slot<R>(f: impl FnOnce(&Slot<'_>) -> R) -> R {
    CURRENT.with(|current| f(&Slot(current)))
}

impl Slot<'_> {
    /// Runs `resume`, which resumes a fibre of `block`, with `block` as the current one.
    #[inline]
    pub(crate) fn run_as<R>(&self, block: &Block, resume: impl FnOnce() -> R) -> R {
        /// Also where `resume` panics: no pointer to a block is left behind.
        struct Reset<'a>(&'a Cell<*const Block>);
        impl Drop for Reset<'_> {
            fn drop(&mut self) {
                self.0.set(ptr::null());
            }
        }
        self.0.set(block);
        let _reset = Reset(self.0);
        resume()
    }
}
