//! Pointers that device code has put into structures, whose types do not show that they contain pointers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::mem::MaybeUninit;

/// Those of a block's threads.
#[derive(Default)]
pub(crate) struct Retained {
    /// Whether each may be written through, by its address.
    addresses: RefCell<HashMap<usize, bool>>,
    is_used: Cell<bool>,
    /// Whether a thread has begun a call that a pointer is handed to.
    pub(super) has_begun: Cell<bool>,
}

impl Retained {
    /// For a block that begins.
    pub(crate) fn begin(&self) {
        self.has_begun.set(false);
        if self.is_used.replace(false) {
            self.addresses.borrow_mut().clear();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.is_used.get()
    }

    pub(super) fn note(&self, address: usize, is_written: bool) {
        self.is_used.set(true);
        *self.addresses.borrow_mut().entry(address).or_default() |= is_written;
    }

    /// Whether what is at `address` may be written, if the address has been kept.
    pub(super) fn is_written(&self, address: usize) -> Option<bool> {
        self.addresses.borrow().get(&address).copied()
    }
}

/// The bits of a word of a value. Of one that the value does not initialise, as between two fields, some bits.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn frozen(word: MaybeUninit<usize>) -> usize {
    let bits: usize;
    // SAFETY: the empty assembly gives back the register that it was given, which has bits, whatever they are; the compiler
    // knows nothing of where they come from.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) word => bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// On other processors nothing is known of it.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn frozen(_word: MaybeUninit<usize>) -> usize {
    0
}
