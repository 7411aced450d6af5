//! The generations of a board of tiles, compiled for each instruction set.

use super::tiles::{Generations, Stop};
use crate::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::x86::{Avx2, Avx512};

/// Advances a board with instructions that any processor has.
pub fn portable(pass: Generations<'_, 4>) -> Stop {
    // SAFETY: `Portable` needs only the baseline instructions, which every processor that runs this program has.
    unsafe { pass.run::<Portable<4>>() }
}

/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub unsafe fn avx2(pass: Generations<'_, 4>) -> Stop {
    // SAFETY: the caller guarantees AVX2, the instructions of `Avx2`.
    unsafe { pass.run::<Avx2>() }
}

/// # Safety
/// The processor must have AVX-512F.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub unsafe fn avx512(pass: Generations<'_, 8>) -> Stop {
    // SAFETY: the caller guarantees AVX-512F, the instructions of `Avx512`.
    unsafe { pass.run::<Avx512>() }
}
