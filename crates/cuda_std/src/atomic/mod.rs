//! Atomic operations on elements of global and shared memory.
//!
//! The methods of views, such as [`GlobalMut::atomic_add`], are relaxed and atomic for all threads of the device. To
//! publish other writes, use [`GlobalMut::store_release`] and [`GlobalMut::load_acquire`], or a [`fence`]. To publish a
//! single word, [`GlobalMut::store_relaxed`] and [`GlobalMut::load_relaxed`] are enough.
//!
//! For another scope or order, `atomic`, `block_atomic`, `cluster_atomic` and `system_atomic` return a reference to an
//! element. [`AtomicU32`], [`BlockAtomicF32`] and others are atomic types for statics and for memory behind pointers.
//!
//! The simulator checks scopes: an operation of block scope races with operations of other blocks on the same element,
//! and a fence of block scope orders nothing for other blocks.

use crate::{Element, GlobalMut, Shared, backend};

mod cluster;
mod fences;
mod narrow;
mod reference;
mod types;
mod wide;

pub use cluster::{ClusterAtomicRef, ClusterPlace};
pub use core::sync::atomic::Ordering;
pub use fences::*;
pub use reference::AtomicRef;
pub use types::*;

/// The set of threads for which an operation is atomic or a fence orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the caller's block (`.cta`).
    Block,
    /// The threads of the device (`.gpu`).
    Device,
    /// The threads of all devices and of the host (`.sys`).
    System,
}

/// The address on which an atomic operation works, with its memory space.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Place<T> {
    /// A pointer into global memory.
    Global(*mut T),
    /// An address in shared memory.
    Shared(u32),
    /// A pointer into global or shared memory, known only at run time.
    Generic(*mut T),
}

impl<T> Place<T> {
    /// Converts to an address of another type of the same size.
    #[inline(always)]
    pub(crate) fn cast<U>(self) -> Place<U> {
        const { core::assert!(size_of::<T>() == size_of::<U>()) }
        match self {
            Self::Global(pointer) => Place::Global(pointer.cast()),
            Self::Shared(address) => Place::Shared(address),
            Self::Generic(pointer) => Place::Generic(pointer.cast()),
        }
    }
}

/// The PTX type of an atomic operation.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AtomicType {
    U32,
    I32,
    U64,
    I64,
    U128,
    F32,
    F64,
    F16x2,
    Bf16x2,
}

/// A read-modify-write operation, as the PTX instruction `atom` offers it.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Update {
    Add,
    Exchange,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Adds one to the element, or sets it to 0 if it is at least the operand.
    Increment,
    /// Subtracts one from the element, or sets it to the operand if it is 0 or greater than the operand.
    Decrement,
}

/// A number with atomic addition, exchange, load and store: an integer or float of 32 or 64 bits, a pair of 16-bit
/// floats, or a `u128`.
pub trait Atomic: Element + PartialEq {
    #[doc(hidden)]
    const TYPE: AtomicType;

    /// Returns the element that results from applying `update` with the operand `value` to the element `self`.
    #[doc(hidden)]
    fn updated(self, update: Update, value: Self) -> Self;

    /// Returns `-self`. Adding the result is the same as subtracting `self`.
    #[doc(hidden)]
    fn negated(self) -> Self;
}

/// Returns true if the numbers `a` and `b` have the same bits.
#[inline(always)]
pub(crate) fn same_bits<T: Atomic>(a: T, b: T) -> bool {
    if const { size_of::<T>() == 16 } {
        return bytemuck::cast::<T, u128>(a) == bytemuck::cast::<T, u128>(b);
    }
    if size_of::<T>() == 4 {
        bytemuck::cast::<T, u32>(a) == bytemuck::cast::<T, u32>(b)
    } else {
        bytemuck::cast::<T, u64>(a) == bytemuck::cast::<T, u64>(b)
    }
}

/// A number with atomic minimum and maximum: an integer or a float of 32 or 64 bits.
pub trait AtomicNumber: Atomic + PartialOrd {}

/// An integer with atomic bitwise operations.
pub trait AtomicInteger: AtomicNumber + Ord {}

