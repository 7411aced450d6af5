//! Atomic operations and fences for the threads of a cluster. In PTX before sm_90 a block is a cluster of its own.

use core::arch::asm;

use super::memory::{cast, to_global};
use crate::atomic::{Atomic, AtomicType, ClusterPlace, Update, same_bits};

/// Calls `$with!(prefix, register class, address, …)` with the prefix for the memory space of `$place`, such as
/// `"cluster.global."`.
#[cfg(target_feature = "sm_90")]
macro_rules! in_cluster {
    ($place:expr, $with:ident $(, $more:tt)*) => {
        match $place {
            ClusterPlace::Global(p) => $with!("cluster.global.", reg64, to_global(p) $(, $more)*),
            ClusterPlace::Shared(a) => $with!("cluster.shared.", reg32, a $(, $more)*),
            ClusterPlace::Cluster(a) => $with!("cluster.shared::cluster.", reg32, a $(, $more)*),
        }
    };
}

#[cfg(not(target_feature = "sm_90"))]
macro_rules! in_cluster {
    ($place:expr, $with:ident $(, $more:tt)*) => {
        match $place {
            ClusterPlace::Global(p) => $with!("cta.global.", reg64, to_global(p) $(, $more)*),
            ClusterPlace::Shared(a) | ClusterPlace::Cluster(a) => $with!("cta.shared.", reg32, a $(, $more)*),
        }
    };
}

/// The instruction `atom.relaxed` with operation and type `$operation` and operands `$value`.
macro_rules! atom {
    ($operation:literal, $word:ty, $register:ident, $place:expr, $($value:expr),+) => {{
        macro_rules! instruction {
            ($prefix:literal, $class:ident, $address:expr) => {{
                let old: $word;
                asm!(concat!("atom.relaxed.", $prefix, $operation, " {}, [{}]", atom!(@ $($value),+), ";"),
                    out($register) old, in($class) $address, $(in($register) cast::<T, $word>($value)),+,
                    options(nostack, preserves_flags));
                cast::<$word, T>(old)
            }};
        }
        in_cluster!($place, instruction)
    }};
    (@ $one:expr) => { ", {}" };
    (@ $one:expr, $two:expr) => { ", {}, {}" };
}

/// # Safety
/// The place must be valid for an access of `T`, which has 4 or 8 bytes.
#[inline(always)]
pub unsafe fn cluster_atomic_update<T: Atomic>(update: Update, place: ClusterPlace<T>, value: T) -> T {
    macro_rules! integers {
        ($u32:literal $i32:literal $u64:literal $i64:literal) => {
            match T::TYPE {
                AtomicType::U32 => atom!($u32, u32, reg32, place, value),
                AtomicType::I32 => atom!($i32, u32, reg32, place, value),
                AtomicType::U64 => atom!($u64, u64, reg64, place, value),
                AtomicType::I64 => atom!($i64, u64, reg64, place, value),
                _ => try_update(update, place, value),
            }
        };
    }
    macro_rules! bits {
        ($b32:literal $b64:literal) => {
            match size_of::<T>() {
                4 => atom!($b32, u32, reg32, place, value),
                _ => atom!($b64, u64, reg64, place, value),
            }
        };
    }
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        match update {
            Update::Add => match T::TYPE {
                AtomicType::F32 => atom!("add.f32", f32, reg32, place, value),
                AtomicType::F64 => atom!("add.f64", f64, reg64, place, value),
                _ => integers!("add.u32" "add.u32" "add.u64" "add.u64"),
            },
            Update::Min => integers!("min.u32" "min.s32" "min.u64" "min.s64"),
            Update::Max => integers!("max.u32" "max.s32" "max.u64" "max.s64"),
            Update::Exchange => bits!("exch.b32" "exch.b64"),
            Update::And => bits!("and.b32" "and.b64"),
            Update::Or => bits!("or.b32" "or.b64"),
            Update::Xor => bits!("xor.b32" "xor.b64"),
            Update::Increment | Update::Decrement => try_update(update, place, value),
        }
    }
}

/// Performs an update that has no instruction, by a loop of compare-exchange operations.
///
/// # Safety
/// The place must be valid for an access of `T`, which has 4 or 8 bytes.
#[inline(always)]
unsafe fn try_update<T: Atomic>(update: Update, place: ClusterPlace<T>, value: T) -> T {
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        let mut old = cluster_atomic_load(place, false);
        loop {
            let new = old.updated(update, value);
            if same_bits(new, old) {
                return old;
            }
            let seen = cluster_atomic_compare_exchange(place, old, new);
            if same_bits(seen, old) {
                return old;
            }
            old = seen;
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`, which has 4 or 8 bytes.
#[inline(always)]
pub unsafe fn cluster_atomic_compare_exchange<T: Atomic>(place: ClusterPlace<T>, expected: T, new: T) -> T {
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        match size_of::<T>() {
            4 => atom!("cas.b32", u32, reg32, place, expected, new),
            _ => atom!("cas.b64", u64, reg64, place, expected, new),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`, which has 4 or 8 bytes.
#[inline(always)]
pub unsafe fn cluster_atomic_load<T: Atomic>(place: ClusterPlace<T>, acquire: bool) -> T {
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
            (4, true) => in_cluster!(place, load, "acquire", "u32", u32, reg32),
            (_, true) => in_cluster!(place, load, "acquire", "u64", u64, reg64),
            (4, false) => in_cluster!(place, load, "relaxed", "u32", u32, reg32),
            (_, false) => in_cluster!(place, load, "relaxed", "u64", u64, reg64),
        }
    }
}

/// # Safety
/// The place must be valid for an access of `T`, which has 4 or 8 bytes.
#[inline(always)]
pub unsafe fn cluster_atomic_store<T: Atomic>(place: ClusterPlace<T>, value: T, release: bool) {
    macro_rules! store {
        ($prefix:literal, $class:ident, $address:expr, $order:literal, $type:literal, $word:ty, $register:ident) => {
            asm!(concat!("st.", $order, ".", $prefix, $type, " [{}], {};"), in($class) $address,
                in($register) cast::<T, $word>(value), options(nostack, preserves_flags))
        };
    }
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        match (size_of::<T>(), release) {
            (4, true) => in_cluster!(place, store, "release", "u32", u32, reg32),
            (_, true) => in_cluster!(place, store, "release", "u64", u64, reg64),
            (4, false) => in_cluster!(place, store, "relaxed", "u32", u32, reg32),
            (_, false) => in_cluster!(place, store, "relaxed", "u64", u64, reg64),
        }
    }
}

macro_rules! fences {
    ($($name:ident $new:literal $old:literal;)*) => {$(
        #[inline(always)]
        pub fn $name() {
            // SAFETY: a fence only orders memory accesses.
            unsafe {
                #[cfg(target_feature = "sm_90")]
                asm!($new, options(nostack, preserves_flags));
                #[cfg(not(target_feature = "sm_90"))]
                asm!($old, options(nostack, preserves_flags));
            }
        }
    )*};
}

fences! {
    fence_cluster "fence.sc.cluster;" "fence.sc.cta;";
    fence_acquire_release_cluster "fence.acq_rel.cluster;" "fence.acq_rel.cta;";
}
