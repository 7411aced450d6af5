//! Atomic operations and fences. Memory space and scope are constants when a kernel is compiled, so each operation
//! becomes one instruction.

use core::arch::asm;

use super::memory::{cast, to_global};
use super::wide_atomics as wide;
use crate::atomic::{Atomic, AtomicType, Place, Scope, Update, same_bits};

/// The instruction `atom.relaxed` with operation `$operation`, operands `$value` and type `$type`.
macro_rules! atom {
    ($operation:literal, $type:literal, $word:ty, $register:ident, $place:expr, $scope:expr, $($value:expr),+) => {{
        macro_rules! instruction {
            ($prefix:literal, $class:ident, $address:expr) => {{
                let old: $word;
                asm!(concat!("atom.relaxed.", $prefix, $operation, ".", $type, " {}, [{}]", atom!(@ $($value),+), ";"),
                    out($register) old, in($class) $address, $(in($register) cast::<T, $word>($value)),+,
                    options(nostack, preserves_flags));
                cast::<$word, T>(old)
            }};
        }
        in_place!($place, $scope, instruction)
    }};
    (@ $one:expr) => { ", {}" };
    (@ $one:expr, $two:expr) => { ", {}, {}" };
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_update<T: Atomic>(update: Update, place: Place<T>, value: T, scope: Scope) -> T {
    if const { size_of::<T>() == 16 } {
        // SAFETY: the caller guarantees a valid address; a `T` of 16 bytes has the bits of a `u128`.
        return unsafe {
            match update {
                Update::Exchange => cast(wide::exchange(place, cast(value), scope)),
                _ => try_update(update, place, value, scope),
            }
        };
    }
    macro_rules! by_type {
        ($operation:literal) => {
            match T::TYPE {
                AtomicType::U32 => atom!($operation, "u32", u32, reg32, place, scope, value),
                AtomicType::I32 => atom!($operation, "s32", u32, reg32, place, scope, value),
                AtomicType::U64 => atom!($operation, "u64", u64, reg64, place, scope, value),
                AtomicType::I64 => atom!($operation, "s64", u64, reg64, place, scope, value),
                _ => try_update(update, place, value, scope),
            }
        };
    }
    macro_rules! bits {
        ($operation:literal) => {
            match size_of::<T>() {
                4 => atom!($operation, "b32", u32, reg32, place, scope, value),
                _ => atom!($operation, "b64", u64, reg64, place, scope, value),
            }
        };
    }
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        match update {
            Update::Add => match T::TYPE {
                AtomicType::U32 | AtomicType::I32 => atom!("add", "u32", u32, reg32, place, scope, value),
                AtomicType::U64 | AtomicType::I64 => atom!("add", "u64", u64, reg64, place, scope, value),
                AtomicType::F32 => atom!("add", "f32", f32, reg32, place, scope, value),
                AtomicType::F64 => atom!("add", "f64", f64, reg64, place, scope, value),
                AtomicType::F16x2 => atom!("add.noftz", "f16x2", u32, reg32, place, scope, value),
                AtomicType::Bf16x2 if cfg!(target_feature = "sm_90") => {
                    atom!("add.noftz", "bf16x2", u32, reg32, place, scope, value)
                }
                AtomicType::Bf16x2 | AtomicType::U128 => try_update(update, place, value, scope),
            },
            Update::Exchange => bits!("exch"),
            Update::Min => by_type!("min"),
            Update::Max => by_type!("max"),
            Update::And => bits!("and"),
            Update::Or => bits!("or"),
            Update::Xor => bits!("xor"),
            Update::Increment => atom!("inc", "u32", u32, reg32, place, scope, value),
            Update::Decrement => atom!("dec", "u32", u32, reg32, place, scope, value),
        }
    }
}

