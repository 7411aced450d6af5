//! Global memory: typed views of device buffers.
//!
//! Each access has a safe, checked method and an `unsafe` unchecked one; the simulator checks both. A failed check
//! traps on a GPU. On the host, a GPU's view has its length and no elements.

use core::marker::PhantomData;

use crate::atomic::{Atomic, Place, Scope};
use crate::backend::{self, Owner};
use crate::{DeviceCopy, Element};

/// A read-only view of `len` elements in global memory: no thread writes them while the kernel runs.
///
/// A kernel receives it as a pointer and a length.
pub struct Global<'a, T> {
    pointer: *const T,
    len: usize,
    owner: Owner,
    elements: PhantomData<&'a [T]>,
}

/// A view of `len` elements in global memory that every thread of the grid may read and write.
///
/// All threads share the view, so its methods take `&self`. If two threads access an element and one writes, a barrier
/// must order the accesses, or they must be atomic. Otherwise the value read is unspecified, as in PTX. Copies and
/// [`part`](Self::part)s of a view count as the view.
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

// SAFETY: a view gives read access to elements that are `Sync`.
unsafe impl<T: DeviceCopy> Send for Global<'_, T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy> Sync for Global<'_, T> {}
// SAFETY: every access through the view is one that may be made by several threads at once (plain on a GPU, atomic in
// the simulator), and its elements are plain data.
unsafe impl<T: DeviceCopy> Send for GlobalMut<'_, T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy> Sync for GlobalMut<'_, T> {}

/// The part of both views that is the same but for the pointer's mutability.
macro_rules! common_methods {
    ($view:ident $pointer:ty) => {
        /// The `len` elements at `pointer`, in the memory of `owner`.
        ///
        /// # Safety
        /// `pointer` must be aligned for an element, and for its size where that is 2, 4, 8 or 16 bytes. In the memory
        /// of `owner` it must be valid for `len` elements as long as `'a` lasts, and hold a value wherever an element
        /// is read.
        #[inline(always)]
        pub unsafe fn from_raw_parts(pointer: $pointer, len: usize, owner: Owner) -> Self {
            Self { pointer, len, owner, elements: PhantomData }
        }

        /// How many elements it has.
        #[inline(always)]
        pub fn len(&self) -> usize {
            self.len
        }

        /// Whether it has no element.
        #[inline(always)]
        pub fn is_empty(&self) -> bool {
            self.len == 0
        }

        /// The address of element 0, in the memory of the owner.
        #[inline(always)]
        pub fn as_ptr(&self) -> $pointer {
            self.pointer
        }

        /// The same for a kernel that takes a raw pointer.
        #[doc(hidden)]
        #[inline(always)]
        pub fn exposed(&self) -> $pointer {
            backend::exposing();
            self.pointer
        }

        /// The same elements as another type of the same size, such as `f32` as `u32`.
        #[inline(always)]
        pub fn cast<U: Element>(self) -> $view<'a, U>
        where
            T: Element,
        {
            const { assert!(size_of::<T>() == size_of::<U>(), "a view is cast to elements of the same size") };
            $view { pointer: self.pointer.cast(), len: self.len, owner: self.owner, elements: PhantomData }
        }

        /// The device that owns the memory; on a GPU, nothing.
        #[inline(always)]
        pub fn device(&self) -> Owner {
            self.owner
        }

        /// Elements `start..start + len` as a view of their own, which counts them from 0. Made on the host or in a
        /// kernel.
        ///
        /// A part that does not fit is out of bounds: a fault in the simulator, a trap on a GPU. On the host it panics,
        /// as a slice does.
        #[inline(always)]
        #[track_caller]
        pub fn part(self, start: usize, len: usize) -> Self {
            // The length as it is, also on the host, which takes a GPU's view apart without reaching its elements.
            if start > self.len || len > self.len - start {
                backend::out_of_bounds_global(
                    self.pointer as usize,
                    start.saturating_add(len.saturating_sub(1)),
                    self.len,
                );
            }
            // On the host the pointer may be a GPU's, which is in no allocation that Rust knows.
            Self { pointer: self.pointer.wrapping_add(start), len, owner: self.owner, elements: PhantomData }
        }

        /// Element `index`.
        #[inline(always)]
        #[track_caller]
        pub fn load(&self, index: usize) -> T {
            self.check(index);
            // SAFETY: the index was checked.
            unsafe { backend::global_load(self.pointer.add(index)) }
        }

        /// Element `index`, unchecked on a GPU.
        ///
        /// # Safety
        /// `index` must be below [`len`](Self::len).
        #[inline(always)]
        #[track_caller]
        pub unsafe fn load_unchecked(&self, index: usize) -> T {
            self.check_in_simulator(index);
            // SAFETY: the caller vouches for the index.
            unsafe { backend::global_load(self.pointer.add(index)) }
        }

        /// Element `index`, which is not read again soon (`ld.global.cs`: first to leave the caches).
        #[inline(always)]
        #[track_caller]
        pub fn load_streaming(&self, index: usize) -> T {
            self.check(index);
            // SAFETY: the index was checked.
            unsafe { backend::global_load_streaming(self.pointer.add(index)) }
        }

        /// Element `index`, read anew each time and as it stands (`ld.volatile.global`): the compiler neither keeps a
        /// value that was read before nor leaves the load out. An element of several numbers is several loads.
        ///
        /// Orders nothing else, and is no race with another such access, as [`GlobalMut::load_relaxed`] is none.
        #[inline(always)]
        #[track_caller]
        pub fn load_volatile(&self, index: usize) -> T {
            self.check(index);
            // SAFETY: the index was checked.
            unsafe { backend::global_load_volatile(self.pointer.add(index)) }
        }

        /// Has the 128 bytes around element `index` brought to the L2 (`prefetch.global.L2`), if there is such an
        /// element.
        ///
        /// Nobody waits for it, and it changes nothing that a program could read. The simulator has no caches: there it
        /// does nothing.
        #[inline(always)]
        pub fn prefetch(&self, index: usize) {
            if index < self.len() {
                // SAFETY: the index was checked.
                unsafe { backend::global_prefetch(self.pointer.add(index)) }
            }
        }

        /// Elements `N·index..N·index + N`, in one access of `N·size_of::<T>()` bytes (2, 4, 8 or 16).
        ///
        /// The view must start at a multiple of that size, as a whole buffer does.
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

        /// As [`load_vec`](Self::load_vec), unchecked on a GPU.
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
            // SAFETY: the caller vouches for the index.
            unsafe { backend::global_load_vec(self.pointer.add(index * N)) }
        }

        #[inline(always)]
        #[track_caller]
        pub(crate) fn check_vec(&self, index: usize, n: usize) {
            // `index·n` wraps for a huge index; comparing the index with the vectors that fit does not.
            if index >= self.owner.bound(self.len) / n {
                backend::out_of_bounds_global(self.pointer as usize, index.saturating_mul(n), self.len);
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
        fn check_in_simulator(&self, index: usize) {
            if backend::CHECKS_EVERY_ACCESS {
                self.check(index);
            }
        }
    };
}

impl<'a, T: DeviceCopy> Global<'a, T> {
    common_methods!(Global *const T);

    /// Element `index`, through the read-only data path (`ld.global.nc`). The compiler may move such a load across
    /// stores and barriers.
    #[inline(always)]
    #[track_caller]
    pub fn load_readonly(&self, index: usize) -> T {
        self.check(index);
        // SAFETY: the index was checked, and nobody writes the elements while the view exists.
        unsafe { backend::global_load_readonly(self.pointer.add(index)) }
    }

    /// As [`load_readonly`](Self::load_readonly), unchecked on a GPU.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_readonly_unchecked(&self, index: usize) -> T {
        self.check_in_simulator(index);
        // SAFETY: the caller vouches for the index, and nobody writes the elements while the view exists.
        unsafe { backend::global_load_readonly(self.pointer.add(index)) }
    }

    /// The elements as a slice, for code that is written over slices. In a kernel, and in functions under
    /// [`device`](macro@crate::device), the simulator observes what is accessed through it.
    ///
    /// # Safety
    /// Must be called in a kernel that runs where the memory is.
    #[inline(always)]
    pub unsafe fn as_slice(&self) -> &'a [T] {
        backend::exposing();
        // SAFETY: the view's contract, and the caller's word that this is the memory's device.
        unsafe { core::slice::from_raw_parts(self.pointer, self.owner.bound(self.len)) }
    }
}

