//! Atomic operations on elements of global and shared memory, at the device's scope.
//!
//! Read-modify-write operations are relaxed: they order nothing but themselves. To publish other writes, store with
//! [`GlobalMut::store_release`] and read with [`GlobalMut::load_acquire`], or put a [`fence`] between. What fits into the
//! one word that is stored needs no order: [`GlobalMut::store_relaxed`] and [`GlobalMut::load_relaxed`] are enough.

use crate::{Element, GlobalMut, Shared, backend};

/// Where an atomic operation takes place.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Place<T> {
    /// A pointer into global memory.
    Global(*mut T),
    /// An address in shared memory.
    Shared(u32),
}

/// The PTX type of an atomic operation.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AtomicType {
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// A number that can be added to, exchanged, loaded and stored atomically: 32 or 64 bits, integer or float.
pub trait Atomic: Element + PartialEq {
    #[doc(hidden)]
    const TYPE: AtomicType;
    #[doc(hidden)]
    fn add(self, other: Self) -> Self;
}

/// An integer with atomic minimum, maximum and bitwise operations.
pub trait AtomicInteger: Atomic + Ord {
    #[doc(hidden)]
    fn bits(self) -> u64;
    #[doc(hidden)]
    fn from_bits(bits: u64) -> Self;
}

macro_rules! integers {
    ($($type:ident $ptx:ident)*) => {$(
        impl Atomic for $type {
            const TYPE: AtomicType = AtomicType::$ptx;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
        }
        impl AtomicInteger for $type {
            #[inline(always)]
            fn bits(self) -> u64 { self as u64 }
            #[inline(always)]
            fn from_bits(bits: u64) -> Self { bits as $type }
        }
    )*};
}

macro_rules! floats {
    ($($type:ident $ptx:ident)*) => {$(
        impl Atomic for $type {
            const TYPE: AtomicType = AtomicType::$ptx;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self + other }
        }
    )*};
}

integers! { u32 U32 i32 I32 u64 U64 i64 I64 }
floats! { f32 F32 f64 F64 }

/// What the host does for an integer operation; on a GPU it is one instruction.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum IntegerOperation {
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Orders this thread's accesses to global and shared memory before it ahead of those after it, as seen by every
/// thread of the device (`fence.sc.gpu`, CUDA's `__threadfence`).
#[inline(always)]
#[track_caller]
pub fn fence() {
    backend::fence();
}

macro_rules! atomic_methods {
    () => {
        /// Adds `value` to element `index` and returns what was there before. Integers wrap.
        #[inline(always)]
        #[track_caller]
        pub fn atomic_add(&self, index: usize, value: T) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_add(self.place(index), value) }
        }

        /// Puts `value` into element `index` and returns what was there before.
        #[inline(always)]
        #[track_caller]
        pub fn atomic_exchange(&self, index: usize, value: T) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_exchange(self.place(index), value) }
        }

        /// Puts `new` into element `index` if it holds the bits of `expected`, and returns what was there before.
        #[inline(always)]
        #[track_caller]
        pub fn atomic_compare_exchange(&self, index: usize, expected: T, new: T) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_compare_exchange(self.place(index), expected, new) }
        }

        /// Element `index`, read anew each time (`ld.relaxed.gpu`), for a thread that waits for another.
        #[inline(always)]
        #[track_caller]
        pub fn load_relaxed(&self, index: usize) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_load(self.place(index), false) }
        }

        /// Element `index` (`ld.acquire.gpu`): what the thread that stored it with
        /// [`store_release`](Self::store_release) wrote before is then seen here.
        #[inline(always)]
        #[track_caller]
        pub fn load_acquire(&self, index: usize) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_load(self.place(index), true) }
        }

        /// Sets element `index` (`st.release.gpu`) after everything that this thread wrote before.
        #[inline(always)]
        #[track_caller]
        pub fn store_release(&self, index: usize, value: T) {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_store(self.place(index), value, true) }
        }

        /// Sets element `index` as one step (`st.relaxed.gpu`), for a thread that waits for it with
        /// [`load_relaxed`](Self::load_relaxed). Orders nothing else.
        #[inline(always)]
        #[track_caller]
        pub fn store_relaxed(&self, index: usize, value: T) {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_store(self.place(index), value, false) }
        }
    };
}

macro_rules! integer_method {
    ($(#[$doc:meta])* $name:ident $operation:ident) => {
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name(&self, index: usize, value: T) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_integer(IntegerOperation::$operation, self.place(index), value) }
        }
    };
}

macro_rules! integer_methods {
    () => {
        integer_method! {
            /// Lowers element `index` to `value` where that is less; returns what was there before.
            atomic_min Min
        }
        integer_method! {
            /// Raises element `index` to `value` where that is more; returns what was there before.
            atomic_max Max
        }
        integer_method! {
            /// Bitwise and of element `index` with `value`; returns what was there before.
            atomic_and And
        }
        integer_method! {
            /// Bitwise or of element `index` with `value`; returns what was there before.
            atomic_or Or
        }
        integer_method! {
            /// Bitwise exclusive-or of element `index` with `value`; returns what was there before.
            atomic_xor Xor
        }
    };
}

impl<T: Atomic> GlobalMut<'_, T> {
    atomic_methods!();
}

impl<T: Atomic> Shared<T> {
    atomic_methods!();

    /// Adds `value` to element `index` as by [`atomic_add`](Self::atomic_add), unchecked on a GPU, and returns nothing: an
    /// addition whose result nobody needs is a cheaper instruction.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn atomic_add_unchecked(&self, index: usize, value: T) {
        // SAFETY: the caller vouches for the index.
        unsafe { backend::atomic_add(self.place_unchecked(index), value) };
    }
}

impl<T: AtomicInteger> GlobalMut<'_, T> {
    integer_methods!();
}

impl<T: AtomicInteger> Shared<T> {
    integer_methods!();
}
