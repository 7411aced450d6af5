//! Raw pointers.

use core::ptr::NonNull;

use simt::raw::{self, Through};

use super::{Access, At, Pointed, Value, touch};

/// What a copy may be given as the other pointer.
pub trait Addressed {
    /// The address.
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
                // SAFETY: the macros take the address of a variable, or of a value that lives as long as this.
                let pointer = unsafe { *self.0 };
                let as_const: fn($pointer) -> *const T = $as_const;
                as_const(pointer)
            }

            /// `result`, where the pointer has been moved.
            #[inline(always)]
            pub fn moved(self, result: $pointer) -> $pointer {
                raw::moved(self.get().addr(), At(&raw const result).get().addr());
                result
            }

            /// Before a method that accesses what the pointer points to.
            #[inline(always)]
            #[track_caller]
            pub fn used(self, access: Access) {
                touch(self.get(), access, Through::Pointer);
            }

            /// The same, wherever it points to.
            #[inline(always)]
            #[track_caller]
            pub fn used_unaligned(self, access: Access) {
                raw::touch(self.get().addr(), size_of::<T>(), 1, access, Through::Pointer);
            }

            /// Before a method that accesses `count` elements.
            #[inline(always)]
            #[track_caller]
            pub fn used_many(self, count: &usize, access: Access) {
                touch_many::<T>(self.get().addr(), *count, access);
            }

            /// Before a method that copies `count` elements from `other` or to it, whichever `access` to its own it is.
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
            /// What `*pointer` is reached by.
            #[inline(always)]
            pub fn dereferenced(self) -> Pointed {
                Pointed
            }
        }

        impl<T> Value<$pointer> {
            /// The pointer, through which all that it points to is accessed.
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
