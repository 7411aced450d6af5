//! Typed handles to arrays in the shared memory of the blocks of a cluster.

use core::marker::PhantomData;

use crate::atomic::ClusterPlace;
use crate::device_copy::access_bytes;
use crate::{DeviceCopy, Element, backend};

/// An array in the shared memory of a block of the thread's cluster, as [`map_shared`](super::map_shared) returns it.
///
/// This handle contains an address and a length, and can be copied. The methods are those of [`Shared`](crate::Shared).
/// Atomic operations are atomic for the threads of the cluster, which are all that can access the array.
///
/// The handle is valid only in the thread's own block: other blocks address the same array by another handle.
pub struct ClusterShared<T> {
    address: u32,
    len: u32,
    elements: PhantomData<*mut T>,
}

impl<T> Clone for ClusterShared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ClusterShared<T> {}

impl<T: DeviceCopy> ClusterShared<T> {
    /// Creates a handle to the `len` elements at `address`.
    ///
    /// # Safety
    /// The `len` elements at `address` must be in the cluster's shared memory (`.shared::cluster`). `address` must be
    /// aligned for an element, and also to the element's size if that size is 2, 4, 8 or 16 bytes.
    #[inline(always)]
    pub unsafe fn from_raw_parts(address: u32, len: u32) -> Self {
        Self { address, len, elements: PhantomData }
    }

    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Returns true if the array has no elements.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the address of the first element in the cluster's shared memory, for inline PTX.
    #[inline(always)]
    pub fn address(self) -> u32 {
        self.address
    }

    /// Returns elements `start..start + len` as an array that counts them from 0.
    #[inline(always)]
    #[track_caller]
    pub fn part(self, start: usize, len: usize) -> Self {
        if start > self.len() || len > self.len() - start {
            backend::out_of_bounds_cluster(self.address, start.saturating_add(len), self.len());
        }
        Self { address: self.address_of(start), len: len as u32, elements: PhantomData }
    }

    /// Returns an array over the same bytes with elements of type `U`, as many as fit, like
    /// [`Shared::cast`](crate::Shared::cast).
    ///
    /// The array must start at a multiple of the size of `U`, like a whole `shared_array!`.
    #[inline(always)]
    #[track_caller]
    pub fn cast<U: Element>(self) -> ClusterShared<U>
    where
        T: Element,
    {
        // If `U`'s size divides the element's size, an aligned array is also aligned for `U`.
        if !size_of::<T>().is_multiple_of(size_of::<U>()) {
            backend::check_vec_alignment(self.address as usize, size_of::<U>());
        }
        let len = self.len() * size_of::<T>() / size_of::<U>();
        ClusterShared { address: self.address, len: len as u32, elements: PhantomData }
    }

    /// Loads element `index`. The kernel ends with an error if the bits are not a valid `T`, which happens only with
    /// uninitialised memory.
    #[inline(always)]
    #[track_caller]
    pub fn load(self, index: usize) -> T {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { self.load_at(index) }
    }

    /// Sets element `index`.
    #[inline(always)]
    #[track_caller]
    pub fn store(self, index: usize, value: T) {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { self.store_at(index, value) }
    }

    /// Loads element `index`. On a GPU the index is not checked.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_unchecked(self, index: usize) -> T {
        self.check_in_simulator(index);
        // SAFETY: the caller guarantees that the index is in bounds.
        unsafe { self.load_at(index) }
    }

    /// Sets element `index`. On a GPU the index is not checked.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_unchecked(self, index: usize, value: T) {
        self.check_in_simulator(index);
        // SAFETY: the caller guarantees that the index is in bounds.
        unsafe { self.store_at(index, value) }
    }

    /// # Safety
    /// `index` must be in bounds.
    #[inline(always)]
    #[track_caller]
    unsafe fn load_at(self, index: usize) -> T {
        // SAFETY: the caller guarantees that the index is in bounds, so that the address is valid.
        unsafe {
            match const { access_bytes::<T>() } {
                0 => backend::cluster_load_numbers(self.address_of(index)),
                _ => backend::cluster_load(self.address_of(index)),
            }
        }
    }

    /// # Safety
    /// `index` must be in bounds.
    #[inline(always)]
    #[track_caller]
    unsafe fn store_at(self, index: usize, value: T) {
        // SAFETY: the caller guarantees that the index is in bounds, so that the address is valid.
        unsafe {
            match const { access_bytes::<T>() } {
                0 => backend::cluster_store_numbers(self.address_of(index), value),
                _ => backend::cluster_store(self.address_of(index), value),
            }
        }
    }

    /// Returns the address of element `index` for an atomic operation.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn place(self, index: usize) -> ClusterPlace<T> {
        self.check(index);
        ClusterPlace::Cluster(self.address_of(index))
    }

    #[inline(always)]
    fn address_of(self, index: usize) -> u32 {
        self.address.wrapping_add((index as u32).wrapping_mul(size_of::<T>() as u32))
    }

    #[inline(always)]
    #[track_caller]
    fn check(self, index: usize) {
        if index >= self.len() {
            backend::out_of_bounds_cluster(self.address, index, self.len());
        }
    }

    #[inline(always)]
    #[track_caller]
    fn check_in_simulator(self, index: usize) {
        if backend::CHECKS_EVERY_ACCESS {
            self.check(index);
        }
    }
}
