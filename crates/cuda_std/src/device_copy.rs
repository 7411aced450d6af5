//! The types of buffer elements and kernel parameters.
//!
//! # Design
//!
//! [`DeviceCopy`] states which bytes of a type contain numbers. It also states whether every bit pattern, or at least a
//! value of all zero bytes, is valid. Host and device copy an element number by number with the same code. A blanket
//! implementation for `bytemuck::Pod` would exclude `bool` and tuples. Casts and vectors need the subtrait `Element`,
//! whose types are also `Pod`.

use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::num::Wrapping;

use crate::backend;

/// A value that host and device copy to each other bit by bit: an element of a buffer or a parameter of a kernel.
///
/// Numbers, `bool`, `char`, `NonZero`, and arrays and tuples of such types implement this trait. For a struct of such
/// fields, or an enum without fields but with a representation, use `#[derive(Clone, Copy, cuda_std::DeviceCopy)]`:
///
/// ```
/// #[derive(Clone, Copy, cuda_std::DeviceCopy)]
/// #[repr(u8)]
/// enum Kind {
///     Solid = 1,
///     Liquid,
/// }
///
/// #[derive(Clone, Copy, cuda_std::DeviceCopy)]
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 3],
///     kind: Kind,
///     neighbour: (u32, bool),
/// }
/// ```
///
/// A type is plain if it has 1, 2, 4, 8 or 16 bytes, no padding, and no invalid bit pattern. A plain value is loaded
/// and stored in one access, and every other value number by number; padding is never read or written. If the accesses
/// of two threads to a value that is not plain are unordered, a load may therefore return fields of two different
/// values. The safety of such a type must not depend on fields that belong to one value.
///
/// Without `#[repr(C)]`, the compiler orders the fields of structs and tuples. Such elements may be in a buffer only if
/// the compilers of the program and of the PTX use the same order. Compilers of the same release use the same order.
///
/// A type with references or with a destructor does not compile:
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy, cuda_std::DeviceCopy)]
/// struct Named {
///     name: &'static str, // is not `DeviceCopy`
/// }
/// ```
///
/// # Safety
/// A copy of the bytes on another device must be the same value, so the type must not contain addresses. An `impl`
/// without items states that the type has no padding and that every bit pattern is valid, like [`Pod`](bytemuck::Pod).
/// For any other type, override the items.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be copied between host and device",
    label = "does not implement `DeviceCopy`",
    note = "if you define the type, add `#[derive(Clone, Copy, cuda_std::DeviceCopy)]` to it"
)]
pub unsafe trait DeviceCopy: Copy + Send + Sync + 'static {
    /// True if every bit pattern is a valid value, so that uninitialised memory may be read as this type.
    const ANY_BITS: bool = true;

    /// True if a value of all zero bytes is valid.
    const ZEROS: bool = true;

    /// True if every bit pattern is a valid value and no byte is padding.
    const PLAIN: bool = Self::ANY_BITS;

    /// Calls `see` for each number in the value, with the number's offset (plus `at`) and its size: 1, 2, 4, 8 or 16
    /// bytes.
    #[doc(hidden)]
    #[inline(always)]
    fn scalars(at: usize, see: &mut impl FnMut(usize, usize)) {
        let word = if align_of::<Self>() < 16 { align_of::<Self>() } else { 16 };
        let mut offset = 0;
        while offset < size_of::<Self>() {
            see(at + offset, word);
            offset += word;
        }
    }

    /// Returns true if the bytes at `value` form a valid value.
    ///
    /// # Safety
    /// `value` must be valid for reads of all bytes that are not padding.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn is_value(_value: *const Self) -> bool {
        true
    }

    // The access of a number is one instruction and contains no branch. Even a branch that the compiler removes would
    // change the register numbers of whole kernels.

    /// Loads the value at `address` in shared memory.
    ///
    /// # Safety
    /// `address` must be valid for an access of the type in the block's shared memory.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    unsafe fn shared_load(address: u32) -> Self {
        // SAFETY: the caller guarantees a valid address.
        unsafe {
            match const { access_bytes::<Self>() } {
                0 => backend::shared_load_numbers(address),
                _ => backend::shared_load(address),
            }
        }
    }

    /// Stores the value at `address` in shared memory.
    ///
    /// # Safety
    /// `address` must be valid for an access of the type in the block's shared memory.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    unsafe fn shared_store(self, address: u32) {
        // SAFETY: the caller guarantees a valid address.
        unsafe {
            match const { access_bytes::<Self>() } {
                0 => backend::shared_store_numbers(address, self),
                _ => backend::shared_store(address, self),
            }
        }
    }
}

