//! Atomic operations, at the device's scope.

use core::arch::asm;

use super::memory::{cast, to_global};
use crate::atomic::{Atomic, AtomicInteger, AtomicType, IntegerOperation, Place};

/// `atom.relaxed.gpu` of `$operation` with the operands `$value`, in the space of `$place`, on the type `$type`.
macro_rules! atom {
    ($operation:literal, $type:literal, $word:ty, $register:ident, $place:expr, $($value:expr),+) => {
        match $place {
            Place::Global(pointer) => {
                let old: $word;
                asm!(concat!("atom.relaxed.gpu.global.", $operation, ".", $type, " {}, [{}]", atom!(@ $($value),+), ";"),
                    out($register) old, in(reg64) to_global(pointer), $(in($register) cast::<T, $word>($value)),+,
                    options(nostack, preserves_flags));
                cast::<$word, T>(old)
            }
            Place::Shared(address) => {
                let old: $word;
                asm!(concat!("atom.relaxed.gpu.shared.", $operation, ".", $type, " {}, [{}]", atom!(@ $($value),+), ";"),
                    out($register) old, in(reg32) address, $(in($register) cast::<T, $word>($value)),+,
                    options(nostack, preserves_flags));
                cast::<$word, T>(old)
            }
        }
    };
    (@ $one:expr) => { ", {}" };
    (@ $one:expr, $two:expr) => { ", {}, {}" };
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_add<T: Atomic>(place: Place<T>, value: T) -> T {
    // SAFETY: the caller's.
    unsafe {
        match T::TYPE {
            AtomicType::U32 | AtomicType::I32 => atom!("add", "u32", u32, reg32, place, value),
            AtomicType::U64 | AtomicType::I64 => atom!("add", "u64", u64, reg64, place, value),
            AtomicType::F32 => atom!("add", "f32", f32, reg32, place, value),
            AtomicType::F64 => atom!("add", "f64", f64, reg64, place, value),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_exchange<T: Atomic>(place: Place<T>, value: T) -> T {
    // SAFETY: the caller's.
    unsafe {
        match size_of::<T>() {
            4 => atom!("exch", "b32", u32, reg32, place, value),
            _ => atom!("exch", "b64", u64, reg64, place, value),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_compare_exchange<T: Atomic>(place: Place<T>, expected: T, new: T) -> T {
    // SAFETY: the caller's.
    unsafe {
        match size_of::<T>() {
            4 => atom!("cas", "b32", u32, reg32, place, expected, new),
            _ => atom!("cas", "b64", u64, reg64, place, expected, new),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_integer<T: AtomicInteger>(operation: IntegerOperation, place: Place<T>, value: T) -> T {
    macro_rules! by_type {
        ($operation:literal) => {
            match T::TYPE {
                AtomicType::U32 => atom!($operation, "u32", u32, reg32, place, value),
                AtomicType::I32 => atom!($operation, "s32", u32, reg32, place, value),
                AtomicType::U64 => atom!($operation, "u64", u64, reg64, place, value),
                _ => atom!($operation, "s64", u64, reg64, place, value),
            }
        };
    }
    macro_rules! bitwise {
        ($operation:literal) => {
            match size_of::<T>() {
                4 => atom!($operation, "b32", u32, reg32, place, value),
                _ => atom!($operation, "b64", u64, reg64, place, value),
            }
        };
    }
    // SAFETY: the caller's.
    unsafe {
        match operation {
            IntegerOperation::Min => by_type!("min"),
            IntegerOperation::Max => by_type!("max"),
            IntegerOperation::And => bitwise!("and"),
            IntegerOperation::Or => bitwise!("or"),
            IntegerOperation::Xor => bitwise!("xor"),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_load<T: Atomic>(place: Place<T>, acquire: bool) -> T {
    macro_rules! load {
        ($instruction:literal, $word:ty, $register:ident, $class:ident, $address:expr) => {{
            let value: $word;
            asm!(concat!($instruction, " {}, [{}];"), out($register) value, in($class) $address,
                options(nostack, preserves_flags));
            cast::<$word, T>(value)
        }};
    }
    // SAFETY: the caller's.
    unsafe {
        match (place, size_of::<T>(), acquire) {
            (Place::Global(p), 4, true) => load!("ld.acquire.gpu.global.u32", u32, reg32, reg64, to_global(p)),
            (Place::Global(p), _, true) => load!("ld.acquire.gpu.global.u64", u64, reg64, reg64, to_global(p)),
            (Place::Global(p), 4, false) => load!("ld.relaxed.gpu.global.u32", u32, reg32, reg64, to_global(p)),
            (Place::Global(p), _, false) => load!("ld.relaxed.gpu.global.u64", u64, reg64, reg64, to_global(p)),
            (Place::Shared(a), 4, true) => load!("ld.acquire.gpu.shared.u32", u32, reg32, reg32, a),
            (Place::Shared(a), _, true) => load!("ld.acquire.gpu.shared.u64", u64, reg64, reg32, a),
            (Place::Shared(a), 4, false) => load!("ld.relaxed.gpu.shared.u32", u32, reg32, reg32, a),
            (Place::Shared(a), _, false) => load!("ld.relaxed.gpu.shared.u64", u64, reg64, reg32, a),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn atomic_store<T: Atomic>(place: Place<T>, value: T, release: bool) {
    macro_rules! store {
        ($instruction:literal, $word:ty, $register:ident, $class:ident, $address:expr) => {
            asm!(concat!($instruction, " [{}], {};"), in($class) $address, in($register) cast::<T, $word>(value),
                options(nostack, preserves_flags))
        };
    }
    // SAFETY: the caller's.
    unsafe {
        match (place, size_of::<T>(), release) {
            (Place::Global(p), 4, true) => store!("st.release.gpu.global.u32", u32, reg32, reg64, to_global(p)),
            (Place::Global(p), _, true) => store!("st.release.gpu.global.u64", u64, reg64, reg64, to_global(p)),
            (Place::Global(p), 4, false) => store!("st.relaxed.gpu.global.u32", u32, reg32, reg64, to_global(p)),
            (Place::Global(p), _, false) => store!("st.relaxed.gpu.global.u64", u64, reg64, reg64, to_global(p)),
            (Place::Shared(a), 4, true) => store!("st.release.gpu.shared.u32", u32, reg32, reg32, a),
            (Place::Shared(a), _, true) => store!("st.release.gpu.shared.u64", u64, reg64, reg32, a),
            (Place::Shared(a), 4, false) => store!("st.relaxed.gpu.shared.u32", u32, reg32, reg32, a),
            (Place::Shared(a), _, false) => store!("st.relaxed.gpu.shared.u64", u64, reg64, reg32, a),
        }
    }
}
