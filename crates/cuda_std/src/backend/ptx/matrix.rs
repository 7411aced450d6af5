//! Moves of matrices between shared memory and registers: `ldmatrix` from sm_75 on, `stmatrix` from sm_90 on.
//!
//! Like the accesses of shared memory, the instructions are `nomem` and not `pure`.

#[cfg(target_feature = "sm_75")]
use core::arch::asm;

#[cfg(target_feature = "sm_75")]
macro_rules! load {
    ($count:literal $trans:literal $address:ident $($register:ident $name:literal)*) => {{
        $(let $register: u32;)*
        // SAFETY: the caller has checked that the rows are in the block's shared memory.
        unsafe {
            asm!(concat!("ldmatrix.sync.aligned.m8n8.x", $count, $trans, ".shared.b16 {{", $($name,)*
                    "}}, [{address}];"),
                $($register = out(reg32) $register,)* address = in(reg32) $address,
                options(nomem, nostack, preserves_flags));
        }
        [$($register),*]
    }};
}

/// Copies the first registers of `from`.
#[inline(always)]
fn copy<const N: usize, const X: usize>(from: [u32; N]) -> [u32; X] {
    let mut to = [0; X];
    let mut i = 0;
    while i < N && i < X {
        to[i] = from[i];
        i += 1;
    }
    to
}

#[cfg(target_feature = "sm_75")]
#[inline(always)]
pub fn ldmatrix<const X: usize, const TRANS: bool>(address: u32) -> [u32; X] {
    match (X, TRANS) {
        (1, false) => copy(load!(1 "" address r0 "{r0}")),
        (1, true) => copy(load!(1 ".trans" address r0 "{r0}")),
        (2, false) => copy(load!(2 "" address r0 "{r0}, " r1 "{r1}")),
        (2, true) => copy(load!(2 ".trans" address r0 "{r0}, " r1 "{r1}")),
        (_, false) => copy(load!(4 "" address r0 "{r0}, " r1 "{r1}, " r2 "{r2}, " r3 "{r3}")),
        (_, true) => copy(load!(4 ".trans" address r0 "{r0}, " r1 "{r1}, " r2 "{r2}, " r3 "{r3}")),
    }
}

#[cfg(not(target_feature = "sm_75"))]
#[inline(always)]
pub fn ldmatrix<const X: usize, const TRANS: bool>(_address: u32) -> [u32; X] {
    super::missing::missing!(75)
}

#[cfg(target_feature = "sm_90")]
macro_rules! store {
    ($count:literal $trans:literal $address:ident $registers:ident $($register:ident $name:literal)*) => {{
        let [$($register),*] = copy($registers);
        // SAFETY: the caller has checked that the rows are in the block's shared memory.
        unsafe {
            asm!(concat!("stmatrix.sync.aligned.m8n8.x", $count, $trans, ".shared.b16 [{address}], {{", $($name,)*
                    "}};"),
                $($register = in(reg32) $register,)* address = in(reg32) $address,
                options(nomem, nostack, preserves_flags));
        }
    }};
}

#[cfg(target_feature = "sm_90")]
#[inline(always)]
pub fn stmatrix<const X: usize, const TRANS: bool>(address: u32, registers: [u32; X]) {
    match (X, TRANS) {
        (1, false) => store!(1 "" address registers r0 "{r0}"),
        (1, true) => store!(1 ".trans" address registers r0 "{r0}"),
        (2, false) => store!(2 "" address registers r0 "{r0}, " r1 "{r1}"),
        (2, true) => store!(2 ".trans" address registers r0 "{r0}, " r1 "{r1}"),
        (_, false) => store!(4 "" address registers r0 "{r0}, " r1 "{r1}, " r2 "{r2}, " r3 "{r3}"),
        (_, true) => store!(4 ".trans" address registers r0 "{r0}, " r1 "{r1}, " r2 "{r2}, " r3 "{r3}"),
    }
}

#[cfg(not(target_feature = "sm_90"))]
#[inline(always)]
pub fn stmatrix<const X: usize, const TRANS: bool>(_address: u32, _registers: [u32; X]) {
    super::missing::missing!(90)
}
