//! Atomic operations on 16 bits in the simulator.

use simt::{memory, shared};

use crate::atomic::{Place, Scope};
use crate::half::{bf16, f16};

/// Replaces the bits at `place` with the result of `new`, and returns the old bits.
///
/// # Safety
/// If `place` is in global memory, it must be valid for an access of 16 bits.
#[inline(always)]
#[track_caller]
unsafe fn replace(place: Place<u16>, scope: Scope, new: impl Fn(u16) -> u16) -> u16 {
    match place {
        Place::Shared(address) => shared::update(address, new),
        // SAFETY: the caller guarantees a valid address.
        Place::Global(pointer) | Place::Generic(pointer) => unsafe {
            memory::update_scoped(pointer, scope.into(), new)
        },
    }
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of 16 bits.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_add_f16(place: Place<f16>, value: f16, scope: Scope) -> f16 {
    let new = |old| (f16::from_bits(old) + value).to_bits();
    // SAFETY: the caller guarantees a valid address.
    f16::from_bits(unsafe { replace(place.cast(), scope, new) })
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of 16 bits.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_add_bf16(place: Place<bf16>, value: bf16, scope: Scope) -> bf16 {
    let new = |old| (bf16::from_bits(old) + value).to_bits();
    // SAFETY: the caller guarantees a valid address.
    bf16::from_bits(unsafe { replace(place.cast(), scope, new) })
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of 16 bits.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_compare_exchange_16(place: Place<u16>, expected: u16, new: u16, scope: Scope) -> u16 {
    // SAFETY: the caller guarantees a valid address.
    unsafe { replace(place, scope, |old| if old == expected { new } else { old }) }
}
