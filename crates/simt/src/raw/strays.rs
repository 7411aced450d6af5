//! Records pointers that a thread has offset beyond the bounds of their buffers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::buffer::Buffer;

/// The pointers that point outside of their buffers. The key is a pointer's thread and address, and the value is the
/// buffer from which the thread made the pointer.
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

    /// Returns true if any pointer outside of its buffer was recorded.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.get()
    }

    /// Returns the buffer from which `thread` made a pointer to `address`, if the pointer points outside of this
    /// buffer.
    pub(super) fn origin(&self, thread: u32, address: usize) -> Option<Buffer> {
        if self.is_used() { self.origins.borrow().get(&(thread, address)).copied() } else { None }
    }

    /// Notes that `thread` has offset a pointer to the address `to`. `origin` is the buffer of the pointer, or `None`
    /// if `to` is inside of this buffer.
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
