//! Shared memory: typed handles on 32-bit addresses in the block's memory.
//!
//! # Design
//!
//! A handle is a 32-bit address in the block's shared memory, not a Rust pointer: LLVM would address memory behind a
//! pointer by generic loads and stores, which are slower. `global_asm!` declares the arrays.
//!
//! Two of an access's `asm!` options follow from that. It is `nomem`, because LLVM does not know this memory. It is not
//! `pure`, so accesses keep their order.

use core::marker::PhantomData;

use crate::atomic::Place;
use crate::{DeviceCopy, Element, backend};

/// An array in the block's shared memory.
///
/// A handle is an address and a length and can be copied; the array lives as long as the block. Its contents are
/// unspecified until they are written. [`load`](Self::load) and [`store`](Self::store) check the index: in the
/// simulator a bad one is a fault that names the line, on a GPU it traps. Two threads that access an element, one of
/// them writing, must be ordered by a barrier or be atomic; else the value read is unspecified.
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
    /// The `len` elements at `address`.
    ///
    /// # Safety
    /// The `len` elements at `address` must lie in the block's shared memory, and `address` be aligned for an element,
    /// and for its size where that is 2, 4, 8 or 16 bytes.
    #[inline(always)]
    pub unsafe fn from_raw_parts(address: u32, len: u32) -> Self {
        Self { address, len, elements: PhantomData }
    }

    /// How many elements it has.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it has no element.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The part of the array from element `start` on, `len` elements long.
    #[inline(always)]
    #[track_caller]
    pub fn part(self, start: usize, len: usize) -> Self {
        if start > self.len() || len > self.len() - start {
            backend::out_of_bounds_shared(self.address, start.saturating_add(len), self.len());
        }
        Self { address: self.address_of(start), len: len as u32, elements: PhantomData }
    }

    /// As [`part`](Self::part), unchecked on a GPU.
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

    /// The same array, which the simulator's reports call `name` if it lies in dynamic shared memory.
    ///
    /// In a kernel `let tile = dynamic_shared::<f32>().part(0, n);` names it so, without further words.
    #[inline(always)]
    pub fn named(self, name: &'static str) -> Self {
        backend::name_dynamic::<T>(name, self.address, self.len());
        self
    }

    /// The address of element 0, for code that is written over pointers: generic, as any Rust pointer is, and valid as
    /// long as the block, for its threads.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        backend::shared_pointer(self.address).cast()
    }

    /// The address of element `index`, as `as_mut_ptr().add(index)`: a `shared_array!` of Rust-CUDA is a pointer.
    ///
    /// # Safety
    /// `index` must be at most [`len`](Self::len).
    #[inline(always)]
    pub unsafe fn add(self, index: usize) -> *mut T {
        self.as_mut_ptr().wrapping_add(index)
    }

    /// The same bytes as elements of another type, as many as fit, such as `u32` as `[u32; 4]` for wide accesses.
    ///
    /// The array must start at a multiple of that type's size, as a whole `shared_array!` does.
    #[inline(always)]
    #[track_caller]
    pub fn cast<U: Element>(self) -> Shared<U>
    where
        T: Element,
    {
        // An array of multiples of a size starts at a multiple of it.
        if !size_of::<T>().is_multiple_of(size_of::<U>()) {
            backend::check_vec_alignment(self.address as usize, size_of::<U>());
        }
        let len = self.len() * size_of::<T>() / size_of::<U>();
        Shared { address: self.address, len: len as u32, elements: PhantomData }
    }

    /// Element `index`. What is no value of `T`, as nobody has written one, ends the kernel as an index out of bounds
    /// does.
    #[inline(always)]
    #[track_caller]
    pub fn load(self, index: usize) -> T {
        self.check(index);
        // SAFETY: the index was checked, and any bits are a value.
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

    /// Element `index`, unchecked on a GPU.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_unchecked(self, index: usize) -> T {
        self.check_in_simulator(index);
        // SAFETY: the caller vouches for the index and the value.
        unsafe { T::shared_load(self.address_of(index)) }
    }

    /// Element `index`, read anew each time and as it stands (`ld.volatile.shared`): see
    /// [`crate::Global::load_volatile`].
    #[inline(always)]
    #[track_caller]
    pub fn load_volatile(self, index: usize) -> T {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { backend::shared_load_numbers_volatile(self.address_of(index)) }
    }

    /// Sets element `index` as it stands (`st.volatile.shared`): see [`crate::GlobalMut::store_volatile`].
    #[inline(always)]
    #[track_caller]
    pub fn store_volatile(self, index: usize, value: T) {
        self.check(index);
        // SAFETY: the index was checked.
        unsafe { backend::shared_store_numbers_volatile(self.address_of(index), value) }
    }

    /// Sets element `index`, unchecked on a GPU.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_unchecked(self, index: usize, value: T) {
        self.check_in_simulator(index);
        // SAFETY: the caller vouches for the index.
        unsafe { value.shared_store(self.address_of(index)) }
    }

    /// The place of element `index` for an atomic operation.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn place(self, index: usize) -> Place<T> {
        self.check(index);
        Place::Shared(self.address_of(index))
    }

    /// As [`place`](Self::place), unchecked on a GPU.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn place_unchecked(self, index: usize) -> Place<T> {
        self.check_in_simulator(index);
        Place::Shared(self.address_of(index))
    }

    /// The address of element `index`, which is checked.
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

/// The block's dynamic shared memory, whose size the launch gives, as an array of as many `T` as fit.
#[inline(always)]
pub fn dynamic_shared<T: DeviceCopy>() -> Shared<T> {
    const { assert!(align_of::<T>() <= 16, "dynamic shared memory is aligned to 16 bytes") };
    let (address, bytes) = backend::dynamic_shared();
    // SAFETY: the region is the block's, has `bytes` bytes and is aligned to 16.
    unsafe { Shared::from_raw_parts(address, bytes / size_of::<T>() as u32) }
}
