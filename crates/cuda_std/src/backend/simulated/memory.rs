//! Loads and stores in the simulator, number by number, with a check of each access.
//!
//! # Design
//!
//! An access through a view is never undefined behaviour in the simulator, whatever the kernel does. Bounds and
//! alignment are checked before the access, and the access itself is atomic in Rust's sense. A kernel's data race is
//! therefore reported and is not undefined behaviour, unless its accesses have different widths.

use core::mem::MaybeUninit;
use core::panic::Location;

use simt::memory::Scope;
use simt::{memory, shared, thread};

use super::observed::{self, Access, At};
use crate::Element;
use crate::device_copy::{DeviceCopy, access_bytes, checked_value, with_word};

#[cold]
#[track_caller]
pub fn out_of_bounds_global(view: usize, index: usize, len: usize) -> ! {
    if !thread::is_simulated() {
        assert!(index < len, "index {index} is out of bounds of a device view of length {len}");
        panic!(
            "element {index} of a device view of length {len} was accessed on the host: download the buffer instead"
        );
    }
    memory::out_of_bounds(view, index, len)
}

pub use simt::shared::out_of_bounds as out_of_bounds_shared;

/// Does nothing: [`simt::memory`] checks the alignment of every access.
#[inline(always)]
pub fn check_vec_alignment(_address: usize, _bytes: usize) {}

/// Ends the kernel because the bits loaded from shared memory are not a valid `T`.
#[cold]
#[track_caller]
pub fn no_value<T>() -> ! {
    panic!("the shared memory that is read holds no valid `{}`: write one first", core::any::type_name::<T>())
}

/// Returns the address and the size in bytes of the block's dynamic shared memory.
#[inline(always)]
pub fn dynamic_shared() -> (u32, u32) {
    shared::dynamic()
}

pub use simt::shared::pointer as shared_pointer;

#[inline(always)]
pub fn name_dynamic<T>(name: &'static str, address: u32, len: usize) {
    if address < shared::dynamic().1 {
        shared::name_dynamic::<T>(name, address, len);
    }
}

/// Expands to a load of `T`. `$load` returns the number of type `$Word` at `$offset`.
macro_rules! load {
    ($T:ident, $offset:ident, $Word:ident => $load:expr) => {{
        let mut value = MaybeUninit::<$T>::uninit();
        let bytes = value.as_mut_ptr().cast::<u8>();
        if const { access_bytes::<$T>() > 0 } {
            let $offset = 0;
            with_word!(size_of::<$T>(), $Word => {
                let number: $Word = $load;
                // SAFETY: the number is as large as the value.
                unsafe { bytes.cast::<$Word>().write_unaligned(number) };
            });
        } else {
            $T::scalars(0, &mut |$offset, size| with_word!(size, $Word => {
                let number: $Word = $load;
                // SAFETY: the number is in the value at that offset.
                unsafe { bytes.add($offset).cast::<$Word>().write_unaligned(number) };
            }));
        }
        value
    }};
}
pub(super) use load;

/// Expands to a store of `$value`, a `T`. `$store` stores the number `$word` of type `$Word` at `$offset`.
macro_rules! store {
    ($T:ident, $value:expr, $offset:ident, $Word:ident, $word:ident => $store:expr) => {{
        let value = MaybeUninit::<$T>::new($value);
        let bytes = value.as_ptr().cast::<u8>();
        if const { access_bytes::<$T>() > 0 } {
            let $offset = 0;
            with_word!(size_of::<$T>(), $Word => {
                // SAFETY: the number is as large as the value, which has no padding.
                let $word = unsafe { bytes.cast::<$Word>().read_unaligned() };
                $store
            });
        } else {
            $T::scalars(0, &mut |$offset, size| with_word!(size, $Word => {
                // SAFETY: the number is in the value at that offset and is not padding.
                let $word = unsafe { bytes.add($offset).cast::<$Word>().read_unaligned() };
                $store
            }));
        }
    }};
}
pub(super) use store;

/// # Safety
/// `pointer` must be valid for an access of `T` and point to a valid `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_load<T: DeviceCopy>(pointer: *const T) -> T {
    let at = Location::caller();
    // SAFETY: the caller guarantees a valid pointer.
    let value = load!(T, offset, Word => unsafe { memory::load_at(pointer.byte_add(offset).cast::<Word>(), at) });
    // SAFETY: the memory holds a valid `T`, and all its numbers have been read.
    unsafe { value.assume_init() }
}

pub use global_load as global_load_streaming;

