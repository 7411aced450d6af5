//! Pointers that a thread has moved out of the buffer they came from.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::place::Buffer;
use crate::block::Block;

/// The buffer that each such pointer came from, by the thread and the address.
#[derive(Default)]
pub(crate) struct Strays {
    origins: RefCell<HashMap<(u32, usize), Buffer>>,
    is_used: Cell<bool>,
}

impl Strays {
    /// For a block that begins.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.origins.borrow_mut().clear();
        }
    }

    /// Whether there are any.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.get()
    }

    /// Where a pointer of `thread` to `address` came from, if it has left that.
    pub(super) fn origin(&self, thread: u32, address: usize) -> Option<Buffer> {
        if self.is_used() { self.origins.borrow().get(&(thread, address)).copied() } else { None }
    }
}

/// Notes that the current thread has moved a pointer from `from` to `to`.
#[cold]
#[inline(never)]
pub(super) fn note(block: &Block, from: usize, to: usize) {
    let thread = block.thread().linear();
    let strays = &block.strays;
    // Views may overlap: whichever holds both is meant.
    let origin = strays.origin(thread, from).or_else(|| Buffer::of_move(block, from, to));
    match origin.filter(|origin| !origin.contains(to)) {
        Some(origin) => {
            strays.is_used.set(true);
            strays.origins.borrow_mut().insert((thread, to), origin);
        }
        None if strays.is_used() => {
            strays.origins.borrow_mut().remove(&(thread, to));
        }
        None => {}
    }
}
