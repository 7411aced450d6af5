//! Typed handles to arrays in the block's shared memory.
//!
//! # Design
//!
//! A handle is a 32-bit address in the block's shared memory and not a Rust pointer. LLVM would access memory behind a
//! pointer by generic loads and stores, which are slower. `global_asm!` declares the arrays.
//!
//! Each access's `asm!` has the option `nomem`, because LLVM does not know this memory. The `asm!` lacks the option
//! `pure`, so accesses keep their order.

use core::marker::PhantomData;

use crate::atomic::Place;
use crate::{DeviceCopy, Element, backend};

/// An array in the block's shared memory.
///
/// This handle contains an address and a length, and can be copied. The array lives as long as the block. Its contents
/// are unspecified until a thread writes them. [`load`](Self::load) and [`store`](Self::store) check the index. A bad
/// index is a fault with its source line in the simulator and a trap on a GPU. If two threads access an element and one
/// of them writes, a barrier must order the accesses, or they must be atomic. Otherwise the value read is unspecified.
pub struct Shared<T> {
    address: u32,
    len: u32,
    elements: PhantomData<*mut T>,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

impl<T: DeviceCopy> Shared<T> {
    /// Creates a handle to the `len` elements at `address`.
    ///
    /// # Safety
    /// The `len` elements at `address` must be in the block's shared memory. `address` must be aligned for an element,
    /// and also to the element's size if that size is 2, 4, 8 or 16 bytes.
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

    /// Returns elements `start..start + len` as an array that counts them from 0.
    #[inline(always)]
    #[track_caller]
    pub fn part(self, start: usize, len: usize) -> Self {
        if start > self.len() || len > self.len() - start {
            backend::out_of_bounds_shared(self.address, start.saturating_add(len), self.len());
        }
        Self { address: self.address_of(start), len: len as u32, elements: PhantomData }
    }

    /// Returns elements `start..start + len` like [`part`](Self::part), but without checks on a GPU.
    ///
    /// # Safety
    /// `start + len` must be at most [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn part_unchecked(self, start: usize, len: usize) -> Self {
        if backend::CHECKS_EVERY_ACCESS {
            return self.part(start, len);
        }
        Self { address: self.address_of(start), len: len as u32, elements: PhantomData }
    }

    /// Returns the part of the array that begins at the first multiple of `alignment` bytes, such as a tile of a
    /// [`TensorMap`](crate::bulk::TensorMap). `alignment` is a power of two from 16 on. An array of `n` elements needs
    /// `alignment - 16` bytes more, because shared arrays begin at multiples of 16 bytes.
    #[inline(always)]
    #[track_caller]
    pub fn aligned(self, alignment: u32) -> Self {
        let skipped = (self.address.wrapping_neg() & (alignment - 1)).div_ceil(size_of::<T>() as u32) as usize;
        self.part(skipped, self.len() - skipped.min(self.len()))
    }

    /// Returns the same array. If it is in dynamic shared memory, the simulator's reports call it `name`.
    ///
    /// In a kernel, `let tile = dynamic_shared::<f32>().part(0, n);` names the array `tile` without this call.
    #[inline(always)]
    pub fn named(self, name: &'static str) -> Self {
        backend::name_dynamic::<T>(name, self.address, self.len());
        self
    }

