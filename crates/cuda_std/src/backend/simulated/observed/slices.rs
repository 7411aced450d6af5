//! Slices, and arrays in memory that pointers and slices lead to.

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

/// What methods access of a slice.
macro_rules! methods {
    ($bound:expr) => {
        /// `result`, of a method that makes an iterator over the elements.
        #[inline(always)]
        #[track_caller]
        pub fn iterated<R: Iterator>(self, result: R) -> Observed<R> {
            Observed::new(result)
        }

        /// Before a method that accesses the element `index`.
        #[inline(always)]
        #[track_caller]
        pub fn used_element<I: SliceIndex>(self, index: &I, access: Access) {
            check(self.get(), index);
            touch_element(self.get(), index, access);
        }

        /// Before a method that accesses the element `index`, if there is one.
        #[inline(always)]
        #[track_caller]
        pub fn used_element_if_any<I: SliceIndex>(self, index: &I, access: Access) {
            if index.outside(self.get().len()).is_none() {
                touch_element(self.get(), index, access);
            }
        }

        /// Before the element `index` (from the end on if it is less than 0) is matched by a part of a pattern for
        /// slices of `least` elements or, if not `is_exact`, more. Where the part `binds` a name, that may be a
        /// reference to it.
        #[inline(always)]
        #[track_caller]
        pub fn matched(self, index: isize, least: usize, is_exact: bool, binds: bool) {
            let len = self.get().len();
            if len == least || len > least && !is_exact {
                let index = if index < 0 { len - index.unsigned_abs() } else { index.unsigned_abs() };
                touch_element(self.get(), &index, if binds { $bound } else { Access::Read });
            }
        }

        /// Before a method that accesses all elements.
        #[inline(always)]
        #[track_caller]
        pub fn used_all(self, access: Access) {
            touch_all(self.get(), access);
        }
    };
}

/// Of a reference that leads to a slice.
macro_rules! indexed {
    () => {
        /// What `slice[index]` is reached by. The reference itself is read where `storage` leads to.
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
                // SAFETY: the macros take the address of a variable, or of a value that lives as long as this. Only the
                // pointer and the length are read.
                unsafe { self.0.cast::<*const [T]>().read() }
            }

            /// What `*slice` is reached by.
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

/// The same behind a reference, which is one value of its own.
macro_rules! referred_slices {
    ($($reference:ty, $bound:expr;)*) => {$(
        impl<T> At<*const $reference> {
            #[inline(always)]
            fn get(self) -> *const [T] {
                // SAFETY: as above, of what the reference leads to.
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

    /// What `slice[index]` is reached by.
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
    /// What `array[index]` is reached by: what the array is.
    #[inline(always)]
    pub fn indexed<W: Storage, I: ?Sized>(self, storage: W, _index: &I) -> W {
        storage
    }
}

impl<'a, T> Value<&'a [T]> {
    /// The elements, one by one.
    #[inline(always)]
    #[track_caller]
    pub fn each(self) -> Observed<core::slice::Iter<'a, T>> {
        Observed::new(self.0.iter())
    }

    /// The slice, of which `index` is accessed.
    #[inline(always)]
    #[track_caller]
    pub fn indexed<I: SliceIndex>(self, index: &I, access: Access) -> &'a [T] {
        At(&raw const self.0).used_element(index, access);
        self.0
    }
}

impl<'a, T> Value<&'a mut [T]> {
    /// The elements, one by one.
    #[inline(always)]
    #[track_caller]
    pub fn each(self) -> Observed<core::slice::IterMut<'a, T>> {
        Observed::new(self.0.iter_mut())
    }

    /// The slice, of which `index` is accessed.
    #[inline(always)]
    #[track_caller]
    pub fn indexed<I: SliceIndex>(self, index: &I, access: Access) -> &'a mut [T] {
        At(&raw const self.0).used_element(index, access);
        self.0
    }
}
