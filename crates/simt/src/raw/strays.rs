//! Pointers that a thread has moved out of their buffers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::buffer::Buffer;

/// The buffer of origin of each such pointer, by thread and address.
#[derive(Default)]
pub(crate) struct Strays {
    origins: RefCell<HashMap<(u32, usize), Buffer>>,
    is_used: Cell<bool>,
}

impl Strays {
    /// Resets the records for a new block.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.origins.borrow_mut().clear();
        }
    }

    /// Returns true if there are any.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.get()
    }

    /// Returns the buffer of origin of a pointer of `thread` to `address`, if the pointer has left it.
    pub(super) fn origin(&self, thread: u32, address: usize) -> Option<Buffer> {
        if self.is_used() { self.origins.borrow().get(&(thread, address)).copied() } else { None }
    }

    /// Notes that `thread` has moved a pointer to `to`, out of `origin`, or within a buffer if `origin` is `None`.
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