macro_rules! plain {
    ($($type:ty)*) => {$(
        // SAFETY: the type is a number without padding or invalid bit patterns.
        unsafe impl DeviceCopy for $type {
            #[inline(always)]
            #[track_caller]
            unsafe fn shared_load(address: u32) -> Self {
                // SAFETY: the caller guarantees a valid address.
                unsafe { backend::shared_load(address) }
            }

            #[inline(always)]
            #[track_caller]
            unsafe fn shared_store(self, address: u32) {
                // SAFETY: the caller guarantees a valid address.
                unsafe { backend::shared_store(address, self) }
            }
        }
    )*};
}

plain! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 }

// SAFETY: the type has no bytes.
unsafe impl DeviceCopy for () {}

// SAFETY: the type has one byte, and `is_value` accepts only 0 and 1.
unsafe impl DeviceCopy for bool {
    const ANY_BITS: bool = false;

    #[inline(always)]
    unsafe fn is_value(value: *const Self) -> bool {
        // SAFETY: the caller guarantees a readable byte.
        unsafe { value.cast::<u8>().read() <= 1 }
    }
}

// SAFETY: the type has 32 bits, and `is_value` accepts only valid characters.
unsafe impl DeviceCopy for char {
    const ANY_BITS: bool = false;

    #[inline(always)]
    unsafe fn is_value(value: *const Self) -> bool {
        // SAFETY: the caller guarantees readable bytes.
        char::from_u32(unsafe { value.cast::<u32>().read() }).is_some()
    }
}

macro_rules! non_zero {
    ($($number:ident)*) => {$(
        // SAFETY: the type is a number, and `is_value` rejects 0.
        unsafe impl DeviceCopy for core::num::NonZero<$number> {
            const ANY_BITS: bool = false;
            const ZEROS: bool = false;

            #[inline(always)]
            unsafe fn is_value(value: *const Self) -> bool {
                // SAFETY: the caller guarantees readable bytes.
                unsafe { value.cast::<$number>().read() != 0 }
            }
        }
    )*};
}

non_zero! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize }

/// A wrapper for a [`Pod`](bytemuck::Pod) type of another crate, for which [`DeviceCopy`] cannot be derived. The
/// wrapped type can be an element, a field or a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Plain<T>(pub T);

// SAFETY: the only field is `Pod`, so the type has no padding, no invalid bit patterns and no addresses.
unsafe impl<T: bytemuck::Pod + Send + Sync> DeviceCopy for Plain<T> {}
// SAFETY: the only field is `Zeroable`.
unsafe impl<T: bytemuck::Zeroable> bytemuck::Zeroable for Plain<T> {}
// SAFETY: the only field is `Pod`.
unsafe impl<T: bytemuck::Pod> bytemuck::Pod for Plain<T> {}

// SAFETY: the type has no bytes.
unsafe impl<T: Send + Sync + 'static> DeviceCopy for PhantomData<T> {}

// SAFETY: `Wrapping` has the layout of its content, which is `DeviceCopy`.
unsafe impl<T: DeviceCopy> DeviceCopy for Wrapping<T> {
    const ANY_BITS: bool = T::ANY_BITS;
    const ZEROS: bool = T::ZEROS;
    const PLAIN: bool = T::PLAIN;

    #[inline(always)]
    fn scalars(at: usize, see: &mut impl FnMut(usize, usize)) {
        T::scalars(at, see);
    }

    #[inline(always)]
    unsafe fn is_value(value: *const Self) -> bool {
        // SAFETY: the caller guarantees readable bytes; `Wrapping` has the layout of its content.
        unsafe { T::is_value(value.cast()) }
    }
}

// SAFETY: the elements are `DeviceCopy`, and an array adds no padding.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    const ANY_BITS: bool = T::ANY_BITS;
    const ZEROS: bool = T::ZEROS;
    const PLAIN: bool = T::PLAIN;

    #[inline(always)]
    fn scalars(at: usize, see: &mut impl FnMut(usize, usize)) {
        let mut index = 0;
        while index < N {
            T::scalars(at + index * size_of::<T>(), see);
            index += 1;
        }
    }

    #[inline(always)]
    unsafe fn is_value(value: *const Self) -> bool {
        // SAFETY: the caller guarantees readable elements.
        T::ANY_BITS || (0..N).all(|index| unsafe { T::is_value(value.cast::<T>().add(index)) })
    }
}

macro_rules! tuples {
    ($(($($field:tt $type:ident)*))*) => {$(
        // SAFETY: the fields are `DeviceCopy`, and `scalars` skips the padding between them.
        unsafe impl<$($type: DeviceCopy),*> DeviceCopy for ($($type,)*) {
            const ANY_BITS: bool = true $(&& $type::ANY_BITS)*;
            const ZEROS: bool = true $(&& $type::ZEROS)*;
            const PLAIN: bool = true $(&& $type::PLAIN)* && size_of::<Self>() == 0 $(+ size_of::<$type>())*;

            #[inline(always)]
            fn scalars(at: usize, see: &mut impl FnMut(usize, usize)) {
                $($type::scalars(at + offset_of!(Self, $field), see);)*
            }

            #[inline(always)]
            unsafe fn is_value(value: *const Self) -> bool {
                // SAFETY: the caller guarantees readable fields.
                true $(&& unsafe { $type::is_value(&raw const (*value).$field) })*
            }
        }
    )*};
}

