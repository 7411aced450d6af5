//! Atomic operations on 128 bits. A register of 128 bits exists only within one `asm!` statement.

#[cfg(target_feature = "sm_90")]
mod hardware {
    use core::arch::asm;

    use super::super::memory::to_global;
    use crate::atomic::{Place, Scope};

    /// Returns the lower and the upper half of `value`.
    #[inline(always)]
    fn halves(value: u128) -> (u64, u64) {
        (value as u64, (value >> 64) as u64)
    }

    #[inline(always)]
    fn whole(low: u64, high: u64) -> u128 {
        u128::from(low) | u128::from(high) << 64
    }

    /// Stores `value` and returns the old value, as one relaxed atomic operation.
    ///
    /// # Safety
    /// The place must be valid for an access of 16 bytes, and aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn exchange<T>(place: Place<T>, value: u128, scope: Scope) -> u128 {
        let (low, high) = halves(value);
        macro_rules! instruction {
            ($prefix:literal, $class:ident, $address:expr) => {{
                let (old_low, old_high): (u64, u64);
                asm!(concat!("{{ .reg .b128 %old, %new; mov.b128 %new, {{{}, {}}}; atom.relaxed.", $prefix,
                        "exch.b128 %old, [{}], %new; mov.b128 {{{}, {}}}, %old; }}"),
                    in(reg64) low, in(reg64) high, in($class) $address, out(reg64) old_low, out(reg64) old_high,
                    options(nostack, preserves_flags));
                whole(old_low, old_high)
            }};
        }
        // SAFETY: the caller guarantees a valid address.
        unsafe { in_place!(place, scope, instruction) }
    }

    /// Stores `new` if the old value is `expected`, as one relaxed atomic operation. Returns the old value.
    ///
    /// # Safety
    /// The place must be valid for an access of 16 bytes, and aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn compare_exchange<T>(place: Place<T>, expected: u128, new: u128, scope: Scope) -> u128 {
        let ((low, high), (new_low, new_high)) = (halves(expected), halves(new));
        macro_rules! instruction {
            ($prefix:literal, $class:ident, $address:expr) => {{
                let (old_low, old_high): (u64, u64);
                asm!(concat!("{{ .reg .b128 %old, %seen, %new; mov.b128 %seen, {{{}, {}}}; mov.b128 %new, {{{}, {}}}; ",
                        "atom.relaxed.", $prefix, "cas.b128 %old, [{}], %seen, %new; mov.b128 {{{}, {}}}, %old; }}"),
                    in(reg64) low, in(reg64) high, in(reg64) new_low, in(reg64) new_high, in($class) $address,
                    out(reg64) old_low, out(reg64) old_high, options(nostack, preserves_flags));
                whole(old_low, old_high)
            }};
        }
        // SAFETY: the caller guarantees a valid address.
        unsafe { in_place!(place, scope, instruction) }
    }

    /// Loads the value: acquiring if `acquire` is true, otherwise relaxed.
    ///
    /// # Safety
    /// The place must be valid for an access of 16 bytes, and aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn load<T>(place: Place<T>, acquire: bool, scope: Scope) -> u128 {
        macro_rules! instruction {
            ($prefix:literal, $class:ident, $address:expr, $order:literal) => {{
                let (low, high): (u64, u64);
                asm!(concat!("{{ .reg .b128 %now; ld.", $order, ".", $prefix,
                        "b128 %now, [{}]; mov.b128 {{{}, {}}}, %now; }}"),
                    in($class) $address, out(reg64) low, out(reg64) high, options(nostack, preserves_flags));
                whole(low, high)
            }};
        }
        // SAFETY: the caller guarantees a valid address.
        unsafe {
            if acquire {
                in_place!(place, scope, instruction, "acquire")
            } else {
                in_place!(place, scope, instruction, "relaxed")
            }
        }
    }

    /// Stores `value`: releasing if `release` is true, otherwise relaxed.
    ///
    /// # Safety
    /// The place must be valid for an access of 16 bytes, and aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn store<T>(place: Place<T>, value: u128, release: bool, scope: Scope) {
        let (low, high) = halves(value);
        macro_rules! instruction {
            ($prefix:literal, $class:ident, $address:expr, $order:literal) => {
                asm!(concat!("{{ .reg .b128 %new; mov.b128 %new, {{{}, {}}}; st.", $order, ".", $prefix,
                        "b128 [{}], %new; }}"),
                    in(reg64) low, in(reg64) high, in($class) $address, options(nostack, preserves_flags))
            };
        }
        // SAFETY: the caller guarantees a valid address.
        unsafe {
            if release {
                in_place!(place, scope, instruction, "release")
            } else {
                in_place!(place, scope, instruction, "relaxed")
            }
        }
    }
}

#[cfg(target_feature = "sm_90")]
pub use hardware::*;

/// The functions for GPUs without the instructions. They end the kernel with an error.
#[cfg(not(target_feature = "sm_90"))]
mod missing {
    use crate::atomic::{Place, Scope};

    /// Prints that the GPU lacks the instructions, and ends the kernel with an error.
    #[cold]
    #[inline(never)]
    fn fail() -> ! {
        fallback!("AtomicRef<u128>" 90 missing);
        crate::__fail! {
            { Text("an atomic operation on 128 bits needs a GPU of compute capability 9.0 and PTX for sm_90"), } {}
        }
    }

    #[inline(always)]
    pub fn exchange<T>(_: Place<T>, _: u128, _: Scope) -> u128 {
        fail()
    }

    #[inline(always)]
    pub fn compare_exchange<T>(_: Place<T>, _: u128, _: u128, _: Scope) -> u128 {
        fail()
    }

    #[inline(always)]
    pub fn load<T>(_: Place<T>, _acquire: bool, _: Scope) -> u128 {
        fail()
    }

    #[inline(always)]
    pub fn store<T>(_: Place<T>, _: u128, _release: bool, _: Scope) {
        fail()
    }
}

#[cfg(not(target_feature = "sm_90"))]
pub use missing::*;