macro_rules! integers {
    ($($type:ident $ptx:ident)*) => {$(
        impl Atomic for $type {
            const TYPE: AtomicType = AtomicType::$ptx;

            #[inline(always)]
            fn updated(self, update: Update, value: Self) -> Self {
                match update {
                    Update::Add => self.wrapping_add(value),
                    Update::Exchange => value,
                    Update::Min => Ord::min(self, value),
                    Update::Max => Ord::max(self, value),
                    Update::And => self & value,
                    Update::Or => self | value,
                    Update::Xor => self ^ value,
                    Update::Increment => if self >= value { 0 } else { self + 1 },
                    Update::Decrement => if self == 0 || self > value { value } else { self - 1 },
                }
            }

            #[inline(always)]
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
        }
        impl AtomicNumber for $type {}
        impl AtomicInteger for $type {}
    )*};
}

macro_rules! floats {
    ($($type:ident $ptx:ident)*) => {$(
        impl Atomic for $type {
            const TYPE: AtomicType = AtomicType::$ptx;

            #[inline(always)]
            fn updated(self, update: Update, value: Self) -> Self {
                match update {
                    Update::Add => self + value,
                    Update::Min => crate::GpuFloat::minimum_number(self, value),
                    Update::Max => crate::GpuFloat::maximum_number(self, value),
                    _ => value,
                }
            }

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }
        }
        impl AtomicNumber for $type {}
    )*};
}

integers! { u32 U32 i32 I32 u64 U64 i64 I64 }
floats! { f32 F32 f64 F64 }

macro_rules! atomic_methods {
    ($lifetime:lifetime) => {
        /// Returns a reference to element `index` for atomic operations of any order, in the scope of the device.
        #[inline(always)]
        #[track_caller]
        pub fn atomic(&self, index: usize) -> AtomicRef<$lifetime, T> {
            AtomicRef::new(self.place(index), Scope::Device)
        }

        /// Returns a reference to element `index` for atomic operations of any order, in the scope of the caller's
        /// block.
        #[inline(always)]
        #[track_caller]
        pub fn block_atomic(&self, index: usize) -> AtomicRef<$lifetime, T> {
            AtomicRef::new(self.place(index), Scope::Block)
        }

        /// Returns a reference to element `index` for atomic operations of any order, in the scope of the system: all
        /// devices and the host.
        #[inline(always)]
        #[track_caller]
        pub fn system_atomic(&self, index: usize) -> AtomicRef<$lifetime, T> {
            AtomicRef::new(self.place(index), Scope::System)
        }

        /// Subtracts `value` from element `index` and returns the previous value. Integers wrap.
        #[doc(alias = "atomicSub")]
        #[inline(always)]
        #[track_caller]
        pub fn atomic_sub(&self, index: usize, value: T) -> T {
            self.atomic_add(index, value.negated())
        }

        /// Adds `value` to element `index` and returns the previous value. Integers wrap. In global memory, GPUs and
        /// the simulator treat subnormal `f32` as zero.
        #[doc(alias = "atomicAdd")]
        #[inline(always)]
        #[track_caller]
        pub fn atomic_add(&self, index: usize, value: T) -> T {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_update(Update::Add, self.place(index), value, Scope::Device) }
        }

        #[doc(alias = "atomicExch")]
        /// Sets element `index` to `value` and returns the previous value.
        #[inline(always)]
        #[track_caller]
        pub fn atomic_exchange(&self, index: usize, value: T) -> T {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_update(Update::Exchange, self.place(index), value, Scope::Device) }
        }

        #[doc(alias = "atomicCAS")]
        /// Sets element `index` to `new` if it has the bits of `expected`. Returns the previous value.
        #[inline(always)]
        #[track_caller]
        pub fn atomic_compare_exchange(&self, index: usize, expected: T, new: T) -> T {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_compare_exchange(self.place(index), expected, new, Scope::Device) }
        }

        /// Loads element `index` from memory at each call (`ld.relaxed.gpu`). A thread can poll the element with this
        /// method.
        #[inline(always)]
        #[track_caller]
        pub fn load_relaxed(&self, index: usize) -> T {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_load(self.place(index), false, Scope::Device) }
        }

        /// Loads element `index` (`ld.acquire.gpu`). If the value comes from a [`store_release`](Self::store_release),
        /// this thread then sees the earlier writes of the storing thread.
        #[inline(always)]
        #[track_caller]
        pub fn load_acquire(&self, index: usize) -> T {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_load(self.place(index), true, Scope::Device) }
        }

        /// Sets element `index` so that a thread that acquires the new value sees all earlier writes of this thread
        /// (`st.release.gpu`).
        #[inline(always)]
        #[track_caller]
        pub fn store_release(&self, index: usize, value: T) {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_store(self.place(index), value, true, Scope::Device) }
        }

        /// Sets element `index` atomically (`st.relaxed.gpu`). Another thread can poll the element with
        /// [`load_relaxed`](Self::load_relaxed). The store orders no other access.
        #[inline(always)]
        #[track_caller]
        pub fn store_relaxed(&self, index: usize, value: T) {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_store(self.place(index), value, false, Scope::Device) }
        }
    };
}

