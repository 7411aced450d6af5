//! Statics on a GPU. Each static is a Rust `static`, which the host finds by its symbol.

use core::arch::asm;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::Owner;
use super::memory::{cast, load};
use crate::device_copy::{DeviceCopy, access_bytes, with_word};

/// The address of a static of a kernel crate.
pub struct StaticPlace<T> {
    address: fn() -> *const u8,
    elements: PhantomData<fn() -> T>,
}

impl<T> StaticPlace<T> {
    /// Creates the address of a static. `address` returns it in the constant state space for constants, and as a
    /// generic address for all other statics.
    pub const fn new(address: fn() -> *const u8) -> Self {
        Self { address, elements: PhantomData }
    }

    #[inline(always)]
    pub fn pointer(&self) -> *const T {
        (self.address)().cast()
    }
}

/// The initial value of a static in the PTX.
#[repr(transparent)]
pub struct StaticValue<T>(pub T);

// SAFETY: only device code accesses the value, by its symbol.
unsafe impl<T> Sync for StaticValue<T> {}

#[inline(always)]
pub fn static_owner() -> Owner {
    Owner
}

/// # Safety
/// `pointer` must be an address in constant memory, valid for an access of `T`.
#[inline(always)]
pub unsafe fn constant_load<T: DeviceCopy>(pointer: *const T) -> T {
    if const { access_bytes::<T>() == 0 } {
        // SAFETY: the caller guarantees a valid pointer.
        return unsafe { constant_load_numbers(pointer) };
    }
    load!("ld.const", pointer, reg64, pure, nomem)
}

/// # Safety
/// `pointer` must be an address in constant memory, valid for an access of `T`.
#[inline(always)]
unsafe fn constant_load_numbers<T: DeviceCopy>(pointer: *const T) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    let to = value.as_mut_ptr();
    T::scalars(0, &mut |offset, bytes| {
        with_word!(bytes, Word => {
            // SAFETY: the caller guarantees a valid pointer; the number is in the value at that offset.
            unsafe {
                let from = pointer.wrapping_byte_add(offset).cast::<Word>();
                to.byte_add(offset).cast::<Word>().write(constant_load(from));
            }
        })
    });
    // SAFETY: every number of the value has been written.
    unsafe { value.assume_init() }
}
