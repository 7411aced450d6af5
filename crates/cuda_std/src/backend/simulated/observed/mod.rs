//! The reports that `#[kernel]` and `#[device]` put before accesses through pointers and slices.
//!
//! The macros do not know types, so they write the same call for each dereference, index and method. For pointers and
//! slices the compiler selects an inherent method of the types here, which reports the access. For other types it
//! selects the empty method of [`Other`] or [`OtherValue`].

use core::mem::MaybeUninit;

use simt::raw::{self, Through};
pub use simt::raw::{Use as Access, entered, entered_operator};

mod calls;
mod index;
mod iterators;
mod names;
mod operators;
mod pointers;
mod probe;
mod slices;
mod steps;

pub use calls::{Escaped, after, after_from_ptr, calling, passed, received, retained, retaining};
pub use index::SliceIndex;
pub use iterators::{Accessed, Observed};
pub use operators::{Compared, Operands, Operator, Tag, Whole, operator, tag};
pub use pointers::Addressed;
pub use probe::{OtherProbe, Probe, probe};
pub use steps::{CallStep, LoopStep, NoStep, Plain, leave};

/// The address of a variable or a value, for reports of accesses to it.
#[derive(Clone, Copy)]
pub struct At<P>(pub P);

/// A computed value. Accesses through it are reported when it is used.
pub struct Value<V>(pub V);

/// The kind of memory that holds the elements of a place expression.
pub trait Storage: Copy {
    /// The kind of pointer by which the elements are reached, or `None` if accesses to them are not reported.
    const THROUGH: Option<Through>;

    /// Returns true if accesses to the elements are reported.
    #[inline(always)]
    fn is_observed(self) -> bool {
        Self::THROUGH.is_some()
    }
}

/// Storage in a variable of the thread, or in the target of a reference to a single value.
#[derive(Clone, Copy)]
pub struct Own;

/// Storage behind a raw pointer.
#[derive(Clone, Copy)]
pub struct Pointed;

/// Storage behind a slice.
#[derive(Clone, Copy)]
pub struct Sliced;

impl Storage for Own {
    const THROUGH: Option<Through> = None;
}

impl Storage for Pointed {
    const THROUGH: Option<Through> = Some(Through::Pointer);
}

impl Storage for Sliced {
    const THROUGH: Option<Through> = Some(Through::Slice);
}

impl<T> At<*const T> {
    /// Reports an access to the whole place expression in `storage`. An unsized place is a borrowed part of a slice;
    /// the accesses to its elements are reported later.
    #[inline(always)]
    #[track_caller]
    pub fn touched<W: Storage>(self, _storage: W, access: Access) {
        if let Some(through) = W::THROUGH {
            touch(self.0, access, through);
        }
    }
}

impl<T> At<*const MaybeUninit<T>> {
    /// Returns no address, for a method call that reads nothing, such as `as_mut_ptr`.
    #[inline(always)]
    pub fn addressed(self) -> At<()> {
        At(())
    }

    /// Reports an access to the value by a method, such as `write`.
    #[inline(always)]
    #[track_caller]
    pub fn used(self, access: Access) {
        touch(self.0, access, Through::Pointer);
    }
}

macro_rules! references {
    ($($reference:ty)*) => {$(
        impl<T: ?Sized> At<*const $reference> {
            /// Returns the address of the reference's target.
            #[inline(always)]
            pub fn behind(self) -> At<*const T> {
                // SAFETY: the macros pass the address of a reference that is about to be used.
                At(unsafe { self.0.cast::<*const T>().read() })
            }
        }
    )*};
}

references! { &T &mut T }

#[inline(always)]
#[track_caller]
fn touch<T>(place: *const T, access: Access, through: Through) {
    raw::touch(place.addr(), size_of::<T>(), align_of::<T>(), access, through);
}

/// Notes a reference parameter of a kernel, when the kernel begins.
#[inline(always)]
#[track_caller]
pub fn referred<T>(value: &T) {
    let place: *const T = value;
    raw::referred((place.addr(), size_of::<T>(), align_of::<T>()));
}

