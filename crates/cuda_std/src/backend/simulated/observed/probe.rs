//! How a place is indexed, found without computing its address, which would check its own indices once more.

use core::marker::PhantomData;

use super::{Own, Sliced, Storage};

/// The type of the pointer to a place.
pub struct Probe<P>(PhantomData<P>);

/// That of the pointer that `address` would give.
#[inline(always)]
pub fn probe<P: ?Sized>(_address: impl FnOnce() -> *const P) -> Probe<*const P> {
    Probe(PhantomData)
}

/// What is meant of places that are neither slices nor arrays.
pub trait OtherProbe: Sized {
    /// Whether it takes the address to know what the elements are.
    #[inline(always)]
    fn takes_address(&self) -> bool {
        false
    }

    /// What the elements of a place are reached by that is reached by `_storage`.
    #[inline(always)]
    fn passed<W: Storage>(self, _storage: W) -> Own {
        Own
    }
}

impl<P> OtherProbe for Probe<P> {}

macro_rules! slices {
    ($($slice:ty)*) => {$(
        impl<T> Probe<*const $slice> {
            /// Whether it takes the address to know what the elements are.
            #[inline(always)]
            pub fn takes_address(&self) -> bool {
                true
            }

            /// What the elements are reached by.
            #[inline(always)]
            pub fn passed<W: Storage>(self, _storage: W) -> Sliced {
                Sliced
            }
        }
    )*};
}

slices! { &[T] &mut [T] }

impl<T> Probe<*const [T]> {
    /// What the elements are reached by: what the slice is.
    #[inline(always)]
    pub fn passed<W: Storage>(self, storage: W) -> W {
        storage
    }
}

impl<T, const N: usize> Probe<*const [T; N]> {
    /// What the elements are reached by: what the array is.
    #[inline(always)]
    pub fn passed<W: Storage>(self, storage: W) -> W {
        storage
    }
}
