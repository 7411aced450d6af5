//! Declared races, and relaxed accesses of elements for which there are no atomic updates.

use crate::atomic::{Atomic, Place, Scope};
use crate::backend;
use crate::half::{bf16, f16};
use crate::{DeviceCopy, Global, GlobalMut, Shared};

macro_rules! racy_load {
    () => {
        /// Loads element `index` where another thread may store to it at the same time, by [`racy_store`] or by an
        /// atomic access. The load returns the old or the new value. The checks report no race of the two.
        ///
        /// Use it where either value leads to a right result, such as a hint that work can be skipped. The access
        /// orders no other access. It is a volatile access, which is a relaxed one in PTX's memory model.
        ///
        /// [`racy_store`]: GlobalMut::racy_store
        #[inline(always)]
        #[track_caller]
        pub fn racy_load(&self, index: usize) -> T {
            self.load_volatile(index)
        }
    };
}

macro_rules! racy_store {
    () => {
        /// Sets element `index` where other threads may load or store it at the same time, by [`racy_load`],
        /// `racy_store` or an atomic access. The checks report no race of these accesses.
        ///
        /// Use it where any of the stored values leads to a right result, for example if all threads store the same
        /// value. The access orders no other access. It is a volatile access, which is a relaxed one in PTX's memory
        /// model.
        ///
        /// [`racy_load`]: GlobalMut::racy_load
        #[inline(always)]
        #[track_caller]
        pub fn racy_store(&self, index: usize, value: T) {
            self.store_volatile(index, value);
        }
    };
}

impl<T: DeviceCopy> Global<'_, T> {
    racy_load!();
}

impl<T: DeviceCopy> GlobalMut<'_, T> {
    racy_load!();
    racy_store!();
}

impl<T: DeviceCopy> Shared<T> {
    racy_load!();
    racy_store!();
}

macro_rules! relaxed_methods {
    ($type:ty) => {
        /// Loads element `index` from memory at each call, atomically (`ld.volatile`, a relaxed access in PTX's memory
        /// model). A thread can poll the element with this method. To acquire the accesses before the store, put a
        /// [`fence`](crate::fence()) after the load.
        #[inline(always)]
        #[track_caller]
        pub fn load_relaxed(&self, index: usize) -> $type {
            self.load_volatile(index)
        }

        /// Sets element `index` atomically (`st.volatile`, a relaxed access in PTX's memory model). To release earlier
        /// accesses, put a [`fence`](crate::fence()) before the store.
        #[inline(always)]
        #[track_caller]
        pub fn store_relaxed(&self, index: usize, value: $type) {
            self.store_volatile(index, value);
        }
    };
}

/// Declares relaxed accesses of types without atomic updates.
macro_rules! relaxed {
    ($($type:ty)*) => {$(
        impl GlobalMut<'_, $type> {
            relaxed_methods!($type);
        }

        impl Shared<$type> {
            relaxed_methods!($type);
        }
    )*};
}

relaxed! { u8 i8 bool u16 i16 f16 bf16 }

impl<T: DeviceCopy> GlobalMut<'_, T> {
    /// Loads element `index` like [`load_relaxed`](Self::load_relaxed), but without checks on a GPU.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_relaxed_unchecked(&self, index: usize) -> T
    where
        T: Atomic,
    {
        self.check_in_simulator(index);
        // SAFETY: the caller guarantees that the index is in bounds.
        unsafe { backend::atomic_load(Place::Global(self.as_ptr().add(index)), false, Scope::Device) }
    }
}
