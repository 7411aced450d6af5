//! A reference to an element for atomic operations, with a scope and an order.
//!
//! # Design
//!
//! An atomic operation is relaxed and has a scope. A stronger order adds a fence of that scope, as the hardware does.
//! Memory space and scope are constants when a kernel is compiled, so each operation becomes one instruction.
//!
//! A view knows its memory space. An atomic type does not know it and uses a generic address, for which the simulator
//! searches in the block's shared memory.

use core::fmt;
use core::marker::PhantomData;

use super::{Atomic, AtomicInteger, AtomicNumber, Ordering, Place, Scope, Update, same_bits};
use crate::backend;

/// A reference to a number in global or shared memory. Its operations are atomic for the threads of a scope.
///
/// The methods are those of [`core::sync::atomic`]. For an order that acquires, they execute a fence of the scope after
/// the operation; for an order that releases, they execute one before it.
///
/// ```
/// use cuda_std::atomic::Ordering::{AcqRel, Relaxed};
/// use cuda_std::{GlobalMut, kernel, thread};
///
/// /// Adds 1 to `sums[0]` for each thread, and stores the index of the last block to arrive in `last[0]`.
/// #[kernel]
/// pub fn total(sums: GlobalMut<f32>, arrived: GlobalMut<u32>, last: GlobalMut<u32>) {
///     sums.atomic(0).fetch_add(1.0, Relaxed);
///     thread::sync_threads();
///     if thread::index_in_block() == 0 && arrived.atomic(0).fetch_add(1, AcqRel) == thread::grid_dim_x() - 1 {
///         last.store(0, thread::block_idx_x());
///     }
/// }
/// # fn main() {}
/// ```
pub struct AtomicRef<'a, T> {
    place: Place<T>,
    scope: Scope,
    element: PhantomData<&'a mut T>,
}

impl<T: Copy> Clone for AtomicRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for AtomicRef<'_, T> {}

impl<T> fmt::Debug for AtomicRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an atomic for the {:?}", self.scope)
    }
}

pub(super) const fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

pub(super) const fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel)
}

macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident($value:ident: $type:ty) $update:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name(&self, $value: $type, order: Ordering) -> $type {
            self.before(order);
            // SAFETY: the address is valid as long as the reference.
            let old = unsafe { backend::atomic_update(Update::$update, self.place, $value, self.scope) };
            self.after(order);
            old
        }
    )*};
}

impl<T: Atomic> AtomicRef<'_, T> {
    /// Creates a reference to the number at `place`, which must be valid for `'a`.
    #[inline(always)]
    pub(crate) fn new(place: Place<T>, scope: Scope) -> Self {
        Self { place, scope, element: PhantomData }
    }

    /// Executes the fence that `order` requires before an operation.
    #[inline(always)]
    #[track_caller]
    fn before(&self, order: Ordering) {
        if order == Ordering::SeqCst {
            backend::fence(self.scope);
        } else if releases(order) {
            backend::fence_acquire_release(self.scope);
        }
    }

    /// Executes the fence that `order` requires after an operation.
    #[inline(always)]
    #[track_caller]
    fn after(&self, order: Ordering) {
        if acquires(order) {
            backend::fence_acquire_release(self.scope);
        }
    }

    /// Loads the number. The order must be `Relaxed`, `Acquire` or `SeqCst`.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        assert!(!releases(order), "a load cannot release: use `Relaxed`, `Acquire` or `SeqCst`");
        if order == Ordering::SeqCst {
            backend::fence(self.scope);
        }
        // SAFETY: the address is valid as long as the reference.
        unsafe { backend::atomic_load(self.place, acquires(order), self.scope) }
    }

    /// Sets the number. The order must be `Relaxed`, `Release` or `SeqCst`.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, value: T, order: Ordering) {
        assert!(
            !matches!(order, Ordering::Acquire | Ordering::AcqRel),
            "a store cannot acquire: use `Relaxed`, `Release` or `SeqCst`"
        );
        if order == Ordering::SeqCst {
            backend::fence(self.scope);
        }
        // SAFETY: the address is valid as long as the reference.
        unsafe { backend::atomic_store(self.place, value, order != Ordering::Relaxed, self.scope) }
    }

    /// Sets the number to `new` if it has the bits of `current`. Returns the previous value: in `Ok` if the number was
    /// set, otherwise in `Err`.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T, success: Ordering, failure: Ordering) -> Result<T, T> {
        // `order` is `success`, plus an acquire if only `failure` acquires.
        let order = if acquires(failure) && !acquires(success) {
            if releases(success) { Ordering::AcqRel } else { Ordering::Acquire }
        } else {
            success
        };
        self.before(order);
        // SAFETY: the address is valid as long as the reference.
        let old = unsafe { backend::atomic_compare_exchange(self.place, current, new, self.scope) };
        self.after(order);
        if same_bits(old, current) { Ok(old) } else { Err(old) }
    }

    updates! {
        /// Adds `value` to the number and returns the previous value. Integers wrap.
        fetch_add(value: T) Add;
        /// Sets the number to `value` and returns the previous value.
        swap(value: T) Exchange;
    }

    /// Subtracts `value` from the number and returns the previous value. Integers wrap.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_sub(&self, value: T, order: Ordering) -> T {
        self.fetch_add(value.negated(), order)
    }
}

impl<T: AtomicNumber> AtomicRef<'_, T> {
    updates! {
        /// Sets the number to the minimum of itself and `value`. Returns the previous value. For floats, a NaN is
        /// ignored.
        fetch_min(value: T) Min;
        /// Sets the number to the maximum of itself and `value`. Returns the previous value. For floats, a NaN is
        /// ignored.
        fetch_max(value: T) Max;
    }
}

impl<T: AtomicInteger> AtomicRef<'_, T> {
    updates! {
        /// Replaces the number by its bitwise AND with `value`. Returns the previous value.
        fetch_and(value: T) And;
        /// Replaces the number by its bitwise OR with `value`. Returns the previous value.
        fetch_or(value: T) Or;
        /// Replaces the number by its bitwise XOR with `value`. Returns the previous value.
        fetch_xor(value: T) Xor;
    }
}

impl AtomicRef<'_, u32> {
    updates! {
        /// Adds one to the number, or sets it to 0 if it is at least `limit`. Returns the previous value.
        fetch_inc(limit: u32) Increment;
        /// Subtracts one from the number, or sets it to `limit` if it is 0 or greater than `limit`. Returns the
        /// previous value.
        fetch_dec(limit: u32) Decrement;
    }
}

/// Implements the bitwise operations of an atomic float, which work on its bits.
macro_rules! of_bits {
    ($($float:ident $bits:ident)*) => {$(
        impl AtomicRef<'_, $float> {
            #[inline(always)]
            fn bits(&self) -> AtomicRef<'_, $bits> {
                AtomicRef::new(self.place.cast(), self.scope)
            }

            /// Replaces the float's bits by their bitwise AND with the bits of `value`. Returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_and(&self, value: $float, order: Ordering) -> $float {
                $float::from_bits(self.bits().fetch_and(value.to_bits(), order))
            }

            /// Replaces the float's bits by their bitwise OR with the bits of `value`. Returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_or(&self, value: $float, order: Ordering) -> $float {
                $float::from_bits(self.bits().fetch_or(value.to_bits(), order))
            }

            /// Replaces the float's bits by their bitwise XOR with the bits of `value`. Returns the previous value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_xor(&self, value: $float, order: Ordering) -> $float {
                $float::from_bits(self.bits().fetch_xor(value.to_bits(), order))
            }
        }
    )*};
}

of_bits! { f32 u32 f64 u64 }
