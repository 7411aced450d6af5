//! Global memory: typed views of device buffers.
//!
//! Each access has a checked method, and an unchecked one that is `unsafe`. The simulator checks both. On a GPU, a
//! failed check traps. On the host, the view of a GPU's memory has a length but no accessible elements.

use core::marker::PhantomData;

use crate::atomic::Place;
use crate::backend::{self, Owner};
use crate::{DeviceCopy, Element};

/// A read-only view of `len` elements in global memory. No thread may write these elements while the kernel runs.
///
/// A kernel receives the view as a pointer and a length.
pub struct Global<'a, T> {
    pointer: *const T,
    len: usize,
    owner: Owner,
    elements: PhantomData<&'a [T]>,
}

/// A view of `len` elements in global memory that every thread of the grid may read and write.
///
/// All threads share the view, so its methods take `&self`. If two threads access an element and one of them writes, a
/// barrier must order the accesses, or they must be atomic. Otherwise the value read is unspecified, as in PTX. The
/// same holds for copies and [`part`](Self::part)s of a view.
pub struct GlobalMut<'a, T> {
    pointer: *mut T,
    len: usize,
    owner: Owner,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> Clone for Global<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Global<'_, T> {}

impl<T> Clone for GlobalMut<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for GlobalMut<'_, T> {}

// SAFETY: the view only reads elements, which are `Sync`.
unsafe impl<T: DeviceCopy> Send for Global<'_, T> {}
// SAFETY: the view only reads elements, which are `Sync`.
unsafe impl<T: DeviceCopy> Sync for Global<'_, T> {}
// SAFETY: several threads may access the view at once, by plain accesses on a GPU and by atomic accesses in the
// simulator. The elements are plain data.
unsafe impl<T: DeviceCopy> Send for GlobalMut<'_, T> {}
// SAFETY: several threads may access the view at once, and the elements are plain data.
unsafe impl<T: DeviceCopy> Sync for GlobalMut<'_, T> {}

