//! Atomic operations on elements of global and shared memory.
//!
//! Views have them as methods ([`GlobalMut::atomic_add`]), which are one step for all threads of the device and
//! relaxed: they order nothing but themselves. To publish other writes, store with [`GlobalMut::store_release`] and
//! read with [`GlobalMut::load_acquire`], or put a [`fence`] between. What fits into the one word that is stored needs
//! no order: [`GlobalMut::store_relaxed`] and [`GlobalMut::load_relaxed`] are enough.
//!
//! With another scope or order an element is taken as an [`AtomicRef`], which [`GlobalMut::atomic`],
//! [`GlobalMut::block_atomic`] and [`GlobalMut::system_atomic`] give. [`AtomicU32`], [`BlockAtomicF32`] and the like
//! are the same as types, for statics and for memory that is reached by a pointer, as Rust-CUDA's `cuda_std::atomic`
//! has them.
//!
//! The simulator checks the scopes: an operation of block scope races with those of other blocks on the same element,
//! and a fence of block scope orders nothing for other blocks.

use crate::{Element, GlobalMut, Shared, backend};

mod fences;
mod reference;
mod types;

pub use core::sync::atomic::Ordering;
pub use fences::{fence, fence_block, fence_system};
pub use reference::AtomicRef;
pub use types::*;

/// The threads for which an operation is one step, or a fence orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Those of the caller's block (`.cta`).
    Block,
    /// Those of the device (`.gpu`).
    Device,
    /// Those, the host's and those of other devices (`.sys`).
    System,
}

/// Where an atomic operation takes place.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Place<T> {
    /// A pointer into global memory.
    Global(*mut T),
    /// An address in shared memory.
    Shared(u32),
    /// A pointer into either, of which only the program knows.
    Generic(*mut T),
}

impl<T> Place<T> {
    /// The place, of a type of the same size.
    #[inline(always)]
    fn cast<U>(self) -> Place<U> {
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
    F32,
    F64,
    F16x2,
    Bf16x2,
}

/// What an update makes of an element and a value.
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
    /// One more, and 0 after the value.
    Increment,
    /// One less, and the value after 0, or where there was more.
    Decrement,
}

/// A number that can be added to, exchanged, loaded and stored atomically: 32 or 64 bits, integer or float, or a pair
/// of floats of 16 bits.
pub trait Atomic: Element + PartialEq {
    #[doc(hidden)]
    const TYPE: AtomicType;

    /// What `update` makes of this and `value`.
    #[doc(hidden)]
    fn updated(self, update: Update, value: Self) -> Self;

    /// What is to be added to subtract this.
    #[doc(hidden)]
    fn negated(self) -> Self;
}

