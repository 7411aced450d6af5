//! Atomic operations for the threads of a cluster, in any memory that they share.
//!
//! # Design
//!
//! These operations are apart from those of the other scopes, although they have the same names. A further case of a
//! place or a scope would change the register numbers in the PTX of kernels that do not use it.

use core::fmt;
use core::marker::PhantomData;

use super::reference::{acquires, releases};
use super::{Atomic, AtomicInteger, AtomicNumber, Ordering, Place, Update, same_bits};
use crate::cluster::ClusterShared;
use crate::{GlobalMut, Shared, backend};

/// The address on which an atomic operation for the threads of a cluster works, with its memory space.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum ClusterPlace<T> {
    /// A pointer into global memory.
    Global(*mut T),
    /// An address in the block's shared memory.
    Shared(u32),
    /// An address in the shared memory of the cluster.
    Cluster(u32),
}

impl<T> From<Place<T>> for ClusterPlace<T> {
    #[inline(always)]
    fn from(place: Place<T>) -> Self {
        match place {
            Place::Global(pointer) | Place::Generic(pointer) => Self::Global(pointer),
            Place::Shared(address) => Self::Shared(address),
        }
    }
}

/// A reference to a number in global memory or in the shared memory of a cluster. Its operations are atomic for the
/// threads of the cluster (`.cluster`). The methods are those of [`AtomicRef`](super::AtomicRef).
pub struct ClusterAtomicRef<'a, T> {
    place: ClusterPlace<T>,
    element: PhantomData<&'a mut T>,
}

impl<T: Copy> Clone for ClusterAtomicRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for ClusterAtomicRef<'_, T> {}

impl<T> fmt::Debug for ClusterAtomicRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an atomic for the cluster")
    }
}

macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident $update:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name(&self, value: T, order: Ordering) -> T {
            before(order);
            // SAFETY: the address is valid as long as the reference.
            let old = unsafe { backend::cluster_atomic_update(Update::$update, self.place, value) };
            after(order);
            old
        }
    )*};
}

/// Executes the fence that `order` requires before an operation.
#[inline(always)]
#[track_caller]
fn before(order: Ordering) {
    if order == Ordering::SeqCst {
        backend::fence_cluster();
    } else if releases(order) {
        backend::fence_acquire_release_cluster();
    }
}

/// Executes the fence that `order` requires after an operation.
#[inline(always)]
#[track_caller]
fn after(order: Ordering) {
    if acquires(order) {
        backend::fence_acquire_release_cluster();
    }
}

impl<T: Atomic> ClusterAtomicRef<'_, T> {
    #[inline(always)]
    fn new(place: impl Into<ClusterPlace<T>>) -> Self {
        const { assert!(size_of::<T>() < 16, "an atomic for a cluster has 32 or 64 bits") };
        Self { place: place.into(), element: PhantomData }
    }

    /// Loads the number. The order must be `Relaxed`, `Acquire` or `SeqCst`.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        assert!(!releases(order), "a load cannot release: use `Relaxed`, `Acquire` or `SeqCst`");
        if order == Ordering::SeqCst {
            backend::fence_cluster();
        }
        // SAFETY: the address is valid as long as the reference.
        unsafe { backend::cluster_atomic_load(self.place, acquires(order)) }
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
            backend::fence_cluster();
        }
        // SAFETY: the address is valid as long as the reference.
        unsafe { backend::cluster_atomic_store(self.place, value, order != Ordering::Relaxed) }
    }

    /// Sets the number to `new` if it has the bits of `current`. Returns the previous value: in `Ok` if the number was
    /// set, otherwise in `Err`.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T, order: Ordering) -> Result<T, T> {
        before(order);
        // SAFETY: the address is valid as long as the reference.
        let old = unsafe { backend::cluster_atomic_compare_exchange(self.place, current, new) };
        after(order);
        if same_bits(old, current) { Ok(old) } else { Err(old) }
    }

    updates! {
        /// Adds `value` to the number and returns the previous value. Integers wrap.
        fetch_add Add;
        /// Sets the number to `value` and returns the previous value.
        swap Exchange;
    }

    /// Subtracts `value` from the number and returns the previous value. Integers wrap.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_sub(&self, value: T, order: Ordering) -> T {
        self.fetch_add(value.negated(), order)
    }
}

impl<T: AtomicNumber> ClusterAtomicRef<'_, T> {
    updates! {
        /// Sets the number to the minimum of itself and `value`. Returns the previous value. For floats, a NaN is
        /// ignored.
        fetch_min Min;
        /// Sets the number to the maximum of itself and `value`. Returns the previous value. For floats, a NaN is
        /// ignored.
        fetch_max Max;
    }
}

