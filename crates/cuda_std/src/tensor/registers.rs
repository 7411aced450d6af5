//! The number of registers of the threads of a warpgroup (`setmaxnreg`).

use crate::backend;

/// Raises the number of registers of each thread of the calling warpgroup to `COUNT`, a multiple of 8 from 24 to 256,
/// and waits until the block has released as many (`setmaxnreg.inc`).
///
/// The kernel must have `max_threads` and `min_blocks`. A block begins with 65,536 ÷ (`max_threads` × `min_blocks`)
/// registers per thread, down to a multiple of 8, and all its warpgroups share them.
#[inline(always)]
#[track_caller]
pub fn take_registers<const COUNT: u32>() {
    const { assert!(COUNT >= 24 && COUNT <= 256 && COUNT.is_multiple_of(8), "24 to 256 registers, a multiple of 8") };
    backend::take_registers::<COUNT>();
}

/// Lowers the number of registers of each thread of the calling warpgroup to `COUNT`, a multiple of 8 from 24 to 256
/// (`setmaxnreg.dec`). Other warpgroups can then [take](take_registers) them.
#[inline(always)]
#[track_caller]
pub fn release_registers<const COUNT: u32>() {
    const { assert!(COUNT >= 24 && COUNT <= 256 && COUNT.is_multiple_of(8), "24 to 256 registers, a multiple of 8") };
    backend::release_registers::<COUNT>();
}