/// Performs an update that has no instruction, by a loop of compare-exchange operations.
///
/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
unsafe fn try_update<T: Atomic>(update: Update, place: Place<T>, value: T, scope: Scope) -> T {
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        let mut old = atomic_load(place, false, scope);
        loop {
            let new = old.updated(update, value);
            if same_bits(new, old) {
                return old;
            }
            let seen = atomic_compare_exchange(place, old, new, scope);
            if same_bits(seen, old) {
                return old;
            }
            old = seen;
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_compare_exchange<T: Atomic>(place: Place<T>, expected: T, new: T, scope: Scope) -> T {
    if const { size_of::<T>() == 16 } {
        // SAFETY: the caller guarantees a valid address; a `T` of 16 bytes has the bits of a `u128`.
        return unsafe { cast(wide::compare_exchange(place, cast(expected), cast(new), scope)) };
    }
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        match size_of::<T>() {
            4 => atom!("cas", "b32", u32, reg32, place, scope, expected, new),
            _ => atom!("cas", "b64", u64, reg64, place, scope, expected, new),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_load<T: Atomic>(place: Place<T>, acquire: bool, scope: Scope) -> T {
    if const { size_of::<T>() == 16 } {
        // SAFETY: the caller guarantees a valid address; a `T` of 16 bytes has the bits of a `u128`.
        return unsafe { cast(wide::load(place, acquire, scope)) };
    }
    macro_rules! load {
        ($prefix:literal, $class:ident, $address:expr, $order:literal, $type:literal, $word:ty, $register:ident) => {{
            let value: $word;
            asm!(concat!("ld.", $order, ".", $prefix, $type, " {}, [{}];"), out($register) value, in($class) $address,
                options(nostack, preserves_flags));
            cast::<$word, T>(value)
        }};
    }
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        match (size_of::<T>(), acquire) {
            (4, true) => in_place!(place, scope, load, "acquire", "u32", u32, reg32),
            (_, true) => in_place!(place, scope, load, "acquire", "u64", u64, reg64),
            (4, false) => in_place!(place, scope, load, "relaxed", "u32", u32, reg32),
            (_, false) => in_place!(place, scope, load, "relaxed", "u64", u64, reg64),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_store<T: Atomic>(place: Place<T>, value: T, release: bool, scope: Scope) {
    if const { size_of::<T>() == 16 } {
        // SAFETY: the caller guarantees a valid address; a `T` of 16 bytes has the bits of a `u128`.
        return unsafe { wide::store(place, cast(value), release, scope) };
    }
    macro_rules! store {
        ($prefix:literal, $class:ident, $address:expr, $order:literal, $type:literal, $word:ty, $register:ident) => {
            asm!(concat!("st.", $order, ".", $prefix, $type, " [{}], {};"), in($class) $address,
                in($register) cast::<T, $word>(value), options(nostack, preserves_flags))
        };
    }
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        match (size_of::<T>(), release) {
            (4, true) => in_place!(place, scope, store, "release", "u32", u32, reg32),
            (_, true) => in_place!(place, scope, store, "release", "u64", u64, reg64),
            (4, false) => in_place!(place, scope, store, "relaxed", "u32", u32, reg32),
            (_, false) => in_place!(place, scope, store, "relaxed", "u64", u64, reg64),
        }
    }
}

macro_rules! fences {
    ($($name:ident $kind:literal;)*) => {$(
        #[inline(always)]
        pub fn $name(scope: Scope) {
            // SAFETY: a fence only orders memory accesses.
            unsafe {
                match scope {
                    Scope::Block => asm!(concat!("fence.", $kind, ".cta;"), options(nostack, preserves_flags)),
                    Scope::Device => asm!(concat!("fence.", $kind, ".gpu;"), options(nostack, preserves_flags)),
                    Scope::System => asm!(concat!("fence.", $kind, ".sys;"), options(nostack, preserves_flags)),
                }
            }
        }
    )*};
}

fences! {
    fence "sc";
    fence_acquire_release "acq_rel";
}