macro_rules! update_method {
    ($(#[$doc:meta])* $name:ident $operation:ident) => {
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name(&self, index: usize, value: T) -> T {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_update(Update::$operation, self.place(index), value, Scope::Device) }
        }
    };
}

macro_rules! number_methods {
    () => {
        update_method! {
            /// Sets element `index` to the minimum of itself and `value`. Returns the previous value. For floats, a NaN
            /// is ignored and −0 is less than 0.
            #[doc(alias = "atomicMin")]
            atomic_min Min
        }
        update_method! {
            /// Sets element `index` to the maximum of itself and `value`. Returns the previous value. For floats, see
            /// [`atomic_min`](Self::atomic_min).
            #[doc(alias = "atomicMax")]
            atomic_max Max
        }
    };
}

macro_rules! integer_methods {
    () => {
        update_method! {
            /// Replaces element `index` by its bitwise AND with `value`. Returns the previous value.
            #[doc(alias = "atomicAnd")]
            atomic_and And
        }
        update_method! {
            /// Replaces element `index` by its bitwise OR with `value`. Returns the previous value.
            #[doc(alias = "atomicOr")]
            atomic_or Or
        }
        update_method! {
            /// Replaces element `index` by its bitwise XOR with `value`. Returns the previous value.
            #[doc(alias = "atomicXor")]
            atomic_xor Xor
        }
    };
}

macro_rules! counter_methods {
    () => {
        /// Adds one to element `index`, or sets it to 0 if it is at least `limit`. Returns the previous value.
        #[doc(alias = "atomicInc")]
        #[inline(always)]
        #[track_caller]
        pub fn atomic_inc(&self, index: usize, limit: u32) -> u32 {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_update(Update::Increment, self.place(index), limit, Scope::Device) }
        }

        /// Subtracts one from element `index`, or sets it to `limit` if it is 0 or greater than `limit`. Returns the
        /// previous value.
        #[doc(alias = "atomicDec")]
        #[inline(always)]
        #[track_caller]
        pub fn atomic_dec(&self, index: usize, limit: u32) -> u32 {
            // SAFETY: `place` has checked the index.
            unsafe { backend::atomic_update(Update::Decrement, self.place(index), limit, Scope::Device) }
        }
    };
}

impl<'a, T: Atomic> GlobalMut<'a, T> {
    atomic_methods!('a);
}

impl<T: Atomic> Shared<T> {
    atomic_methods!('static);

    /// Adds `value` to element `index` like [`atomic_add`](Self::atomic_add), but does not check the index on a GPU. It
    /// does not return the previous value, which allows a cheaper instruction.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn atomic_add_unchecked(&self, index: usize, value: T) {
        // SAFETY: the caller guarantees that the index is in bounds.
        unsafe { backend::atomic_update(Update::Add, self.place_unchecked(index), value, Scope::Device) };
    }
}

impl<T: AtomicNumber> GlobalMut<'_, T> {
    number_methods!();
}

impl<T: AtomicNumber> Shared<T> {
    number_methods!();
}

impl<T: AtomicInteger> GlobalMut<'_, T> {
    integer_methods!();
}

impl<T: AtomicInteger> Shared<T> {
    integer_methods!();
}

impl GlobalMut<'_, u32> {
    counter_methods!();
}

impl Shared<u32> {
    counter_methods!();
}