/// The methods for places whose types are neither pointers nor slices. They report nothing.
pub trait Other: Sized {
    /// Returns the address of a reference's target.
    #[inline(always)]
    fn behind(self) -> Self {
        self
    }

    /// Returns this address, for a method call that reads the value in the place.
    #[inline(always)]
    fn addressed(self) -> Self {
        self
    }

    /// Returns this address, unless it is that of an array.
    #[inline(always)]
    fn elements(self) -> Self {
        self
    }

    /// Returns the storage of `*value`.
    #[inline(always)]
    fn dereferenced(self) -> Own {
        Own
    }

    /// Returns the storage of `value[index]`.
    #[inline(always)]
    fn indexed<W: Storage, I: ?Sized>(self, _storage: W, _index: &I) -> Own {
        Own
    }

    /// Does nothing. For a pointer or slice, the method of this name reports an access to the place in `_storage`.
    #[inline(always)]
    fn touched<W: Storage>(self, _storage: W, _access: Access) {}

    /// Returns `result`, the moved pointer.
    #[inline(always)]
    fn moved<R>(self, result: R) -> R {
        result
    }

    /// Returns `result`, an iterator over the elements.
    #[inline(always)]
    fn iterated<R>(self, result: R) -> R {
        result
    }

    /// Does nothing. For a pointer, the method of this name reports an access to its target.
    #[inline(always)]
    fn used(self, _access: Access) {}

    /// Does nothing. For a pointer, the method of this name reports an access to its target, which may be unaligned.
    #[inline(always)]
    fn used_unaligned(self, _access: Access) {}

    /// Does nothing. For a pointer, the method of this name reports an access to `_count` elements.
    #[inline(always)]
    fn used_many<N: ?Sized>(self, _count: &N, _access: Access) {}

    /// Does nothing. For a pointer, the method of this name reports a copy of `_count` elements from or to `_other`.
    #[inline(always)]
    fn copied<O: ?Sized, N: ?Sized>(self, _other: &O, _count: &N, _access: Access) {}

    /// Does nothing. For a slice, the method of this name reports an access to the element `_index`.
    #[inline(always)]
    fn used_element<I: ?Sized>(self, _index: &I, _access: Access) {}

    /// Does nothing. For a slice, the method of this name reports an access to the element `_index`, if it exists.
    #[inline(always)]
    fn used_element_if_any<I: ?Sized>(self, _index: &I, _access: Access) {}

    /// Does nothing. For a slice, the method of this name reports that a pattern reads the element `_index`.
    #[inline(always)]
    fn matched(self, _index: isize, _least: usize, _is_exact: bool, _binds: bool) {}

    /// Does nothing. For a slice, the method of this name reports an access to all elements.
    #[inline(always)]
    fn used_all(self, _access: Access) {}
}

impl<P> Other for At<P> {}

/// The methods for computed values whose types are neither pointers nor slices. They report nothing.
pub trait OtherValue {
    /// The type of the value.
    type Inner;

    /// Returns the value. The caller iterates over it in a loop.
    fn each(self) -> Self::Inner;

    /// Returns the value. The caller then dereferences it.
    fn pointer(self, access: Access) -> Self::Inner;

    /// Returns the value. The caller then indexes it.
    fn indexed<I: ?Sized>(self, index: &I, access: Access) -> Self::Inner;
}

impl<V> OtherValue for Value<V> {
    type Inner = V;

    #[inline(always)]
    fn each(self) -> V {
        self.0
    }

    #[inline(always)]
    fn pointer(self, _access: Access) -> V {
        self.0
    }

    #[inline(always)]
    fn indexed<I: ?Sized>(self, _index: &I, _access: Access) -> V {
        self.0
    }
}

/// Returns `value`. The caller has reported the accesses to `value` by evaluating the first argument.
#[inline(always)]
pub fn then<T>(_told: (), value: T) -> T {
    value
}

/// Calls `tell`, which reports the accesses to the result `value` of a call, and returns `value`.
#[inline(always)]
pub fn looked_at<T>(value: T, tell: impl FnOnce(&T)) -> T {
    tell(&value);
    value
}