    /// Returns the generic address of element 0, for code that uses pointers. The block's threads may use it until the
    /// block ends.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        backend::shared_pointer(self.address).cast()
    }

    /// Returns the address of element `index`, like `as_mut_ptr().add(index)`. In Rust-CUDA, a `shared_array!` is a
    /// pointer, so kernels written for Rust-CUDA call this method.
    ///
    /// # Safety
    /// `index` must be at most [`len`](Self::len).
    #[inline(always)]
    pub unsafe fn add(self, index: usize) -> *mut T {
        self.as_mut_ptr().wrapping_add(index)
    }

    /// Returns an array over the same bytes with elements of type `U`, as many as fit. For example, `[u32; 4]` instead
    /// of `u32` allows wide accesses.
    ///
    /// The array must start at a multiple of the size of `U`, like a whole `shared_array!`.
    #[inline(always)]
    #[track_caller]
    pub fn cast<U: Element>(self) -> Shared<U>
    where
        T: Element,
    {
        // If `U`'s size divides the element's size, an aligned array is also aligned for `U`.
        if !size_of::<T>().is_multiple_of(size_of::<U>()) {
            backend::check_vec_alignment(self.address as usize, size_of::<U>());
        }
        let len = self.len() * size_of::<T>() / size_of::<U>();
        Shared { address: self.address, len: len as u32, elements: PhantomData }
    }

    /// Loads element `index`. The kernel ends with an error if the bits are not a valid `T`, which happens only with
    /// uninitialised memory.
    #[inline(always)]
    #[track_caller]
    pub fn load(self, index: usize) -> T {
        self.check(index);
        // SAFETY: the index was checked, and `shared_load` checks the bits.
        unsafe { T::shared_load(self.address_of(index)) }
    }

    /// Sets element `index`.
    #[inline(always)]
    #[track_caller]
    pub fn store(self, index: usize, value: T) {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { value.shared_store(self.address_of(index)) }
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
        unsafe { T::shared_load(self.address_of(index)) }
    }

    /// Loads element `index` by a volatile access (`ld.volatile.shared`), like [`crate::Global::load_volatile`].
    #[inline(always)]
    #[track_caller]
    pub fn load_volatile(self, index: usize) -> T {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { backend::shared_load_numbers_volatile(self.address_of(index)) }
    }

    /// Sets element `index` by a volatile access (`st.volatile.shared`), like [`crate::GlobalMut::store_volatile`].
    #[inline(always)]
    #[track_caller]
    pub fn store_volatile(self, index: usize, value: T) {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { backend::shared_store_numbers_volatile(self.address_of(index), value) }
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
        unsafe { value.shared_store(self.address_of(index)) }
    }

    /// Returns the address of element `index` for an atomic operation.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn place(self, index: usize) -> Place<T> {
        self.check(index);
        Place::Shared(self.address_of(index))
    }

    /// Returns the address of element `index` like [`place`](Self::place), but without checks on a GPU.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn place_unchecked(self, index: usize) -> Place<T> {
        self.check_in_simulator(index);
        Place::Shared(self.address_of(index))
    }

    /// Returns the address of element `index`, after a check of the index.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn checked_address(self, index: usize) -> u32 {
        self.check(index);
        self.address_of(index)
    }

    #[inline(always)]
    pub(crate) fn address_of(self, index: usize) -> u32 {
        self.address.wrapping_add((index as u32).wrapping_mul(size_of::<T>() as u32))
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn check(self, index: usize) {
        if index >= self.len() {
            backend::out_of_bounds_shared(self.address, index, self.len());
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

/// Turns the address of a shared array into the value of the macro that declares the array: a handle or a pointer.
#[doc(hidden)]
#[macro_export]
macro_rules! __shared_handle {
    (array $element:ty, $address:expr, $len:expr) => {
        // SAFETY: the array has this length and is aligned to 16 bytes.
        unsafe { $crate::Shared::<$element>::from_raw_parts($address, $len) }
    };
    (pointer $element:ty, $address:expr, $len:expr) => {
        $crate::__private::shared_pointer($address).cast::<$element>()
    };
}

/// Returns the block's dynamic shared memory, whose size the launch determines, as an array of `T`.
#[inline(always)]
pub fn dynamic_shared<T: DeviceCopy>() -> Shared<T> {
    const { assert!(align_of::<T>() <= 16, "dynamic shared memory is aligned to 16 bytes: the element needs more") };
    let (address, bytes) = backend::dynamic_shared();
    // SAFETY: the region belongs to the block, has `bytes` bytes and is aligned to 16.
    unsafe { Shared::from_raw_parts(address, bytes / size_of::<T>() as u32) }
}