/// Whether both have the same bits.
#[inline(always)]
pub(crate) fn same_bits<T: Atomic>(a: T, b: T) -> bool {
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
        /// Element `index` for atomic operations of any order, for the threads of the device.
        #[inline(always)]
        #[track_caller]
        pub fn atomic(&self, index: usize) -> AtomicRef<$lifetime, T> {
            AtomicRef::new(self.place(index), Scope::Device)
        }

        /// Element `index` for atomic operations of any order, for the threads of the caller's block.
        #[inline(always)]
        #[track_caller]
        pub fn block_atomic(&self, index: usize) -> AtomicRef<$lifetime, T> {
            AtomicRef::new(self.place(index), Scope::Block)
        }

        /// Element `index` for atomic operations of any order, for the threads of all devices and of the host.
        #[inline(always)]
        #[track_caller]
        pub fn system_atomic(&self, index: usize) -> AtomicRef<$lifetime, T> {
            AtomicRef::new(self.place(index), Scope::System)
        }

        /// Subtracts `value` from element `index` and returns what was there before. Integers wrap.
        #[doc(alias = "atomicSub")]
        #[inline(always)]
        #[track_caller]
        pub fn atomic_sub(&self, index: usize, value: T) -> T {
            self.atomic_add(index, value.negated())
        }

        /// Adds `value` to element `index` and returns what was there before. Integers wrap. Of `f32` in global memory,
        /// GPUs take a subnormal number for zero, and so does the simulator.
        #[doc(alias = "atomicAdd")]
        #[inline(always)]
        #[track_caller]
        pub fn atomic_add(&self, index: usize, value: T) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_update(Update::Add, self.place(index), value, Scope::Device) }
        }

        #[doc(alias = "atomicExch")]
        /// Puts `value` into element `index` and returns what was there before.
        #[inline(always)]
        #[track_caller]
        pub fn atomic_exchange(&self, index: usize, value: T) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_update(Update::Exchange, self.place(index), value, Scope::Device) }
        }

        #[doc(alias = "atomicCAS")]
        /// Puts `new` into element `index` if it holds the bits of `expected`, and returns what was there before.
        #[inline(always)]
        #[track_caller]
        pub fn atomic_compare_exchange(&self, index: usize, expected: T, new: T) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_compare_exchange(self.place(index), expected, new, Scope::Device) }
        }

        /// Element `index`, read anew each time (`ld.relaxed.gpu`), for a thread that waits for another.
        #[inline(always)]
        #[track_caller]
        pub fn load_relaxed(&self, index: usize) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_load(self.place(index), false, Scope::Device) }
        }

        /// Element `index` (`ld.acquire.gpu`): what the thread that stored it with
        /// [`store_release`](Self::store_release) wrote before is then seen here.
        #[inline(always)]
        #[track_caller]
        pub fn load_acquire(&self, index: usize) -> T {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_load(self.place(index), true, Scope::Device) }
        }

        /// Sets element `index` (`st.release.gpu`) after everything that this thread wrote before.
        #[inline(always)]
        #[track_caller]
        pub fn store_release(&self, index: usize, value: T) {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_store(self.place(index), value, true, Scope::Device) }
        }

        /// Sets element `index` as one step (`st.relaxed.gpu`), for a thread that waits for it with
        /// [`load_relaxed`](Self::load_relaxed). Orders nothing else.
        #[inline(always)]
        #[track_caller]
        pub fn store_relaxed(&self, index: usize, value: T) {
            // SAFETY: a place is inside of its view.
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
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_update(Update::$operation, self.place(index), value, Scope::Device) }
        }
    };
}

macro_rules! number_methods {
    () => {
        update_method! {
            /// Lowers element `index` to `value` where that is less; returns what was there before. Of floats a NaN
            /// counts as none, and −0 as less than 0.
            #[doc(alias = "atomicMin")]
            atomic_min Min
        }
        update_method! {
            /// Raises element `index` to `value` where that is more; returns what was there before. Of floats as
            /// [`atomic_min`](Self::atomic_min).
            #[doc(alias = "atomicMax")]
            atomic_max Max
        }
    };
}

macro_rules! integer_methods {
    () => {
        update_method! {
            /// Bitwise and of element `index` with `value`; returns what was there before.
            #[doc(alias = "atomicAnd")]
            atomic_and And
        }
        update_method! {
            /// Bitwise or of element `index` with `value`; returns what was there before.
            #[doc(alias = "atomicOr")]
            atomic_or Or
        }
        update_method! {
            /// Bitwise exclusive-or of element `index` with `value`; returns what was there before.
            #[doc(alias = "atomicXor")]
            atomic_xor Xor
        }
    };
}

macro_rules! counter_methods {
    () => {
        /// Adds one to element `index`, or sets it to 0 where it is at least `limit`; returns what was there before.
        #[doc(alias = "atomicInc")]
        #[inline(always)]
        #[track_caller]
        pub fn atomic_inc(&self, index: usize, limit: u32) -> u32 {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_update(Update::Increment, self.place(index), limit, Scope::Device) }
        }

        /// Subtracts one from element `index`, or sets it to `limit` where it is 0 or more than `limit`; returns what
        /// was there before.
        #[doc(alias = "atomicDec")]
        #[inline(always)]
        #[track_caller]
        pub fn atomic_dec(&self, index: usize, limit: u32) -> u32 {
            // SAFETY: a place is inside of its view.
            unsafe { backend::atomic_update(Update::Decrement, self.place(index), limit, Scope::Device) }
        }
    };
}

impl<'a, T: Atomic> GlobalMut<'a, T> {
    atomic_methods!('a);
}

impl<T: Atomic> Shared<T> {
    atomic_methods!('static);

    /// Adds `value` to element `index` as by [`atomic_add`](Self::atomic_add), unchecked on a GPU, and returns nothing:
    /// an addition whose result nobody needs is a cheaper instruction.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn atomic_add_unchecked(&self, index: usize, value: T) {
        // SAFETY: the caller vouches for the index.
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
