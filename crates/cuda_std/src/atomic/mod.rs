//! Atomic operations on elements of global and shared memory.
//!
//! The methods of views, such as [`GlobalMut::atomic_add`], are atomic for all threads of the device. They are relaxed,
//! which means that they order no other access. To publish other writes, store with [`GlobalMut::store_release`] and
//! read with [`GlobalMut::load_acquire`], or put a [`fence`] between the accesses. To publish a single word,
//! [`GlobalMut::store_relaxed`] and [`GlobalMut::load_relaxed`] are enough.
//!
//! For another scope or order, [`GlobalMut::atomic`], [`GlobalMut::block_atomic`] and [`GlobalMut::system_atomic`]
//! return an [`AtomicRef`] to an element. [`AtomicU32`], [`BlockAtomicF32`] and others are atomic types for statics and
//! for memory behind pointers. They correspond to Rust-CUDA's `cuda_std::atomic`.
//!
//! The simulator checks scopes: an operation of block scope races with operations of other blocks on the same element,
//! and a fence of block scope orders nothing for other blocks.

use crate::Element;
#[cfg(doc)]
use crate::GlobalMut;

mod fences;
mod methods;
mod narrow;
mod reference;
mod types;
mod wide;

pub use core::sync::atomic::Ordering;
pub use fences::{
    fence, fence_acq_rel, fence_acq_rel_block, fence_acq_rel_cluster, fence_acq_rel_system, fence_block, fence_cluster,
    fence_system,
};
pub use reference::AtomicRef;
pub use types::*;

/// The set of threads for which an operation is atomic or a fence orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the caller's block (`.cta`).
    Block,
    /// The threads of the caller's cluster (`.cluster`).
    Cluster,
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
    /// An address in the shared memory of the cluster.
    Cluster(u32),
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
            Self::Cluster(address) => Place::Cluster(address),
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
