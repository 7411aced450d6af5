//! What `#[kernel]` and `#[device]` put before an access by a pointer or a slice: it tells the simulator, if that is
//! what the access is by.
//!
//! The macros know no types. They write the same for each dereference, index and method, and the types choose between
//! the methods of the types here and those of the same names of [`Other`] and [`OtherValue`], which do nothing and cost
//! nothing.

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

/// A pointer to the variable, or the value, that something is done with.
#[derive(Clone, Copy)]
pub struct At<P>(pub P);

/// A value that is given on.
pub struct Value<V>(pub V);

/// What the elements of a place are reached by.
pub trait Storage: Copy {
    /// By what, if the simulator is to be told.
    const THROUGH: Option<Through>;

    /// Whether the simulator is to be told.
    #[inline(always)]
    fn is_observed(self) -> bool {
        Self::THROUGH.is_some()
    }
}

/// By a variable of the thread, or by a reference to one value.
#[derive(Clone, Copy)]
pub struct Own;

/// By a raw pointer.
#[derive(Clone, Copy)]
pub struct Pointed;

/// By a slice.
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
    /// Before an access to all of the place, which is reached by `storage`. Where the type has no size, part of a slice
    /// is borrowed: who accesses its elements tells of that.
    #[inline(always)]
    #[track_caller]
    pub fn touched<W: Storage>(self, _storage: W, access: Access) {
        if let Some(through) = W::THROUGH {
            touch(self.0, access, through);
        }
    }
}

macro_rules! references {
    ($($reference:ty)*) => {$(
        impl<T: ?Sized> At<*const $reference> {
            /// Where the reference leads.
            #[inline(always)]
            pub fn behind(self) -> At<*const T> {
                // SAFETY: the macros take the address of a reference that is about to be used.
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

/// At the beginning of a kernel that takes the reference.
#[inline(always)]
#[track_caller]
pub fn referred<T>(value: &T) {
    let place: *const T = value;
    raw::referred((place.addr(), size_of::<T>(), align_of::<T>()));
}

/// What is meant of types that are neither pointers nor slices: nothing is to be told.
pub trait Other: Sized {
    /// Where a reference leads.
    #[inline(always)]
    fn behind(self) -> Self {
        self
    }

    /// What `*value` is reached by.
    #[inline(always)]
    fn dereferenced(self) -> Own {
        Own
    }

    /// What `value[index]` is reached by.
    #[inline(always)]
    fn indexed<W: Storage, I: ?Sized>(self, _storage: W, _index: &I) -> Own {
        Own
    }

    /// Before an access to the place, which is reached by `_storage`.
    #[inline(always)]
    fn touched<W: Storage>(self, _storage: W, _access: Access) {}

    /// `result`, of a method that moves a pointer.
    #[inline(always)]
    fn moved<R>(self, result: R) -> R {
        result
    }

    /// `result`, of a method that makes an iterator over the elements.
    #[inline(always)]
    fn iterated<R>(self, result: R) -> R {
        result
    }

    /// Before a method that accesses what the value points to.
    #[inline(always)]
    fn used(self, _access: Access) {}

    /// The same, wherever it points to.
    #[inline(always)]
    fn used_unaligned(self, _access: Access) {}

    /// Before a method that accesses `_count` elements.
    #[inline(always)]
    fn used_many<N: ?Sized>(self, _count: &N, _access: Access) {}

    /// Before a method that copies `_count` elements from `_other` or to it, whichever `_access` to the value itself it
    /// is.
    #[inline(always)]
    fn copied<O: ?Sized, N: ?Sized>(self, _other: &O, _count: &N, _access: Access) {}

    /// Before a method that accesses the element `_index`.
    #[inline(always)]
    fn used_element<I: ?Sized>(self, _index: &I, _access: Access) {}

    /// Before a method that accesses the element `_index`, if there is one.
    #[inline(always)]
    fn used_element_if_any<I: ?Sized>(self, _index: &I, _access: Access) {}

    /// Before the element `_index` is matched by a part of a pattern.
    #[inline(always)]
    fn matched(self, _index: isize, _least: usize, _is_exact: bool, _binds: bool) {}

    /// Before a method that accesses all elements.
    #[inline(always)]
    fn used_all(self, _access: Access) {}
}

impl<P> Other for At<P> {}

/// The same of values.
pub trait OtherValue {
    /// The type of the value.
    type Inner;

    /// The value, which is iterated over.
    fn each(self) -> Self::Inner;

    /// The value, which is dereferenced.
    fn pointer(self, access: Access) -> Self::Inner;

    /// The value, which is indexed.
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

/// `value`, after what has been told.
#[inline(always)]
pub fn then<T>(_told: (), value: T) -> T {
    value
}

/// `value`, which a call has given, after what it leads to has been told of.
#[inline(always)]
pub fn looked_at<T>(value: T, tell: impl FnOnce(&T)) -> T {
    tell(&value);
    value
}
