//! The atomic methods of views.

use super::{Atomic, AtomicInteger, AtomicNumber, AtomicRef, Scope, Update};
use crate::cluster::ClusterShared;
use crate::{GlobalMut, Shared, backend};

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

        /// Returns a reference to element `index` for atomic operations of any order, in the scope of the caller's
        /// cluster.
        #[inline(always)]
        #[track_caller]
        pub fn cluster_atomic(&self, index: usize) -> AtomicRef<$lifetime, T> {
            AtomicRef::new(self.place(index), Scope::Cluster)
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

impl<T: Atomic> ClusterShared<T> {
    atomic_methods!('static);
}

impl<T: AtomicNumber> ClusterShared<T> {
    number_methods!();
}

impl<T: AtomicInteger> ClusterShared<T> {
    integer_methods!();
}

impl ClusterShared<u32> {
    counter_methods!();
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
