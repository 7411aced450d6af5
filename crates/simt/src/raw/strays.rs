//! Pointers that a thread has moved out of the buffer they came from.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::buffer::Buffer;

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

    /// Notes that `thread` has moved a pointer to `to`, out of `origin` or within a buffer.
    pub(super) fn note(&self, thread: u32, to: usize, origin: Option<Buffer>) {
        match origin {
            Some(origin) => {
                self.is_used.set(true);
                self.origins.borrow_mut().insert((thread, to), origin);
            }
            None if self.is_used() => {
                self.origins.borrow_mut().remove(&(thread, to));
            }
            None => {}
        }
    }
}
