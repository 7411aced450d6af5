//! Pointers that device code has stored in structures whose types do not show that they contain pointers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::mem::MaybeUninit;

/// The pointers that a block's threads have stored in values whose types do not show that they contain pointers.
#[derive(Default)]
pub(crate) struct Retained {
    /// The addresses of the stored pointers. The value is true if the pointer permits writes.
    addresses: RefCell<HashMap<usize, bool>>,
    is_used: Cell<bool>,
    /// True if a thread has begun a call to which it passes a pointer.
    pub(super) has_begun: Cell<bool>,
}

impl Retained {
    /// Resets the records for a new block.
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

    /// Returns true if the stored pointer to `address` permits writes, or `None` if no pointer to `address` was stored.
    pub(super) fn is_written(&self, address: usize) -> Option<bool> {
        self.addresses.borrow().get(&address).copied()
    }
}

/// Returns the bits of a word of a value. The bits are arbitrary if the word is not initialised, as in padding.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn frozen(word: MaybeUninit<usize>) -> usize {
    let bits: usize;
    // SAFETY: the empty assembly returns the register that was passed to it, which has some bits. The compiler does not
    // know their origin.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) word => bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// Returns 0. On this architecture the bits of a word that may be uninitialised cannot be read.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn frozen(_word: MaybeUninit<usize>) -> usize {
    0
}