/// # Safety
/// `pointer` must be valid for an access of `T` and point to a valid `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_load_readonly<T: DeviceCopy>(pointer: *const T) -> T {
    let at = Location::caller();
    let value = load!(T, offset, Word => {
        // SAFETY: the caller guarantees a valid pointer.
        unsafe { memory::load_read_only_at(pointer.byte_add(offset).cast::<Word>(), at) }
    });
    // SAFETY: the memory holds a valid `T`, and all its numbers have been read.
    unsafe { value.assume_init() }
}

/// # Safety
/// `pointer` must be valid for an access of `T` and point to a valid `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_load_volatile<T: DeviceCopy>(pointer: *const T) -> T {
    let at = Location::caller();
    let value = load!(T, offset, Word => {
        // SAFETY: the caller guarantees a valid pointer.
        unsafe { memory::load_scoped_at(pointer.byte_add(offset).cast::<Word>(), false, Scope::Device, at) }
    });
    // SAFETY: the memory holds a valid `T`, and all its numbers have been read.
    unsafe { value.assume_init() }
}

/// Does nothing: the simulator has no cache.
///
/// # Safety
/// There is no condition in the simulator. On a GPU, `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_prefetch<T>(_pointer: *const T) {}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_store<T: DeviceCopy>(pointer: *mut T, value: T) {
    let at = Location::caller();
    store!(T, value, offset, Word, word => {
        // SAFETY: the caller guarantees a valid pointer.
        unsafe { memory::store_at(pointer.byte_add(offset).cast::<Word>(), word, at) }
    });
}

pub use global_store as global_store_streaming;

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_store_volatile<T: DeviceCopy>(pointer: *mut T, value: T) {
    let at = Location::caller();
    store!(T, value, offset, Word, word => {
        // SAFETY: the caller guarantees a valid pointer.
        unsafe { memory::store_scoped_at(pointer.byte_add(offset).cast::<Word>(), word, false, Scope::Device, at) }
    });
}

pub use shared_load as shared_load_numbers;
pub use shared_load_volatile as shared_load_numbers_volatile;
pub use shared_store as shared_store_numbers;
pub use shared_store_volatile as shared_store_numbers_volatile;

const fn check_vector<T, const N: usize>() {
    let is_one_access = matches!(size_of::<[T; N]>(), 1 | 2 | 4 | 8 | 16);
    assert!(is_one_access || N == 1, "a vector of several elements must have 1, 2, 4, 8 or 16 bytes");
}

/// # Safety
/// `pointer` must be valid for an access of `[T; N]`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_load_vec<T: Element, const N: usize>(pointer: *const T) -> [T; N] {
    const { check_vector::<T, N>() };
    // SAFETY: the caller guarantees a valid pointer.
    unsafe { global_load(pointer.cast()) }
}

/// # Safety
/// `pointer` must be valid for an access of `[T; N]`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_store_vec<T: Element, const N: usize>(pointer: *mut T, values: [T; N]) {
    const { check_vector::<T, N>() };
    // SAFETY: the caller guarantees a valid pointer.
    unsafe { global_store(pointer.cast(), values) }
}

/// Loads the value at `address`. The kernel ends with an error if the bits are not a valid `T`.
///
/// # Safety
/// No condition, because the simulator checks the address.
#[inline(always)]
#[track_caller]
pub unsafe fn shared_load<T: DeviceCopy>(address: u32) -> T {
    let at = Location::caller();
    checked_value(load!(T, offset, Word => shared::load_at::<Word>(address.wrapping_add(offset as u32), at)))
}

/// Loads the value at `address` like [`shared_load`], but by a volatile access. The kernel ends with an error if the
/// bits are not a valid `T`.
///
/// # Safety
/// No condition, because the simulator checks the address.
#[inline(always)]
#[track_caller]
pub unsafe fn shared_load_volatile<T: DeviceCopy>(address: u32) -> T {
    let at = Location::caller();
    checked_value(load!(T, offset, Word => shared::load_relaxed_at::<Word>(address.wrapping_add(offset as u32), at)))
}

/// # Safety
/// No condition, because the simulator checks the address.
#[inline(always)]
#[track_caller]
pub unsafe fn shared_store<T: DeviceCopy>(address: u32, value: T) {
    let at = Location::caller();
    store!(T, value, offset, Word, word => shared::store_at(address.wrapping_add(offset as u32), word, at));
}

/// # Safety
/// No condition, because the simulator checks the address.
#[inline(always)]
#[track_caller]
pub unsafe fn shared_store_volatile<T: DeviceCopy>(address: u32, value: T) {
    let at = Location::caller();
    store!(T, value, offset, Word, word => shared::store_relaxed_at(address.wrapping_add(offset as u32), word, at));
}

/// Reports that `function` of this crate reads all of `values`.
#[inline(always)]
#[track_caller]
pub fn read_all<T>(function: &'static str, values: &[T]) {
    observed::entered(function);
    At(&raw const *values).used_all(Access::Read);
}
