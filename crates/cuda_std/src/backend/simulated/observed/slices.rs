//! The reports of accesses to slices, and to arrays behind pointers and slices.

use simt::raw::{self, Through};

use super::{Access, At, Observed, SliceIndex, Sliced, Storage, Value, touch};

#[inline(always)]
#[track_caller]
fn check<T, I: SliceIndex>(slice: *const [T], index: &I) {
    if let Some(outside) = index.outside(slice.len()) {
        raw::out_of_slice(slice.cast::<T>().addr(), outside, slice.len());
    }
}

#[inline(always)]
#[track_caller]
fn touch_all<T>(slice: *const [T], access: Access) {
    let bytes = slice.len() * size_of::<T>();
    raw::touch(slice.cast::<T>().addr(), bytes, align_of::<T>(), access, Through::Slice);
}

#[inline(always)]
#[track_caller]
fn touch_element<T, I: SliceIndex>(slice: *const [T], index: &I, access: Access) {
    if let Some(element) = index.element() {
        touch(slice.cast::<T>().wrapping_add(element), access, Through::Slice);
    }
}

/// Defines the reports of a slice's methods.
macro_rules! methods {
    ($bound:expr) => {
        /// Wraps `result`, an iterator over the elements, in an iterator that reports its accesses.
        #[inline(always)]
        #[track_caller]
        pub fn iterated<R: Iterator>(self, result: R) -> Observed<R> {
            Observed::new(result)
        }

        /// Reports an access to the element `index`.
        #[inline(always)]
        #[track_caller]
        pub fn used_element<I: SliceIndex>(self, index: &I, access: Access) {
            check(self.get(), index);
            touch_element(self.get(), index, access);
        }

        /// Reports an access to the element `index`, if it exists.
        #[inline(always)]
        #[track_caller]
        pub fn used_element_if_any<I: SliceIndex>(self, index: &I, access: Access) {
            if index.outside(self.get().len()).is_none() {
                touch_element(self.get(), index, access);
            }
        }

        /// Reports that a pattern reads the element `index`, which counts from the end if it is negative. The pattern
        /// matches slices of `least` elements and, if `is_exact` is false, longer slices. A part that `binds` a name
        /// may borrow the element.
        #[inline(always)]
        #[track_caller]
        pub fn matched(self, index: isize, least: usize, is_exact: bool, binds: bool) {
            let len = self.get().len();
            if len == least || len > least && !is_exact {
                let index = if index < 0 { len - index.unsigned_abs() } else { index.unsigned_abs() };
                touch_element(self.get(), &index, if binds { $bound } else { Access::Read });
            }
        }

        /// Reports an access to all elements.
        #[inline(always)]
        #[track_caller]
        pub fn used_all(self, access: Access) {
            touch_all(self.get(), access);
        }
    };
}

/// Defines the reports of indexing through a reference to a slice.
macro_rules! indexed {
    () => {
        /// Returns the storage of `slice[index]`. Reports a read of the reference in `storage`.
        #[inline(always)]
        #[track_caller]
        pub fn indexed<W: Storage, I: SliceIndex>(self, storage: W, index: &I) -> Sliced {
            self.touched(storage, Access::Read);
            check(self.get(), index);
            Sliced
        }
    };
}

macro_rules! slices {
    ($($slice:ty, $bound:expr;)*) => {$(
        impl<T> At<*const $slice> {
            #[inline(always)]
            fn get(self) -> *const [T] {
                // SAFETY: the macros pass the address of a variable, or of a value that lives long enough. Only the
                // pointer and the length are read.
                unsafe { self.0.cast::<*const [T]>().read() }
            }

            /// Returns the storage of `*slice`.
            #[inline(always)]
            pub fn dereferenced(self) -> Sliced {
                Sliced
            }

            indexed!();
            methods!($bound);
        }
    )*};
}

slices! {
    &[T], Access::Read;
    &mut [T], Access::Write;
}

/// Defines the reports for a reference to a slice reference.
macro_rules! referred_slices {
    ($($reference:ty, $bound:expr;)*) => {$(
        impl<T> At<*const $reference> {
            #[inline(always)]
            fn get(self) -> *const [T] {
                // SAFETY: the macros pass the address of a live reference. Only the pointer and the length of its
                // target are read.
                unsafe { self.0.cast::<*const *const [T]>().read().read() }
            }

            indexed!();
            methods!($bound);
        }
    )*};
}

referred_slices! {
    &&[T], Access::Read;
    &&mut [T], Access::Read;
    &mut &[T], Access::Read;
    &mut &mut [T], Access::Write;
}

impl<T> At<*const [T]> {
    #[inline(always)]
    fn get(self) -> *const [T] {
        self.0
    }

    /// Returns the storage of `slice[index]`.
    #[inline(always)]
    #[track_caller]
    pub fn indexed<W: Storage, I: SliceIndex>(self, storage: W, index: &I) -> W {
        if storage.is_observed() {
            check(self.0, index);
        }
        storage
    }

    methods!(Access::Read);
}

impl<T, const N: usize> At<*const [T; N]> {
    /// Returns the storage of `array[index]`, which is the storage of the array.
    #[inline(always)]
    pub fn indexed<W: Storage, I: ?Sized>(self, storage: W, _index: &I) -> W {
        storage
    }

    /// Returns no address, for a method call that reads nothing, such as `as_mut_ptr`.
    #[inline(always)]
    pub fn addressed(self) -> At<()> {
        At(())
    }

    /// Returns the address of the array's elements as a slice.
    #[inline(always)]
    pub fn elements(self) -> At<*const [T]> {
        At(self.0)
    }

    /// Reports an access to the element `index`.
    #[inline(always)]
    #[track_caller]
    pub fn used_element<I: SliceIndex>(self, index: &I, access: Access) {
        self.elements().used_element(index, access);
    }

    /// Reports an access to the element `index`, if it exists.
    #[inline(always)]
    #[track_caller]
    pub fn used_element_if_any<I: SliceIndex>(self, index: &I, access: Access) {
        self.elements().used_element_if_any(index, access);
    }

    /// Reports an access to all elements.
    #[inline(always)]
    #[track_caller]
    pub fn used_all(self, access: Access) {
        self.elements().used_all(access);
    }
}

impl<'a, T> Value<&'a [T]> {
    /// Returns an iterator over the slice's elements that reports its accesses.
    #[inline(always)]
    #[track_caller]
    pub fn each(self) -> Observed<core::slice::Iter<'a, T>> {
        Observed::new(self.0.iter())
    }

    /// Reports an access to the element or range `index`, and returns the slice.
    #[inline(always)]
    #[track_caller]
    pub fn indexed<I: SliceIndex>(self, index: &I, access: Access) -> &'a [T] {
        At(&raw const self.0).used_element(index, access);
        self.0
    }
}

impl<'a, T> Value<&'a mut [T]> {
    /// Returns an iterator over the slice's elements that reports its accesses.
    #[inline(always)]
    #[track_caller]
    pub fn each(self) -> Observed<core::slice::IterMut<'a, T>> {
        Observed::new(self.0.iter_mut())
    }

    /// Reports an access to the element or range `index`, and returns the slice.
    #[inline(always)]
    #[track_caller]
    pub fn indexed<I: SliceIndex>(self, index: &I, access: Access) -> &'a mut [T] {
        At(&raw const self.0).used_element(index, access);
        self.0
    }
}