tuples! {
    (0 A)
    (0 A 1 B)
    (0 A 1 B 2 C)
    (0 A 1 B 2 C 3 D)
    (0 A 1 B 2 C 3 D 4 E)
    (0 A 1 B 2 C 3 D 4 E 5 F)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G 7 H)
}

/// Returns the number of bytes of the single access that a plain `T` needs, or 0 if `T` needs several accesses.
pub(crate) const fn access_bytes<T: DeviceCopy>() -> usize {
    match size_of::<T>() {
        bytes @ (1 | 2 | 4 | 8 | 16) if T::PLAIN => bytes,
        _ => 0,
    }
}

/// Returns `loaded`, which may come from uninitialised memory. The kernel ends with an error if the bits are not a
/// valid `T`.
#[inline(always)]
#[track_caller]
pub(crate) fn checked_value<T: DeviceCopy>(loaded: MaybeUninit<T>) -> T {
    // SAFETY: all numbers of the value have been read.
    if !T::ANY_BITS && !unsafe { T::is_value(loaded.as_ptr()) } {
        backend::no_value::<T>();
    }
    // SAFETY: `is_value` accepts the bits, or every bit pattern is valid.
    unsafe { loaded.assume_init() }
}

/// Evaluates `$do` with `$Word` as the unsigned integer type of `$bytes` bytes.
macro_rules! with_word {
    ($bytes:expr, $Word:ident => $do:expr) => {
        match $bytes {
            1 => {
                type $Word = u8;
                $do
            }
            2 => {
                type $Word = u16;
                $do
            }
            4 => {
                type $Word = u32;
                $do
            }
            8 => {
                type $Word = u64;
                $do
            }
            _ => {
                type $Word = u128;
                $do
            }
        }
    };
}
pub(crate) use with_word;

/// Copies the numbers of `value`, without its padding, to the words at `to`.
#[inline]
pub(crate) fn copy_to_words<T: DeviceCopy>(value: T, to: &mut [u64]) {
    assert!(size_of_val(to) >= size_of::<T>());
    let value = MaybeUninit::new(value);
    let (from, to) = (value.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
    T::scalars(0, &mut |offset, bytes| {
        // SAFETY: the number is in the value, and the words have at least as many bytes.
        unsafe { core::ptr::copy_nonoverlapping(from.add(offset), to.add(offset), bytes) };
    });
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    fn scalars<T: DeviceCopy>() -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        T::scalars(0, &mut |offset, bytes| all.push((offset, bytes)));
        all.sort_unstable();
        all
    }

    #[test]
    fn a_values_numbers_are_known_and_not_its_padding() {
        assert_eq!(scalars::<u128>(), [(0, 16)]);
        assert_eq!(scalars::<[f32; 3]>(), [(0, 4), (4, 4), (8, 4)]);
        assert_eq!(scalars::<[(u16, u8); 2]>(), [(0, 2), (2, 1), (4, 2), (6, 1)]);
        assert_eq!(scalars::<()>(), []);
        const { assert!(<[f32; 3]>::PLAIN && <(u16, u16)>::PLAIN && !<(u16, u8)>::PLAIN && !bool::PLAIN) };
        const { assert!(<(u16, u8)>::ANY_BITS && !<(u16, bool)>::ANY_BITS && <(u16, bool)>::ZEROS) };
        const { assert!(!<[core::num::NonZero<u8>; 2]>::ZEROS) };
    }

    #[test]
    fn padding_is_not_copied() {
        let mut words = [0; 3];
        copy_to_words([(0x0102_u16, true), (0x0304, false)], &mut words);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(bytes[..8], [2, 1, 1, 0, 4, 3, 0, 0]);
        assert!(bytes[8..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn what_is_a_value_is_known() {
        fn is_value<T: DeviceCopy, B: Copy>(bits: B) -> bool {
            assert_eq!(size_of::<T>(), size_of::<B>());
            // SAFETY: `bits` is as large as a `T` and initialised.
            unsafe { T::is_value((&raw const bits).cast()) }
        }
        assert!(is_value::<bool, u8>(1) && !is_value::<bool, u8>(0xA5));
        assert!(is_value::<char, u32>(0x10_FFFF) && !is_value::<char, u32>(0xD800));
        assert!(is_value::<core::num::NonZero<i16>, i16>(-1) && !is_value::<core::num::NonZero<i16>, i16>(0));
        assert!(is_value::<[bool; 2], [u8; 2]>([0, 1]) && !is_value::<[bool; 2], [u8; 2]>([0, 2]));
        assert!(is_value::<(bool, u8), [u8; 2]>([1, 0]) && is_value::<f32, u32>(u32::MAX));
    }
}