/// The methods that `Global` and `GlobalMut` share. Only the pointer's mutability differs.
macro_rules! common_methods {
    ($view:ident $pointer:ty) => {
        /// Creates a view of the `len` elements at `pointer` in the memory of `owner`.
        ///
        /// # Safety
        /// `pointer` must be aligned for an element, and also to the element's size if that size is 2, 4, 8 or 16
        /// bytes. In the memory of `owner`, `pointer` must be valid for `len` elements during `'a`. Every element that
        /// is read must be a valid value.
        #[inline(always)]
        pub unsafe fn from_raw_parts(pointer: $pointer, len: usize, owner: Owner) -> Self {
            Self { pointer, len, owner, elements: PhantomData }
        }

        /// Returns the number of elements of the view.
        #[inline(always)]
        pub fn len(&self) -> usize {
            self.len
        }

        /// Returns true if the view has no elements.
        #[inline(always)]
        pub fn is_empty(&self) -> bool {
            self.len == 0
        }

        /// Returns the address of element 0, in the memory of the owner.
        #[inline(always)]
        pub fn as_ptr(&self) -> $pointer {
            self.pointer
        }

        /// Returns the address of element 0, for a call of a kernel that takes a raw pointer.
        #[doc(hidden)]
        #[inline(always)]
        pub fn exposed(&self) -> $pointer {
            backend::exposing();
            self.pointer
        }

        /// Returns a view of the same memory with another element type of the same size, such as `u32` for `f32`.
        #[inline(always)]
        pub fn cast<U: Element>(self) -> $view<'a, U>
        where
            T: Element,
        {
            const { assert!(size_of::<T>() == size_of::<U>(), "a view can be cast only to elements of the same size") };
            $view { pointer: self.pointer.cast(), len: self.len, owner: self.owner, elements: PhantomData }
        }

        /// Returns the device that owns the view's memory. On a GPU, the returned value is empty.
        #[inline(always)]
        pub fn device(&self) -> Owner {
            self.owner
        }

        /// Returns elements `start..start + len` as a view that counts them from 0. Host and kernels may call this
        /// method.
        ///
        /// A part that exceeds the view is out of bounds: a fault in the simulator and a trap on a GPU. On the host,
        /// the launch or copy that such a part is passed to returns an error that names this line.
        #[inline(always)]
        #[track_caller]
        pub fn part(self, start: usize, len: usize) -> Self {
            // Uses the full length also on the host, which may divide a GPU's view without accessing its elements.
            if start > self.len || len > self.len - start {
                let owner = backend::part_out_of_range(self.pointer as usize, [start, len], self.len);
                return Self { owner, len: len.clamp(1, self.len.max(1)), ..self };
            }
            // On the host, the pointer may belong to a GPU and point outside of every Rust allocation.
            Self { pointer: self.pointer.wrapping_add(start), len, owner: self.owner, elements: PhantomData }
        }

        /// Loads element `index`.
        #[inline(always)]
        #[track_caller]
        pub fn load(&self, index: usize) -> T {
            self.check(index);
            // SAFETY: the index was checked.
            unsafe { backend::global_load(self.pointer.add(index)) }
        }

        /// Loads element `index`. On a GPU the index is not checked.
        ///
        /// # Safety
        /// `index` must be below [`len`](Self::len).
        #[inline(always)]
        #[track_caller]
        pub unsafe fn load_unchecked(&self, index: usize) -> T {
            self.check_in_simulator(index);
            // SAFETY: the caller guarantees that the index is in bounds.
            unsafe { backend::global_load(self.pointer.add(index)) }
        }

        /// Loads element `index` with the hint that it is not read again soon (`ld.global.cs`: evicted first from the
        /// caches).
        #[inline(always)]
        #[track_caller]
        pub fn load_streaming(&self, index: usize) -> T {
            self.check(index);
            // SAFETY: the index was checked.
            unsafe { backend::global_load_streaming(self.pointer.add(index)) }
        }

        /// Loads element `index` like [`load_streaming`](Self::load_streaming), but without checks on a GPU.
        ///
        /// # Safety
        /// `index` must be below [`len`](Self::len).
        #[inline(always)]
        #[track_caller]
        pub unsafe fn load_streaming_unchecked(&self, index: usize) -> T {
            self.check_in_simulator(index);
            // SAFETY: the caller guarantees that the index is in bounds.
            unsafe { backend::global_load_streaming(self.pointer.add(index)) }
        }

        /// Loads element `index` by a volatile access (`ld.volatile.global`): the compiler neither reuses an earlier
        /// value nor removes the load. An element that consists of several numbers takes several loads.
        ///
        /// The access orders no other accesses. Two volatile accesses do not race with each other, and neither do two
        /// calls of [`GlobalMut::load_relaxed`].
        #[inline(always)]
        #[track_caller]
        pub fn load_volatile(&self, index: usize) -> T {
            self.check(index);
            // SAFETY: the index was checked.
            unsafe { backend::global_load_volatile(self.pointer.add(index)) }
        }

        /// Prefetches the 128 bytes around element `index`, if it exists, to the L2 cache (`prefetch.global.L2`).
        ///
        /// No thread waits for the prefetch, and results do not depend on it. The simulator does not prefetch.
        #[inline(always)]
        pub fn prefetch(&self, index: usize) {
            if index < self.len() {
                // SAFETY: the index was checked.
                unsafe { backend::global_prefetch(self.pointer.add(index)) }
            }
        }

        /// Loads elements `N·index..N·index + N` in one access of `N·size_of::<T>()` bytes (2, 4, 8 or 16).
        ///
        /// The view must start at a multiple of that size, like a whole buffer.
        #[inline(always)]
        #[track_caller]
        pub fn load_vec<const N: usize>(&self, index: usize) -> [T; N]
        where
            T: Element,
        {
            self.check_vec(index, N);
            // SAFETY: the index was checked.
            unsafe { backend::global_load_vec(self.pointer.add(index * N)) }
        }

        /// Loads a vector like [`load_vec`](Self::load_vec), but without checks on a GPU.
        ///
        /// # Safety
        /// `N·index + N` must be at most [`len`](Self::len), and the view must start at a multiple of the access's
        /// size.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn load_vec_unchecked<const N: usize>(&self, index: usize) -> [T; N]
        where
            T: Element,
        {
            if backend::CHECKS_EVERY_ACCESS {
                self.check_vec(index, N);
            }
            // SAFETY: the caller guarantees that the index is in bounds.
            unsafe { backend::global_load_vec(self.pointer.add(index * N)) }
        }

        #[inline(always)]
        #[track_caller]
        pub(crate) fn check_vec(&self, index: usize, n: usize) {
            // `index·n` would wrap for a huge index; the comparison with the number of vectors does not.
            if index >= self.owner.bound(self.len) / n {
                // Reports the first element of the vector that the view does not have.
                let (first, end) = (index.saturating_mul(n), index.saturating_add(1).saturating_mul(n));
                let outside = if end <= self.len { first } else { first.max(self.len) };
                backend::out_of_bounds_global(self.pointer as usize, outside, self.len);
            }
            backend::check_vec_alignment(self.pointer as usize, n * size_of::<T>());
        }

        #[inline(always)]
        #[track_caller]
        fn check(&self, index: usize) {
            if index >= self.owner.bound(self.len) {
                backend::out_of_bounds_global(self.pointer as usize, index, self.len);
            }
        }

        #[inline(always)]
        #[track_caller]
        pub(crate) fn check_in_simulator(&self, index: usize) {
            if backend::CHECKS_EVERY_ACCESS {
                self.check(index);
            }
        }
    };
}