impl<T: AtomicInteger> ClusterAtomicRef<'_, T> {
    updates! {
        /// Replaces the number by its bitwise AND with `value`. Returns the previous value.
        fetch_and And;
        /// Replaces the number by its bitwise OR with `value`. Returns the previous value.
        fetch_or Or;
        /// Replaces the number by its bitwise XOR with `value`. Returns the previous value.
        fetch_xor Xor;
    }
}

macro_rules! references {
    ($([$($generics:tt)*] $View:ty, $lifetime:lifetime;)*) => {$(
        impl<$($generics)* T: Atomic> $View {
            /// Returns a reference to element `index` for atomic operations of any order, in the scope of the caller's
            /// cluster.
            #[inline(always)]
            #[track_caller]
            pub fn cluster_atomic(&self, index: usize) -> ClusterAtomicRef<$lifetime, T> {
                ClusterAtomicRef::new(self.place(index))
            }
        }
    )*};
}

references! {
    ['a,] GlobalMut<'a, T>, 'a;
    [] Shared<T>, 'static;
    [] ClusterShared<T>, 'static;
}

/// Defines methods of a view that make one relaxed update, by the methods of [`ClusterAtomicRef`].
macro_rules! relaxed {
    ($($(#[$doc:meta])* $name:ident $of:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name(&self, index: usize, value: T) -> T {
            self.cluster_atomic(index).$of(value, Ordering::Relaxed)
        }
    )*};
}

/// The atomic operations are relaxed, and atomic for the threads of the cluster.
impl<T: Atomic> ClusterShared<T> {
    relaxed! {
        /// Adds `value` to element `index` and returns the previous value. Integers wrap.
        atomic_add fetch_add;
        /// Subtracts `value` from element `index` and returns the previous value. Integers wrap.
        atomic_sub fetch_sub;
        /// Sets element `index` to `value` and returns the previous value.
        atomic_exchange swap;
    }

    /// Sets element `index` to `new` if it has the bits of `expected`. Returns the previous value.
    #[inline(always)]
    #[track_caller]
    pub fn atomic_compare_exchange(&self, index: usize, expected: T, new: T) -> T {
        match self.cluster_atomic(index).compare_exchange(expected, new, Ordering::Relaxed) {
            Ok(old) | Err(old) => old,
        }
    }

    /// Loads element `index` from memory at each call (`ld.relaxed.cluster`). A thread can poll the element with this
    /// method.
    #[inline(always)]
    #[track_caller]
    pub fn load_relaxed(&self, index: usize) -> T {
        self.cluster_atomic(index).load(Ordering::Relaxed)
    }

    /// Loads element `index` (`ld.acquire.cluster`). If the value comes from a [`store_release`](Self::store_release),
    /// this thread then sees the earlier writes of the storing thread.
    #[inline(always)]
    #[track_caller]
    pub fn load_acquire(&self, index: usize) -> T {
        self.cluster_atomic(index).load(Ordering::Acquire)
    }

    /// Sets element `index` so that a thread of the cluster that acquires the new value sees all earlier writes of this
    /// thread (`st.release.cluster`).
    #[inline(always)]
    #[track_caller]
    pub fn store_release(&self, index: usize, value: T) {
        self.cluster_atomic(index).store(value, Ordering::Release);
    }

    /// Sets element `index` atomically (`st.relaxed.cluster`). The store orders no other access.
    #[inline(always)]
    #[track_caller]
    pub fn store_relaxed(&self, index: usize, value: T) {
        self.cluster_atomic(index).store(value, Ordering::Relaxed);
    }
}

impl<T: AtomicNumber> ClusterShared<T> {
    relaxed! {
        /// Sets element `index` to the minimum of itself and `value`. Returns the previous value. For floats, a NaN is
        /// ignored.
        atomic_min fetch_min;
        /// Sets element `index` to the maximum of itself and `value`. Returns the previous value. For floats, a NaN is
        /// ignored.
        atomic_max fetch_max;
    }
}

impl<T: AtomicInteger> ClusterShared<T> {
    relaxed! {
        /// Replaces element `index` by its bitwise AND with `value`. Returns the previous value.
        atomic_and fetch_and;
        /// Replaces element `index` by its bitwise OR with `value`. Returns the previous value.
        atomic_or fetch_or;
        /// Replaces element `index` by its bitwise XOR with `value`. Returns the previous value.
        atomic_xor fetch_xor;
    }
}
