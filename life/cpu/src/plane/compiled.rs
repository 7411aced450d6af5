//! The visits of tiles, compiled for each instruction set.

use super::visit::Visits;
#[cfg(target_arch = "x86_64")]
use crate::avx2_pair::Avx2Pair;
use crate::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::x86::Avx512;

/// Advances tiles with instructions that any processor has.
pub fn portable(visits: Visits<'_>) {
    // SAFETY: `Portable` needs only the baseline instructions, which every processor that runs this program has.
    unsafe { visits.run::<Portable<8>>() }
}

/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub unsafe fn avx2(visits: Visits<'_>) {
    // SAFETY: the caller guarantees AVX2, the instructions of `Avx2Pair`.
    unsafe { visits.run::<Avx2Pair>() }
}

/// # Safety
/// The processor must have AVX-512F.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub unsafe fn avx512(visits: Visits<'_>) {
    // SAFETY: the caller guarantees AVX-512F, the instructions of `Avx512`.
    unsafe { visits.run::<Avx512>() }
}
