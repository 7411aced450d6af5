//! The current block: the block whose thread an OS thread simulates now.

use std::cell::Cell;
use std::ptr;

use crate::block::Block;
use crate::on_drop::OnDrop;

thread_local! {
    static CURRENT: Cell<*const Block> = const { Cell::new(ptr::null()) };
}

/// Returns the block whose thread the calling OS thread simulates now.
#[inline]
pub(crate) fn current<'a>() -> Option<&'a Block> {
    let block = CURRENT.get();
    // SAFETY: only `Slot::run_as` sets CURRENT, while a fibre of that block runs, and the caller is such a fibre. A
    // suspended fibre is resumed with CURRENT set to the same block again. The block therefore outlives every use by a
    // simulated thread, and it is never borrowed mutably.
    unsafe { block.as_ref() }
}

/// Returns true if the calling OS thread simulates a thread of a kernel now.
#[inline]
pub(crate) fn is_simulated() -> bool {
    !CURRENT.get().is_null()
}

/// Returns the current block, and panics outside of a kernel. `function` is the name of the calling function for the
/// panic's message.
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
    panic!("simt::{function} called outside of a kernel: call it only in a kernel that a simulator runs")
}

/// The thread-local variable with an OS thread's current block. A caller that often switches between simulated threads
/// looks this variable up only once.
pub(crate) struct Slot<'a>(&'a Cell<*const Block>);

/// Calls `f` with the slot of the calling OS thread.
#[inline]
pub(crate) fn with_slot<R>(f: impl FnOnce(&Slot<'_>) -> R) -> R {
    CURRENT.with(|current| f(&Slot(current)))
}

impl Slot<'_> {
    /// Runs `resume`, which resumes a fibre of `block`, with `block` as the current block.
    #[inline]
    pub(crate) fn run_as<R>(&self, block: &Block, resume: impl FnOnce() -> R) -> R {
        self.0.set(block);
        // Resets the slot even if `resume` panics, so that no dangling pointer remains.
        let _reset = OnDrop(|| self.0.set(ptr::null()));
        resume()
    }
}