impl<'a, T: DeviceCopy> GlobalMut<'a, T> {
    common_methods!(GlobalMut *mut T);

    /// The elements as a slice, for code that is written over slices. In a kernel, and in functions under
    /// [`device`](macro@crate::device), the simulator observes what is accessed through it.
    ///
    /// # Safety
    /// Must be called in a kernel that runs where the memory is. Each thread may have such a slice of the same
    /// elements, as Rust-CUDA's kernels do: then the elements that a thread accesses must be its own, or ordered as for
    /// the view's accesses.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the view is one of the memory, and not its owner")]
    pub unsafe fn as_mut_slice(&self) -> &'a mut [T] {
        backend::exposing();
        // SAFETY: the view's contract, and the caller's word.
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

    /// Sets element `index`, unchecked on a GPU.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_unchecked(&self, index: usize, value: T) {
        self.check_in_simulator(index);
        // SAFETY: the caller vouches for the index.
        unsafe { backend::global_store(self.pointer.add(index), value) }
    }

    /// Sets element `index` as it stands (`st.volatile.global`): the compiler neither leaves the store out nor joins it
    /// with another. An element of several numbers is several stores. See [`load_volatile`](Self::load_volatile).
    #[inline(always)]
    #[track_caller]
    pub fn store_volatile(&self, index: usize, value: T) {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { backend::global_store_volatile(self.pointer.add(index), value) }
    }

    /// Sets element `index`, which is not read again soon (`st.global.cs`).
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

    /// As [`store_vec`](Self::store_vec), unchecked on a GPU.
    ///
    /// # Safety
    /// As for [`load_vec_unchecked`](Self::load_vec_unchecked).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vec_unchecked<const N: usize>(&self, index: usize, values: [T; N])
    where
        T: Element,
    {
        if backend::CHECKS_EVERY_ACCESS {
            self.check_vec(index, N);
        }
        // SAFETY: the caller vouches for the index.
        unsafe { backend::global_store_vec(self.pointer.add(index * N), values) }
    }

    /// The place of element `index` for an atomic operation.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn place(&self, index: usize) -> Place<T> {
        self.check(index);
        // SAFETY: the index was checked.
        Place::Global(unsafe { self.pointer.add(index) })
    }

    /// Element `index`, read anew as by [`load_relaxed`](Self::load_relaxed); unchecked on a GPU.
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
        // SAFETY: the caller vouches for the index.
        unsafe { backend::atomic_load(Place::Global(self.pointer.add(index)), false, Scope::Device) }
    }
}
