//! Histogram: how many of *n* keys are in each bin.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`histogram_global()`] | every key adds one to its bin's count, in global memory | the L2 cache: additions to one word take turns |
//! | [`histogram_privatised()`] | each block counts in shared memory, and adds its counts to the result once | shared memory: bins that share a bank take turns |
//! | [`histogram_replicated()`] | copies of each counter in different banks, 16-byte loads, one launch | memory |
//!
//! Keys are `u8` or `u32`, bins are [`EvenBins`]: 1 to 65536 of them, of equal width. A key outside of all bins is not
//! counted. The first two rungs add to what the counts hold, which are set to 0 before; the last sets them itself.
//!
//! Counts are `u32`: exact as long as no bin has more than 2³² − 1 keys, and so for up to as many keys. Beyond that they
//! wrap.
//!
//! Floor: every key is read once, at the speed at which the device reads. Of bytes an H200 reads 17 per cycle and
//! multiprocessor, which is as many as a multiprocessor adds to counters in shared memory (at least 16 of them, where no two
//! lanes of a warp meet in a bank). So bytes leave no room for bank conflicts; words, of which it reads 4, do. Additions in
//! global memory have a floor of their own, the L2 cache's.
//!
//! Sources: V. Podlozhnyuk, "Histogram calculation in CUDA", NVIDIA, 2007; J. Gómez-Luna, J. M. González-Linares, J. I.
//! Benavides, N. Guil, "An optimized approach to histogram computation on GPU", Machine Vision and Applications 24, 2013;
//! CUB's `DeviceHistogram`.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod bins;
mod key;
pub mod tuning;

pub use bins::EvenBins;
pub use key::Key;
pub use replicated::{MOST_REPLICAS, STATE_WORDS, VALUES};

cuda_std::ladder! {
    /// How many of *n* keys, of 8 or 32 bits, are in each of 1 to 65536 bins of equal width.
    pub enum HistogramRung: histogram {
        /// Every key adds one to its bin's count, in global memory.
        global,
        /// Each block counts in shared memory, and adds what it has once.
        privatised,
        /// Copies of each counter in different banks, 16-byte loads, one launch.
        replicated,
    }
}
