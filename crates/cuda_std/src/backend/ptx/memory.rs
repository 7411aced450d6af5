//! Loads and stores on a GPU.
//!
//! Accesses of up to 8 bytes to global memory go through Rust pointers, which LLVM compiles to `ld.global` and
//! `st.global` with folded offsets. Accesses of 16 bytes, cache hints and shared memory need `asm!`.

use core::arch::{asm, global_asm};
use core::mem::MaybeUninit;

use super::trap;
use crate::Element;
use crate::device_copy::{DeviceCopy, access_bytes, checked_value, with_word};

global_asm!(".extern .shared .align 16 .b8 cuda_std_dynamic_shared[];");

/// Returns the address and the size in bytes of the block's dynamic shared memory.
#[inline(always)]
pub fn dynamic_shared() -> (u32, u32) {
    let (address, bytes): (u32, u32);
    // SAFETY: the instructions only read an address and a special register.
    unsafe {
        asm!("mov.u32 {}, cuda_std_dynamic_shared;", out(reg32) address,
            options(pure, nomem, nostack, preserves_flags));
        asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack, preserves_flags));
    }
    (address, bytes)
}

/// Does nothing: a GPU has no reports that could show the name.
#[inline(always)]
pub fn name_dynamic<T>(_name: &'static str, _address: u32, _len: usize) {}

/// Returns the generic address of `address` in shared memory.
#[inline(always)]
pub fn shared_pointer(address: u32) -> *mut u8 {
    let pointer: *mut u8;
    // SAFETY: the instruction only computes an address.
    unsafe {
        asm!("cvta.shared.u64 {}, {};", out(reg64) pointer, in(reg64) u64::from(address),
            options(pure, nomem, nostack, preserves_flags));
    }
    pointer
}

/// Traps if the address of a vector access is not a multiple of its size.
#[inline(always)]
pub fn check_vec_alignment(address: usize, bytes: usize) {
    if !address.is_multiple_of(bytes) {
        trap();
    }
}

/// Expands to a load of `T` with one instruction. `$prefix` is its opcode, state space and cache hint; `$class` is the
/// register class of the address.
macro_rules! load {
    ($prefix:literal, $address:expr, $class:ident $(, $options:ident)*) => {{
        let address = $address;
        // SAFETY: the caller guarantees a valid address; only the branch with the size of `T` is executed.
        unsafe {
            match size_of::<T>() {
                1 => {
                    let raw: u16;
                    asm!(concat!($prefix, ".u8 {}, [{}];"), out(reg16) raw, in($class) address,
                        options($($options,)* nostack, preserves_flags));
                    cast::<u8, T>(raw as u8)
                }
                2 => {
                    let raw: u16;
                    asm!(concat!($prefix, ".u16 {}, [{}];"), out(reg16) raw, in($class) address,
                        options($($options,)* nostack, preserves_flags));
                    cast::<u16, T>(raw)
                }
                4 => {
                    let raw: u32;
                    asm!(concat!($prefix, ".u32 {}, [{}];"), out(reg32) raw, in($class) address,
                        options($($options,)* nostack, preserves_flags));
                    cast::<u32, T>(raw)
                }
                8 => {
                    let raw: u64;
                    asm!(concat!($prefix, ".u64 {}, [{}];"), out(reg64) raw, in($class) address,
                        options($($options,)* nostack, preserves_flags));
                    cast::<u64, T>(raw)
                }
                _ => {
                    let (a, b, c, d): (u32, u32, u32, u32);
                    asm!(concat!($prefix, ".v4.u32 {{{}, {}, {}, {}}}, [{}];"), out(reg32) a, out(reg32) b,
                        out(reg32) c, out(reg32) d, in($class) address,
                        options($($options,)* nostack, preserves_flags));
                    cast::<[u32; 4], T>([a, b, c, d])
                }
            }
        }
    }};
}
pub(super) use load;

/// Expands to a store of `$value` with one instruction. The operands are those of [`load!`].
macro_rules! store {
    ($prefix:literal, $address:expr, $value:ident, $class:ident $(, $options:ident)*) => {{
        let (address, value) = ($address, $value);
        // SAFETY: the caller guarantees a valid address; only the branch with the size of `T` is executed.
        unsafe {
            match size_of::<T>() {
                1 => asm!(concat!($prefix, ".u8 [{}], {};"), in($class) address,
                    in(reg16) cast::<T, u8>(value) as u16, options($($options,)* nostack, preserves_flags)),
                2 => asm!(concat!($prefix, ".u16 [{}], {};"), in($class) address,
                    in(reg16) cast::<T, u16>(value), options($($options,)* nostack, preserves_flags)),
                4 => asm!(concat!($prefix, ".u32 [{}], {};"), in($class) address,
                    in(reg32) cast::<T, u32>(value), options($($options,)* nostack, preserves_flags)),
                8 => asm!(concat!($prefix, ".u64 [{}], {};"), in($class) address,
                    in(reg64) cast::<T, u64>(value), options($($options,)* nostack, preserves_flags)),
                _ => {
                    let [a, b, c, d] = cast::<T, [u32; 4]>(value);
                    asm!(concat!($prefix, ".v4.u32 [{}], {{{}, {}, {}, {}}};"), in($class) address, in(reg32) a,
                        in(reg32) b, in(reg32) c, in(reg32) d, options($($options,)* nostack, preserves_flags))
                }
            }
        }
    }};
}
pub(super) use store;

/// Returns the bits of `raw` as a `To`. Both types are plain data. Calls with types of different sizes occur only in
/// branches that are never executed.
///
/// # Safety
/// If the call is executed, `To` must not be larger than `From`.
#[inline(always)]
pub(super) unsafe fn cast<From: Copy, To: Copy>(raw: From) -> To {
    // SAFETY: the caller guarantees that `From` is large enough.
    unsafe { core::mem::transmute_copy(&raw) }
}

/// Returns the size in bytes of the largest access to a `T` that uses Rust pointers. There is no limit if `T` needs
/// several accesses.
const fn max_bytes_of_rust<T: DeviceCopy>() -> usize {
    if access_bytes::<T>() == 0 { usize::MAX } else { 8 }
}

/// Returns the address of `pointer` in the global state space.
#[inline(always)]
pub(super) fn to_global<T>(pointer: *const T) -> u64 {
    let address: u64;
    // SAFETY: the instruction only computes an address.
    unsafe {
        asm!("cvta.to.global.u64 {}, {};", out(reg64) address, in(reg64) pointer,
            options(pure, nomem, nostack, preserves_flags));
    }
    address
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_load<T: DeviceCopy>(pointer: *const T) -> T {
    if size_of::<T>() <= const { max_bytes_of_rust::<T>() } {
        // SAFETY: the caller guarantees a valid pointer.
        return unsafe { pointer.read() };
    }
    load!("ld.global", to_global(pointer), reg64, pure, readonly)
}

/// # Safety
/// `pointer` must be valid for an access of `T`, and no thread may write the element while the kernel runs.
#[inline(always)]
pub unsafe fn global_load_readonly<T: DeviceCopy>(pointer: *const T) -> T {
    if const { access_bytes::<T>() == 0 } {
        // SAFETY: the caller guarantees a valid pointer.
        return unsafe { pointer.read() };
    }
    load!("ld.global.nc", to_global(pointer), reg64, pure, nomem)
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_load_streaming<T: DeviceCopy>(pointer: *const T) -> T {
    if const { access_bytes::<T>() == 0 } {
        // SAFETY: the caller guarantees a valid pointer.
        return unsafe { pointer.read() };
    }
    load!("ld.global.cs", to_global(pointer), reg64, pure, readonly)
}

#[inline(always)]
pub fn opaque<T: Element>(value: T) -> T {
    // SAFETY: both types have the same size, and every bit pattern is valid. This needs no instruction.
    unsafe {
        match size_of::<T>() {
            4 => {
                let mut bits: u32 = cast(value);
                asm!("/* {} */", inout(reg32) bits, options(pure, nomem, nostack, preserves_flags));
                cast(bits)
            }
            8 => {
                let mut bits: u64 = cast(value);
                asm!("/* {} */", inout(reg64) bits, options(pure, nomem, nostack, preserves_flags));
                cast(bits)
            }
            _ => value,
        }
    }
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_prefetch<T>(pointer: *const T) {
    // SAFETY: a prefetch returns nothing, and the caller guarantees a valid pointer.
    unsafe { asm!("prefetch.global.L2 [{}];", in(reg64) to_global(pointer), options(nostack, preserves_flags)) }
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_store<T: DeviceCopy>(pointer: *mut T, value: T) {
    if size_of::<T>() <= const { max_bytes_of_rust::<T>() } {
        // SAFETY: the caller guarantees a valid pointer.
        return unsafe { pointer.write(value) };
    }
    store!("st.global", to_global(pointer), value, reg64)
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_store_streaming<T: DeviceCopy>(pointer: *mut T, value: T) {
    if const { access_bytes::<T>() == 0 } {
        // SAFETY: the caller guarantees a valid pointer.
        return unsafe { pointer.write(value) };
    }
    store!("st.global.cs", to_global(pointer), value, reg64)
}

/// # Safety
/// `pointer` must be valid for an access of `[T; N]`.
#[inline(always)]
pub unsafe fn global_load_vec<T: Element, const N: usize>(pointer: *const T) -> [T; N] {
    // SAFETY: the caller guarantees a valid pointer. The word has the vector's size, which makes it one access.
    unsafe {
        match size_of::<[T; N]>() {
            2 => cast(global_load(pointer.cast::<u16>())),
            4 => cast(global_load(pointer.cast::<u32>())),
            8 => cast(global_load(pointer.cast::<u64>())),
            _ => global_load(pointer.cast::<[T; N]>()),
        }
    }
}

/// # Safety
/// `pointer` must be valid for an access of `[T; N]`.
#[inline(always)]
pub unsafe fn global_store_vec<T: Element, const N: usize>(pointer: *mut T, values: [T; N]) {
    // SAFETY: the caller guarantees a valid pointer. The word has the vector's size, which makes it one access.
    unsafe {
        match size_of::<[T; N]>() {
            2 => global_store(pointer.cast::<u16>(), cast(values)),
            4 => global_store(pointer.cast::<u32>(), cast(values)),
            8 => global_store(pointer.cast::<u64>(), cast(values)),
            _ => global_store(pointer.cast::<[T; N]>(), values),
        }
    }
}

// Shared memory is declared in `asm!`, so LLVM does not know it. `nomem` is therefore correct and lets LLVM move
// accesses to global memory across these statements. The statements are not `pure`, so they keep their order among
// themselves and with barriers.

// If no single instruction can access a type, its values are loaded and stored number by number.

macro_rules! shared_accesses {
    ($($load:ident $load_numbers:ident $store:ident $store_numbers:ident $load_prefix:literal $store_prefix:literal;)*) => {$(
        /// # Safety
        /// `address` must be valid for an access of `T` in the block's shared memory, and one instruction must be able
        /// to load a `T`.
        #[inline(always)]
        pub unsafe fn $load<T: DeviceCopy>(address: u32) -> T {
            load!($load_prefix, address, reg32, nomem)
        }

        /// Loads a `T` number by number. The kernel ends with an error if the bits are not a valid `T`.
        ///
        /// # Safety
        /// `address` must be valid for an access of `T` in the block's shared memory.
        #[inline(always)]
        pub unsafe fn $load_numbers<T: DeviceCopy>(address: u32) -> T {
            let mut value = MaybeUninit::<T>::uninit();
            let to = value.as_mut_ptr();
            T::scalars(0, &mut |offset, bytes| with_word!(bytes, Word => {
                // SAFETY: the caller guarantees a valid address; the number is in the value at that offset.
                unsafe { to.byte_add(offset).cast::<Word>().write($load::<Word>(address + offset as u32)) }
            }));
            checked_value(value)
        }

        /// # Safety
        /// `address` must be valid for an access of `T` in the block's shared memory, and one instruction must be able
        /// to store a `T`.
        #[inline(always)]
        pub unsafe fn $store<T: DeviceCopy>(address: u32, value: T) {
            store!($store_prefix, address, value, reg32, nomem)
        }

        /// Stores a `T` number by number.
        ///
        /// # Safety
        /// `address` must be valid for an access of `T` in the block's shared memory.
        #[inline(always)]
        pub unsafe fn $store_numbers<T: DeviceCopy>(address: u32, value: T) {
            let from = &raw const value;
            T::scalars(0, &mut |offset, bytes| with_word!(bytes, Word => {
                // SAFETY: the caller guarantees a valid address; the number is in the value at that offset.
                unsafe { $store::<Word>(address + offset as u32, from.byte_add(offset).cast::<Word>().read()) }
            }));
        }
    )*};
}
pub(super) use shared_accesses;

shared_accesses! {
    shared_load shared_load_numbers shared_store shared_store_numbers "ld.shared" "st.shared";
    shared_load_volatile shared_load_numbers_volatile shared_store_volatile shared_store_numbers_volatile
        "ld.volatile.shared" "st.volatile.shared";
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_load_volatile<T: DeviceCopy>(pointer: *const T) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    let to = value.as_mut_ptr();
    T::scalars(0, &mut |offset, bytes| {
        with_word!(bytes, Word => {
            // SAFETY: the caller guarantees a valid pointer; the number is in the value at that offset.
            unsafe { to.byte_add(offset).cast::<Word>().write(pointer.byte_add(offset).cast::<Word>().read_volatile()) }
        })
    });
    // SAFETY: every number of the value has been written.
    unsafe { value.assume_init() }
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_store_volatile<T: DeviceCopy>(pointer: *mut T, value: T) {
    let from = &raw const value;
    T::scalars(0, &mut |offset, bytes| {
        with_word!(bytes, Word => {
            // SAFETY: the caller guarantees a valid pointer; the number is in the value at that offset.
            unsafe { pointer.byte_add(offset).cast::<Word>().write_volatile(from.byte_add(offset).cast::<Word>().read()) }
        })
    });
}

/// Ends the kernel because the bits loaded from shared memory are not a valid `T`.
#[inline(always)]
pub fn no_value<T>() -> ! {
    trap()
}

/// Does nothing: a GPU checks no accesses.
#[inline(always)]
pub fn read_all<T>(_function: &'static str, _values: &[T]) {}