impl<'a, T: DeviceCopy> Global<'a, T> {
    common_methods!(Global *const T);

    /// Loads element `index` by `ld.global.nc`. The compiler may move such a load across stores and barriers.
    #[inline(always)]
    #[track_caller]
    pub fn load_readonly(&self, index: usize) -> T {
        self.check(index);
        // SAFETY: the index was checked, and no thread writes the elements while the view exists.
        unsafe { backend::global_load_readonly(self.pointer.add(index)) }
    }

    /// Loads element `index` like [`load_readonly`](Self::load_readonly), but without checks on a GPU.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_readonly_unchecked(&self, index: usize) -> T {
        self.check_in_simulator(index);
        // SAFETY: the caller guarantees that the index is in bounds, and no thread writes the elements while the view
        // exists.
        unsafe { backend::global_load_readonly(self.pointer.add(index)) }
    }

    /// Returns the elements as a slice, for functions that take slices. In kernels and in functions under
    /// [`device`](macro@crate::device), the simulator checks accesses through the slice.
    ///
    /// # Safety
    /// Call this method only in a kernel that runs on the device of the memory.
    #[inline(always)]
    pub unsafe fn as_slice(&self) -> &'a [T] {
        backend::exposing();
        // SAFETY: the view is valid, and the caller guarantees that the kernel runs on the memory's device.
        unsafe { core::slice::from_raw_parts(self.pointer, self.owner.bound(self.len)) }
    }
}

impl<'a, T: DeviceCopy> GlobalMut<'a, T> {
    common_methods!(GlobalMut *mut T);

    /// Returns the elements as a mutable slice, for functions that take slices. In kernels and in functions under
    /// [`device`](macro@crate::device), the simulator checks accesses through the slice.
    ///
    /// # Safety
    /// Call this method only in a kernel that runs on the device of the memory. Several threads may have such slices of
    /// the same elements, as in Rust-CUDA's kernels. Two threads may access the same element only if their accesses are
    /// ordered, as for accesses through the view.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the view does not own the memory")]
    pub unsafe fn as_mut_slice(&self) -> &'a mut [T] {
        backend::exposing();
        // SAFETY: the view is valid, and the caller guarantees the device and ordered accesses.
        unsafe { core::slice::from_raw_parts_mut(self.pointer, self.owner.bound(self.len)) }
    }

    /// Sets element `index`.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, index: usize, value: T) {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { backend::global_store(self.pointer.add(index), value) }
    }

    /// Sets element `index`. On a GPU the index is not checked.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_unchecked(&self, index: usize, value: T) {
        self.check_in_simulator(index);
        // SAFETY: the caller guarantees that the index is in bounds.
        unsafe { backend::global_store(self.pointer.add(index), value) }
    }

    /// Sets element `index` by a volatile access (`st.volatile.global`): the compiler neither removes the store nor
    /// merges it with another one. An element that consists of several numbers takes several stores. See
    /// [`load_volatile`](Self::load_volatile).
    #[inline(always)]
    #[track_caller]
    pub fn store_volatile(&self, index: usize, value: T) {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { backend::global_store_volatile(self.pointer.add(index), value) }
    }

    /// Sets element `index` with the hint that it is not read again soon (`st.global.cs`).
    #[inline(always)]
    #[track_caller]
    pub fn store_streaming(&self, index: usize, value: T) {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { backend::global_store_streaming(self.pointer.add(index), value) }
    }

    /// Sets elements `N·index..N·index + N` in one access; see [`load_vec`](Self::load_vec).
    #[inline(always)]
    #[track_caller]
    pub fn store_vec<const N: usize>(&self, index: usize, values: [T; N])
    where
        T: Element,
    {
        self.check_vec(index, N);
        // SAFETY: the index was checked.
        unsafe { backend::global_store_vec(self.pointer.add(index * N), values) }
    }

    /// Stores a vector like [`store_vec`](Self::store_vec), but without checks on a GPU.
    ///
    /// # Safety
    /// See [`load_vec_unchecked`](Self::load_vec_unchecked).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vec_unchecked<const N: usize>(&self, index: usize, values: [T; N])
    where
        T: Element,
    {
        if backend::CHECKS_EVERY_ACCESS {
            self.check_vec(index, N);
        }
        // SAFETY: the caller guarantees that the index is in bounds.
        unsafe { backend::global_store_vec(self.pointer.add(index * N), values) }
    }

    /// Returns the address of element `index` for an atomic operation.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn place(&self, index: usize) -> Place<T> {
        self.check(index);
        // SAFETY: the index was checked.
        Place::Global(unsafe { self.pointer.add(index) })
    }
}
