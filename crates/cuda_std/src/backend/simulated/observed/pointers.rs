//! The reports of accesses through raw pointers.

use core::ptr::NonNull;

use simt::raw::{self, Through};

use super::{Access, At, Pointed, Value, touch};

/// A type of pointer that can be the second pointer of a copy.
pub trait Addressed {
    /// Returns the address in the pointer.
    fn address(&self) -> usize;
}

macro_rules! addressed {
    ($($pointer:ty)*) => {$(
        impl<T> Addressed for $pointer {
            #[inline(always)]
            fn address(&self) -> usize {
                let pointer: *const T = *self;
                pointer.addr()
            }
        }
    )*};
}

addressed! { *const T *mut T &T }

impl<T> Addressed for NonNull<T> {
    #[inline(always)]
    fn address(&self) -> usize {
        self.addr().get()
    }
}

impl<T> Addressed for &mut T {
    #[inline(always)]
    fn address(&self) -> usize {
        core::ptr::from_ref::<T>(self).addr()
    }
}

macro_rules! methods {
    ($($pointer:ty, $as_const:expr;)*) => {$(
        impl<T> At<*const $pointer> {
            #[inline(always)]
            fn get(self) -> *const T {
                // SAFETY: the macros pass the address of a variable, or of a value that lives long enough.
                let pointer = unsafe { *self.0 };
                let as_const: fn($pointer) -> *const T = $as_const;
                as_const(pointer)
            }

            /// Notes that the pointer was moved to `result`, and returns `result`.
            #[inline(always)]
            pub fn moved(self, result: $pointer) -> $pointer {
                raw::moved(self.get().addr(), At(&raw const result).get().addr());
                result
            }

            /// Reports an access to the target of the pointer.
            #[inline(always)]
            #[track_caller]
            pub fn used(self, access: Access) {
                touch(self.get(), access, Through::Pointer);
            }

            /// Reports an access to the target of the pointer, which may be unaligned.
            #[inline(always)]
            #[track_caller]
            pub fn used_unaligned(self, access: Access) {
                raw::touch(self.get().addr(), size_of::<T>(), 1, access, Through::Pointer);
            }

            /// Reports an access to `count` elements.
            #[inline(always)]
            #[track_caller]
            pub fn used_many(self, count: &usize, access: Access) {
                touch_many::<T>(self.get().addr(), *count, access);
            }

            /// Reports a copy of `count` elements from or to `other`. `access` is the access to the pointer's own
            /// elements.
            #[inline(always)]
            #[track_caller]
            pub fn copied<O: Addressed>(self, other: &O, count: &usize, access: Access) {
                let of_other = if access == Access::Read { Access::Write } else { Access::Read };
                touch_many::<T>(self.get().addr(), *count, access);
                touch_many::<T>(other.address(), *count, of_other);
            }
        }

    )*};
}

macro_rules! dereferenced {
    ($($pointer:ty)*) => {$(
        impl<T: ?Sized> At<*const $pointer> {
            /// Returns the storage of `*pointer`.
            #[inline(always)]
            pub fn dereferenced(self) -> Pointed {
                Pointed
            }
        }

        impl<T> Value<$pointer> {
            /// Reports an access to the pointer's whole target, and returns the pointer.
            #[inline(always)]
            #[track_caller]
            pub fn pointer(self, access: Access) -> $pointer {
                At(&raw const self.0).used(access);
                self.0
            }
        }
    )*};
}

methods! {
    *const T, |pointer| pointer;
    *mut T, |pointer| pointer.cast_const();
    NonNull<T>, |pointer| pointer.as_ptr().cast_const();
}

dereferenced! { *const T *mut T }

#[inline(always)]
#[track_caller]
fn touch_many<T>(address: usize, count: usize, access: Access) {
    raw::touch(address, size_of::<T>().saturating_mul(count), align_of::<T>(), access, Through::Pointer);
}
