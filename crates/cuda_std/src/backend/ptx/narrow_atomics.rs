//! Atomic operations on 16 bits.

use core::arch::asm;

use super::memory::to_global;
use crate::atomic::{Place, Scope};
use crate::half::{bf16, f16};

/// The instruction `atom.relaxed` with operation and type `$operation` and the operands `$value`, all of 16 bits.
macro_rules! atom {
    ($operation:literal, $operands:literal, $place:expr, $scope:expr, $($value:expr),+) => {
        match ($place, $scope) {
            (Place::Global(p), Scope::Block) => {
                atom!(@ "cta.global.", $operation, $operands, reg64, to_global(p), $($value),+)
            }
            (Place::Global(p), Scope::Device) => {
                atom!(@ "gpu.global.", $operation, $operands, reg64, to_global(p), $($value),+)
            }
            (Place::Global(p), Scope::System) => {
                atom!(@ "sys.global.", $operation, $operands, reg64, to_global(p), $($value),+)
            }
            (Place::Shared(a), Scope::Block) => {
                atom!(@ "cta.shared.", $operation, $operands, reg32, a, $($value),+)
            }
            (Place::Shared(a), Scope::Device) => {
                atom!(@ "gpu.shared.", $operation, $operands, reg32, a, $($value),+)
            }
            (Place::Shared(a), Scope::System) => {
                atom!(@ "sys.shared.", $operation, $operands, reg32, a, $($value),+)
            }
            (Place::Generic(p), Scope::Block) => {
                atom!(@ "cta.", $operation, $operands, reg64, p, $($value),+)
            }
            (Place::Generic(p), Scope::Device) => {
                atom!(@ "gpu.", $operation, $operands, reg64, p, $($value),+)
            }
            (Place::Generic(p), Scope::System) => {
                atom!(@ "sys.", $operation, $operands, reg64, p, $($value),+)
            }
        }
    };
    (@ $prefix:literal, $operation:literal, $operands:literal, $class:ident, $address:expr, $($value:expr),+) => {{
        let old: u16;
        asm!(concat!("atom.relaxed.", $prefix, $operation, " {}, [{}], ", $operands, ";"),
            out(reg16) old, in($class) $address, $(in(reg16) $value),+, options(nostack, preserves_flags));
        old
    }};
}

/// # Safety
/// The place must be valid for an access of 16 bits.
#[inline(always)]
pub unsafe fn atomic_add_f16(place: Place<f16>, value: f16, scope: Scope) -> f16 {
    // SAFETY: the caller guarantees a valid address.
    f16::from_bits(unsafe { atom!("add.noftz.f16", "{}", place, scope, value.to_bits()) })
}

/// # Safety
/// The place must be valid for an access of 16 bits.
#[inline(always)]
pub unsafe fn atomic_add_bf16(place: Place<bf16>, value: bf16, scope: Scope) -> bf16 {
    if cfg!(target_feature = "sm_90") {
        // SAFETY: the caller guarantees a valid address.
        return bf16::from_bits(unsafe { atom!("add.noftz.bf16", "{}", place, scope, value.to_bits()) });
    }
    let place = place.cast::<u16>();
    // A comparison with any value returns the present one.
    // SAFETY: the caller guarantees a valid address.
    let mut old = unsafe { atomic_compare_exchange_16(place, 0, 0, scope) };
    loop {
        let new = (bf16::from_bits(old) + value).to_bits();
        // SAFETY: the caller guarantees a valid address.
        let seen = unsafe { atomic_compare_exchange_16(place, old, new, scope) };
        if seen == old {
            return bf16::from_bits(old);
        }
        old = seen;
    }
}

/// # Safety
/// The place must be valid for an access of 16 bits.
#[inline(always)]
pub unsafe fn atomic_compare_exchange_16(place: Place<u16>, expected: u16, new: u16, scope: Scope) -> u16 {
    // SAFETY: the caller guarantees a valid address.
    unsafe { atom!("cas.b16", "{}, {}", place, scope, expected, new) }
}
